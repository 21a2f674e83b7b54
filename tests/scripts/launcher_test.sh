#!/usr/bin/env bash
# ./flyball with everything around it faked: packages, root, compiler. What is tested is the launcher alone, in a checkout
# whose path has spaces; nothing is installed and nothing compiled.
# shellcheck disable=SC2016  # the fakes' bodies are expanded when they run
set -euo pipefail
repository=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A machine: PATH holds only $work/bin, made of links to the real tools the launcher uses and of fakes.
# Fakes write what they were asked to do in $work/calls.
new_machine() {
    chmod -R u+w "$work"
    rm -rf "${work:?}"/*
    checkout="$work/a checkout"
    mkdir -p "$checkout/tools" "$work/bin" "$work/home"
    cp "$repository/flyball" "$checkout/"
    cp "$repository/tools/setup.sh" "$checkout/tools/"
    printf '# comment\n[build]  # why\nnumbers-dev # why\ncompiler++\n\n[test]\nnever-asked\n' >"$checkout/packages.txt"
    local tool
    for tool in bash env dirname readlink mkdir rm cat chmod grep paste flock sleep nproc; do
        ln -s "$(command -v "$tool")" "$work/bin/$tool"
    done
    : >"$work/calls"
    fake id 'echo 0'
    fake dpkg-query 'cat "$WORK/installed" 2>/dev/null || true'
    fake apt-get 'echo "apt-get $*" >>"$WORK/calls"; echo "words of apt-get"'
    fake cmake 'echo "cmake $*" >>"$WORK/calls"; echo "words of cmake"
        d="$2/build/release"; mkdir -p "$d"; : >"$d/build.ninja"; echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" >"$d/CMakeCache.txt"'
    fake ninja 'echo "ninja $*" >>"$WORK/calls"
        read -r -t 1 line && echo "ninja read $line" >>"$WORK/calls"
        mkdir "$WORK/building" || { echo "two builds at once" >>"$WORK/calls"; exit 1; }
        sleep 0.2; rm -r "$WORK/building"
        mkdir -p "$2/src"; { echo "#!$WORK/bin/bash"
        echo "echo \"arguments: \$*\"; echo \"called: \$FLYBALL_CALLED_AS\"; echo \"directory: \$PWD\"; read -r -t 1 line && echo \"input: \$line\"; exit \${PROGRAM_EXIT:-0}"
        } >"$2/src/flyball"; chmod +x "$2/src/flyball"; echo "[1/2] Building CXX object"'
    printf 'numbers-dev install ok installed\ncompiler++ hold ok installed\n' >"$work/installed"
}

fake() {
    rm -f "$work/bin/$1"
    printf '#!%s/bin/bash\n%s\n' "$work" "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# launch ARGUMENT...: runs the launcher on this machine; leaves $code, $work/out and $work/err.
launch() {
    code=0
    env -i PATH="$work/bin" HOME="$work/home" WORK="$work" "${environment[@]}" "${launcher:-$checkout/flyball}" "$@" \
        >"$work/out" 2>"$work/err" <"${input:-/dev/null}" || code=$?
}
environment=()

expect() {
    local what=$1
    shift
    if ! "$@"; then
        failures=$((failures + 1))
        printf 'FAILED: %s: %s\n  exit code: %s\n' "$claim" "$what" "$code"
        sed 's/^/  stdout: /' "$work/out"
        sed 's/^/  stderr: /' "$work/err"
        sed 's/^/  calls:  /' "$work/calls"
    fi
}
exits() { expect "exit code $1" [ "$code" = "$1" ]; }
has() { grep -qF -- "$2" "$work/$1"; }
lacks() { ! has "$@"; }

claim='with everything installed it builds and runs, and never calls apt-get'
new_machine
launch one 'two words'
exits 0
expect 'the program got its arguments' has out 'arguments: one two words'
expect 'stdout is the program alone' lacks out 'words of'
expect 'the build is announced' has err 'flyball: building (the first time takes a minute or two)'
expect 'no apt-get' lacks calls apt-get
expect 'configured once' has calls '--preset release'

claim='the program is told how it was called, blanks and all'
expect 'what was typed' has out "called: $checkout/flyball"

claim='a second run does not configure again'
: >"$work/calls"
launch
exits 0
expect 'no cmake' lacks calls cmake

claim='the exit code of the program passes through'
environment=(PROGRAM_EXIT=7)
launch
environment=()
exits 7

claim='called from another directory through a link, the program runs where the caller is'
mkdir -p "$work/else where"
ln -s "$checkout/flyball" "$work/bin/fly"
pushd "$work/else where" >/dev/null
launcher=fly launch x
popd >/dev/null
exits 0
expect 'the directory of the caller' has out "directory: $work/else where"

claim='a linked checkout is the same checkout'
ln -s "$checkout" "$work/another name"
: >"$work/calls"
launcher="$work/another name/flyball" launch
exits 0
expect 'no cmake' lacks calls cmake

claim='what is piped in reaches the program, not the build'
echo 'from the pipe' >"$work/input"
input="$work/input" launch
expect 'the program read it' has out 'input: from the pipe'

claim='a checkout that was moved is configured afresh'
mv "$checkout" "$work/moved"
: >"$work/calls"
launcher="$work/moved/flyball" launch
exits 0
expect 'configured for the new place' has calls "cmake -S $work/moved --preset release"

claim='two at a time build one after the other'
new_machine
launch
env -i PATH="$work/bin" HOME="$work/home" WORK="$work" "$checkout/flyball" >"$work/out1" 2>"$work/err1" </dev/null &
sleep 0.05
launch
exits 0
code=0
wait $! || code=$?
exits 0
expect 'never at once' lacks calls 'two builds at once'
cat "$work/err1" >>"$work/err"
expect 'one said that it waits' has err 'waiting for another build'

claim='a missing package is installed, after its command was shown'
new_machine
printf 'numbers-dev deinstall ok config-files\ncompiler++ install ok installed\n' >"$work/installed"
launch
exits 0
expect 'the command is shown' has err \
    'running: env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends numbers-dev'
expect 'the command is run' has calls 'apt-get install -y --no-install-recommends numbers-dev'
expect 'what is installed is not asked for' lacks calls compiler++
expect 'no group but its own' lacks calls never-asked
expect 'a list that knows the package is not fetched' lacks calls update
expect 'apt-get speaks on stderr' lacks out 'words of'

claim='a package the list does not know: the list is fetched first'
new_machine
: >"$work/installed"
fake apt-get 'echo "apt-get $*" >>"$WORK/calls"; [[ $1 != --simulate ]]'
launch
exits 0
expect 'update, then install' [ "$(sed -n '2p;3p' "$work/calls" | cut -d' ' -f2 | paste -sd,)" = update,install ]

claim='a list too old to fetch with is renewed'
new_machine
: >"$work/installed"
fake apt-get 'echo "apt-get $*" >>"$WORK/calls"; case $1 in update) : >"$WORK/new" ;; install) [[ -e $WORK/new ]] ;; esac'
launch
exits 0
expect 'install, update, install' \
    [ "$(sed -n '2,4p' "$work/calls" | cut -d' ' -f2 | paste -sd,)" = install,update,install ]

claim='apt-get without network: one sentence, exit 2'
new_machine
: >"$work/installed"
fake apt-get 'echo "apt-get $*" >>"$WORK/calls"; exit 100'
launch
exits 2
expect 'the sentence' has err 'flyball: apt-get could not install numbers-dev compiler++'
expect 'nothing is built' lacks calls ninja

claim='not root: sudo'
new_machine
: >"$work/installed"
fake id 'echo 1000'
fake sudo 'echo "sudo $*" >>"$WORK/calls"; "$@"'
launch
exits 0
expect 'by sudo' has calls 'sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends numbers-dev'

claim='not root and no sudo: the command, exit 2'
new_machine
: >"$work/installed"
fake id 'echo 1000'
launch
exits 2
expect 'the command' has err 'apt-get install -y --no-install-recommends numbers-dev compiler++'
expect 'nothing is run' [ ! -s "$work/calls" ]

claim='no apt: the list, exit 2'
new_machine
rm "$work/bin/apt-get" "$work/bin/dpkg-query"
launch
exits 2
expect 'the list' has err 'numbers-dev compiler++'
expect 'the way out' has err 'FLYBALL_SKIP_SETUP=1'

claim='no apt, but FLYBALL_SKIP_SETUP=1'
environment=(FLYBALL_SKIP_SETUP=1)
launch
exits 0

claim='FLYBALL_SKIP_SETUP=1 without cmake: the list, exit 2'
new_machine
rm "$work/bin/cmake"
launch
exits 2
expect 'the list' has err 'cmake is not installed. Needed are, by their Debian names: numbers-dev compiler++'
environment=()

claim='a source that does not compile: the words of the compiler, exit 3'
new_machine
fake ninja 'echo "[1/9] Building CXX object fine"; echo "FAILED: a.o"; echo "a.cpp:1: error: words"; exit 1'
launch
exits 3
expect 'the words' has err 'a.cpp:1: error: words'
expect 'without the steps that went well' lacks err '[1/9]'
expect 'nothing on stdout' [ ! -s "$work/out" ]

claim='a tree that cannot be configured: the words of cmake, exit 3'
new_machine
fake cmake 'echo "words of cmake" >&2; exit 1'
launch
exits 3
expect 'the words' has err 'words of cmake'

# The real program by another way in, where this checkout has been built.
if [[ -x $repository/build/release/src/flyball && ${1:-} == "$repository/build/release" ]]; then
    claim='the real program, through a link in a directory with a space'
    code=0
    ln -s "$repository" "$work/the real one"
    (cd "$work" && "./the real one/flyball" --version >"$work/out" 2>"$work/err") || code=$?
    exits 0
    expect 'it says something' [ -s "$work/out" ]
fi

if ((failures > 0)); then
    echo "launcher: $failures claims do not hold"
    exit 1
fi
echo 'launcher: every claim holds'
