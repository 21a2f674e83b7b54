#!/usr/bin/env bash
# run.sh BUILD_DIRECTORY COMPILER: installs that build to a temporary prefix, then builds and runs a project that uses it.
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
build=$1
compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
cmake -S "$here" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler"
cmake --build "$work/build"
"$work/build/consumer"

# What was installed must not know where it was built.
if grep -rIl -e "$build" "$work/prefix"; then
    echo "the files above, once installed, still name the build directory $build"
    exit 1
fi

# The man page and the completions are what the program that was built says of itself.
for place in "man/man1/flyball.1 --man" "bash-completion/completions/flyball --completion bash" \
    "zsh/site-functions/_flyball --completion zsh" "fish/vendor_completions.d/flyball.fish --completion fish"; do
    read -r file asked <<<"$place"
    # shellcheck disable=SC2086  # two words
    "$work/prefix/bin/flyball" help $asked | cmp - "$work/prefix/share/$file"
done

# Models that are installed with the program are found from any directory, also when the prefix has moved.
mkdir -p "$work/prefix/share/flyball/models"
cp -r "$here/../model/golden/gpt2" "$work/prefix/share/flyball/models/probe"
mv "$work/prefix" "$work/moved"
(cd / && env -u FLYBALL_DATA "$work/moved/bin/flyball" forward builtin:probe --ids 1,2,3 >/dev/null)
"$work/moved/bin/flyball" --version
