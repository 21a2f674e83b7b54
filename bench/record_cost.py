#!/usr/bin/env python3
"""What the record of every layer costs `flyball train`: time of the processor and memory, in turns.

    bench/record_cost.py build/release/src/flyball [--rounds 3] [--steps 60] [--layers 12] [--dim 48]

The same run three times a round: with the record at its default interval of 20 steps, at every step, and never. The overhead is
that of the fastest rounds. Memory is the largest the program had, beside the bound we set ourselves: twice (parameters x 16 bytes
+ activations of one batch), with about 34 numbers a token, block and channel kept for the way back.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--dim", type=int, default=48)
parser.add_argument("--heads", type=int, default=6)
parser.add_argument("--context", type=int, default=256)
parser.add_argument("--batch", type=int, default=8)
args = parser.parse_args()
text = pathlib.Path(__file__).resolve().parent.parent / "data/text/shakespeare.txt"


def run(interval):
    with tempfile.TemporaryDirectory() as folder:
        command = [args.program, "train", "--data", text, "--layers", args.layers, "--dim", args.dim, "--heads", args.heads,
                   "--context", args.context, "--batch", args.batch, "--steps", args.steps, "--record", interval,
                   "--validate", 10 ** 6, "--threads", 1, "--out", os.path.join(folder, "run"), "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return seconds, json.loads(done.stdout)


intervals = {"every 20 steps (default)": 20, "every step": 1, "never": 10 ** 6}
times = {name: [] for name in intervals}
for _ in range(args.rounds):
    for name, interval in intervals.items():
        seconds, answer = run(interval)
        times[name].append(seconds)
best = {name: min(seconds) for name, seconds in times.items()}
for name, seconds in best.items():
    print(f"record {name}: {seconds:.2f} s of the processor, {100 * (seconds / best['never'] - 1):+.1f} %")
result = answer[0] if isinstance(answer, list) else answer
parameters = result["parameters"]
activations = 34 * 4 * args.batch * args.context * args.layers * args.dim
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(f"memory: {memory / 1e6:.0f} MB at most; parameters x 16 bytes + activations of a batch: "
      f"{(16 * parameters + activations) / 1e6:.0f} MB")
