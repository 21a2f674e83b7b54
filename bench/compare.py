#!/usr/bin/env python3
"""The same attention by numpy, torch, jax (whichever are installed) and Flyball, interleaved in one run.

    bench/compare.py FLYBALL_BENCH_COMPARE [--threads 2] [--rounds 7] [--write docs/performance.md] [--quick]

A = softmax(beta X X') X on unit rows. Every contender's answer is compared with Flyball's before it is timed. "naive" is what
people write (an n x n matrix, new arrays for every step); "tuned" works on chunks of rows, in place, in preallocated memory.
Times are the best of the rounds; the contenders take turns within each round, so a busy machine hurts them alike.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the executable flyball_bench_compare")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", help="write the table to this Markdown file")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    return parser.parse_args()


ARGS = arguments()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(ARGS.threads)
os.environ.setdefault("XLA_FLAGS", f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={ARGS.threads}")

import numpy as np  # noqa: E402  (threads must be set first)

try:
    import torch

    torch.set_num_threads(ARGS.threads)
except ImportError:
    torch = None
try:
    import jax

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

BETA = 1.0
CHUNK_BYTES = 1 << 20  # a block of scores that stays in the second-level cache


def numpy_naive(x):
    def step():
        scores = BETA * (x @ x.T)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights @ x

    return step


def numpy_tuned(x):
    n = len(x)
    rows = max(1, min(n, CHUNK_BYTES // (n * x.itemsize)))
    scores = np.empty((rows, n), x.dtype)
    out = np.empty_like(x)
    transposed = np.ascontiguousarray(x.T) * x.dtype.type(BETA)
    shift = x.dtype.type(BETA)  # unit rows: no score exceeds beta

    def step():
        for begin in range(0, n, rows):
            part = scores[: min(rows, n - begin)]
            np.matmul(x[begin : begin + rows], transposed, out=part)
            part -= shift
            np.exp(part, out=part)
            np.matmul(part, x, out=out[begin : begin + rows])
            out[begin : begin + rows] /= part.sum(axis=1, keepdims=True)
        return out

    return step


def torch_naive(x):
    t = torch.from_numpy(x)

    def step():
        with torch.no_grad():
            return (torch.softmax(BETA * (t @ t.T), dim=1) @ t).numpy()

    return step


def torch_tuned(x):
    t = torch.from_numpy(x)
    n = len(x)
    rows = max(1, min(n, CHUNK_BYTES // (n * x.itemsize)))
    scores = torch.empty((rows, n), dtype=t.dtype)
    out = torch.empty_like(t)
    scaled = (t * BETA).T.contiguous()

    def step():
        with torch.no_grad():
            for begin in range(0, n, rows):
                part = scores[: min(rows, n - begin)]
                torch.matmul(t[begin : begin + rows], scaled, out=part)
                part.sub_(BETA).exp_()
                torch.matmul(part, t, out=out[begin : begin + rows])
                out[begin : begin + rows] /= part.sum(dim=1, keepdim=True)
        return out.numpy()

    return step


def torch_fused(x):
    t = torch.from_numpy(x)[None, None]

    def step():
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(t, t, t, scale=BETA)[0, 0].numpy()

    return step


def jax_jit(x):
    @jax.jit
    def evaluate(z):
        return jax.nn.softmax(BETA * (z @ z.T), axis=1) @ z

    z = jax.numpy.asarray(x)
    return lambda: np.asarray(evaluate(z).block_until_ready())


class Flyball:
    def __init__(self, folder, x):
        self.rows = folder / "rows.bin"
        self.out = folder / "out.bin"
        self.rows.write_bytes(x.tobytes())
        precision = "f32" if x.dtype == np.float32 else "f64"
        self.process = subprocess.Popen(
            [ARGS.program, self.rows, self.out, str(len(x)), str(x.shape[1]), precision, str(BETA), str(ARGS.threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.kernel = self.process.stdout.readline().strip()
        self.answer = np.fromfile(self.out, x.dtype).reshape(x.shape)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def contenders(x):
    yield "numpy naive", numpy_naive
    yield "numpy tuned", numpy_tuned
    if torch is not None:
        yield "torch naive", torch_naive
        yield "torch tuned", torch_tuned
        yield "torch sdpa", torch_fused
    if jax is not None:
        yield "jax jit", jax_jit


def measure(n, d, dtype, folder):
    rng = np.random.default_rng(n + d)
    x = rng.standard_normal((n, d))
    x = np.ascontiguousarray((x / np.linalg.norm(x, axis=1, keepdims=True)).astype(dtype))
    flyball = Flyball(folder, x)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    steps = {}
    for name, make in contenders(x):
        if "naive" in name and n > 16384:
            continue
        step = make(x)
        error = np.abs(step() - flyball.answer).max()
        if not error < tolerance:
            sys.exit(f"{name} and Flyball differ by {error} at n = {n}, d = {d}")
        steps[name] = step
    best = {name: float("inf") for name in steps}
    best["flyball"] = float("inf")
    peak = 0.0
    for _ in range(ARGS.rounds):
        peak = max(peak, flyball.ask("peak"))
        best["flyball"] = min(best["flyball"], flyball.ask("run 3"))
        for name, step in steps.items():
            begin = time.perf_counter()
            step()
            best[name] = min(best[name], time.perf_counter() - begin)
    flyball.close()
    share = 4.0 * n * n * d / best["flyball"] / peak
    return flyball.kernel, best, share


def main():
    sizes = [(256, 3), (1024, 3), (4096, 3), (1024, 16), (4096, 16), (4096, 64), (4096, 128)]
    if not ARGS.quick:
        sizes += [(16384, 3), (16384, 64), (4096, 512)]
    names = [name for name, _ in contenders(None)]
    lines = ["| n | d | precision | kernel | ms | share of peak | " + " | ".join(names) + " |",
             "|---" * (6 + len(names)) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (np.float64, np.float32):
            for n, d in sizes:
                kernel, best, share = measure(n, d, dtype, pathlib.Path(folder))
                ratios = [f"{best[name] / best['flyball']:.1f}x" if name in best else "-" for name in names]
                lines.append(f"| {n} | {d} | {np.dtype(dtype).name} | {kernel} | {best['flyball'] * 1e3:.3g} | "
                             f"{100 * share:.0f} % | " + " | ".join(ratios) + " |")
                print(lines[-1], flush=True)
    versions = [f"numpy {np.__version__}"]
    versions += [f"torch {torch.__version__}"] if torch is not None else []
    versions += [f"jax {jax.__version__}"] if jax is not None else []
    if ARGS.write:
        text = f"""# Performance

The first table is about one evaluation of attention for n particles in d dimensions, A = softmax(X X') X, on {ARGS.threads} threads. It is made by

    cmake -S . -B build/bench -G Ninja -DFLYBALL_BENCH=ON && ninja -C build/bench flyball_bench_compare
    bench/compare.py build/bench/bench/flyball_bench_compare --threads {ARGS.threads} --rounds {ARGS.rounds} --write docs/performance.md

which checks every answer before it is timed, and runs the programs in turns ({', '.join(versions)}).
The last columns say how many times as long each of them takes as Flyball in the same run: "naive" stores the whole n x n matrix,
"tuned" works on some rows at a time, "sdpa" is torch's fused attention. The peak is the largest number of multiplications and additions per second that the processor can do, measured in
the same run. The share of peak counts 4 n^2 d operations; because scores are symmetric, Flyball computes each of them once for two tokens, so that the share can exceed 100 %.

""" + "\n".join(lines) + "\n"
        page = pathlib.Path(ARGS.write)
        rest = page.read_text().partition("\n## ") if page.exists() else ("", "", "")
        page.write_text(text + rest[1] + rest[2])  # sections below are written by hand


if __name__ == "__main__":
    main()
