#!/usr/bin/env bash
# Runs the linter of shell scripts over every one of the tree.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
mapfile -d '' scripts < <(find tools tests examples docs -name '*.sh' -print0)
shellcheck --external-sources flyball test .ci/run "${scripts[@]}"
