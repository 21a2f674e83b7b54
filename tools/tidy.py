#!/usr/bin/env python3
"""clang-tidy over the sources in src that the given build compiles; only files that changed are looked at again.

A file is checked anew when its text, that of a header of ours it reaches, its compile command, .clang-tidy or clang-tidy
itself has changed. What passed is remembered in BUILD/tidy.

    --all     every such file: a quarter of an hour of two processors when nothing is remembered
    --due     those that are not committed or that one of the last three commits changed, themselves or by a header that they
              include, and one in 32 of the others, chosen by the commit's hash: over some commits it comes to all of them.
              Outside of a git checkout, and with FLYBALL_WHOLE=1, this is --all.

usage: tidy.py BUILD (--all | --due)
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from due import changed_lately, git

ROOT = Path(__file__).resolve().parent.parent
COUNT = re.compile(r"^\d+ warnings?.* generated\.\n", re.M)  # counts the ones in system headers
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.M)


def reached(path, folders, seen):
    """Adds to `seen` the path and every header it includes, by way of others too."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        for folder in folders:
            header = folder / name.decode()
            if header.is_file():
                reached(header, folders, seen)
                break


def fingerprint(entry, build, version):
    files = set()
    reached(Path(entry["file"]), [ROOT / "src", build / "src"], files)
    digest = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes() + entry["command"].encode())
    for path in sorted(files):
        digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_due(path, changed, commit):
    """`path` and names in `changed` from the root."""
    touched = {path, *(f"src/{name.decode()}" for name in INCLUDE.findall((ROOT / path).read_bytes()))}
    by_chance = int(hashlib.sha256(f"{commit} {path}".encode()).hexdigest(), 16) % 32 == 0
    return bool(touched & changed) or by_chance


def alone(entry, build):
    """The compile commands of the sources that a file of cmake/United.cmake includes, each as if compiled by itself."""
    path = Path(entry["file"])
    if path.parent != build / "src" / "united":
        return [entry]
    names = [name.decode() for name in INCLUDE.findall(path.read_bytes())]
    command = entry["command"].replace(" -Wno-shadow", "")
    return [dict(entry, file=str(ROOT / "src" / name), command=command.replace(str(path), str(ROOT / "src" / name)))
            for name in names]


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("--all", "--due"):
        print(__doc__)
        return 2
    build = Path(sys.argv[1]).resolve()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    entries = [part for entry in json.loads((build / "compile_commands.json").read_text()) for part in alone(entry, build)
               if Path(part["file"]).is_relative_to(ROOT / "src")]
    if sys.argv[2] == "--due" and os.environ.get("FLYBALL_WHOLE") != "1":
        changed, commit = changed_lately(), git("rev-parse", "HEAD")
        if changed is not None:
            entries = [entry for entry in entries if is_due(str(Path(entry["file"]).relative_to(ROOT)), changed, commit)]
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)
    (passed / "compile_commands.json").write_text(json.dumps(entries))

    def stamp(entry):
        return passed / str(Path(entry["file"]).relative_to(ROOT / "src")).replace("/", "-")

    def is_clean(entry):
        mark = fingerprint(entry, build, version)
        if stamp(entry).is_file() and stamp(entry).read_text() == mark:
            return None
        result = subprocess.run(["clang-tidy", "--quiet", "-p", str(passed), entry["file"]], capture_output=True, text=True)
        if result.returncode == 0:
            stamp(entry).write_text(mark)
        else:
            print(result.stdout + COUNT.sub("", result.stderr), flush=True)
        return result.returncode == 0

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(is_clean, entries))
    print(f"clang-tidy: {results.count(False)} of {len(results)} files have findings; "
          f"{results.count(None)} were unchanged since they passed")
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
