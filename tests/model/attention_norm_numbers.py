#!/usr/bin/env python3
"""Prints the numbers that attention_norm_test.cpp compares with: attention with norms on q, k and v, in numpy alone.

Three tokens, four channels, two heads of four channels over one key-value head, causal, rotary positions.
"""
import numpy as np

EPS, THETA, HEADS, KV, DH, D, N = 1e-5, 10000.0, 2, 1, 4, 4, 3


def sines(step, start, *shape):
    return np.sin(step * np.arange(np.prod(shape)) + start).reshape(shape)


def rms(v, gain):
    return gain * v / np.sqrt(np.mean(v * v) + EPS)


def unit(v, gain):
    return gain * v / np.sqrt(np.sum(v * v))


def rope(v, position):
    out = v.copy()
    for i in range(DH // 2):
        angle = position * THETA ** (-2 * i / DH)
        a, b = v[i], v[i + DH // 2]
        out[i] = a * np.cos(angle) - b * np.sin(angle)
        out[i + DH // 2] = b * np.cos(angle) + a * np.sin(angle)
    return out


def attention(norm, parts, whole, per_channel, after, scale):
    tokens = sines(0.7, 1, N, D)
    w = sines(1.3, 2, (HEADS + 2 * KV) * DH, D)
    w_out = sines(0.9, 3, D, HEADS * DH)
    width = {"q": HEADS * DH, "k": KV * DH, "v": KV * DH}
    start = {"q": 0, "k": HEADS * DH, "v": (HEADS + KV) * DH}
    rows = {name: tokens @ w[start[name]:start[name] + width[name]].T for name in "qkv"}

    def normed(name):
        size = width[name] if per_channel else DH
        gain = 1 + 0.1 * np.arange(size) * (1 if name == "q" else -0.5)
        result = rows[name].copy()
        for i in range(N):
            if whole:
                result[i] = norm(rows[name][i], gain)
                continue
            for h in range(width[name] // DH):
                at = slice(h * DH, (h + 1) * DH)
                result[i, at] = norm(rows[name][i, at], gain[at] if per_channel else gain)
        return result

    def turned(name):
        return np.array([np.concatenate([rope(row[h:h + DH], i) for h in range(0, len(row), DH)])
                         for i, row in enumerate(rows[name])])

    for name in "qkv":
        if name in parts and not after:
            rows[name] = normed(name)
        if name != "v":
            rows[name] = turned(name)
        if name in parts and after:
            rows[name] = normed(name)
    mixed = np.zeros((N, HEADS * DH))
    for h in range(HEADS):
        for i in range(N):
            q = rows["q"][i, h * DH:(h + 1) * DH]
            scores = scale * rows["k"][:i + 1] @ q
            weights = np.exp(scores - scores.max())
            mixed[i, h * DH:(h + 1) * DH] = weights / weights.sum() @ rows["v"][:i + 1]
    return mixed @ w_out.T


for title, arguments in {
    "rmsnorm on q, k of each head": (rms, "qk", False, False, False, 0.5),
    "unit on q, k of each head after positions": (unit, "qk", False, True, True, 2.0),
    "rmsnorm on q, k of all heads": (rms, "qk", True, True, False, 0.5),
    "rmsnorm on q, k, v of each head": (rms, "qkv", False, False, False, 0.5),
}.items():
    print(title)
    print("  " + ", ".join(f"{x:.12f}" for x in attention(*arguments).ravel()))
