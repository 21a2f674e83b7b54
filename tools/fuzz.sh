#!/usr/bin/env bash
# tools/fuzz.sh NAME SECONDS: builds the fuzz target fuzz/NAME_fuzz.cpp and runs it, starting from fuzz/corpus/NAME.
#
# The corpus is copied first, so that the tree stays clean. An input that crashes is kept as build/fuzz/NAME/crash-*.
# `--built PROGRAM` before NAME runs one that is built already.
set -euo pipefail
ROOT=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)

program=''
if [[ ${1:-} == --built ]]; then
    program=$2
    shift 2
fi
if (($# != 2)) || [[ ! -f $ROOT/fuzz/$1_fuzz.cpp ]]; then
    echo "usage: tools/fuzz.sh NAME SECONDS, where fuzz/NAME_fuzz.cpp exists" >&2
    exit 2
fi
name=$1
seconds=$2

if [[ -z $program ]]; then
    cmake -S "$ROOT" --preset clang
    ninja -C "$ROOT/build/clang" "flyball_fuzz_$name"
    program=$ROOT/build/clang/fuzz/flyball_fuzz_$name
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -d $ROOT/fuzz/corpus/$name ]]; then cp -r "$ROOT/fuzz/corpus/$name/." "$work"; fi
kept=$ROOT/build/fuzz/$name
mkdir -p "$kept"
"$program" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$kept/" "$work"
