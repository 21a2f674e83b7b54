#!/usr/bin/env python3
"""CITATION.cff is what tools that cite software can read, and agrees with the rest of the tree.

It is YAML. Only the part of YAML that the file needs is accepted: `key: value`, lists of values and of mappings, two
spaces of indentation, one line each. So a typing mistake is noticed without a YAML library. Then: the keys that version
1.2.0 of the format requires, the version of CMakeLists.txt, the licence of LICENSE, and papers that docs/claims.md
names. Exit 1 with a line for each complaint.

usage: check_citation.py [ROOT]
"""
import re
import sys
from pathlib import Path

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .-]*")  # what needs no quotes
KEY = re.compile(r"([a-z][a-z-]*):(?: (.*))?")


def value_of(text, number):
    if len(text) > 1 and text[0] == text[-1] == '"' and not re.search(r'["\\]', text[1:-1]):
        return text[1:-1]
    if PLAIN.fullmatch(text) and text == text.strip():
        return text
    raise ValueError(f"line {number}: got {text!r}, expected a plain word or a text in double quotes")


def parsed(text):
    """Nested dictionaries and lists. Raises ValueError with the line."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line and not line.startswith("#")]

    def block(at, indent):
        """What stands at `indent` from line `at` on, and the first line that does not belong to it."""
        out = None
        while at < len(lines):
            number, line = lines[at]
            depth = len(line) - len(line.lstrip(" "))
            if depth < indent:
                break
            if depth > indent or "\t" in line:
                raise ValueError(f"line {number}: indented by {depth}, expected {indent} spaces")
            content = line[indent:]
            if content.startswith("- "):
                out = [] if out is None else out
                if not isinstance(out, list):
                    raise ValueError(f"line {number}: a list inside a mapping")
                if KEY.fullmatch(content[2:]):
                    lines[at] = (number, " " * (indent + 2) + content[2:])  # the mapping begins on the dash's line
                    item, at = block(at, indent + 2)
                else:
                    item, at = value_of(content[2:], number), at + 1
                out.append(item)
                continue
            found = KEY.fullmatch(content)
            out = {} if out is None else out
            if not found or not isinstance(out, dict):
                raise ValueError(f"line {number}: got {content!r}, expected 'key: value'")
            if found.group(1) in out:
                raise ValueError(f"line {number}: a second {found.group(1)!r}")
            if found.group(2) is None:
                inner, at = block(at + 1, indent + 2)
                if inner is None:
                    raise ValueError(f"line {number}: nothing below {found.group(1)!r}")
                out[found.group(1)] = inner
            else:
                out[found.group(1)], at = value_of(found.group(2), number), at + 1
        return out, at

    return block(0, 0)[0]


def complaints(root):
    try:
        citation = parsed((root / "CITATION.cff").read_text(encoding="utf-8"))
    except ValueError as error:
        yield f"CITATION.cff: {error}"
        return
    for key in ("cff-version", "message", "title", "authors", "version", "license"):
        if key not in citation:
            yield f"CITATION.cff: no {key!r}"
            return
    if citation["cff-version"] != "1.2.0":
        yield f"CITATION.cff: got cff-version {citation['cff-version']}, expected 1.2.0"
    version = re.search(r"project\(flyball VERSION (\S+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if not version or citation["version"] != version.group(1):
        yield f"CITATION.cff: got version {citation['version']}, expected that of CMakeLists.txt"
    if citation["license"] != "Apache-2.0" or "Apache License" not in (root / "LICENSE").read_text(encoding="utf-8"):
        yield "CITATION.cff: its licence is not that of LICENSE"
    claims = " ".join((root / "docs/claims.md").read_text(encoding="utf-8").split())
    for who in [citation, *citation.get("references", [])]:
        title, authors = who.get("title", ""), who.get("authors")
        if not isinstance(authors, list) or not all({"name", "family-names"} & set(one) for one in authors):
            yield f"CITATION.cff: {title!r} has an author without a name"
    for paper in citation.get("references", []):
        number = paper.get("url", "").removeprefix("https://arxiv.org/abs/")
        named = f'"{paper.get("title")}"'
        authors = ", ".join(one.get("family-names", "") for one in paper.get("authors", []))
        if f"arXiv:{number})" not in claims or named not in claims or authors not in claims:
            yield f"CITATION.cff: docs/claims.md knows no {named} by {authors}, {paper.get('url')}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) == 2 else Path(__file__).resolve().parent.parent
    found = list(complaints(root))
    print("\n".join(found) if found else "CITATION.cff is well formed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
