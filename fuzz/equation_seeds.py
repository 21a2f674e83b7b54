#!/usr/bin/env python3
"""Writes the seeds of the equation fuzzer: the catalogue's equations and the examples of docs/equation.md."""
import json
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
program = sys.argv[1] if len(sys.argv) > 1 else str(root / "flyball")
texts = [row["equation"] for row in json.loads(subprocess.check_output([program, "schemes", "--json"]))]
manual = (root / "docs/equation.md").read_text()
texts += [block.split("\n")[0] for block in re.findall(r"```equation[^\n]*\n(.*?)```", manual, re.S)]
folder = root / "fuzz/corpus/equation"
folder.mkdir(parents=True, exist_ok=True)
for number, text in enumerate(dict.fromkeys(texts)):
    (folder / f"{number:03d}.txt").write_text(text)
