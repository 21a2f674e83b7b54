# Shared by ./flyball and ./test: Debian packages, configuring, building. Sourced, with ROOT set; never run.
# shellcheck shell=bash
#
# Everything here talks on stderr, so that stdout carries only what the program or the tests print.
# Exit codes: 2, something is missing and the message says what to do; 3, our own sources do not configure or build.

: "${ROOT:?}"
# The cores there are; nproc would otherwise take OMP_NUM_THREADS for them.
JOBS=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null) || JOBS=1

say() { printf 'flyball: %s\n' "$*" >&2; }

fail() {
    local code=$1
    shift
    say "$@"
    exit "$code"
}

# packages_in GROUP...: the packages of these groups of packages.txt, one a line.
packages_in() {
    local line group=''
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line%%#*}
        line=${line//[[:space:]]/}
        case $line in
            '') ;;
            '['*']') group=${line:1:-1} ;;
            *) if [[ " $* " == *" $group "* ]]; then printf '%s\n' "$line"; fi ;;
        esac
    done <"$ROOT/packages.txt"
}

# missing_packages NAME...: those that are not installed, one a line. A package on hold is installed too.
missing_packages() {
    local -A installed=()
    local name status
    while read -r name status; do
        if [[ -n $name && $status == *' ok installed' ]]; then installed[$name]=yes; fi
    done <<<"$(dpkg-query -W -f='${Package} ${Status}\n' "$@" 2>/dev/null || true)"
    for name in "$@"; do
        if [[ -z ${installed[$name]:-} ]]; then printf '%s\n' "$name"; fi
    done
}

# ensure_packages GROUP...: installs what these groups lack.
ensure_packages() {
    if [[ ${FLYBALL_SKIP_SETUP:-} == 1 ]]; then return; fi
    local packages missing lines
    lines=$(packages_in "$@")
    mapfile -t packages <<<"$lines"
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail 2 "this system has no apt-get and dpkg-query. Install what these Debian packages hold, then set" \
            "FLYBALL_SKIP_SETUP=1: ${packages[*]}"
    fi
    lines=$(missing_packages "${packages[@]}")
    if [[ -z $lines ]]; then return; fi
    mapfile -t missing <<<"$lines"

    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
    if [[ $(id -u) != 0 ]]; then apt=(sudo "${apt[@]}"); fi
    local install=("${apt[@]}" install -y --no-install-recommends "${missing[@]}")
    if [[ ${apt[0]} == sudo ]] && ! command -v sudo >/dev/null; then
        fail 2 "packages are missing, and there is no sudo to install them with. Run as root:" \
            "apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi

    # The lists are brought up to date only when they do not know a package, or are too old for it to be fetched.
    local updated=''
    if ! apt-get --simulate install --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
        apt_get "${apt[@]}" update || true
        updated=yes
    fi
    if apt_get "${install[@]}"; then return; fi
    if [[ -z $updated ]] && apt_get "${apt[@]}" update && apt_get "${install[@]}"; then return; fi
    fail 2 "apt-get could not install ${missing[*]} (its own words are above). Check the network, or install them by hand."
}

apt_get() {
    say "running: $*"
    "$@" >&2 9>&-
}

# alone COMMAND...: runs it while no other ./flyball or ./test prepares this checkout. The lock ends with the command.
alone() {
    local lock=$ROOT/build/.lock
    if ! mkdir -p "$ROOT/build" 2>/dev/null || ! : 2>/dev/null >>"$lock"; then
        fail 2 "cannot write in $ROOT/build. Make it writable, or remove it."
    fi
    (
        if command -v flock >/dev/null && ! flock -n 9; then
            say "waiting for another build in this checkout ..."
            flock 9
        fi
        # Where home cannot be written, ccache would fail every compilation.
        if [[ ! -w ${HOME:-/nonexistent} ]]; then export CCACHE_DIR="${CCACHE_DIR:-$ROOT/build/ccache}"; fi
        "$@"
    ) 9>>"$lock"
}

# configure PRESET [CMAKE ARGUMENT...]: also takes a build directory that came along with a moved or copied checkout.
configure() {
    local preset=$1 directory=$ROOT/build/$1 tool
    shift
    for tool in cmake ninja; do
        if ! command -v "$tool" >/dev/null; then
            fail 2 "$tool is not installed. Needed are, by their Debian names: $(packages_in build | paste -sd ' ')"
        fi
    done
    if is_from_elsewhere "$directory"; then rm -rf "$directory"; fi
    mkdir -p "$directory"
    if ! cmake -S "$ROOT" --preset "$preset" "$@" >"$directory/configure.log" 2>&1; then
        cat "$directory/configure.log" >&2
        fail 3 "could not configure the build. If the message above does not help, remove build/ and try again."
    fi
}

is_from_elsewhere() {
    local line
    if [[ ! -f $1/CMakeCache.txt ]]; then return 1; fi
    while IFS= read -r line; do
        if [[ $line == CMAKE_HOME_DIRECTORY:* ]]; then
            [[ ${line#*=} != "$ROOT" ]]
            return
        fi
    done <"$1/CMakeCache.txt"
    return 0
}

# build PRESET [TARGET...]: says so when there is something to do; shows what the compiler says only when it fails.
build() {
    local directory=$ROOT/build/$1
    local log=$directory/build.log
    shift
    if ! ninja -C "$directory" -j "$JOBS" "$@" 2>&1 | announce "$directory" >"$log"; then
        grep -v '^\[[0-9]*/[0-9]*\] ' "$log" >&2 || true
        fail 3 "the build failed (all of its output is in $log)."
    fi
}

# Passes ninja's output on, and announces the first real step; on a terminal it counts the steps.
announce() {
    local line said='' hint=''
    if [[ ! -e $1/src/flyball ]]; then hint=' (the first time takes a minute or two)'; fi
    while IFS= read -r line; do
        printf '%s\n' "$line"
        if [[ $line =~ ^\[([0-9]+/[0-9]+)\]\ (Building|Linking|Re-running) ]]; then
            if [[ -t 2 ]]; then
                printf '\rflyball: building%s ... %s ' "$hint" "${BASH_REMATCH[1]}" >&2
            elif [[ -z $said ]]; then
                say "building$hint ..."
            fi
            said=yes
        fi
    done
    if [[ -n $said && -t 2 ]]; then printf '\n' >&2; fi
}
