#!/usr/bin/env bash
# Trains the models that ship with Flyball (data/models, `builtin:NAME`) from the text that ships with it. They are small
# on purpose: every command that takes a MODEL works on a fresh machine, and placements of the norm can be compared.
# Last digits depend on the version of the program and on the type of CPU.
#
# usage: tools/make_models.sh [NAME...]        FLYBALL: the program to run, the one this tree builds unless given
set -euo pipefail
ROOT=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)
FLYBALL=${FLYBALL:-$ROOT/flyball}
names=("$@")
((${#names[@]} > 0)) || names=(post-ln pre-ln mix-ln peri-ln ngpt sqrt-scaling ln-scaling pre-ln-qk)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for name in "${names[@]}"; do
    flags=("$name")
    case $name in
        pre-ln-qk) flags=(pre-ln --qk-norm head) ;;
    esac
    "$FLYBALL" train "${flags[@]}" --data "$ROOT/data/text/shakespeare.txt" --layers 12 --dim 48 --heads 6 --context 256 \
        --batch 8 --steps 1500 --record 100 --storage f16 --out "$work/$name"
    mkdir -p "$ROOT/data/models/$name"
    for file in config.json model.safetensors tokenizer.json tokenizer_config.json summary.json; do
        cp "$work/$name/$file" "$ROOT/data/models/$name/$file"
    done
done
