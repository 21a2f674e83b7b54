#!/usr/bin/env python3
"""What depends on weights alone, for real attention of GPT-2 124M: raw products of queries and keys and the softmax of five short
prompts (12 layers x 12 heads), recorded by others. Prints the numbers that real_attention_test.cpp compares with.

    real_attention.py FOLDER      with prompt0.safetensors .. prompt4.safetensors; needs numpy
"""
import json
import struct
import sys

import numpy as np


def load(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    out = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            out[name] = np.frombuffer(data[8 + size + begin:8 + size + end], np.float32).reshape(entry["shape"])
    return out


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


sums = {"entropy share": 0, "peak": 0, "first key": 0, "share of 5": 0, "spectral": 0, "infinity": 0, "rows": 0, "rows of 6": 0}
largest = 0
worst = 0
first_key_heads = np.zeros((12, 12))
grid = 10.0 ** (np.arange(13) / 3 - 3)
norms = np.zeros((13, 12, 12))
moved = np.zeros((13, 12, 12))
rng = np.random.default_rng(1)
for prompt in range(5):
    stored = load(f"{sys.argv[1]}/prompt{prompt}.safetensors")
    raw, weights = stored["attn_scores_raw_qk"].astype(float), stored["attn_softmax"]
    for layer in range(12):
        for head in range(12):
            for t in range(2, raw.shape[2]):
                a = softmax(raw[layer, head, t, :t + 1] / 8)
                worst = max(worst, np.abs(a - weights[layer, head, t, :t + 1]).max())
                jacobian = np.diag(a) - np.outer(a, a)
                spectral = np.linalg.norm(jacobian, 2)
                sums["entropy share"] += -(a * np.log(a)).sum() / np.log(t + 1)
                sums["peak"] += a.max()
                sums["first key"] += a[0]
                first_key_heads[layer, head] += a[0]
                sums["spectral"] += spectral / 8
                sums["infinity"] += np.abs(jacobian).sum(1).max() / 8
                sums["rows"] += 1
                largest = max(largest, spectral)
                if t >= 5:
                    sums["share of 5"] += np.sort(a)[-5:].sum()
                    sums["rows of 6"] += 1
                v = rng.standard_normal(t + 1)
                v /= np.linalg.norm(v)
                for k, T in enumerate(grid):
                    z = raw[layer, head, t, :t + 1]
                    b = softmax(z / T)
                    norms[k, layer, head] += np.linalg.norm(np.diag(b) - np.outer(b, b), 2) / T
                    moved[k, layer, head] += np.linalg.norm(softmax((z + 1e-3 * v) / T) - b) / 1e-3
rows = sums["rows"]
for name in ("entropy share", "peak", "first key", "spectral", "infinity"):
    print(f"{name}: {sums[name] / rows:.10f}")
print(f"share of 5: {sums['share of 5'] / sums['rows of 6']:.10f}")
print(f"rows: {rows}, largest |J| T: {largest:.10f}, stored softmax off by {worst:.1e}")
share = first_key_heads / (rows / 144)
print(f"heads whose first key gets 30 % or more: {(share >= 0.3).sum()} of 144")
for k, T in enumerate(grid):
    print(f"T {T:.4g}: |J| of the largest head's mean {norms[k].max() / (rows / 144):.6g}, g {moved[k].max() / (rows / 144):.6g}, 1/(4T) {0.25 / T:.6g}")
low = [k for k, T in enumerate(grid) if 0.009 < T < 0.11]
g = moved.max((1, 2))
print("slope of log g from 0.01 to 0.1:", np.polyfit(np.log(grid[low]), np.log(g[low]), 1)[0], "g(1)/g(0.01):", g[9] / g[3])
