#!/bin/sh
# part.sh PARTS WANTED NEVER LONG PROGRAM: runs one of PARTS equal parts of the tests WANTED of a program, in one process. NEVER and LONG
# are names of tests that are left out, as GoogleTest's filters have them. That no test has such a name is a failure.
#
# Which part it is the commit's hash tells, as with planted mistakes and clang-tidy's files: over some commits it comes to all of
# them. FLYBALL_WHOLE=1 (./test --whole) runs all parts, with the long tests; a folder that is no git checkout all parts.
set -eu
parts=$1
left_out=$3
if [ "${FLYBALL_WHOLE:-}" != 1 ]; then
    left_out=$left_out:$4
    if [ "$parts" -gt 1 ] && commit=$(git -C "$(dirname -- "$0")" rev-parse HEAD 2>/dev/null); then
        GTEST_TOTAL_SHARDS=$parts
        # Seven hexadecimal digits are below 2^31, which every shell can count.
        GTEST_SHARD_INDEX=$((0x$(printf %.7s "$commit") % parts))
        export GTEST_TOTAL_SHARDS GTEST_SHARD_INDEX
        echo "part $((GTEST_SHARD_INDEX + 1)) of $parts"
    fi
fi
filter=--gtest_filter=$2-$left_out
if ! "$5" --gtest_list_tests "$filter" | grep -q '^  '; then
    echo "no test is called $2"
    exit 1
fi
exec "$5" --gtest_brief=1 "$filter"
