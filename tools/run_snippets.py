#!/usr/bin/env python3
"""Runs the commands shown in the documents, so that what a reader copies works.

In every ```console block of README.md and docs/**/*.md a line starting with `$ ` is a command (a trailing backslash
continues it on the next line), run by bash in a temporary directory, one per document, in which ./flyball is the program
that was built. Lines below a command, where there are any, are its whole output, stdout and stderr together; a line
`...` stands for any number of lines. The exit code is 0 unless the command ends with `# exit N`. A block opened by
```console no-run is skipped.

usage: run_snippets.py PROGRAM [DOCUMENT...]
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(\s*)```+\s*(.*?)\s*$")
EXIT = re.compile(r"#\s*exit\s+(\d+)\s*$")
TIMEOUT = 120


class Command:
    def __init__(self, line, text):
        self.line = line
        self.text = text
        self.output = []


def commands_of(text):
    """The commands of a document's console blocks, in order. Raises ValueError where a block is malformed."""
    found = []
    inside = None  # None: outside any block; True: in a block to run; False: in any other block
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence and inside is None:
            indent, words = len(fence.group(1)), fence.group(2).split()
            inside = words == ["console"]
            if words[:1] == ["console"] and words not in (["console"], ["console", "no-run"]):
                raise ValueError(f"{number}: got ```{fence.group(2)}, expected ```console or ```console no-run")
            first = True
        elif fence and not fence.group(2):
            if inside and found and found[-1].output and not any(found[-1].output):
                found[-1].output = []
            inside = None
        elif inside:
            line = line[indent:] if not line[:indent].strip() else line
            if not first and found[-1].text.endswith("\\"):
                found[-1].text = found[-1].text[:-1] + line.removeprefix("> ")
            elif line.startswith("$ "):
                found.append(Command(number, line[2:]))
                first = False
            elif first:
                raise ValueError(f"{number}: a console block starts with '{line}', expected '$ ' and a command")
            else:
                found[-1].output.append(line)
    return found


def matches(expected, actual):
    """Whether the lines agree, where the expected line `...` stands for any number of lines."""
    e = a = 0
    dots = None  # the last `...` met and where the lines after it are being tried
    while a < len(actual):
        if e < len(expected) and expected[e].strip() == "...":
            dots = (e, a)
            e += 1
        elif e < len(expected) and expected[e] == actual[a]:
            e += 1
            a += 1
        elif dots:
            e, a = dots[0] + 1, dots[1] + 1
            dots = (dots[0], a)
        else:
            return False
    return all(line.strip() == "..." for line in expected[e:])


def without_blank_end(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def run(command, folder):
    """What is wrong with the command, or None."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80", "NO_COLOR": "1"}
    try:
        result = subprocess.run(["bash", "-c", command.text], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"still running after {TIMEOUT} s"
    output = result.stdout.decode("utf-8", "replace")
    wanted = EXIT.search(command.text)
    code = int(wanted.group(1)) if wanted else 0
    if result.returncode != code:
        return f"got exit code {result.returncode}, expected {code}. Output:\n{output}"
    expected = without_blank_end(command.output)
    if expected and not matches(expected, without_blank_end(output.splitlines())):
        return "got this output, not the one in the document:\n" + output
    return None


def check(document, program):
    """Runs one document; returns how many commands ran and the complaints."""
    try:
        commands = commands_of(document.read_text(encoding="utf-8"))
    except ValueError as error:
        return 0, [f"{document}:{error}"]
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        shim = Path(folder) / "flyball"
        shim.write_text(f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        for command in commands:
            complaint = run(command, folder)
            if complaint:
                complaints.append(f"{document}:{command.line}: $ {command.text}\n{complaint}")
    return len(commands), complaints


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    program = Path(sys.argv[1]).resolve()
    documents = [Path(name) for name in sys.argv[2:]]
    if not documents:
        documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        documents = [document for document in documents if document.exists()]
    ran, complaints = 0, []
    for document in documents:
        count, found = check(document, program)
        ran += count
        complaints += found
    print("\n".join(complaints) if complaints else f"{ran} commands in {len(documents)} documents do what they show")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
