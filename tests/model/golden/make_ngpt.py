#!/usr/bin/env python3
"""Makes the golden models ngpt and ngpt-gelu: nGPT's block, written here in PyTorch from the paper, and what it computes.

Loshchilov et al., "nGPT: Normalized Transformer with Representation Learning on the Hypersphere", arXiv:2410.01131:

    h <- Norm(h + alpha_A (Norm(Attention(h)) - h)),       h <- Norm(h + alpha_M (Norm(FFN(h)) - h))
    q <- s_qk Norm(q), k <- s_qk Norm(k) after rotary positions, softmax(sqrt(d_k) q k')
    u <- s_u sqrt(d) u, v <- s_v sqrt(d) v, FFN = W_o (u SiLU(v))        logits <- s_z logits

Learned scales are stored at another size than they are used at (alpha = 0.05 is stored as 1/sqrt(d)); gradients are
saved for the numbers that are used, which is what Flyball has. q and k have gains of their own there: the gradient of
each is its part of that of s_qk. Folders as in make_models.py: config.json, model.safetensors, expected.safetensors.

usage: pip install torch==2.13.0 safetensors==0.7.0; make_ngpt.py
"""
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
D, HEADS, INNER, VOCAB, LAYERS, TOKENS = 24, 3, 40, 53, 2, 19


def norm(x):
    return x / x.norm(dim=-1, keepdim=True)


def rotate(x, theta=10000.0):
    """x: [heads, tokens, channels]; the pair (i, i + channels/2) turns by position * theta^(-2i/channels)."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[1]).double()[:, None] * theta ** (-torch.arange(half).double() / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def block(h, p, gated, rotary, seen):
    d_k = D // HEADS
    q, k, v = ((h @ p[name].T).view(-1, HEADS, d_k).transpose(0, 1) for name in ("query", "key", "value"))
    if rotary:
        q, k = rotate(q), rotate(k)
    q = p["s_q"].view(HEADS, 1, d_k) * norm(q)
    k = p["s_k"].view(HEADS, 1, d_k) * norm(k)
    scores = d_k ** 0.5 * q @ k.transpose(1, 2)
    scores = scores.masked_fill(torch.ones(h.shape[0], h.shape[0]).triu(1).bool(), -torch.inf)
    weights = scores.softmax(-1)
    seen.append(weights)
    attended = (weights @ v).transpose(0, 1).reshape(-1, D) @ p["output"].T
    h = norm(h + p["alpha_attention"] * (norm(attended) - h))
    inner = h @ p["up"].T * p["s_up"] * D ** 0.5
    if gated:
        inner = inner * torch.nn.functional.silu(h @ p["gate"].T * p["s_gate"] * D ** 0.5)
    else:
        inner = torch.nn.functional.gelu(inner, approximate="tanh")
    return norm(h + p["alpha_ffn"] * (norm(inner @ p["down"].T) - h))


def unit_rows(generator, rows, columns):
    return norm(torch.randn(rows, columns, generator=generator))


def draw(generator, gated):
    """Matrices of unit vectors along the embedding axis; learned scales far from where they start."""
    around = lambda middle, count: middle * (1 + 0.3 * torch.randn(count, generator=generator)).abs()
    p = {name: unit_rows(generator, D, D) for name in ("query", "key", "value")}
    p["output"] = unit_rows(generator, D, D).T
    p["up"] = unit_rows(generator, INNER, D)
    p["down"] = unit_rows(generator, INNER, D).T
    p["s_q"], p["s_k"] = around(1.2, D), around(0.9, D)
    p["alpha_attention"], p["alpha_ffn"] = around(0.3, D), around(0.2, D)
    p["s_up"] = around(1.1, INNER)
    if gated:
        p["gate"] = unit_rows(generator, INNER, D)
        p["s_gate"] = around(0.8, INNER)
    return {name: value.float().double().requires_grad_() for name, value in p.items()}


def native(p, l, of):
    """The tensors of a block as Flyball names them; `of` takes a leaf to what is saved of it."""
    names = {"attn.qkv.weight": ("query", "key", "value"), "attn.out.weight": ("output",),
             "ffn.in.weight": ("gate", "up") if "gate" in p else ("up",), "ffn.out.weight": ("down",),
             "attn.query_norm.weight": ("s_q",), "attn.key_norm.weight": ("s_k",),
             "ffn.gain.weight": ("s_gate", "s_up") if "gate" in p else ("s_up",),
             "scheme.0.alpha": ("alpha_attention",), "scheme.1.alpha": ("alpha_ffn",)}
    return {f"blocks.{l}.{name}": torch.cat([of(p[part]) for part in parts]) for name, parts in names.items()}


def make(name, seed, gated, rotary):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    generator = torch.Generator().manual_seed(seed)
    leaf = lambda value: value.float().double().requires_grad_()
    tables = {"embed.tokens.weight": leaf(unit_rows(generator, VOCAB, D)),
              "head.weight": leaf(unit_rows(generator, VOCAB, D)),
              "head.gain.weight": leaf(3 * (1 + 0.3 * torch.randn(VOCAB, generator=generator)).abs())}
    if not rotary:
        tables["embed.positions.weight"] = leaf(0.3 * torch.randn(32, D, generator=generator))
    blocks = [draw(generator, gated) for _ in range(LAYERS)]
    ids = torch.randint(0, VOCAB, (TOKENS,), generator=generator)

    h = tables["embed.tokens.weight"][ids]
    if not rotary:
        h = h + tables["embed.positions.weight"][:TOKENS]
    hidden, attention = [h], []
    for p in blocks:
        h = block(h, p, gated, rotary, attention)
        hidden.append(h)
    logits = tables["head.gain.weight"] * (h @ tables["head.weight"].T)
    loss = torch.nn.functional.cross_entropy(logits[:-1], ids[1:])
    loss.backward()

    expected = {"ids": ids, "logits": logits, "loss": loss.reshape(1)}
    expected |= {f"hidden.{i}": x for i, x in enumerate(hidden)}
    expected |= {f"attention.{i}": x for i, x in enumerate(attention)}
    weights, gradients = dict(tables), {key: value.grad for key, value in tables.items()}
    for l, p in enumerate(blocks):
        weights |= native(p, l, lambda leaf: leaf)
        gradients |= native(p, l, lambda leaf: leaf.grad)
    expected |= {"gradient." + key: value for key, value in gradients.items()}
    save_file({key: value.detach().float().contiguous() for key, value in weights.items()},
              folder / "model.safetensors", metadata={"format": "pt"})
    save_file({key: (value if key == "ids" else value.detach().float()).contiguous() for key, value in expected.items()},
              folder / "expected.safetensors")
    config = {
        "model_type": "flyball", "equation": "unit(x + dt*alpha*(unit(f(x)) - x)) where ~alpha[d] = 0.05",
        "layers": LAYERS, "dim": D, "heads": HEADS, "kv_heads": HEADS, "head_dim": D // HEADS, "ffn_dim": INNER,
        "vocab": VOCAB, "positions": 32, "learned_positions": not rotary, "rope_dims": D // HEADS if rotary else 0,
        "gated": gated, "activation": "silu" if gated else "gelu_new", "tied": False, "ffn_scale": D ** 0.5,
        "ffn_gains": True, "logit_gains": True, "norm": "unit",
        "attention_norm": {"norm": "unit", "query": True, "key": True, "over": "head", "gains": "channel",
                           "after_positions": True, "scores_times_root": True}}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    print(f"{name}: {sum(f.stat().st_size for f in folder.iterdir())} bytes, loss {loss.item():.6f}")


if __name__ == "__main__":
    make("ngpt", 41, gated=True, rotary=True)
    make("ngpt-gelu", 42, gated=False, rotary=False)
