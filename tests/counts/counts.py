#!/usr/bin/env python3
"""Counts the instructions of hot paths and compares them with what was recorded: speed cannot rot unnoticed.

A count does not depend on how busy the machine is, so it can be a test where a time cannot. The paths are in counted.cpp;
valgrind counts them at one thread, with the kernels for AVX2 and OpenBLAS's for Haswell on every machine that has these.
On another CPU, or built with another compiler than the record was, there is nothing to compare with: exit code 77.

usage: counts.py PROGRAM            compares; exit code 1 when a path takes more than 10 % more than recorded
       counts.py PROGRAM --record   writes recorded.json anew, after a change that is worth its instructions
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent / "recorded.json"
MORE = 0.10   # a path that takes more than this beyond its record fails
LESS = 0.10   # one that takes less says so: recording it anew keeps the next slowdown from hiding in the gain
SKIPPED = 77  # what ctest is told to take for a skipped test
FEWEST = 10_000  # a region below this was not entered


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def compiler_of(program):
    """Its name and major version: a point release does not change the code it makes by a tenth."""
    told = subprocess.run([program, "--compiler"], capture_output=True, text=True, check=True).stdout
    return re.match(r"(\S+ \d+)", told)[1]


def check_machine():
    if shutil.which("valgrind") is None:
        skip("valgrind is not installed (./test installs it)")
    cpu = pathlib.Path("/proc/cpuinfo")
    flags = re.search(r"^flags\s*:(.*)$", cpu.read_text(), re.M) if cpu.is_file() else None
    if flags is None or not {"avx2", "fma"} <= set(flags[1].split()):
        skip("this CPU has no AVX2, for which the counts were recorded")


def counted(program):
    """Instructions by path."""
    environment = {**os.environ, "FLYBALL_ISA": "avx2", "OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted_region",
                   "--dump-after=counted_region", f"--callgrind-out-file={folder}/out", program]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            sys.exit(f"valgrind ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        names = done.stdout.split("\n")[:-1]
        counts = {}
        for number, name in enumerate(names, start=1):
            dump = pathlib.Path(f"{folder}/out.{number}").read_text()
            counts[name] = int(re.search(r"^(?:summary|totals):\s*(\d+)", dump, re.M)[1])
    empty = [name for name, count in counts.items() if count < FEWEST]
    if empty or not counts:
        sys.exit(f"nothing was counted in: {', '.join(empty) or 'any path'}")
    return counts


def compare(counts, recorded):
    """Prints a line a path; returns those that take too many."""
    slower = []
    for name in sorted(counts.keys() | recorded.keys()):
        now, before = counts.get(name), recorded.get(name)
        if now is None or before is None:
            print(f"{name}: {'not recorded' if before is None else 'recorded, and no longer there'}")
            slower.append(name)
            continue
        change = now / before - 1
        word = "SLOWER" if change > MORE else "faster" if change < -LESS else "same"
        print(f"{word:7} {change:+7.1%} {now:12,d}  {name}")
        if change > MORE:
            slower.append(name)
    return slower


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[1:] not in ([], ["--record"]):
        sys.exit(__doc__)
    check_machine()
    program = arguments[0]
    compiler = compiler_of(program)
    if arguments[1:] == ["--record"]:
        counts = counted(program)
        RECORD.write_text(json.dumps({"compiler": compiler, "instructions": counts}, indent=2) + "\n")
        print(f"{len(counts)} paths recorded in {RECORD}")
        return 0
    record = json.loads(RECORD.read_text())
    if compiler != record["compiler"]:
        skip(f"built with {compiler}, recorded with {record['compiler']}")
    slower = compare(counted(program), record["instructions"])
    if slower:
        print(f"{len(slower)} of the paths take more than {MORE:.0%} more instructions than recorded. Find out why; if "
              f"the work is worth it, record anew with\n  python3 tests/counts/counts.py {program} --record")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
