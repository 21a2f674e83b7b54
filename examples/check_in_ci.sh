#!/usr/bin/env bash
# Shows: a gate for continuous integration. A change to a residual block is refused when the block would not train.
#
#     examples/check_in_ci.sh BLOCK.txt [FLAGS of flyball check]
#
# BLOCK.txt holds the equation that your model implements, on one line (docs/equation.md); keep it beside the code of the
# block. The report goes to standard output, and a line for each finding in the form that GitHub shows beside a change.
# The exit code is that of `flyball check`: 0 stable or caution, 1 unstable or malformed, 2 the text is no equation.
# Flags such as --depth 48 --width 1024 describe the model. $FLYBALL names the program where it is not ./flyball.
set -euo pipefail
HERE=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)
FLYBALL=${FLYBALL:-$HERE/../flyball}
BLOCK=${1:?usage: check_in_ci.sh BLOCK.txt [FLAGS]}
shift

CODE=0
DOCUMENT=$("$FLYBALL" check "$(<"$BLOCK")" --json "$@") || CODE=$?
if ((CODE > 1)); then
    exit "$CODE" # the program has said why
fi
python3 - "$BLOCK" "$DOCUMENT" <<'PYTHON'
import json
import sys

block, document = sys.argv[1], json.loads(sys.argv[2])
level = {"malformed": "error", "unstable": "error", "caution": "warning", "note": "notice"}
for finding in document["findings"]:
    print(f"::{level[finding['severity']]} file={block},title={finding['id']}::{finding['message']}")
print(f"{document['equation']}: {document['verdict']}, growth of the stream: {document['growth']}")
PYTHON
exit "$CODE"
