#!/usr/bin/env python3
"""Makes the goldens of tests/train: tiny models, and what torch says of training them, computed in double.

Each folder holds the model that a run starts from (config.json, model.safetensors) and expected.json: the settings,
the loss, learning rate and gradient norm of 20 steps, the validation loss after them, and the record of step 1, from the
definitions in src/train/layer_record.hpp, src/measure/moments.hpp and src/model/predicted_angle.hpp. All are trained on
text.txt.

usage: pip install torch==2.13.0 numpy safetensors; make_goldens.py
"""
import json
import math
from pathlib import Path

import torch
from safetensors.torch import save_file

from small_gpt import SCHEMES, Recipe, Shape, Text, Training, Watched, initial, to_unit

HERE = Path(__file__).resolve().parent
STEPS = 20

# name: (scheme, layers, how the model differs, how the run differs)
GOLDENS = {
    "pre-ln": ("pre-ln", 2, {}, {"clip": 4.3}),
    "post-ln": ("post-ln", 2, {}, {"accumulate": 2}),
    "peri-ln": ("peri-ln", 2, {}, {"batch": 70, "clip": 0.2, "decay": 0.5}),
    "ngpt": ("ngpt", 2, {}, {}),
    "mix-ln": ("mix-ln", 4, {}, {"rate": 0.004}),
    "sqrt-scaling": ("sqrt-scaling", 2, {}, {"seed": 7, "beta2": 0.99, "clip": 4}),
    "llama": ("pre-ln", 2, {"norm": "rmsnorm", "rope": True, "swiglu": True}, {"warm_up": 5}),
}


def configuration(s):
    """config.json of our own format."""
    rows = {
        "model_type": "flyball", "equation": SCHEMES[s.scheme], "layers": s.layers, "dim": s.dim, "heads": s.heads,
        "kv_heads": s.heads, "head_dim": s.dim // s.heads, "ffn_dim": s.ffn, "vocab": s.vocab, "positions": s.context,
        "token_types": 0, "rope_dims": s.dim // s.heads if s.rope else 0, "causal": True,
        "learned_positions": not s.rope, "embedding_norm": False, "gated": s.swiglu, "qkv_bias": s.biases,
        "output_bias": s.biases, "ffn_bias": s.biases, "norm_bias": s.biases, "has_head": True, "tied": True,
        "scale_scores": True, "scale_by_layer": False, "ffn_gains": s.ngpt, "logit_gains": s.ngpt, "dt": 1.0,
        "eps": 1e-5 if s.norm == "layernorm" else 1e-6, "rope_theta": 10000.0,
        "ffn_scale": math.sqrt(s.dim) if s.ngpt else 1.0, "norm": s.norm, "attention": "softmax",
        "activation": "silu" if s.swiglu else "gelu_new", "windows": [],
    }
    if s.ngpt:
        rows["attention_norm"] = {
            "norm": "unit", "over": "head", "gains": "channel", "query": True, "key": True, "value": False,
            "after_positions": True, "scores_times_root": True}
    return rows


def random_start(s, generator):
    """Numbers large enough that attention is far from uniform and no gain is 1, exact in float."""
    p = initial(s, generator)
    for name, w in p.items():
        noise = torch.randn(w.shape, generator=generator)
        if name.endswith("alpha"):
            w += 0.02 * noise
        elif w.dim() == 1:
            w += 0.2 * noise
        elif not s.ngpt:
            w.copy_((0.5 if name.startswith("embed") else 0.3) * noise)
    if s.ngpt:
        to_unit(p)
    return p


def moments(x):
    """x: [sequences, tokens, channels]."""
    return {
        "norm": x.norm(dim=-1).mean().item(),
        "mean_abs": x.abs().mean().item(),
        "entry_variance": x.flatten(1).var(dim=1, unbiased=False).mean().item(),
        "data_variance": x.var(dim=0, unbiased=False).mean().item(),
    }


def length(x):
    return x.norm(dim=-1).mean().item()


def angle(a, b):
    u, v = a / a.norm(dim=-1, keepdim=True), b / b.norm(dim=-1, keepdim=True)
    return (2 * torch.atan2((u - v).norm(dim=-1), (u + v).norm(dim=-1))).mean().item()


def predicted_angle(p, s, l, watched):
    """sum over sub-layers of arctan(|contribution| / |what it is added to|), lengths of norms from their gains alone."""
    def normed(name):
        bias = p.get(name + ".bias")
        return math.sqrt(p[name + ".weight"].pow(2).sum() + (0 if bias is None else bias.pow(2).sum()))

    is_post = s.scheme in ("post-ln", "sqrt-scaling") or s.scheme == "mix-ln" and (l + 1) / s.layers <= 0.25
    was_post = s.scheme in ("post-ln", "sqrt-scaling") or s.scheme == "mix-ln" and l / s.layers <= 0.25
    b, total = f"blocks.{l}.", 0.0
    x = length(watched.streams[l])
    if l > 0 and was_post:
        x = normed(f"blocks.{l - 1}.norm.1")
    if l > 0 and s.ngpt:
        x = 1.0
    for k in range(2):
        branch, rest = length(watched.out[2 * l + k]), x
        if s.scheme == "peri-ln":
            branch = normed(f"{b}norm.{2 * k + 1}")
        elif s.scheme == "sqrt-scaling":
            branch /= math.sqrt(l + 1)
        elif s.ngpt:
            alpha = p[f"{b}scheme.{k}.alpha"]
            branch, rest = alpha.pow(2).mean().sqrt().item(), x * (1 - alpha).pow(2).mean().sqrt().item()
        total += math.atan(branch / rest)
        x = 1.0 if s.ngpt else normed(f"{b}norm.{k}") if is_post else math.hypot(branch, rest)
    return total


def record(before, training, watched):
    """Of step 1; `before` are the weights that it began with."""
    s, streams, layers = training.s, watched.streams, []
    names = {"attn.qkv": "qkv", "attn.out": "output", "ffn.in": "ffn_in", "ffn.out": "ffn_out"}
    looked_at = max(1, 1024 // (s.context * s.heads))  # sequences whose attention is recorded
    # The first batch of a step that has several is watched; its gradient counts as that of a step of its own.
    gradient = [x.grad.norm().item() * training.recipe.accumulate for x in streams]
    for l in range(s.layers):
        pattern, scores = watched.pattern[l][:looked_at], watched.scores[l][:looked_at]
        row = moments(streams[l + 1])
        for k, name in enumerate(("attention", "ffn")):
            row[name + "_norm"] = length(watched.added[2 * l + k])
            row[name + "_ratio"] = row[name + "_norm"] / length(streams[l])
        row["gradient"] = gradient[l + 1]
        row["entropy"] = -torch.special.xlogy(pattern, pattern).sum(-1).mean().item()
        row["largest_logit"] = scores.max().item()
        row["angle"] = angle(streams[l], streams[l + 1])
        row["angle_predicted"] = predicted_angle(before, s, l, watched)
        row["angle_ratio"] = row["angle"] / row["angle_predicted"]
        row["matrices"] = {}
        for place, name in names.items():
            full = f"blocks.{l}.{place}.weight"
            row["matrices"][name] = {
                "gradient": training.gradients[full].norm().item(),
                "update": ((training.p[full] - before[full]).norm() / before[full].norm()).item()}
        layers.append(row)
    return {**moments(streams[0]), "gradient": gradient[0]}, layers


def make(name, text):
    scheme, layers, model, run = GOLDENS[name]
    run = {"batch": 2, **run}
    s = Shape(scheme, layers, 16, 2, 8, text.vocab, **model)
    start = random_start(s, torch.Generator().manual_seed(list(GOLDENS).index(name)))
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(configuration(s), indent=1) + "\n")
    save_file(start, folder / "model.safetensors", {"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)

    p = {key: w.double() for key, w in start.items()}
    before = {key: w.clone() for key, w in p.items()}
    recipe = Recipe(s, STEPS, **run)
    training, watched, steps = Training(p, s, recipe, text), Watched(), []
    for i in range(STEPS):
        rate = recipe.rate_at(i)
        loss = training.step(watched if i == 0 else None)
        steps.append({"loss": loss, "lr": rate, "gradient_norm": training.gradient_norm})
        if i == 0:
            embedding, rows = record(before, training, watched)
    clipped = sum(recipe.clip > 0 and step["gradient_norm"] > recipe.clip for step in steps)
    print(f"{name}: loss {steps[0]['loss']:.4f} to {steps[-1]['loss']:.4f}, {clipped} of {STEPS} steps clipped")
    settings = {"scheme": scheme, "context": s.context, "steps": STEPS, **run}
    settings = {{"warm_up": "warm-up", "decay": "weight-decay"}.get(key, key): value for key, value in settings.items()}
    expected = {"settings": settings, "steps": steps, "validation_loss": training.validate(), "embedding": embedding,
                "layers": rows}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    all_of_it = Text((HERE / "text.txt").read_text())
    for each in GOLDENS:
        make(each, all_of_it)
