#!/usr/bin/env python3
"""Which modules tools/due.py names: one turn by the commit, what changed, and everything where nobody can tell."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from due import due_modules  # noqa: E402

TURNS = [["a", "b"], ["c"], ["d", "e"]]
failures = 0
for changed, commit, expected in [
    (set(), "0000000f", ["a", "b"]),
    (set(), "0000001f", ["c"]),
    (set(), "0000002f", ["d", "e"]),
    (set(), "0000003f", ["a", "b"]),
    ({"src/e/x.cpp", "docs/d/x.md", "README.md", "src/CMakeLists.txt"}, "0000001f", ["c", "e"]),
    ({"tests/a/x_test.cpp", "src/c/y.hpp"}, "0000001f", ["a", "c"]),
    ({"tests/a/golden/x.json", "tests/CMakeLists.txt", ""}, "0000001f", ["a", "c"]),
    (None, "0000001f", ["a", "b", "c", "d", "e"]),
]:
    found = due_modules(TURNS, changed, commit)
    if found != expected:
        failures += 1
        print(f"{changed} at {commit}: {found}, expected {expected}")
sys.exit(1 if failures else 0)
