#!/usr/bin/env python3
"""Plants one mistake at a time in a copy of the tree and checks that a test turns red.

The lists are tools/mutations/MODULE.py, each with two of them: KNOWN was written by someone who knew the tests, BLIND by
someone who had not seen them. An entry is (name, file, text that occurs exactly once in it, what takes its place), and
where other tests than those of its module are the ones to notice, who: a module, or "faults" for the walk of tests/faults.
Mistakes in web/src are those of the module "web", whose tests are tests/browser; they need a browser.

usage: mutations.py [--own] [NAME|MODULE|FILE...]   all of them, or those named; prints survivors, exit 1 if any;
                                         --own: asks only the tests of the mistake's own module, or those it names,
                                         which is quick
       mutations.py --check              the lists alone: every text occurs once, and each module has enough; takes a moment
       mutations.py --pick COUNT [SEED]  COUNT of them, chosen by SEED (the commit's hash unless given), leaving out those
                                         that nobody has seen turn red yet: tools/mutations/untried.txt

The copy is build/mutations and is built there with the flags of the release build, so that a compiler cache which has seen
the release build compiles the mistaken files alone. docs/decisions/0003 has the last result.
"""
import fcntl
import filecmp
import hashlib
import os
import pathlib
import re
import resource
import signal
import runpy
import shutil
import subprocess
import sys
import time

from check_layering import MAY_INCLUDE, closure

ROOT = pathlib.Path(__file__).resolve().parent.parent
LISTS = ROOT / "tools/mutations"
UNTRIED = LISTS / "untried.txt"  # one name a line; take a name out once its mistake was seen red
TREE = ROOT / "build/mutations"
BUILD = TREE / "build/release"
FEWEST = 10  # of a module
FEW = 10  # mistakes that are not worth a build of their own
# Test programs from cheap to dear, so that a mistake is found as early as can be; others come after these.
ORDER = ["core", "report", "record", "serve", "tokenizer", "claims", "measure", "scheme", "theory", "attention", "limits", "train", "model", "dynamics",
         "bridge", "cli"]
WITHOUT_AVX2 = ["scheme", "attention", "model", "limits"]  # their tests run again with FLYBALL_ISA=plain
TIMEOUT = 600
FAULT_WALK = "flyball_faults"
WEB = "web"
BROWSER = "flyball_browser"
SERVED = "flyball_browser_serve"  # the page beside a run that goes on
# Modules whose failures to write, rename or allocate tests/faults provokes.
FAULTS = ["core", "record", "dynamics", "train", "cli"]
# Tests that go by the clock: on a busy machine they may fail without any mistake.
CLOCKED = "-*Killed*:*Interrupt*:*SaysHowLong*"


class Mutation:
    def __init__(self, entry, blind):
        self.name, self.file, self.old, self.new, *asks = entry
        self.asks = asks[0] if asks else None
        self.blind = blind
        first, second = pathlib.PurePath(self.file).parts[:2]
        self.module = WEB if first == WEB else second


def load():
    mutations = []
    for path in sorted(LISTS.glob("*.py")):
        lists = runpy.run_path(path)
        for key in ("KNOWN", "BLIND"):
            mutations += [Mutation(entry, key == "BLIND") for entry in lists.get(key, [])]
    return mutations


def untried():
    return UNTRIED.read_text().split() if UNTRIED.is_file() else []


def modules():
    return sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir())


def breaches(mutations):
    """What is wrong with the lists themselves, one sentence each."""
    found = []
    seen = set()
    for m in mutations:
        if m.name in seen:
            found.append(f"{m.name}: there are two of this name")
        seen.add(m.name)
        path = ROOT / m.file
        count = path.read_text().count(m.old) if path.is_file() else 0
        if count != 1:
            found.append(f"{m.name}: its text occurs {count} times in {m.file}, expected once: {m.old!r}")
        if m.old == m.new:
            found.append(f"{m.name}: it changes nothing")
        if m.asks is not None and m.asks not in [*modules(), "faults"]:
            found.append(f"{m.name}: it asks {m.asks!r}, expected a module or 'faults'")
    found += [f"{name}: listed in {UNTRIED.name}, and no mistake has this name" for name in untried() if name not in seen]
    for module in [*modules(), *([WEB] if (ROOT / WEB).is_dir() else [])]:
        of_module = [m for m in mutations if m.module == module]
        if len(of_module) < FEWEST:
            found.append(f"{module}: {len(of_module)} mistakes, expected at least {FEWEST}")
    return found


def synchronise():
    """Makes TREE a copy of ROOT, touching only files that differ: what is built there stays built."""
    wanted = set()
    for folder, folders, files in os.walk(ROOT):
        here = pathlib.Path(folder)
        folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__")]
        for name in files:
            relative = (here / name).relative_to(ROOT)
            if name == ".git":
                continue
            wanted.add(relative)
            copy = TREE / relative
            if not copy.is_file() or not filecmp.cmp(here / name, copy, shallow=False):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(here / name, copy)
    for folder, folders, files in os.walk(TREE):
        if pathlib.Path(folder) == TREE:
            folders[:] = [f for f in folders if f != "build"]
        for name in files:
            path = pathlib.Path(folder) / name
            if path.relative_to(TREE) not in wanted and path != TREE / ".lock":
                path.unlink()


def configure(united):
    # Compiled together the copy is what the release build is, which the compiler cache has seen; file by file it takes a
    # whole build at first, and then a mistake is one file to compile instead of a dozen.
    # Tests are run by program, so there is no need to list them after each link.
    command = ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DFLYBALL_TESTS=ON",
               f"-DFLYBALL_UNITED={'ON' if united else 'OFF'}", "-DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"could not configure {BUILD}\n{done.stdout}{done.stderr}")


def programs():
    """The test programs there are, by module."""
    listed = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], capture_output=True, text=True, check=True)
    names = sorted(set(re.findall(r"^tests/(flyball_test_\w+): ", listed.stdout, re.M)) - {"flyball_test_places"})
    by_module = {}
    for name in names:
        by_module.setdefault(name.split("_")[2], []).append(name)
    return by_module


def runs_for(module, by_module, own, asks=None):
    """What can notice a mistake in a module, as (program, environment): whom it names, its own tests, those of its users."""
    if module == WEB:
        return [(BROWSER, {"FLYBALL_FAIL_FAST": "1"}), (SERVED, {})]
    users = [m for m in MAY_INCLUDE if module in closure(m) and m != module]
    users.sort(key=lambda m: ORDER.index(m) if m in ORDER else len(ORDER))
    asked = [module] if asks is None else [asks]
    if not own:
        asked += [module, *users] + (["faults"] if module in FAULTS else [])
    runs = []
    for one in dict.fromkeys(asked):
        if one == "faults":
            runs.append((FAULT_WALK, {}))
            continue
        runs += [(program, {}) for program in by_module.get(one, [])]
        if one == module and one in WITHOUT_AVX2:
            runs.append((f"flyball_test_{one}", {"FLYBALL_ISA": "plain"}))
    return runs


def command_of(program):
    if program in (BROWSER, SERVED):
        return ["python3", TREE / "tests/browser" / ("browser_test.py" if program == BROWSER else "serve_test.py"), BUILD / "src/flyball"]
    if program == FAULT_WALK:
        return ["python3", TREE / "tests/faults/faults_test.py", BUILD / "src/flyball",
                next((BUILD / "tests").glob("*flyball_faults.so")), BUILD / "tests/flyball_faults_lines"]
    return [BUILD / "tests" / program, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={CLOCKED}"]


def what_is_red(program, done):
    """The first thing that a program which failed found, in words."""
    if program in (BROWSER, SERVED):
        found = re.search(r"^FAILS: .*$", done.stdout, re.M)
        if found is None:  # no browser, or it did not start: no answer
            sys.exit(f"the tests of the page do not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return f"browser: {found[0][7:150]}"
    if program == FAULT_WALK:
        found = re.search(r"^\w+ \w+:\d+: .*$|^AssertionError: .*$", done.stdout + done.stderr, re.M)
        if found is None:  # it did not get so far as to find anything: that is no answer
            sys.exit(f"the walk of faults does not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return f"faults: {found[0][:150]}"
    red = re.search(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.M)
    return f"{program}: {red[1] if red else f'exit {done.returncode}'}"


def build(program):
    jobs = os.environ.get("FLYBALL_MUTATION_JOBS", "2")
    targets = ["flyball", "flyball_faults", "flyball_faults_lines"] if program == FAULT_WALK else ["flyball"] if program in (BROWSER, SERVED) else [program]
    return subprocess.run(["ninja", "-C", BUILD, "-j", jobs, *targets], capture_output=True, text=True)


def limit_processor_time():
    """A mistake that never ends is noticed; a machine that others use is not mistaken for one."""
    resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT, TIMEOUT + 10))


def first_red(module, by_module, own=False, asks=None):
    """The first test that fails, or None when all pass."""
    for program, environment in runs_for(module, by_module, own, asks):
        built = build(program)
        if built.returncode != 0:
            error = re.search(r"^.*error: .*$", built.stdout, re.M)
            return f"does not compile: {error[0] if error else built.stdout[-300:]}"
        try:
            done = subprocess.run(command_of(program), capture_output=True, text=True, errors="replace",
                                  timeout=10 * TIMEOUT, preexec_fn=limit_processor_time,
                                  env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:  # a machine that is busy elsewhere, or a test that sleeps: no answer
            sys.exit(f"{program} did not end within {10 * TIMEOUT} s of the clock; try again on a quiet machine")
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"{program} took more than {TIMEOUT} s of processor time"
        if done.returncode != 0:
            return what_is_red(program, done)
    return None


def try_one(m, by_module, own):
    """Plants a mistake; returns (whether it was noticed, by what)."""
    source = TREE / m.file
    text = source.read_text()
    source.write_text(text.replace(m.old, m.new))
    try:
        red = first_red(m.module, by_module, own, m.asks)
    finally:
        source.write_text(text)
    if red is not None and red.startswith("does not compile"):
        return False, red
    return red is not None, red


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "no commit"


def pick(mutations, count, seed):
    """The same for the same seed; each has its own rank, so that a longer list changes few of them."""
    return sorted(mutations, key=lambda m: hashlib.sha256(f"{seed} {m.name}".encode()).digest())[:count]


def run(chosen, whole, own=False):
    TREE.mkdir(parents=True, exist_ok=True)
    with open(TREE / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        synchronise()
        # Mistakes of the page are in no file that a compiler sees.
        configure(united=len([m for m in chosen if m.module != WEB]) <= FEW)
        by_module = programs()
        if whole:
            # A suite that is red to begin with would notice everything.
            red = first_red("core", by_module)
            if red is not None:
                sys.exit(f"without any mistake: {red}")
        survivors = []
        for m in chosen:
            start = time.monotonic()
            noticed, red = try_one(m, by_module, own)
            word = "red" if noticed else "GREEN"
            print(f"{word:6} {time.monotonic() - start:4.0f} s  {m.module:9} {m.name}: {red or 'every test passes'}", flush=True)
            if not noticed:
                survivors.append(m.name)
    print(f"{len(chosen)} planted, {len(survivors)} survived: {' '.join(survivors) or 'none'}")
    return 1 if survivors else 0


def main(arguments):
    mutations = load()
    wrong = breaches(mutations)
    if arguments == ["--check"]:
        print("\n".join(wrong) or f"{len(mutations)} mistakes, {sum(m.blind for m in mutations)} of them blind, "
                                  f"{len(untried())} not yet tried")
        return 1 if wrong else 0
    if arguments[:1] == ["--pick"]:
        seed = arguments[2] if len(arguments) > 2 else commit()
        tried = [m for m in mutations if m.name not in untried() and (m.module != WEB or shutil.which("chromedriver"))]
        return run(pick(tried, int(arguments[1]), seed), whole=False)
    own = arguments[:1] == ["--own"]
    arguments = arguments[1:] if own else arguments
    chosen = [m for m in mutations if not arguments or m.name in arguments or m.module in arguments or m.file in arguments]
    if not chosen:
        sys.exit(f"nothing of this name, expected a mistake or one of {', '.join(modules())}")
    return run(chosen, whole=not arguments, own=own)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
