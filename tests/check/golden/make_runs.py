#!/usr/bin/env python3
"""Small runs of torch blocks, with and without mistakes, for the tests of `flyball check --against`.

Every block here is written in torch as its paper has it, by hand and not from Flyball's equations; what each sub-layer got and
gave, and the stream after each block, are saved under the names of docs/conformance.md. A mistake is one line of the block.
The sub-layers are real ones (one causal head, one GELU layer) with random weights, so that nothing cancels by accident.

usage: make_runs.py [FOLDER]          needs torch and safetensors; the tests need neither
"""
import math
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

ROWS, DIM, LAYERS = 8, 12, 4
HERE = Path(__file__).parent


class Norm(torch.nn.Module):
    """LayerNorm or RMSNorm with gains (and biases) away from 1 and 0."""

    def __init__(self, kind, gains, eps):
        super().__init__()
        self.kind, self.eps = kind, eps
        self.gain = torch.nn.Parameter(1 + 0.3 * torch.randn(DIM)) if gains else None
        self.bias = torch.nn.Parameter(0.2 * torch.randn(DIM)) if gains and kind == "layernorm" else None

    def forward(self, x):
        if self.kind == "layernorm":
            return torch.nn.functional.layer_norm(x, (DIM,), self.gain, self.bias, self.eps)
        if self.kind == "unit":
            return x / x.norm(dim=-1, keepdim=True)
        wide = x.float()
        wide = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)
        return wide if self.gain is None else wide * self.gain


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(DIM, 3 * DIM)
        self.out = torch.nn.Linear(DIM, DIM)

    def forward(self, x):
        q, k, v = self.qkv(x).split(DIM, dim=-1)
        mixed = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
        return self.out(mixed)


class FeedForward(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(DIM, 4 * DIM)
        self.down = torch.nn.Linear(4 * DIM, DIM)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


class Run:
    """One forward pass. `block(run, l, x)` gives the new stream and calls run.attn, run.ffn and run.norm."""

    def __init__(self, block, readout, norm="layernorm", gains=True, eps=1e-5, dtype=torch.float32, scale=1.0, seed=1,
                 layers=LAYERS):
        torch.manual_seed(seed)
        self.tensors, self.metadata = {}, {"norm": norm, "eps": str(eps)}
        x = (torch.randn(ROWS, DIM) * scale).to(dtype)
        self.x0 = x
        self.layers = layers
        self.tensors["embed"] = x.clone()
        self.make = lambda: Norm(norm, gains, eps).to(dtype)
        self.state = {}
        with torch.no_grad():
            for l in range(layers):
                self.l, self.used = l, 0
                self.prefix = f"blocks.{l}."
                self.sub_layers = {"attn": Attention().to(dtype), "ffn": FeedForward().to(dtype)}
                x = block(self, l, x)
                self.tensors[f"blocks.{l}.resid"] = x.clone()
            self.used, self.prefix = 0, "readout."
            self.tensors["readout"] = readout(self, x).clone()

    def norm(self, x, save=True):
        """The next norm of the block, in the order in which they are evaluated."""
        one = self.make()
        if save and one.gain is not None:
            self.tensors[f"{self.prefix}norms.{self.used}.gain"] = one.gain.detach().clone()
            if one.bias is not None:
                self.tensors[f"{self.prefix}norms.{self.used}.bias"] = one.bias.detach().clone()
        self.used += 1 if save else 0
        return one(x)

    def call(self, name, x):
        out = self.sub_layers[name](x)
        self.tensors[f"{self.prefix}{name}.in"] = x.clone()
        self.tensors[f"{self.prefix}{name}.out"] = out.clone()
        return out

    def attn(self, x):
        return self.call("attn", x)

    def ffn(self, x):
        return self.call("ffn", x)

    def learned(self, instance, name, value):
        value = torch.as_tensor(value, dtype=self.x0.dtype).reshape(-1)
        self.tensors[f"{self.prefix}scheme.{instance}.{name}"] = value.clone()
        return value

    def save(self, path, **metadata):
        save_file({k: v.contiguous() for k, v in self.tensors.items()}, path,
                  metadata={**self.metadata, **{k: str(v) for k, v in metadata.items()}})


def twice(step):
    """A block that does the same with attention and with the feed-forward."""

    def block(run, l, x):
        for i, f in enumerate((run.attn, run.ffn)):
            x = step(run, l, x, f, i)
        return x

    return block


def final_norm(run, x):
    return run.norm(x)


def as_it_is(run, x):
    return x


# The published blocks. l counts from 0 here, so the papers' 1/sqrt(l) is 1/sqrt(l + 1).
def post_ln(run, l, x, f, i):
    return run.norm(x + f(x))


def pre_ln(run, l, x, f, i):
    return x + f(run.norm(x))


def peri_ln(run, l, x, f, i):
    return x + run.norm(f(run.norm(x)))


def output_ln(run, l, x, f, i):
    return x + run.norm(f(x))


def mix_ln(run, l, x, f, i):
    return post_ln(run, l, x, f, i) if (l + 1) / run.layers <= 0.25 else pre_ln(run, l, x, f, i)


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def ngpt(run, l, x, f, i):
    return unit(x + 1.0 * (unit(f(x)) - x))


def sqrt_scaling(run, l, x, f, i):
    return run.norm(x + f(x) / math.sqrt(l + 1))


def ln_scaling(run, l, x, f, i):
    return x + f(run.norm(x) / math.sqrt(l + 1))


def ln_scaling_output(run, l, x, f, i):
    return x + f(run.norm(x)) / math.sqrt(l + 1)


def deepnorm(run, l, x, f, i, exponent=0.25):
    return run.norm((2 * run.layers) ** exponent * x + f(x))


def keel(run, l, x, f, i):
    return run.norm(2 * run.layers * x + f(run.norm(x)))


def admin(run, l, x, f, i):
    return run.norm(run.learned(i, "omega", 1 + torch.rand(DIM)) * x + f(x))


def rezero(run, l, x):
    alpha = run.learned(0, "alpha", 0.3 - 0.1 * l)
    x = x + alpha * run.attn(x)
    return x + alpha * run.ffn(x)


def skipinit(run, l, x, f, i):
    return x + run.learned(i, "alpha", 0.2 + 0.1 * i) * f(x)


def layerscale(run, l, x, f, i):
    return x + run.learned(i, "lambda", 1e-2 * (1 + torch.rand(DIM))) * f(run.norm(x))


def scalenorm(run, l, x, f, i):
    return x + f(run.learned(i, "g", 3.0 + i) * unit(x))


def scalenorm_readout(run, x):
    return run.learned(0, "g", 3.5) * unit(x)


def b2t(run, l, x):
    m = run.norm(x + run.attn(x))
    return run.norm(x + m + run.ffn(m))


def two_streams(run, x):
    run.state.setdefault("y", run.x0)
    return run.state["y"]


def residual(run, l, x, f, i):
    y = two_streams(run, x)
    o = f(x)
    run.state["y"] = y + o
    return run.norm(x + o)


def siamesenorm(run, l, x, f, i):
    y = two_streams(run, x)
    o = f(x + run.norm(y))
    run.state["y"] = y + o
    return run.norm(x + o)


def both_streams(run, x):
    return x + run.norm(run.state["y"])


def spannorm(run, l, x):
    b = x
    x = run.norm(b + run.attn(x if l > 0 else run.norm(x)))
    return run.norm(b + run.ffn(x))


def hybridnorm(run, l, x):
    x = x + run.attn(x)
    w = run.norm(x)
    return w + run.ffn(w)


def hybridnorm_star(run, l, x):
    if l > 0:
        return hybridnorm(run, l, x)
    x = x + run.attn(run.norm(x))
    return x + run.ffn(run.norm(x))


def gpas(run, l, x):
    x = x + run.attn(run.norm(x))
    x = x + run.ffn(run.norm(x))
    g = run.learned(0, "g", 0.1 * (l + 1))
    return x - torch.nn.functional.silu(g) * x


def dyt(run, l, x, f, i):
    return x + f(run.learned(i, "gain", 1 + 0.1 * torch.rand(DIM)) * torch.tanh(run.learned(i, "alpha", 0.4) * x))


def dyt_readout(run, x):
    return run.learned(0, "gain", 1 + 0.1 * torch.rand(DIM)) * torch.tanh(run.learned(0, "alpha", 0.6) * x)


def derf_curve(run, i, x):
    alpha, gain, s = (run.learned(i, "alpha", 0.4), run.learned(i, "gain", 1 + 0.1 * torch.rand(DIM)),
                      run.learned(i, "s", 0.1 * torch.rand(DIM)))
    return gain * torch.erf(alpha * x + s)


def derf(run, l, x, f, i):
    return x + f(derf_curve(run, i, x))


SCHEMES = {
    "post-ln": (twice(post_ln), as_it_is), "pre-ln": (twice(pre_ln), final_norm), "peri-ln": (twice(peri_ln), final_norm),
    "output-ln": (twice(output_ln), final_norm), "mix-ln": (twice(mix_ln), final_norm), "ngpt": (twice(ngpt), as_it_is),
    "sqrt-scaling": (twice(sqrt_scaling), as_it_is), "ln-scaling": (twice(ln_scaling), final_norm),
    "ln-scaling-output": (twice(ln_scaling_output), final_norm), "deepnorm": (twice(deepnorm), as_it_is),
    "keel": (twice(keel), as_it_is), "admin": (twice(admin), as_it_is), "rezero": (rezero, as_it_is),
    "skipinit": (twice(skipinit), as_it_is), "layerscale": (twice(layerscale), final_norm),
    "scalenorm": (twice(scalenorm), scalenorm_readout), "b2t": (b2t, as_it_is), "residual": (twice(residual), both_streams),
    "siamesenorm": (twice(siamesenorm), both_streams), "spannorm": (spannorm, as_it_is),
    "hybridnorm": (hybridnorm, final_norm), "hybridnorm-star": (hybridnorm_star, final_norm), "gpas": (gpas, final_norm),
    "dyt": (twice(dyt), dyt_readout), "derf": (twice(derf), lambda run, x: derf_curve(run, 0, x)),
}


# The mistakes.
def peri_without_output_norm(run, l, x, f, i):
    return x + f(run.norm(x))


def skip_after_norm(run, l, x, f, i):
    n = run.norm(x)
    return n + f(n)


def parallel(run, l, x):
    return x + run.attn(run.norm(x)) + run.ffn(run.norm(x))


def parallel_of_one_norm(run, l, x):
    n = run.norm(x)
    return x + run.attn(n) + run.ffn(n)


def exchanged(step, a, b):
    swap = {a: b, b: a}
    return lambda run, l, x, f, i: step(run, swap.get(l, l), x, f, i)


def swap_saved(run, a, b):
    moved = {}
    for name, value in run.tensors.items():
        for here, there in ((a, b), (b, a)):
            if name.startswith(f"blocks.{here}."):
                name = f"blocks.{there}." + name.split(".", 2)[2]
                break
        moved[name] = value
    run.tensors = moved


def pre_ln_small_steps(run, l, x, f, i):
    return x + 0.1 * f(run.norm(x))


def attention_alone(run, l, x):
    return x + run.attn(run.norm(x))


def pre_ln_of_whole_blocks(run, l, x):
    """Pre-LN whose second norm does nothing: a mistake in one sub-layer."""
    x = x + run.attn(run.norm(x))
    return x + run.ffn(x)


def three_exchanged(run, l, x, f, i):
    return ln_scaling_output(run, {1: 2, 2: 3, 3: 1}.get(l, l), x, f, i)


MISTAKES = {
    "ln-scaling-is-one": (twice(pre_ln), final_norm),
    "ln-scaling-output-is-one": (twice(pre_ln), final_norm),
    "peri-without-output-norm": (twice(peri_without_output_norm), final_norm),
    "skip-after-norm": (twice(skip_after_norm), final_norm),
    "deepnorm-exponent": (twice(lambda *a: deepnorm(*a, exponent=0.5)), as_it_is),
    "parallel": (parallel, final_norm),
    "parallel-of-one-norm": (parallel_of_one_norm, final_norm),
    "one-norm-missing": (pre_ln_of_whole_blocks, final_norm),
    "three-exchanged": (twice(three_exchanged), final_norm),
    "ln-scaling-exchanged": (twice(exchanged(ln_scaling, 1, 3)), final_norm),
    "ln-scaling-output-exchanged": (twice(exchanged(ln_scaling_output, 2, 3)), final_norm),
}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    folder.mkdir(exist_ok=True)
    for name, (block, readout) in SCHEMES.items():
        norm = "rmsnorm" if name in ("peri-ln", "output-ln", "keel") else "layernorm"
        for dtype, ending in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
            Run(block, readout, norm=norm, dtype=dtype).save(folder / f"{name}-{ending}.safetensors")
    for name, (block, readout) in MISTAKES.items():
        for dtype, ending in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
            Run(block, readout, norm="rmsnorm" if name.startswith("peri") else "layernorm",
                dtype=dtype).save(folder / f"wrong-{name}-{ending}.safetensors")
    Run(twice(pre_ln_small_steps), final_norm).save(folder / "small-steps-f32.safetensors", dt=0.1)
    Run(twice(pre_ln), final_norm, scale=1000).save(folder / "large-stream-f32.safetensors")
    Run(twice(pre_ln), final_norm, dtype=torch.float16).save(folder / "pre-ln-f16.safetensors")
    Run(twice(pre_ln), final_norm, gains=False).save(folder / "no-gains-f32.safetensors")
    Run(parallel, final_norm).save(folder / "parallel-f32.safetensors")
    Run(attention_alone, final_norm).save(folder / "attention-alone-f32.safetensors")
    for name, step in (("pre-ln", pre_ln), ("ln-scaling", ln_scaling)):
        run = Run(twice(step), final_norm)
        swap_saved(run, 1, 2)
        run.save(folder / f"wrong-{name}-order-f32.safetensors")


if __name__ == "__main__":
    main()
