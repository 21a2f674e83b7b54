#!/usr/bin/env bash
# Formats every C++ file; with --check only names those that are not as clang-format would have them.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
mapfile -d '' files < <(find src tests fuzz bench \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' \) -print0)
if [[ ${1:-} != --check ]]; then
    clang-format -i "${files[@]}"
    exit
fi
# One call for all of them: starting clang-format takes longer than most files do.
if ! said=$(clang-format --dry-run --Werror "${files[@]}" 2>&1); then
    mapfile -t wrong < <(sed -n 's/^\(.*\):[0-9]*:[0-9]*: error: .*clang-format.*/\1/p' <<<"$said" | sort -u)
    if ((${#wrong[@]} == 0)); then
        printf '%s\n' "$said"
    else
        printf '%s\n' "${wrong[@]}" "${#wrong[@]} files are not formatted. hint: run tools/format.sh"
    fi
    exit 1
fi
