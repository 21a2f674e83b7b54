#!/usr/bin/env python3
"""Kills, full disks and failed allocations at every point of a run: faults_test.py PROGRAM INJECTOR LINES.

A command is run once in peace, which gives the reference and the number of points; then once for each point with a fault
there (inject.cpp), and taken up again. What must hold:

  kill     --resume ends with the bytes of the reference and no litter; where the run had not begun, it is refused in one
           sentence and --force gives the reference
  ENOSPC   exit 2, one sentence, no litter, every result that exists is whole; then as after a kill
  EIO      the same, except that what cannot be deleted may stay until the next run
  sync     (one fsync that fails, after writes that did not) as ENOSPC, and never success: what was written may be lost
  short    (writes that take half of what they are given) the bytes of the reference
  new      exit 2 and one sentence, or the reference; then as after a kill
           The page of a finished run (report.html) is a copy for readers: where it alone could not be written, a note says so,
           the run is a success, and taking it up again writes the page.
  malloc   (of C libraries) success is reported only with the bytes of the reference; no hang

./test looks at some points, chosen by the seed; FLYBALL_TEST_FAULTS=all at every one. Bytes are compared except for the
seconds that runs took and the time in provenance.json.
"""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS_MOST = 60  # of one run: a hang is a failure
SEED = 20250131
PROGRAM, INJECTOR, LINES = sys.argv[1:4]
PROGRESS = re.compile(r"^\S+ \(\d+ of \d+\)  step .*\n", re.M)  # what train says of its progress
EVERYWHERE = os.environ.get("FLYBALL_TEST_FAULTS") == "all"


def run(arguments, fault=None, log=None, injected=True, program=PROGRAM):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if injected:
        environment["LD_PRELOAD"] = INJECTOR
    if fault:
        environment["FLYBALL_FAULT"] = fault
    if log:
        environment["FLYBALL_FAULT_LOG"] = str(log)
    try:
        done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True,
                              timeout=SECONDS_MOST, check=False)
        done.stderr = PROGRESS.sub("", done.stderr)
        return done
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, "hang", "", "")


def tree(path):
    """Names to contents, without what differs from run to run."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    contents = {}
    for file in sorted(path.rglob("*")):
        name = str(file.relative_to(path))
        if file.is_dir():
            contents[name + "/"] = b""
            continue
        data = file.read_bytes()
        if file.suffix == ".json":
            data = re.sub(rb'"(seconds|finished|tokens_per_second)": *[^,}\n]*', b"", data)
        if name.endswith("metrics.jsonl"):  # speeds, and seals, which depend on them; a torn line is cut off when it is opened
            data = re.sub(rb'"(tokens_per_second|seal)": *[^,}\n]*', b"", data[:data.rfind(b"\n") + 1])
        if "tfevents" in name or file.name == "report.html":  # times
            data = b""
        if name == "claims.csv":
            data = re.sub(rb",[^,\n]*\n", b"\n", data)  # the last column is the seconds
        if file.name == "provenance.json":  # checksums of files that hold seconds, and its own, which covers those and the time
            data = re.sub(rb'"(checksum|result\.json|claims\.json|claims\.csv|summary\.json|metrics\.jsonl|events[^"]*)": *"[0-9a-f]*"', b"",
                          data)
        contents[name] = data
    return contents


def differences(reference, found):
    names = sorted(set(reference) | set(found))
    return [f"{'differs' if name in reference and name in found else 'missing' if name in reference else 'extra'}: {name}"
            for name in names if reference.get(name) != found.get(name)]


def page_was_not_written(said):
    return re.search(r"^flyball: note: the run is complete, but its page was not written: ", said, re.M) is not None


def is_litter(name):
    return name.endswith((".tmp", ".part"))


def one_sentence(text):
    lines = text.strip().split("\n")
    return len(lines) == 1 and re.fullmatch(r"flyball: \[[\w.]+\] got .*, expected .*", lines[0]) is not None


class Scenario:
    """A command, what it leaves at `target`, and how it is taken up."""

    def __init__(self, name, arguments, target, resume=None, before=None, program=PROGRAM):
        self.name, self.arguments, self.target, self.resume, self.before = name, arguments, target, resume, before
        self.program = program
        self.always = {}  # kind -> points that are never left to chance
        self.slow = False  # takes a second where others take a moment: a fifth of the points
        self.failures = []

    def fail(self, fault, what):
        self.failures.append(f"{self.name} {fault}: {what}")

    def prepare(self):
        if self.target.is_dir():
            shutil.rmtree(self.target)
        elif self.target.exists():
            self.target.unlink()
        if self.before:
            self.before()

    def measure(self, log):
        self.prepare()
        done = run(self.arguments, log=log, program=self.program)
        assert done.returncode == 0, f"{self.name} in peace: {done.returncode} {done.stderr}"
        self.reference = tree(self.target)
        words = log.read_text().split()
        return {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}

    def whole_results(self, fault):
        """Outside of work/ every file is missing, or old, or complete."""
        for name, data in (tree(self.target) if self.target.exists() else {}).items():
            inside = not re.search(r"(^|/)work[./]", name) and not name.endswith("/")
            if inside and name.endswith(".jsonl"):  # grows line by line: what is there is the beginning
                if not self.reference[name].startswith(data):
                    self.fail(fault, f"{name} is not as it was written")
                continue
            if inside and not is_litter(name) and data not in (self.reference.get(name), self.old.get(name)):
                self.fail(fault, f"{name} is half-written")

    def recovers(self, fault):
        # A folder that is to be overwritten may still be the old run's: then the command itself is given again.
        settings = self.target / "config.toml"
        begun = self.resume is None or (settings.exists() and settings.read_bytes() == self.reference["config.toml"])
        again = run(self.resume if self.resume and begun else self.arguments, program=self.program)
        if again.returncode == 2 and not begun and one_sentence(again.stderr):
            again = run([*self.arguments, "--force"])
        if again.returncode != 0:
            self.fail(fault, f"taken up: exit {again.returncode}, {again.stderr.strip()[-300:]}")
            return
        different = differences(self.reference, tree(self.target))
        different += [str(path) for path in self.target.parent.glob(".*.tmp")]
        if different:
            self.fail(fault, f"taken up: {different[:4]}")

    def inflict(self, kind, number):
        fault = f"{kind}:{number}"
        self.prepare()
        self.old = tree(self.target) if self.target.exists() else {}
        done = run(self.arguments, fault, program=self.program)
        code, said = done.returncode, done.stderr
        if kind == "kill":
            if code != -9:
                self.fail(fault, f"exit {code} instead of a kill")
        elif kind == "sync" and code == 0 and not page_was_not_written(said):
            self.fail(fault, "success is reported although what was written may not have reached the disk")
        elif kind == "short" and code != 0:
            self.fail(fault, f"exit {code}, {said.strip()[-300:]!r}")
        elif code == 0:
            # What could not be deleted may be left over; the next run does it.
            left = [d for d in differences(self.reference, tree(self.target))
                    if kind not in ("EIO", "malloc") or not re.match(r"extra: (.*/)?work", d)]
            if page_was_not_written(said):
                left = [d for d in left if not re.fullmatch(r"missing: report\.html", d)]
            if left:
                self.fail(fault, f"success is reported, but {left[:4]}")
        elif kind == "malloc":
            if code == "hang":
                self.fail(fault, "hangs")
        elif code != 2 or not one_sentence(said):
            self.fail(fault, f"exit {code}, {said.strip()[-300:]!r}")
        if kind in ("ENOSPC", "sync", "new") and self.target.exists():
            litter = [str(p) for p in self.target.parent.rglob("*") if is_litter(p.name)]
            if litter:
                self.fail(fault, f"leaves {litter[0]}")
        self.whole_results(fault)
        self.recovers(fault)


def tiny_checkpoint(folder):
    """GPT-2 with one block of 8 channels; numbers from a fixed sequence."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 1, "n_embd": 8, "n_head": 2,
        "n_positions": 16, "n_ctx": 16, "vocab_size": 11, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}))
    shapes = {"wte.weight": [11, 8], "wpe.weight": [16, 8], "ln_f.weight": [8], "ln_f.bias": [8]}
    for name, shape in {"ln_1.weight": [8], "ln_1.bias": [8], "ln_2.weight": [8], "ln_2.bias": [8],
                        "attn.c_attn.weight": [8, 24], "attn.c_attn.bias": [24], "attn.c_proj.weight": [8, 8],
                        "attn.c_proj.bias": [8], "mlp.c_fc.weight": [8, 32], "mlp.c_fc.bias": [32],
                        "mlp.c_proj.weight": [32, 8], "mlp.c_proj.bias": [8]}.items():
        shapes[f"h.0.{name}"] = shape
    generator, header, data = random.Random(1), {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = struct.pack(f"<{count}f", *(generator.gauss(0, 0.2) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def scenarios(place):
    def folder(name, command, flags):
        out = place / name
        arguments = [command, *flags, "--threads", "1", "--out", str(out)]
        resume = [command, "--config", str(out / "config.toml"), "--threads", "1", "--out", str(out), "--resume"]
        return Scenario(name, arguments, out, resume)

    small = ["--scheme", "pre-ln", "--scheme", "peri-ln", "--tokens", "5", "--dim", "3", "--time", "1", "--samples", "4",
             "--trajectory"]
    simulate = folder("simulate", "simulate", small)
    # Another run's folder is overwritten: what is left of it must never be taken for results of the new one.
    force = folder("force", "simulate", small)
    force.arguments.append("--force")
    force.always = {"kill": range(1, 9)}  # while what the run before wrote is being deleted
    force.before = lambda: run(["simulate", "--scheme", "post-ln", *small[4:], "--seed", "7", "--out", str(force.target)])
    # The same where somebody keeps notes beside: a kill on the way must not make the folder look like theirs.
    notes = folder("force-notes", "simulate", small)
    notes.arguments.append("--force")
    notes.always = {"kill": range(1, 17)}

    def with_notes():
        run(["simulate", "--scheme", "post-ln", *small[4:], "--seed", "7", "--out", str(notes.target)])
        (notes.target / "notes").mkdir()
        (notes.target / "notes/thesis.txt").write_text("thesis")

    notes.before = with_notes
    reproduce = folder("reproduce", "reproduce", ["--quick", "--only", "dynamics-initial-pre-ln", "--only",
                                                   "dynamics-table-pre-ln"])
    tiny_checkpoint(place / "model")
    saved = place / "saved"
    saved.mkdir()
    forward = Scenario("forward", ["forward", str(place / "model"), "--ids", "1,2,3", "--threads", "1", "--save",
                                   str(saved / "out.safetensors"), "--what", "logits,hidden,attention"],
                       saved / "out.safetensors")
    plots = place / "plots"
    theory = Scenario("theory", ["theory", "--scheme", "pre-ln", "--tokens", "4", "--beta", "1", "--plot",
                                 str(plots / "law.svg")], plots, before=plots.mkdir)
    law = folder("theory-folder", "theory", ["pre-ln", "--tokens", "4", "--samples", "5"])
    (place / "text.txt").write_text("to be or not to be, that is the question " * 8)
    train = folder("train", "train", ["peri-ln", "--data", str(place / "text.txt"), "--layers", "1", "--dim", "4", "--heads", "1",
                                      "--context", "4", "--batch", "2", "--steps", "3", "--record", "2", "--save", "0"])
    two = folder("train-two", "train", ["pre-ln", "--seeds", "2", *train.arguments[2:18]])
    limits = folder("limits", "limits", [str(place / "model"), "--ids", "1,2,3,4,5,6,7,8,9,10", "--lengths", "4,8", "--top", "1,2"])
    inspect = folder("inspect", "inspect", [str(place / "model"), "--ids", "1,2,3,4,5,6,7,8", "--length", "4", "--drop", "--lens"])
    grown = place / "grown"
    lines = Scenario("lines", [str(grown / "m.jsonl"), "6"], grown, before=grown.mkdir, program=LINES)
    # A page of a folder that was made once and is only read.
    shown = place / "shown"
    pages = place / "pages"
    pages.mkdir()
    report = Scenario("report", ["report", str(shown), "-o", str(pages / "page.html")], pages / "page.html",
                      before=lambda: shown.exists() or run(["simulate", *small, "--out", str(shown)]))
    check = folder("check", "check", ["pre-ln", "--depth", "4", "--steps", "10"])
    check.slow = True
    return [simulate, force, notes, reproduce, forward, theory, law, train, two, limits, inspect, report, check, lines]


def foreign_folders():
    """A folder of somebody's own, with names that we use too, is left as it is."""
    failures = []
    ours = ["simulate", "peri-ln", "--tokens", "4", "--dim", "3", "--time", "1", "--samples", "3"]
    commands = [ours, ["theory", "pre-ln", "--tokens", "4", "--samples", "5"], ["check", "pre-ln", "--depth", "4", "--steps", "10"]]
    foreign = {"work/deep/thesis.txt": "thesis", "work.finished/keep": "k", "config.toml": "mine", "data.csv": "1,2",
               "provenance.json": '{"files":{"data.csv":"x"}}', "report.html": "x", "work/run.json": "{}"}
    for names in [list(foreign), *([name] for name in foreign)]:
        for arguments in commands:
            with tempfile.TemporaryDirectory(prefix="flyball-foreign-") as temporary:
                place = Path(temporary) / "project"
                for name in names:
                    (place / name).parent.mkdir(parents=True, exist_ok=True)
                    (place / name).write_text(foreign[name])
                before = tree(place)
                for flags in ([], ["--force"], ["--resume"]):
                    done = run([*arguments, "--out", str(place), *flags], injected=False)
                    if done.returncode != 2 or not one_sentence(done.stderr) or "give --force" in done.stderr:
                        failures.append(f"foreign {names} {arguments[0]} {flags}: exit {done.returncode} {done.stderr}")
                    if differences(before, tree(place)):
                        failures.append(f"foreign {names} {arguments[0]} {flags}: {differences(before, tree(place))}")
    return failures


# How many points of each kind ./test looks at.
SHARE = {"kill": 16, "ENOSPC": 10, "EIO": 4, "sync": 2, "short": 1, "new": 10, "malloc": 4}


def main():
    failures, looked_at = foreign_folders(), 0
    only = os.environ.get("FLYBALL_TEST_FAULTS_ONLY", "").split()  # names of scenarios and kinds
    with tempfile.TemporaryDirectory(prefix="flyball-faults-") as temporary:
        place = Path(temporary)
        for scenario in scenarios(place):
            if only and scenario.name not in only and any(o not in SHARE for o in only):
                continue
            counts = {**scenario.measure(place / "log"), "short": 1}  # from the first call on, which is all of them
            for kind, usual in SHARE.items():
                some = -(-usual // 5) if scenario.slow else usual
                if only and kind not in only and any(o in SHARE for o in only):
                    continue
                total = counts[kind if kind in counts else "calls"]
                points = range(1, total + 1)
                if not EVERYWHERE and total > some:
                    points = random.Random(f"{SEED} {scenario.name} {kind}").sample(points, some)
                    points = sorted({*points, *scenario.always.get(kind, [])})
                elif kind in ("new", "malloc") and total > 2000:
                    # Thousands of small allocations in a row: every one of the first thousand, then every seventh.
                    points = [*range(1, 1001), *range(1001, total + 1, 7)]
                for number in points:
                    scenario.inflict(kind, number)
                    looked_at += 1
                print(f"{scenario.name} {kind}: {len(points)} of {total} points, "
                      f"{len(scenario.failures)} failures so far", flush=True)
            failures += scenario.failures
            scenario.failures = []
    for failure in failures[:60]:
        print(failure)
    print(f"{looked_at} faults, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
