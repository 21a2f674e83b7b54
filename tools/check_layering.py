#!/usr/bin/env python3
"""Checks the rules every source file keeps; prints each breach as FILE:LINE and exits 1.

  * a module includes only the modules it is allowed to (MAY_INCLUDE and whatever those may include);
  * nobody but cli prints or ends the process, or speaks of flags (messages name settings: setting() of core/error.hpp);
  * nobody turns on fast-math, in a source or in a build file;
  * no file is longer than LONGEST lines.

usage: check_layering.py [ROOT]
"""
import re
import sys
from pathlib import Path

# What each module may include directly. The closure follows from it.
MAY_INCLUDE = {
    "core": [],
    "scheme": ["core"],
    "attention": ["core"],
    "report": ["measure"],
    "measure": ["core"],
    "record": ["core"],
    "results": ["scheme", "report", "record"],
    "serve": ["core"],
    "dynamics": ["scheme", "attention", "measure", "record"],
    "theory": ["scheme"],
    "tokenizer": ["core"],
    "model": ["scheme", "attention", "measure", "tokenizer"],
    "limits": ["model"],
    "inspect": ["model"],
    "train": ["model", "record"],
    "bridge": ["dynamics", "model"],
    "check": ["theory", "dynamics", "train"],
    "claims": ["bridge", "check", "limits", "inspect", "report"],
    "cli": ["claims", "results", "serve"],
}
LONGEST = 450

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
SYSTEM_STREAM = r"(?:std::)?\bstd(?:out|err)\b"
PRINTS = [
    (re.compile(r"\bstd::(?:w?cout|w?cerr|w?clog)\b"), "prints"),
    (re.compile(r"(?<![\w.>])(?:std::|::)?(?:v?printf|puts|putchar|perror)\s*\("), "prints"),
    (re.compile(r"\bfmt::print(?:ln)?\s*\(\s*(?:\"|fmt::|FMT_|" + SYSTEM_STREAM + ")"), "prints"),
    (re.compile(r"\bf(?:printf|puts|putc|write)\s*\([^;]*" + SYSTEM_STREAM), "prints"),
    (re.compile(r"(?<![\w.>])(?:std::|::)?(?:exit|_exit|_Exit|quick_exit|abort|terminate)\s*\("), "ends the process"),
]
# "--dt 0" in a string; not "--", as in the names of a cache, or "--{}", as in a style sheet.
FLAG = re.compile(r"(?<![\w-])--[a-z]")
FAST_MATH = re.compile(r"-ffast-math|-Ofast|-funsafe-math-optimizations|\bfast-math\b|__FAST_MATH__")
# A comment or a string; kept or blanked as a whole, so that neither can hide the other.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)


def closure(module):
    reached = set()
    waiting = [module]
    while waiting:
        for name in MAY_INCLUDE[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def code_only(text, keep_strings=False):
    """The text with comments blanked and strings emptied, line for line."""

    def blank(match):
        found = match.group(0)
        lines = "\n" * found.count("\n")
        if found.startswith("/"):
            return lines
        return found if keep_strings else '""' + lines

    return NOISE.sub(blank, text)


def breaches_in(path, module, module_names):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > LONGEST:
        yield len(lines), f"has {len(lines)} lines, expected at most {LONGEST}. hint: split it by subject"
    for number, line in enumerate(code_only(text, keep_strings=True).splitlines(), 1):
        if FAST_MATH.search(line):
            yield number, "asks for fast-math, which breaks NaN and the order of sums"
        include = INCLUDE.match(line)
        if include:
            bracket, name = include.groups()
            target = name.split("/")[0]
            if bracket == '"' and "/" not in name:
                yield number, f'includes "{name}", expected "module/file.hpp"'
            elif bracket == '"' and target not in module_names:
                yield number, f'includes "{name}", whose folder is no module'
            elif bracket == '"' and target != module and target not in closure(module):
                allowed = ", ".join(sorted(closure(module))) or "no other module"
                yield number, f'includes "{name}", but {module} may include {allowed}'
    if module != "cli":
        for number, line in enumerate(code_only(text).splitlines(), 1):
            for pattern, what in PRINTS:
                if pattern.search(line):
                    yield number, f"{what}; only cli does that. hint: return a value or throw flyball::Error"
                    break
        for found in NOISE.finditer(text):
            if not found.group(0).startswith("/") and FLAG.search(found.group(0)):
                yield (text.count("\n", 0, found.start()) + 1,
                       'speaks of a flag; only cli knows flags. hint: name the setting with setting("dt", "0")')


def breaches(root):
    source = root / "src"
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".cpp", ".hpp", ".h", ".inl", ".inc", ".in"}:
            continue
        module = path.relative_to(source).parts[0]
        if module not in MAY_INCLUDE:
            yield f"{path.relative_to(root)}:1: is in no module that check_layering.py knows"
            continue
        for number, message in breaches_in(path, module, MAY_INCLUDE):
            yield f"{path.relative_to(root)}:{number}: {message}"
    for path in [root / "CMakeLists.txt", root / "CMakePresets.json", *sorted(source.glob("**/CMakeLists.txt")),
                 *sorted((root / "cmake").glob("*"))]:
        if path.is_file():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if FAST_MATH.search(line.split("#")[0]):
                    yield f"{path.relative_to(root)}:{number}: asks for fast-math"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(breaches(root))
    for line in found:
        print(line)
    print(f"{len(found)} breaches" if found else "layering: every source keeps the rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
