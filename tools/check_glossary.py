#!/usr/bin/env python3
"""Every word that the program prints as a name is explained in the documents.

    heads of tables              in the glossary of docs/concepts.md, for every command that prints one
    outcomes, verdicts, laws     in the glossary; the words are read from the sources that name them
    findings of `check`          in docs/check.md or docs/conformance.md; the same
    fields of JSON documents     in the glossary, or on the page of the command

A word is explained in the glossary where it stands in backquotes in the first cell of a row of a table; on the page of a
command also anywhere in backquotes. Short runs of all commands print the words. Exit 1 with a line for each word that is missing.

usage: check_glossary.py PROGRAM [ROOT]
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EQUATION = "x + dt*norm(f(norm(x))) | norm(x)"
MODEL = ["builtin:pre-ln", "--string", "To be, or not to be, that is the question"]

# What is run, and the page that explains the fields of its document. A command of --help that is not here is an error.
RUNS = {
    "schemes": [(["mix-ln"], "equation")],
    "theory": [(["pre-ln", "--samples", "2", "--tokens", "8", "--beta", "1,2"], "theory")],
    "simulate": [(["post-ln", "--tokens", "4", "--time", "1", "--samples", "2"], "simulate"),
                 (["post-ln", "--weights", "builtin:pre-ln", "--tokens", "4", "--layers", "2"], "simulate")],
    "check": [([EQUATION, "--depth", "4", "--steps", "10"], "check"),
              (["pre-ln", "peri-ln", "--depth", "4", "--steps", "10"], "check"),
              (["pre-ln", "--against", "{root}/tests/check/golden/pre-ln-f32.safetensors"], "conformance")],
    "inspect": [(["builtin:pre-ln", "builtin:peri-ln", "--length", "32", "--sequences", "2"], "inspect"),
                (["builtin:pre-ln", "--length", "32", "--sequences", "2", "--drop", "--lens"], "inspect")],
    "limits": [([*MODEL, "--lengths", "16,32", "--attention", "softmax,sparsemax"], "limits"),
               ([*MODEL, "--head", "3.5", "--row", "20"], "limits")],
    "train": [(["pre-ln", "--layers", "1", "--dim", "16", "--heads", "2", "--context", "16", "--batch", "2", "--steps", "2",
                "--tokens", "20000"], "train")],
    "reproduce": [(["--quick", "--only", "dynamics-table-post-ln"], "claims"),
                  (["dynamics", "--list"], "claims")],
    "forward": [([*MODEL, "--top", "2"], "models"), ([*MODEL, "--stride", "8", "--length", "16"], "models")],
    "tokenize": [(MODEL, "models")],
    "sample": [(["builtin:pre-ln", "--prompt", "To be", "--tokens", "3"], "sample")],
    "report": [(["{run}"], "report")],
}
# {run}: what this writes, for commands that look at results.
RUN = ["simulate", "post-ln", "--tokens", "4", "--time", "1", "--samples", "2", "--out", "run"]

# Sources whose functions give words their names: `case ..: return "word";`.
NAMES = ["src/dynamics/run.cpp", "src/theory/law.cpp", "src/check/finding.cpp", "src/check/conformance.cpp",
         "src/claims/claim.cpp", "src/measure/growth.cpp", "src/model/stream_bound.cpp", "src/model/sample.cpp",
         "src/train/trainer.cpp"]


def heads_of(text):
    """The heads of every table in a text: the cells above a rule of dashes, whose columns are those of the rule."""
    lines = text.splitlines()
    for above, rule in zip(lines, lines[1:]):
        if re.fullmatch(r"-+(  -+)*", rule.strip()) and "-" * 80 not in rule:
            for span in re.finditer(r"-+", rule):
                cell = above[span.start():span.end()].strip()
                if cell:
                    yield cell


def fields_of(document):
    """The names of fields of a JSON document, at any depth. Tables whose keys are data (names of matrices) are left out."""
    if isinstance(document, list):
        for entry in document:
            yield from fields_of(entry)
    elif isinstance(document, dict):
        for key, value in document.items():
            if re.fullmatch(r"[a-z][a-z0-9_]*", key):
                yield key
                yield from fields_of(value)


def quoted(text):
    """Words in backquotes, also those inside a longer quotation: `a`, `{"b", "c": []}`. Blocks of code do not count."""
    words = set()
    for quotation in re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        words.add(quotation)
        words.update(re.findall(r"[A-Za-z][\w-]*", quotation))
    return words


def numberless(head):
    """`t(0.9)` and `t(0.99)` are one head."""
    return re.sub(r"[0-9.]+", "#", head)


def first_cells(text):
    words = set()
    for line in text.splitlines():
        if line.startswith("|"):
            cell = re.split(r"(?<!\\)\|", line)[1].replace("\\|", "|")
            words.update(re.findall(r"`([^`]+)`", cell))
    return words


def on_page(text):
    """What the page of a command explains: what it quotes, and the first cells of its tables."""
    cells = " ".join(line.split("|")[1] for line in text.splitlines() if line.startswith("|"))
    return quoted(text) | set(re.findall(r"[a-z][\w-]*", cells))


def names_in(source):
    return re.findall(r'case [\w:]+:\s*return "([a-z-]+)";', source)


def findings_in(source):
    return re.findall(r'\{"([a-z]+(?:-[a-z]+)+)",\s*(?:[\w?: ]+)?Severity::', source)


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__)
        return 2
    program = str(Path(sys.argv[1]).resolve())
    root = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (root / "docs").glob("*.md")}
    glossary = first_cells(pages["concepts"].partition("\n## Glossary\n")[2])
    heads = {numberless(word) for word in glossary}
    missing = set()

    help_page = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z]+) {2,}", help_page.partition("commands:")[2].partition("\n\n")[0], re.M)
    missing.update(f"{command}: tools/check_glossary.py does not run it" for command in commands if command not in RUNS)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, *RUN], cwd=folder, capture_output=True, check=True)
        for command in commands:
            for arguments, page in RUNS.get(command, []):
                call = [program, command, *(word.format(root=root, run="run") for word in arguments)]
                for flags in ([], ["--json"]):
                    if flags and "--list" in arguments:
                        continue
                    done = subprocess.run([*call, *flags], cwd=folder, capture_output=True, text=True)
                    if done.returncode > 1:
                        missing.add(f"{' '.join(call + flags)}: exit code {done.returncode}: {done.stderr}")
                    elif flags:
                        explained = glossary | on_page(pages.get(page, ""))
                        missing.update(f"{command} --json: the field {field!r} is neither in the glossary nor in docs/{page}.md"
                                       for field in fields_of(json.loads(done.stdout)) if field not in explained)
                    else:
                        missing.update(f"{command}: the head {head!r} of a table is not in the glossary of docs/concepts.md"
                                       for head in heads_of(done.stdout) if numberless(head) not in heads)
    for name in NAMES:
        missing.update(f"{name}: {word!r} is not in the glossary of docs/concepts.md"
                       for word in names_in((root / name).read_text(encoding="utf-8")) if word not in glossary)
    explained = quoted(pages["check"]) | quoted(pages["conformance"])
    for source in sorted((root / "src/check").glob("*.cpp")):
        missing.update(f"{source.name}: the finding {word!r} is neither in docs/check.md nor in docs/conformance.md"
                       for word in findings_in(source.read_text(encoding="utf-8")) if word not in explained)
    print("\n".join(sorted(missing)) if missing else "every word is explained")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
