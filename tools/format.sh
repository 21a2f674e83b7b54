#!/usr/bin/env bash
# Formats every C++ file; with --check only names those that are not as clang-format would have them.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
mapfile -d '' files < <(find src tests fuzz bench \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inl' \) -print0)
if [[ ${1:-} != --check ]]; then
    clang-format -i "${files[@]}"
    exit
fi
wrong=0
for file in "${files[@]}"; do
    if ! clang-format --dry-run --Werror "$file" 2>/dev/null; then
        echo "$file"
        wrong=$((wrong + 1))
    fi
done
if ((wrong > 0)); then
    echo "$wrong files are not formatted. hint: run tools/format.sh"
    exit 1
fi
