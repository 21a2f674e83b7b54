#!/usr/bin/env python3
"""Writes unicode_table.inl and unicode_decompositions.inl from Python's unicodedata.

The published tokenizers were trained and are run with the library `tokenizers`, whose tables are of several versions of
Unicode: 8 for punctuation, marks and control characters, 9 for decompositions, a recent one for lower case. The lists
below take back what unicodedata 14 knows and those tables do not, and add what it does not know yet, so that the tables
agree with the library (0.23) at every code point; tests/tokenizer/unicode_test.cpp holds the checksums.

usage: unicode_table.py      (unicodedata must be of Unicode 14.0: Python 3.11)
"""
import sys
import unicodedata
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
ASCII_SYMBOLS = "$+<=>^`|~"  # BERT calls these punctuation too

NEW_CONTROLS = "890-891 8e2 110cd 13430-13438"
OLD_MARKS = "1734"
NEW_MARKS = """7fd 898-89f 8ca-8e1 9fe afa-aff b55 c04 c3c d00 d3b-d3c d81 eba 180f 1885-1886 1abf-1ace 1df6-1dfb a82c a8c5
    a8ff a9bd 10d24-10d27 10eab-10eac 10f46-10f50 10f82-10f85 11070 11073-11074 110c2 111c9 111cf 1123e 1133b 11438-1143f
    11442-11444 11446 1145e 1182f-11837 11839-1183a 1193b-1193c 1193e 11943 119d4-119d7 119da-119db 119e0 11a01-11a0a
    11a33-11a38 11a3b-11a3e 11a47 11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a99 11c30-11c36 11c38-11c3d 11c3f
    11c92-11ca7 11caa-11cb0 11cb2-11cb3 11cb5-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95
    11d97 11ef3-11ef4 16f4f 16fe4 1cf00-1cf2d 1cf30-1cf46 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a
    1e130-1e136 1e2ae 1e2ec-1e2ef 1e944-1e94a"""
OLD_PUNCTUATION = "166d 111c9"
NEW_PUNCTUATION = """61d 9fd a76 c77 c84 1b7d-1b7e 2e43-2e4f 2e52-2e5d 10ead 10f55-10f59 10f86-10f89 1144b-1144f
    1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2 11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11c41-11c45
    11c70-11c71 11ef7-11ef8 11fff 12ff1-12ff2 16e97-16e9a 16fe2 1e95e-1e95f"""
NEW_DECOMPOSITIONS = "11938"
NEW_CLASSES = """7fd 898-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1ace 1df6-1dfa a82c 10d24-10d27 10eab-10eac 10f46-10f50
    10f82-10f85 11070 1133b 1145e 11839-1183a 11938 1193d-1193e 11943 119e0 11a34 11a47 11a99 11d42 11d44-11d45 11d97
    16ff0-16ff1 1e130-1e136 1e2ae 1e2ec-1e2ef"""
LATER_LOWER = {0x1C89: 0x1C8A, 0xA7CB: 0x264, 0xA7CC: 0xA7CD, 0xA7CE: 0xA7CF, 0xA7D2: 0xA7D3, 0xA7D4: 0xA7D5,
               0xA7DA: 0xA7DB, 0xA7DC: 0x19B, **{point: point + 0x20 for point in range(0x10D50, 0x10D66)},
               **{point: point + 0x1B for point in range(0x16EA0, 0x16EB9)}}


def listed(text):
    found = set()
    for item in text.split():
        first, _, last = item.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


def category(point):
    return unicodedata.category(chr(point))


def ranges(points):
    """Runs of neighbours as [first, last]."""
    runs = []
    for point in sorted(points):
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return runs


def lower_runs(lower):
    """[first, last, step, difference]: every step-th point from first to last becomes point + difference."""
    runs = []
    for point, becomes in sorted(lower.items()):
        if runs and runs[-1][3] == becomes - point:
            first, last, step, _ = runs[-1]
            if point - last == step or (first == last and point - last <= 2):
                runs[-1][1:3] = point, point - last
                continue
        runs.append([point, point, 1, becomes - point])
    return runs


def class_runs(classes):
    runs = []
    for point, value in sorted(classes.items()):
        if runs and runs[-1][1] == point - 1 and runs[-1][2] == value:
            runs[-1][1] = point
        else:
            runs.append([point, point, value])
    return runs


def table(kind, name, rows):
    items = ["{" + ",".join(f"{value:#x}" if value > 9 else str(value) for value in row) + "}," for row in rows]
    lines = [f"constexpr std::array<{kind}, {len(rows)}> {name} = {{{{"]
    line = "   "
    for item in items:
        if len(line) + 1 + len(item) > 120:
            lines.append(line)
            line = "   "
        line += " " + item
    return "\n".join([*lines, line, "}};", ""])


def write(name, about, tables):
    text = (f"// {about}\n// Written by unicode_table.py from Unicode {unicodedata.unidata_version}; do not edit.\n"
            "// clang-format off\n" + "\n".join(tables) + "// clang-format on\n")
    (FOLDER / name).write_text(text, encoding="utf-8")


def main():
    if unicodedata.unidata_version != "14.0.0":
        print(f"unicodedata is of Unicode {unicodedata.unidata_version}, expected 14.0.0. hint: use Python 3.11")
        return 2
    controls = {p for p in POINTS if category(p) in ("Cc", "Cf", "Co")} - listed(NEW_CONTROLS)
    marks = {p for p in POINTS if category(p) == "Mn"} - listed(NEW_MARKS) | listed(OLD_MARKS)
    punctuation = {p for p in POINTS if category(p)[0] == "P"} - listed(NEW_PUNCTUATION) | listed(OLD_PUNCTUATION)
    punctuation |= {ord(c) for c in ASCII_SYMBOLS}
    # U+0130 is the one character that becomes two; the code knows.
    lower = {p: ord(chr(p).lower()) for p in POINTS if len(chr(p).lower()) == 1 and chr(p).lower() != chr(p)} | LATER_LOWER
    classes = {p: unicodedata.combining(chr(p)) for p in POINTS if unicodedata.combining(chr(p))}
    for point in listed(NEW_CLASSES):
        classes.pop(point, None)
    # One step each, as Unicode has them. The last number of a pair: may it be composed again?
    singletons, pairs = [], []
    for point in POINTS:
        parts = unicodedata.decomposition(chr(point)).split()
        if parts and not parts[0].startswith("<") and point not in listed(NEW_DECOMPOSITIONS):
            first, *rest = (int(part, 16) for part in parts)
            if rest:
                composes = unicodedata.normalize("NFC", chr(first) + chr(rest[0])) == chr(point)
                pairs.append([point, first, rest[0], int(composes)])
            else:
                singletons.append([point, first])
    write("unicode_table.inl", "Character classes, lower case and combining classes.",
          [table("Range", "controls", ranges(controls)), table("Range", "nonspacing_marks", ranges(marks)),
           table("Range", "punctuation", ranges(punctuation)), table("LowerRun", "lower_runs", lower_runs(lower)),
           table("ClassRun", "class_runs", class_runs(classes))])
    write("unicode_decompositions.inl", "Canonical decompositions, one step each; Hangul is computed.",
          [table("Singleton", "singletons", singletons), table("Pair", "pairs", pairs)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
