#!/usr/bin/env bash
# Makes the pictures of README.md from runs of the program, with the same numbers on every machine.
#
# usage: docs/figures/make.sh [PROGRAM]
set -euo pipefail
HERE=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)
PROGRAM=${1:-$HERE/../../flyball}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# 256 orthogonal tokens under six placements of the norm.
"$PROGRAM" simulate --tokens 256 --start symmetric --beta 5 --rtol 1e-6 --out "$WORK/run" >/dev/null
cp "$WORK/run/cosine.svg" "$HERE/clustering.svg"
