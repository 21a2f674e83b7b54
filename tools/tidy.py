#!/usr/bin/env python3
"""clang-tidy over every source in src that the given build compiles; only files that changed are looked at again.

A file is checked anew when its text, that of a header of ours it reaches, its compile command, .clang-tidy or clang-tidy
itself has changed. What passed is remembered in BUILD/tidy.

usage: tidy.py BUILD
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    build = Path(sys.argv[1]).resolve()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if Path(entry["file"]).is_relative_to(ROOT / "src")]
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)

    def stamp(entry):
        return passed / str(Path(entry["file"]).relative_to(ROOT / "src")).replace("/", "-")

    def is_clean(entry):
        mark = fingerprint(entry, build, version)
        if stamp(entry).is_file() and stamp(entry).read_text() == mark:
            return None
        result = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), entry["file"]], capture_output=True, text=True)
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
