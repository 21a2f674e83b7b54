#!/usr/bin/env bash
# The types of web/src hold: types.sh FOLDER. Skipped (77) where there is no tsc.
set -euo pipefail
if ! command -v tsc >/dev/null; then
    echo "skipped: tsc is needed (apt-get install node-typescript)"
    exit 77
fi
tsc --project "$1"
echo "web/src: every type holds"
