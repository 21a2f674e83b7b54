"""A copy of the tree in which mistakes are planted one at a time, built, and looked for by the tests. Used by mutations.py.

For a few mistakes a copy is built as the release build is, so that a compiler cache which has seen that compiles the mistaken
module alone. For many of them the library is compiled file by file and optimised little: that takes a whole build at first, and
then a mistake is one file to compile. Several copies are used side by side, each by a thread of its own.
"""
import dataclasses
import filecmp
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

from check_layering import MAY_INCLUDE, closure

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Modules by their tests, from cheap to dear, so that a mistake is found as early as can be.
ORDER = ["measure", "core", "record", "report", "tokenizer", "serve", "bridge", "inspect", "limits", "scheme", "train", "results", "theory", "dynamics",
         "model", "claims", "attention", "check", "cli", "web"]
WITHOUT_AVX2 = ["scheme", "attention", "model", "limits"]  # their tests run again with FLYBALL_ISA=plain
TIMEOUT = 600
FAULT_WALK = "flyball_faults"
WEB = "web"
BROWSER = "flyball_browser"
SERVED = "flyball_browser_serve"  # the page beside a run that goes on
# Modules whose failures to write, rename or allocate tests/faults provokes.
FAULTS = ["core", "record", "dynamics", "train", "cli"]
# Tests that go by the clock: on a busy machine they may fail without any mistake.
CLOCKED = "*Killed*:*Interrupt*:*SaysHowLong*"


class NoAnswer(Exception):
    """The tests could not be run: that says nothing about a mistake."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Tests that may notice a mistake: a program, without AVX2 or not, and one of its tests or all."""
    program: str
    plain: bool = False
    test: str = ""

    def environment(self):
        return {**os.environ, **({"FLYBALL_ISA": "plain"} if self.plain else {}), **({"FLYBALL_FAIL_FAST": "1"} if self.program == BROWSER else {})}


@dataclasses.dataclass(frozen=True)
class Red:
    """What was red: the run, with the test that failed where that is known, and words for a reader."""
    run: Run
    words: str
    compiles: bool = True


def runs_for(module, by_module, own, asks=None):
    """What can notice a mistake in a module: whom it names, its own tests, those of its users."""
    if module == WEB:
        return [Run(BROWSER), Run(SERVED)]
    users = [m for m in MAY_INCLUDE if module in closure(m) and m != module]
    users.sort(key=ORDER.index)
    asked = [module] if asks is None else [asks]
    if not own:
        asked += [module, *users] + (["faults"] if module in FAULTS else [])
    runs = []
    for one in dict.fromkeys(asked):
        if one == "faults":
            runs.append(Run(FAULT_WALK))
            continue
        runs += [Run(program) for program in by_module.get(one, [])]
        if one == module and one in WITHOUT_AVX2:
            runs.append(Run(f"flyball_test_{one}", plain=True))
    return runs


def tests_of_the_same_name(module, file):
    """As GoogleTest's filter has it: the suites in the test file that is called as the source file is; "" where there is none."""
    path = ROOT / "tests" / module / f"{pathlib.PurePath(file).stem}_test.cpp"
    suites = re.findall(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),", path.read_text(), re.M) if path.is_file() else []
    return ":".join(f"{suite}.*:*/{suite}.*:{suite}/*" for suite in dict.fromkeys(suites))


def what_is_red(run, done):
    """The first thing that a program which failed found."""
    if run.program in (BROWSER, SERVED):
        found = re.search(r"^FAILS: .*$", done.stdout, re.M)
        if found is None:  # no browser, or it did not start
            raise NoAnswer(f"the tests of the page do not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return Red(run, f"browser: {found[0][7:150]}")
    if run.program == FAULT_WALK:
        found = re.search(r"^\w+ \w+:\d+: .*$|^AssertionError: .*$", done.stdout + done.stderr, re.M)
        if found is None:  # it did not get so far as to find anything
            raise NoAnswer(f"the walk of faults does not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return Red(run, f"faults: {found[0][:150]}")
    failed = re.findall(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.M)
    begun = re.findall(r"^\[ RUN      \] ([\w./]+)", done.stdout, re.M)
    if failed or begun:
        test = failed[0] if failed else begun[-1]
        return Red(dataclasses.replace(run, test=test), f"{run.program}: {test}{'' if failed else f', exit {done.returncode}'}")
    return Red(dataclasses.replace(run, test=""), f"{run.program}: exit {done.returncode}")


def limit_processor_time():
    """A mistake that never ends is noticed; a machine that others use is not mistaken for one."""
    resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT, TIMEOUT + 10))


class Tree:
    """A copy of the tree at `path`; `jobs` compilers at once."""

    def __init__(self, path, jobs):
        self.path = path
        self.build_folder = path / "build/release"
        self.jobs = jobs
        self.united = False
        self.by_module = {}
        self.overlay = {}  # relative path -> text: files that differ from ROOT's, or that only this copy has

    def prepare(self, united):
        self.united = united
        self.path.mkdir(parents=True, exist_ok=True)
        self.synchronise()
        self.configure(united)
        self.by_module = self.programs()

    def synchronise(self):
        """Makes it a copy of ROOT, touching only files that differ: what is built there stays built."""
        wanted = set()
        for folder, folders, files in os.walk(ROOT):
            here = pathlib.Path(folder)
            folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__")]
            for name in files:
                relative = (here / name).relative_to(ROOT)
                if name == ".git":
                    continue
                wanted.add(relative)
                if relative in self.overlay:
                    continue
                copy = self.path / relative
                if not copy.is_file() or not filecmp.cmp(here / name, copy, shallow=False):
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(here / name, copy)
        for relative, text in self.overlay.items():
            wanted.add(relative)
            copy = self.path / relative
            if not copy.is_file() or copy.read_text() != text:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(text)
        for folder, folders, files in os.walk(self.path):
            if pathlib.Path(folder) == self.path:
                folders[:] = [f for f in folders if f != "build"]
            for name in files:
                path = pathlib.Path(folder) / name
                if path.relative_to(self.path) not in wanted:
                    path.unlink()

    def configure(self, united, hasty="", listener=""):
        """`hasty`: a module that is compiled without optimisation, a third of the time where its files are compiled together.
        `listener`: a source that every test program gets too."""
        # Tests are run by program, so there is no need to list them after each link.
        command = ["cmake", "-S", self.path, "-B", self.build_folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DFLYBALL_TESTS=ON",
                   f"-DFLYBALL_UNITED={'ON' if united else 'TESTS'}", f"-DCMAKE_CXX_FLAGS_RELEASE={'-O3' if united else '-O1'} -DNDEBUG",
                   "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold", "-DFLYBALL_LIST_TESTS=OFF", f"-DFLYBALL_HASTY={hasty}",
                   f"-DFLYBALL_LISTENER={listener}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise NoAnswer(f"could not configure {self.build_folder}\n{done.stdout}{done.stderr}")

    def programs(self):
        """The test programs there are, by module."""
        listed = subprocess.run(["ninja", "-C", self.build_folder, "-t", "targets", "all"], capture_output=True, text=True, check=True)
        names = sorted(set(re.findall(r"^tests/(flyball_test_\w+): ", listed.stdout, re.M)) - {"flyball_test_places"})
        by_module = {}
        for name in names:
            by_module.setdefault(name.split("_")[2], []).append(name)
        return by_module

    def command_of(self, run):
        folder = self.build_folder
        if run.program in (BROWSER, SERVED):
            return ["python3", self.path / "tests/browser" / ("browser_test.py" if run.program == BROWSER else "serve_test.py"), folder / "src/flyball"]
        if run.program == FAULT_WALK:
            return ["python3", self.path / "tests/faults/faults_test.py", folder / "src/flyball",
                    next((folder / "tests").glob("*flyball_faults.so")), folder / "tests/flyball_faults_lines"]
        return [folder / "tests" / run.program, "--gtest_fail_fast", f"--gtest_filter={run.test or '*'}-{CLOCKED}"]

    def build_beforehand(self, modules, jobs):
        """What the mistakes of these modules are looked for with, before there is any mistake."""
        targets = ["flyball", *(program for module in modules for program in self.by_module.get(module, []))]
        built = subprocess.run(["ninja", "-C", self.build_folder, "-j", str(jobs), *targets], capture_output=True, text=True)
        if built.returncode != 0:
            raise NoAnswer(f"without any mistake it does not build:\n{built.stdout[-2000:]}")

    def build(self, program):
        if program == FAULT_WALK:
            targets = ["flyball", "flyball_faults", "flyball_faults_lines"]
        else:
            targets = ["flyball"] if program in (BROWSER, SERVED) else [program]
        return subprocess.run(["ninja", "-C", self.build_folder, "-j", str(self.jobs), *targets], capture_output=True, text=True)

    def result_of(self, run):
        """What is red of a run, or None."""
        built = self.build(run.program)
        if built.returncode != 0:
            error = re.search(r"^.*error: .*$", built.stdout, re.M)
            return Red(run, f"does not compile: {error[0] if error else built.stdout[-300:]}", compiles=False)
        try:
            done = subprocess.run(self.command_of(run), capture_output=True, text=True, errors="replace", timeout=10 * TIMEOUT,
                                  preexec_fn=limit_processor_time, env=run.environment(), stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:  # a machine that is busy elsewhere, or a test that sleeps
            raise NoAnswer(f"{run.program} did not end within {10 * TIMEOUT} s of the clock; try again on a quiet machine") from None
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return Red(run, f"{run.program} took more than {TIMEOUT} s of processor time")
        return what_is_red(run, done) if done.returncode != 0 else None

    def first_red(self, runs):
        """The first of these runs that is red, or None when all are green."""
        for run in runs:
            red = self.result_of(run)
            if red is not None:
                return red
        return None

    def plant(self, file, old, new, runs):
        """With one text in place of another: the first run that is red, or None."""
        source = self.path / file
        text = source.read_text()
        if self.united and pathlib.PurePath(file).suffix == ".cpp":
            self.configure(self.united, hasty=pathlib.PurePath(file).parts[1])
        source.write_text(text.replace(old, new))
        try:
            return self.first_red(runs)
        finally:
            source.write_text(text)
