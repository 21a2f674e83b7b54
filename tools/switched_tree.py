"""A copy of the tree that holds many mistakes behind numbers (switched.py), and what its tests have come through. Used by mutations.py.

It is built once. Then every test program runs once without a mistake: that all are green is what "red" rests on, and each test leaves which functions
it came through and how long it took. A mistake is looked for by the tests that came through its function, the quickest first.
"""
import dataclasses
import pathlib
import re
import subprocess
import threading

from planting import BROWSER, FAULT_WALK, ROOT, SERVED, NoAnswer, Red, Run, Tree, runs_for, what_is_red
from switched import LISTENER, RUNTIME, number_of, switch_all

RUNTIME_FILE = pathlib.PurePath("src/core/planted_runtime.cpp")
LISTENER_FILE = pathlib.PurePath("tests/planted_listener.cpp")
CHUNKS = (2, 15, 90, float("inf"))  # seconds of tests that are asked together: most mistakes are noticed by quick ones
PATIENCE = 8  # times as long as without a mistake, and then some, is for ever
WALK_OF_FAULTS = 600  # seconds, at most; it tells no times of its own
LONGEST_FILTER = 100_000  # characters of one argument; the system's limit is 131072


@dataclasses.dataclass
class Reached:
    """Which functions the tests of one run came through."""
    seconds: dict  # by test
    tests: dict  # function -> names of tests

    @classmethod
    def read(cls, text):
        seconds, lines = {}, []
        for line in text.splitlines():
            name, milliseconds, *functions = line.split()
            lines.append((name, functions))
            if int(milliseconds) >= 0:
                seconds[name] = int(milliseconds) / 1000
        suites = {}
        for name in seconds:
            suites.setdefault(name.split(".")[0], []).append(name)
        tests = {}
        for name, functions in lines:
            # What a program or a suite does before its tests is done before each of them.
            names = list(seconds) if name == "*" else suites.get(name[:-2], []) if name.endswith(".*") else [name]
            for function in functions:
                tests.setdefault(int(function), set()).update(names)
        return cls(seconds, tests)

    def chunks(self, function, first):
        """The tests that come through a function, in lists: those of `first`, then by how long they take."""
        names = sorted(self.tests.get(function, ()), key=lambda name: (name not in first, self.seconds.get(name, 0)))
        found, total, limits = [[]], 0, list(CHUNKS)
        for name in names:
            total += self.seconds.get(name, 0)
            if total > limits[0] and found[-1]:
                while total > limits[0]:
                    limits.pop(0)
                found.append([])
            found[-1].append(name)
        return [chunk for chunk in found if chunk]


class SwitchedTree(Tree):
    def __init__(self, path, jobs, mutations):
        super().__init__(path, jobs)
        self.files = switch_all(mutations, ROOT)
        self.reached = {}  # Run -> Reached
        self.function_of = {}
        self.overlay = {RUNTIME_FILE: RUNTIME, LISTENER_FILE: LISTENER}

    def prepare_switched(self, modules):
        """Builds what the mistakes of these modules are looked for with; a mistake that does not compile here is left out."""
        while True:
            self.overlay.update({pathlib.PurePath(file.file): file.written() for file in self.files})
            self.synchronise()
            self.configure(united=False, listener=self.path / LISTENER_FILE)
            self.by_module = self.programs()
            targets = ["flyball", "flyball_faults", "flyball_faults_lines", *(p for m in modules for p in self.by_module.get(m, []))]
            built = subprocess.run(["ninja", "-k", "0", "-C", self.build_folder, "-j", str(self.jobs), *targets], capture_output=True, text=True)
            if built.returncode == 0:
                break
            self.leave_out(built.stdout)
        self.function_of = {name: function for file in self.files for function, names in file.functions.items() for name in names}

    def leave_out(self, said):
        """Drops the mistakes whose copies have errors."""
        errors = {}
        for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error: ", said, re.M):
            path = pathlib.Path(path)
            path = (path if path.is_absolute() else self.build_folder / path).resolve()
            if path.is_relative_to(self.path.resolve()):
                errors.setdefault(str(path.relative_to(self.path.resolve())), set()).add(int(line))
        dropped = 0
        for file in self.files:
            if file.file in errors:
                names = file.blamed(errors[file.file])
                file.drop(names)
                dropped += len(names)
        if dropped == 0:
            raise NoAnswer(f"without any mistake it does not build:\n{said[-3000:]}")

    def is_newer(self, log, program):
        """Whether a log was written since what it tells of was built."""
        built = [self.build_folder / "tests" / program, self.build_folder / "src/flyball"]
        return log.is_file() and all(log.stat().st_mtime > path.stat().st_mtime for path in built)

    def look(self, runs, workers):
        """Runs every one of these once without a mistake, `workers` at a time."""
        waiting, wrong = list(runs), []

        def work():
            while waiting and not wrong:
                run = waiting.pop(0)
                log = self.path / "build" / f"reached-{run.program}{'-plain' if run.plain else ''}.txt"
                if self.is_newer(log, run.program):
                    self.reached[run] = Reached.read(log.read_text())
                    continue
                log.unlink(missing_ok=True)
                for part in log.parent.glob(f"{log.name}.*"):
                    part.unlink()
                done = subprocess.run(self.command_of(run), capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                      env={**run.environment(), "FLYBALL_REACHED": str(log)})
                if done.returncode != 0:
                    wrong.append(what_is_red(run, done).words)
                else:
                    text = "".join(part.read_text() for part in sorted(log.parent.glob(f"{log.name}.*")))
                    self.reached[run] = Reached.read(text)
                    log.write_text(text)
        threads = [threading.Thread(target=work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            raise NoAnswer(f"without any mistake: {wrong[0]}")

    def runs(self, modules, own, asks):
        """All that may have to be asked about mistakes of these modules."""
        found = dict.fromkeys(run for m in modules for run in runs_for(m, self.by_module, own))
        found.update(dict.fromkeys(run for module in asks for run in runs_for(module, self.by_module, True)))
        return [run for run in found if run.program not in (FAULT_WALK, BROWSER, SERVED)]

    def ask(self, m, run, tests):
        """What is red of some tests of a run, with the mistake."""
        of_each = self.reached[run].seconds if run in self.reached else {}
        expected = (sum(of_each.get(test, 0) for test in tests) if tests else sum(of_each.values())) or WALK_OF_FAULTS
        command = self.command_of(run)
        flags = None
        if tests:
            wanted = f"--gtest_filter={':'.join(tests)}"
            if len(wanted) > LONGEST_FILTER:
                flags = self.path / "build" / f"filter-{number_of(m.name)}.txt"
                flags.write_text(wanted + "\n")
                wanted = f"--gtest_flagfile={flags}"
            command = [command[0], "--gtest_fail_fast", wanted]
        seconds = 30 + PATIENCE * expected
        try:
            done = subprocess.run(["prlimit", f"--cpu={int(2 * seconds)}", *command], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL,
                                  env={**run.environment(), "FLYBALL_PLANTED": str(number_of(m.name))}, timeout=3 * seconds)
        except subprocess.TimeoutExpired:
            return Red(dataclasses.replace(run, test=tests[0] if len(tests) == 1 else ""), f"{run.program} did not end within {3 * seconds:.0f} s")
        finally:
            if flags is not None:
                flags.unlink()
        return what_is_red(run, done) if done.returncode != 0 else None

    def first_red_of(self, m, own, before):
        """The first test that is red with the mistake, or None. `before`: the run that noticed it last time, or None.

        A function that runs once in a program, to fill a table that is kept, is reached by the test that happens to come first; so what nothing
        has noticed is asked of all tests of the module together.
        """
        function = self.function_of[m.name]
        hint = {before.test} if before is not None and before.test else set()
        if hint:
            run = dataclasses.replace(before, test="")
            if run in self.reached and before.test in self.reached[run].tests.get(function, ()):
                red = self.ask(m, run, [before.test])
                if red is not None:
                    return red
        for run in runs_for(m.module, self.by_module, own, m.asks):
            if run.program == FAULT_WALK:
                red = self.ask(m, run, [])
                if red is not None:
                    return red
                continue
            reached = self.reached[run]
            for chunk in reached.chunks(function, hint):
                red = self.ask(m, run, chunk)
                if red is not None:
                    return red
        for run in runs_for(m.module, self.by_module, True):
            red = self.ask(m, run, [])
            if red is not None:
                return red
        return None
