#!/bin/sh
# part.sh PARTS WANTED NEVER LONG PROGRAM [MODULE]: runs one of PARTS equal parts of the tests WANTED of a program, in one process. NEVER
# and LONG are names of tests that are left out, as GoogleTest's filters have them.
#
# Which part it is the commit's hash tells, as with planted mistakes and clang-tidy's files: over some commits it comes to all of
# them. All parts are run when one of the last commits changed MODULE (tools/due.py), and in a folder that is no git checkout;
# with FLYBALL_WHOLE=1 (./test --whole) all parts and the long tests.
set -eu
parts=$1
wanted=$2
left_out=$3
here=$(dirname -- "$0")
if [ "${FLYBALL_WHOLE:-}" != 1 ]; then
    left_out=$left_out:$4
    if [ "$parts" -gt 1 ] && ! { [ -n "${6:-}" ] && python3 "$here/../tools/due.py" --changed "$6"; } &&
        commit=$(git -C "$here" rev-parse HEAD 2>/dev/null); then
        GTEST_TOTAL_SHARDS=$parts
        # Seven hexadecimal digits are below 2^31, which every shell can count.
        GTEST_SHARD_INDEX=$((0x$(printf %.7s "$commit") % parts))
        export GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX
        echo "part $((GTEST_SHARD_INDEX + 1)) of $parts"
    fi
fi
exec "$5" --gtest_brief=1 "--gtest_filter=$wanted-$left_out"
