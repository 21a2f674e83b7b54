#!/usr/bin/env python3
"""Distances and expectations of every N for a few rows of one head, written as the formulas stand: numpy and torch beside Flyball.

    bench/compare_limits.py FLYBALL_BENCH_LIMITS [--tokens 1024] [--rows 4] [--counts 32] [--threads 2]

Needs numpy and torch. The straightforward version takes, for each row and each N, the norms of [L, d] differences; a slice of
`rows` rows and `counts` values of N is timed and scaled to all rows, all N and all heads of the model that the program analyses.
Seconds are those of the processors, on all sides.
"""
import argparse
import json
import subprocess
import time

import numpy as np
import torch

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", help="the executable flyball_bench_limits")
parser.add_argument("--tokens", type=int, default=1024)
parser.add_argument("--rows", type=int, default=4)
parser.add_argument("--counts", type=int, default=32)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
torch.set_num_threads(args.threads)
rng = np.random.default_rng(1)
dim = 768


def with_numpy(alpha, x, counts):
    a = alpha[:, None] * x
    order = np.argsort(-alpha, kind="stable")
    total, keys, out = a.sum(0), len(alpha), []
    for n in counts:
        s = a[order[:n]].sum(0)
        true = np.linalg.norm(a[order[n:]] - s, axis=1).sum()
        expected = np.linalg.norm(a - n / (keys - 1) * (total - a), axis=1).sum() * (keys - n) / keys
        out.append((true, expected))
    return np.array(out)


def with_torch(alpha, x, counts):
    a = alpha[:, None] * x
    order = torch.argsort(alpha, descending=True, stable=True)
    total, keys, out = a.sum(0), len(alpha), []
    for n in counts:
        s = a[order[:n]].sum(0)
        true = (a[order[n:]] - s).norm(dim=1).sum()
        expected = (a - n / (keys - 1) * (total - a)).norm(dim=1).sum() * (keys - n) / keys
        out.append((true.item(), expected.item()))
    return np.array(out)


seconds = {"numpy": 0.0, "torch": 0.0}
pairs = 0
for keys in np.linspace(args.tokens / args.rows, args.tokens, args.rows).astype(int):
    logits = rng.normal(size=keys)
    alpha = np.exp(logits) / np.exp(logits).sum()
    x = rng.normal(size=(keys, dim))
    counts = np.unique(np.linspace(1, keys - 1, args.counts).astype(int))
    results = {}
    for name, run, values in (("numpy", with_numpy, (alpha, x)),
                              ("torch", with_torch, (torch.tensor(alpha), torch.tensor(x)))):
        run(*values, counts[:1])  # the first call of a library does more than its work
        start = time.process_time()
        results[name] = run(*values, counts)
        seconds[name] += time.process_time() - start
    assert np.allclose(results["numpy"], results["torch"], rtol=1e-9)
    pairs += len(counts) * keys  # a row and an N cost as many keys

ours = json.loads(subprocess.run([args.program, "--json", "--tokens", str(args.tokens)], check=True, capture_output=True,
                                 text=True).stdout)
# sum over rows t of t keys for each of t values of N
all_pairs = ours["heads"] * sum(t * t for t in range(1, args.tokens + 1))
print(f"flyball: {ours['processor']:.1f} s of processor time for all five analyses of {ours['heads']} heads at {args.tokens} tokens")
for name, time_taken in seconds.items():
    scaled = time_taken * all_pairs / pairs
    print(f"{name}: {time_taken:.2f} s for the slice, {scaled / 3600:.1f} hours for distances and expectations of all N: "
          f"{scaled / ours['processor']:.0f} times as long")
