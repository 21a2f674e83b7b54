#!/usr/bin/env python3
"""Training steps of small GPTs: torch (and jax where it is installed) beside Flyball, in turns.

    bench/compare_train.py FLYBALL_BENCH_TRAIN [--threads 2] [--rounds 5] [--steps 4] [--models 48x64 24x128] [--compiled]

Needs torch. Vocabulary 96, tied, Pre-LN, LayerNorm and linear maps with biases, GELU (tanh), learned positions, AdamW. The
weights and tokens are drawn here and saved; everyone starts from the same file, and the losses of 20 steps are compared (to a
thousandth) before anything is timed. A turn is the best of STEPS steps in one process; the ratio is that of the best turns.

torch runs eagerly with scaled_dot_product_attention and the fused AdamW, --compiled adds torch.compile. Two times are given:
of the clock, and of the processor, all threads together. On a machine that others use at the same time the processor's is the
one to look at, with --threads 1: a thread that waits for another in a loop counts as work.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

MODELS = {"6x384": (6, 384, 6, 256, 8), "12x256": (12, 256, 4, 256, 16),
          "24x128": (24, 128, 4, 128, 32), "48x64": (48, 64, 2, 128, 32)}
VOCAB = 96
LOSSES = 20
RATE, DECAY = 1e-3, 0.01

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", help="the executable flyball_bench_train")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
parser.add_argument("--compiled", action="store_true")
args = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(args.threads)
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if args.threads > 1 else 'false'}"

import numpy  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(args.threads)
try:
    import jax
except ImportError:
    jax = None


def draw(layers, dim, positions, seed):
    """Weights by Flyball's names, matrices [out, in]."""
    random = numpy.random.default_rng(seed)

    def normal(*shape, deviation=0.02):
        return (deviation * random.standard_normal(shape)).astype(numpy.float32)

    weights = {"embed.tokens.weight": normal(VOCAB, dim), "embed.positions.weight": normal(positions, dim)}
    for block in range(layers):
        at = f"blocks.{block}."
        weights[at + "attn.qkv.weight"] = normal(3 * dim, dim)
        weights[at + "attn.out.weight"] = normal(dim, dim, deviation=0.02 / (2 * layers) ** 0.5)
        weights[at + "ffn.in.weight"] = normal(4 * dim, dim)
        weights[at + "ffn.out.weight"] = normal(dim, 4 * dim, deviation=0.02 / (2 * layers) ** 0.5)
        for name in ("attn.qkv", "attn.out", "ffn.in", "ffn.out"):
            weights[at + name + ".bias"] = numpy.zeros(weights[at + name + ".weight"].shape[0], numpy.float32)
        for norm in (0, 1):
            weights[f"{at}norm.{norm}.weight"] = numpy.ones(dim, numpy.float32)
            weights[f"{at}norm.{norm}.bias"] = numpy.zeros(dim, numpy.float32)
    weights["readout.norm.0.weight"] = numpy.ones(dim, numpy.float32)
    weights["readout.norm.0.bias"] = numpy.zeros(dim, numpy.float32)
    return weights


def save(path, weights):
    header, offset = {}, 0
    for name, values in weights.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in weights.values():
            file.write(values.tobytes())


class Torch:
    def __init__(self, weights, layers, heads, compiled=False):
        self.p = {name: torch.nn.Parameter(torch.from_numpy(values.copy())) for name, values in weights.items()}
        self.layers, self.heads = layers, heads
        self.optimiser = torch.optim.AdamW(self.p.values(), lr=RATE, weight_decay=DECAY, fused=True)
        self.loss = torch.compile(self.forward) if compiled else self.forward

    def norm(self, x, name):
        return functional.layer_norm(x, x.shape[-1:], self.p[name + ".weight"], self.p[name + ".bias"])

    def linear(self, x, name):
        return functional.linear(x, self.p[name + ".weight"], self.p[name + ".bias"])

    def forward(self, ids):
        tokens, targets = ids[:, :-1], ids[:, 1:]
        x = functional.embedding(tokens, self.p["embed.tokens.weight"]) + self.p["embed.positions.weight"]
        b, t, d = x.shape
        for block in range(self.layers):
            at = f"blocks.{block}."
            qkv = self.linear(self.norm(x, at + "norm.0"), at + "attn.qkv")
            q, k, v = qkv.view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.linear(mixed.transpose(1, 2).reshape(b, t, d), at + "attn.out")
            inner = functional.gelu(self.linear(self.norm(x, at + "norm.1"), at + "ffn.in"), approximate="tanh")
            x = x + self.linear(inner, at + "ffn.out")
        logits = functional.linear(self.norm(x, "readout.norm.0"), self.p["embed.tokens.weight"])
        return functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1))

    def step(self, ids):
        loss = self.loss(torch.from_numpy(ids).long())
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.item()


class Jax:
    def __init__(self, weights, layers, heads):
        jnp = jax.numpy
        self.p = {name: jnp.asarray(values) for name, values in weights.items()}
        self.moments = [{name: jnp.zeros_like(values) for name, values in self.p.items()} for _ in range(2)]
        self.steps = 0

        def norm(p, x, name):
            centred = x - x.mean(-1, keepdims=True)
            return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * p[name + ".weight"] + p[name + ".bias"]

        def linear(p, x, name):
            return x @ p[name + ".weight"].T + p[name + ".bias"]

        def loss(p, ids):
            tokens, targets = ids[:, :-1], ids[:, 1:]
            x = p["embed.tokens.weight"][tokens] + p["embed.positions.weight"]
            b, t, d = x.shape
            hidden = jnp.tril(jnp.ones((t, t), bool))
            for block in range(layers):
                at = f"blocks.{block}."
                qkv = linear(p, norm(p, x, at + "norm.0"), at + "attn.qkv")
                q, k, v = qkv.reshape(b, t, 3, heads, d // heads).transpose(2, 0, 3, 1, 4)
                scores = jnp.where(hidden, q @ k.swapaxes(-1, -2) / (d // heads) ** 0.5, -jnp.inf)
                mixed = jax.nn.softmax(scores, -1) @ v
                x = x + linear(p, mixed.transpose(0, 2, 1, 3).reshape(b, t, d), at + "attn.out")
                x = x + linear(p, jax.nn.gelu(linear(p, norm(p, x, at + "norm.1"), at + "ffn.in")), at + "ffn.out")
            logits = norm(p, x, "readout.norm.0") @ p["embed.tokens.weight"].T
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1).mean()

        def update(p, first, second, number, ids):
            value, gradient = jax.value_and_grad(loss)(p, ids)
            tree = jax.tree_util.tree_map
            first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
            second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
            p = tree(lambda w, m, v: w * (1 - RATE * DECAY) - RATE * (m / (1 - 0.9 ** number))
                     / (jnp.sqrt(v / (1 - 0.999 ** number)) + 1e-8), p, first, second)
            return value, p, first, second

        self.update = jax.jit(update, donate_argnums=(0, 1, 2))

    def step(self, ids):
        self.steps += 1
        value, self.p, *self.moments = self.update(self.p, *self.moments, float(self.steps), jax.numpy.asarray(ids))
        return float(value)


def best_of(other, ids):
    best = (1e9, 1e9)
    for i in range(args.steps):
        clock, processor = time.perf_counter(), time.process_time()
        other.step(ids[i % len(ids)])
        best = (min(best[0], time.perf_counter() - clock), min(best[1], time.process_time() - processor))
    return best


def flyball(folder, sizes, steps, losses):
    layers, dim, heads, tokens, sequences = sizes
    flags = {"layers": layers, "dim": dim, "heads": heads, "tokens": tokens, "sequences": sequences, "vocab": VOCAB,
             "threads": args.threads, "rounds": steps, "losses": losses, "folder": folder}
    command = [args.program] + [text for key, value in flags.items() for text in (f"--{key}", str(value))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(name, folder):
    sizes = layers, dim, heads, tokens, sequences = MODELS[name]
    weights = draw(layers, dim, tokens, 1)
    save(os.path.join(folder, "weights.safetensors"), weights)
    # A language that can be learned a little: each token follows from the one before it, mostly.
    random = numpy.random.default_rng(2)
    ids = random.integers(VOCAB, size=(LOSSES, sequences, tokens + 1), dtype=numpy.int32)
    for i in range(1, tokens + 1):
        follows = random.random((LOSSES, sequences)) < 0.7
        ids[:, :, i] = numpy.where(follows, (5 * ids[:, :, i - 1] + 3) % VOCAB, ids[:, :, i])
    ids.tofile(os.path.join(folder, "ids.bin"))
    others = {"torch": Torch(weights, layers, heads)}
    if args.compiled:
        others["torch compiled"] = Torch(weights, layers, heads, compiled=True)
    if jax is not None:
        others["jax"] = Jax(weights, layers, heads)
    ours = flyball(folder, sizes, 1, LOSSES)["losses"]
    for who, other in others.items():
        theirs = [other.step(batch) for batch in ids]
        worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
        print(f"{name}: losses {ours[0]:.5f} .. {ours[-1]:.5f}, {who} {theirs[0]:.5f} .. {theirs[-1]:.5f}, "
              f"largest difference {worst:.1e}", flush=True)
        if not worst < 1e-3:
            sys.exit("the losses differ: nothing was timed")
    times = {who: [] for who in ["flyball", *others]}
    share = 0.0
    for _ in range(args.rounds):
        result = flyball(folder, sizes, args.steps, 0)
        share = max(share, result["share"])
        times["flyball"].append((result["seconds"], result["processor_seconds"]))
        for who, other in others.items():
            times[who].append(best_of(other, ids))
    operations = sequences * tokens * (6 * (12 * layers * dim ** 2 + VOCAB * dim) + 6 * layers * tokens * dim)
    print(f"{name}: {100 * share:.0f} % of the multiply-add peak, {result['memory_mb']} MB")
    for who, list_of in times.items():
        clock, processor = (min(pair[i] for pair in list_of) for i in (0, 1))
        ratios = [[theirs[i] / mine[i] for theirs, mine in zip(list_of, times["flyball"])] for i in (0, 1)]
        ratio = [value / min(pair[i] for pair in times["flyball"]) for i, value in enumerate((clock, processor))]
        print(f"{name}: {who}: {sequences * tokens / clock:.0f} tokens/s, {operations / processor * 1e-9:.0f} GFLOP/s of "
              f"processor time; time over Flyball's {ratio[0]:.2f} (rounds {min(ratios[0]):.2f} to {max(ratios[0]):.2f}), "
              f"processor time {ratio[1]:.2f} ({min(ratios[1]):.2f} to {max(ratios[1]):.2f})", flush=True)


print(f"torch {torch.__version__}" + (f", jax {jax.__version__}" if jax else "") + f", {args.threads} threads")
for chosen in args.models:
    with tempfile.TemporaryDirectory() as place:
        compare(chosen, place)
