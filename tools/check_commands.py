#!/usr/bin/env python3
"""Every command of the program has what a command needs: tests of its own, a page, a line for newcomers, faults.

    tests/cli/NAME_test.cpp       with a test of its --json and one of an error (exit code 2)
    docs/*.md                     a line with `flyball NAME`
    README.md                     the same
    tests/faults/faults_test.py   a scenario, when it writes files (a flag --out, --save or --plot)

The list of commands is what the program says of itself. Exit 1 with a line for each gap.

usage: check_commands.py PROGRAM [ROOT]
"""
import re
import subprocess
import sys
from pathlib import Path


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


def names_in(text):
    """The first words of the lines below "Subcommands:" or "Commands:"."""
    lines = iter(text.splitlines())
    for line in lines:
        if re.match(r"(sub)?commands:$", line.strip(), re.I):
            break
    names = []
    for line in lines:
        found = re.match(r"  ([a-z][a-z-]*) ", line + " ")
        if found:
            names.append(found.group(1))
        elif line and not line[0].isspace():
            break
    return names


def gaps(program, root):
    names = names_in(help_of(program))
    if not names:
        yield f"{program} --help names no commands"
    pages = "\n".join(page.read_text() for page in sorted((root / "docs").glob("*.md")))
    faults = (root / "tests/faults/faults_test.py").read_text()
    for name in names:
        called = re.compile(rf"flyball {name}\b")
        tests = root / f"tests/cli/{name}_test.cpp"
        text = tests.read_text() if tests.is_file() else ""
        if not re.search(r"^TEST", text, re.M):
            yield f"{name}: no tests in tests/cli/{name}_test.cpp"
        else:
            if "--json" not in text:
                yield f"{name}: no test of its JSON in tests/cli/{name}_test.cpp"
            if not re.search(r"\bexit, 2\)", text):
                yield f"{name}: no test of its errors in tests/cli/{name}_test.cpp"
        if not called.search(pages):
            yield f"{name}: no page in docs says `flyball {name}`"
        if not called.search((root / "README.md").read_text()):
            yield f"{name}: README.md does not name `flyball {name}`"
        writes = re.search(r"--(out|save|plot)\b", help_of(program, name))
        if writes and not re.search(rf'\[?"{name}"[,\]]', faults):
            yield f"{name}: it has {writes.group(0)}, and no scenario in tests/faults/faults_test.py"


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    root = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent
    found = list(gaps(sys.argv[1], root))
    for gap in found:
        print(gap)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
