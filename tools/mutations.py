#!/usr/bin/env python3
"""Plants one mistake at a time in a copy of the tree and checks that a test turns red.

The lists are tools/mutations/MODULE.py, each with two of them: KNOWN was written by someone who knew the tests, BLIND by
someone who had not seen them. An entry is (name, file, text that occurs exactly once in it, what takes its place), and
where other tests than those of its module are the ones to notice, who: a module, or "faults" for the walk of tests/faults.
Mistakes in web/src are those of the module "web", whose tests are tests/browser; they need a browser.

usage: mutations.py [--own] [--record] [NAME|MODULE|FILE...]   all of them, or those named; prints survivors, exit 1 if any
                                         --own: asks only the tests of the mistake's own module, or those it names,
                                         which is quick
                                         --record: writes down which test noticed each (tools/mutations/noticed.txt), and
                                         takes those noticed out of untried.txt
       mutations.py --check              the lists alone: every text occurs once, each module has enough, half are blind; takes a moment
       mutations.py --pick COUNT [SEED]  COUNT of them, chosen by SEED (the commit's hash unless given), leaving out those
                                         that nobody has seen turn red yet: tools/mutations/untried.txt

More than a few mistakes are compiled together, each behind a number (switched.py), and looked for by the tests that come through its function, the quickest first:
a second each, after some twenty minutes of building and of running every test without a mistake. What cannot be compiled so, and a few mistakes, are planted one by one: that takes as long as one file to
compile, one program to link and one test, if the one that noticed it before is red again. The copies are in build/mutations; docs/decisions/0003
has the last result.
"""
import fcntl
import functools
import hashlib
import os
import pathlib
import queue
import runpy
import shutil
import subprocess
import sys
import threading
import time

from planting import ORDER, ROOT, WEB, NoAnswer, Run, Tree, runs_for, tests_of_the_same_name
from switched_tree import SwitchedTree

LISTS = ROOT / "tools/mutations"
UNTRIED = LISTS / "untried.txt"  # one name a line; --record takes a name out once its mistake was seen red
NOTICED = LISTS / "noticed.txt"  # name, program ("+plain": without AVX2), test; sorted by name
TREES = ROOT / "build/mutations"
FEWEST = 10  # of a module
FEW = 10  # mistakes that are not worth a build of their own
START = time.monotonic()


class Mutation:
    def __init__(self, entry, blind):
        self.name, self.file, self.old, self.new, *asks = entry
        self.asks = asks[0] if asks else None
        self.blind = blind
        first, second = pathlib.PurePath(self.file).parts[:2]
        self.module = WEB if first == WEB else second
        self.neighbours = set()  # the names of the mistakes of the same file


def load():
    mutations = []
    for path in sorted(LISTS.glob("*.py")):
        lists = runpy.run_path(path)
        for key in ("KNOWN", "BLIND"):
            mutations += [Mutation(entry, key == "BLIND") for entry in lists.get(key, [])]
    by_file = {}
    for m in mutations:
        m.neighbours = by_file.setdefault(m.file, set())
        m.neighbours.add(m.name)
    return mutations


@functools.cache
def names_of_all():
    return {m.name for m in load()}


def untried():
    return UNTRIED.read_text().split() if UNTRIED.is_file() else []


def run_of_line(line):
    """("name", Run) of a line of noticed.txt."""
    name, program, *test = line.split(" ")
    plain = program.endswith("+plain")
    return name, Run(program.removesuffix("+plain"), plain, test[0] if test else "")


def line_of_run(name, run):
    return f"{name} {run.program}{'+plain' if run.plain else ''} {run.test}".rstrip()


def noticed():
    """By which run each mistake was noticed when that was written down last."""
    return dict(map(run_of_line, NOTICED.read_text().splitlines())) if NOTICED.is_file() else {}


def write_down(found):
    """`found`: runs by name. Names that are no longer in the lists go."""
    names = names_of_all()
    known = {name: run for name, run in {**noticed(), **found}.items() if name in names}
    NOTICED.write_text("".join(f"{line_of_run(name, known[name])}\n" for name in sorted(known)))
    left = [name for name in untried() if name not in found]
    if left:
        UNTRIED.write_text("".join(f"{name}\n" for name in left))
    else:
        UNTRIED.unlink(missing_ok=True)


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
    for listed, names in ((UNTRIED, untried()), (NOTICED, noticed())):
        found += [f"{name}: listed in {listed.name}, and no mistake has this name" for name in names if name not in seen]
    for module in [*modules(), *([WEB] if (ROOT / WEB).is_dir() else [])]:
        of_module = [m for m in mutations if m.module == module]
        if len(of_module) < FEWEST:
            found.append(f"{module}: {len(of_module)} mistakes, expected at least {FEWEST}")
        if module not in ORDER:
            found.append(f"{module}: not in the ORDER of tools/planting.py")
    blind = sum(m.blind for m in mutations)
    if 2 * blind < len(mutations):
        found.append(f"{blind} of {len(mutations)} mistakes are of someone who has not seen the tests, expected half of them")
    return found


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "no commit"


def pick(mutations, count, seed):
    """The same for the same seed; each has its own rank, so that a longer list changes few of them."""
    return sorted(mutations, key=lambda m: hashlib.sha256(f"{seed} {m.name}".encode()).digest())[:count]


def runs_of(m, by_module, own, before):
    """What is asked about a mistake, in order. `before`: by which run each mistake was noticed, by name.

    First the test that noticed it before; where none has, those that noticed others in its file or have the file's name. Then all.
    """
    runs = runs_for(m.module, by_module, own, m.asks)
    if m.name in before:
        return [before[m.name], *runs]
    if m.module == WEB or m.asks == "faults":
        return runs
    program = f"flyball_test_{m.asks or m.module}"
    likely = [run.test for name, run in before.items() if name in m.neighbours and run.program == program and not run.plain and run.test]
    likely.append(tests_of_the_same_name(m.asks or m.module, m.file))
    likely = ":".join(dict.fromkeys(test for test in likely if test))
    return [*([Run(program, test=likely)] if likely else []), *runs]


class Planting:
    """A number of mistakes that are looked for by several workers at once, and what became of each."""

    def __init__(self, own, record):
        self.own, self.record = own, record
        self.before = noticed()
        self.survivors = []
        self.lost = None  # why there is no answer
        self.lock = threading.Lock()

    def tell(self, m, red, seconds):
        is_noticed = red is not None and red.compiles
        with self.lock:
            print(f"{'red' if is_noticed else 'GREEN':6} {seconds:4.0f} s  {m.module:9} {m.name}: {red.words if red else 'every test passes'}",
                  flush=True)
            if not is_noticed:
                self.survivors.append(m.name)
            else:
                self.before[m.name] = red.run
                if self.record:
                    write_down({m.name: red.run})

    def work(self, waiting, look_for):
        """`look_for(m, before)`: what is red with the mistake m, or None."""
        try:
            while self.lost is None:
                m = waiting.get_nowait()
                start = time.monotonic()
                with self.lock:
                    before = dict(self.before)
                self.tell(m, look_for(m, before), time.monotonic() - start)
        except queue.Empty:
            pass
        except BaseException as error:  # the other workers stop too
            self.lost = error

    def all_of(self, chosen, ways):
        """`ways`: for each worker how it looks for a mistake."""
        waiting = queue.SimpleQueue()
        # Those that nobody has seen red yet; from cheap modules to dear ones; mistakes of one file follow each other, since what the
        # compiler made of the others stays.
        new = set(untried())
        for m in sorted(chosen, key=lambda m: (m.name not in new, ORDER.index(m.module), m.file)):
            waiting.put(m)
        threads = [threading.Thread(target=self.work, args=(waiting, way)) for way in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.lost is not None:
            raise self.lost


def plant_alone(planting, chosen, trees):
    """One mistake after another is written into a tree, compiled and looked for."""
    def way(tree):
        return lambda m, before: tree.plant(m.file, m.old, m.new, runs_of(m, tree.by_module, planting.own, before))
    planting.all_of(chosen, [way(tree) for tree in trees])


def plant_switched(planting, chosen, mutations, workers):
    """Those of `chosen` that can be compiled together with all others, and looked for by number. Returns the rest."""
    # All that there are, whichever are chosen: what is built then serves the next choice too.
    tree = SwitchedTree(TREES / "switched", workers, [m for m in mutations if m.module != WEB])
    modules = {m.module for m in chosen if m.module != WEB}
    asked = {m.asks for m in chosen if m.asks in ORDER}
    users = set() if planting.own else {user for m in modules for user in ORDER}
    say("building all mistakes behind numbers")
    tree.prepare_switched(sorted(modules | asked | users))
    switched = [m for m in chosen if m.name in tree.function_of]
    say("every test without a mistake")
    tree.look(tree.runs(sorted(modules), planting.own, sorted(asked)), workers)
    say(f"{len(switched)} mistakes by number")
    planting.all_of(switched, [lambda m, before: tree.first_red_of(m, planting.own, before.get(m.name))] * workers)
    return [m for m in chosen if m.name not in tree.function_of]


def say(words):
    print(f"== {time.monotonic() - START:5.0f} s  {words}", flush=True)


def run(chosen, mutations, own=False, record=False):
    TREES.mkdir(parents=True, exist_ok=True)
    # Mistakes of the page are in no file that a compiler sees.
    many = len([m for m in chosen if m.module != WEB]) > FEW
    workers = len(os.sched_getaffinity(0))
    planting = Planting(own, record)
    rest = chosen
    with open(TREES / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if many:
                rest = plant_switched(planting, chosen, mutations, workers)
                say(f"{len(rest)} mistakes that cannot be compiled together, one by one")
            if rest:
                trees = [Tree(TREES / str(i), 1 if many else 2) for i in range(workers if many else 1)]
                for tree in trees:  # the second one finds in the compiler cache what the first one has compiled
                    tree.prepare(united=not many)
                    if many:
                        tree.build_beforehand({m.asks or m.module for m in rest}, workers)
                plant_alone(planting, rest, trees)
        except NoAnswer as why:
            sys.exit(str(why))
    survivors = planting.survivors
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
        return run(pick(tried, int(arguments[1]), seed), mutations)
    options = {"--own", "--record"}.intersection(arguments)
    names = [argument for argument in arguments if argument not in options]
    chosen = [m for m in mutations if not names or m.name in names or m.module in names or m.file in names]
    if not chosen:
        sys.exit(f"nothing of this name, expected a mistake or one of {', '.join(modules())}")
    return run(chosen, mutations, own="--own" in options, record="--record" in options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
