"""Small GPTs under six schemes in torch, and how they are trained: an implementation that shares nothing with Flyball.

Written from the equations of README.md, the recipes of docs/schemes.md and the headers of src/train, not from the code.
make_goldens.py uses it. A model is a dictionary of tensors with the names of our own format (model_type `flyball`);
matrices are [out, in].
"""
import math

import numpy as np
import torch
import torch.nn.functional as F

SCHEMES = {
    "post-ln": "norm(x + dt*f(x))",
    "pre-ln": "x + dt*f(norm(x)) | norm(x)",
    "mix-ln": "depth <= tau ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x) where tau = 0.25",
    "peri-ln": "x + dt*norm(f(norm(x))) | norm(x)",
    "ngpt": "unit(x + dt*alpha*(unit(f(x)) - x)) where ~alpha[d] = 0.05",
    "sqrt-scaling": "norm(x + dt*f(x)/sqrt(t+1))",
}
HAS_FINAL_NORM = {"pre-ln", "mix-ln", "peri-ln"}


# The order of the data: Philox4x32-10 (Salmon et al., SC11), a function of (seed, stream, index).
def philox(counter, key):
    x, k, mask = list(counter), list(key), 0xFFFFFFFF
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(b >> 32) ^ x[1] ^ k[0], b & mask, (a >> 32) ^ x[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return x


def window_start(seed, step, window, places):
    """Where window `window` of step `step` (from 0) begins, of so many places."""
    mask, seed, stream = 0xFFFFFFFF, seed ^ 0x64617461, (0x64617461 << 32) + window
    low, high, _, _ = philox([step & mask, step >> 32, stream & mask, stream >> 32], [seed & mask, seed >> 32])
    return ((high << 32 | low) * places) >> 64


class Text:
    """The characters of a text, numbered by code point; the last share is for validation."""

    def __init__(self, text, share=0.1):
        characters = sorted(set(text))
        number = {c: i for i, c in enumerate(characters)}
        ids = np.array([number[c] for c in text])
        cut = int(len(ids) * (1 - share))
        self.vocab, self.train, self.validation = len(characters), ids[:cut], ids[cut:]

    def batch(self, seed, step, sequences, context, first=0):
        starts = [window_start(seed, step, first + s, len(self.train) - context) for s in range(sequences)]
        return self.windows(self.train, starts, context)

    def windows(self, ids, starts, context):
        rows = np.stack([ids[s:s + context + 1] for s in starts])
        return torch.tensor(rows[:, :-1]), torch.tensor(rows[:, 1:])


# A model.
class Shape:
    def __init__(self, scheme, layers, dim, heads, context, vocab, norm="layernorm", rope=False, swiglu=False):
        self.scheme, self.layers, self.dim, self.heads, self.context, self.vocab = scheme, layers, dim, heads, context, vocab
        self.norm, self.rope, self.swiglu = norm, rope, swiglu
        self.ffn = 4 * dim if not swiglu else (8 * dim // 3 + 7) // 8 * 8
        self.biases = norm == "layernorm"
        self.ngpt = scheme == "ngpt"
        self.norms = {"peri-ln": 4, "ngpt": 0}.get(scheme, 2)


def initial(s, generator, dtype=torch.float32):
    """docs/schemes.md: normal numbers of deviation 0.02, Xavier's or 1/sqrt(d); gains 1, biases 0."""
    d, xavier = s.dim, s.scheme in ("post-ln", "sqrt-scaling")
    residual = 1 / math.sqrt(2 * s.layers) if s.scheme == "pre-ln" else 1

    def draw(rows, columns, factor=1.0, ends=2 * d):
        deviation = 1 / math.sqrt(d) if s.ngpt else math.sqrt(2 / ends) if xavier else 0.02
        return torch.randn(rows, columns, generator=generator, dtype=dtype) * deviation * factor

    p = {"embed.tokens.weight": draw(s.vocab, d)}
    if not s.rope:
        p["embed.positions.weight"] = draw(s.context, d)
    for l in range(s.layers):
        b = f"blocks.{l}."
        p[b + "attn.qkv.weight"] = draw(3 * d, d)
        p[b + "attn.out.weight"] = draw(d, d, residual)
        p[b + "ffn.in.weight"] = draw(2 * s.ffn if s.swiglu else s.ffn, d, ends=d + s.ffn)
        p[b + "ffn.out.weight"] = draw(d, s.ffn, residual, ends=d + s.ffn)
        if s.biases:
            for name, size in (("attn.qkv", 3 * d), ("attn.out", d), ("ffn.in", s.ffn), ("ffn.out", d)):
                p[b + name + ".bias"] = torch.zeros(size, dtype=dtype)
        for k in range(s.norms):
            add_norm(p, f"{b}norm.{k}", s, dtype)
        if s.ngpt:
            for name, size in (("attn.query_norm", d), ("attn.key_norm", d), ("ffn.gain", s.ffn)):
                p[b + name + ".weight"] = torch.ones(size, dtype=dtype)
            for k in range(2):
                p[f"{b}scheme.{k}.alpha"] = torch.full((d,), 0.05, dtype=dtype)
    if s.scheme in HAS_FINAL_NORM:
        add_norm(p, "readout.norm.0", s, dtype)
    if s.ngpt:
        p["head.gain.weight"] = torch.ones(s.vocab, dtype=dtype)
        to_unit(p)
    return p


def add_norm(p, name, s, dtype):
    p[name + ".weight"] = torch.ones(s.dim, dtype=dtype)
    if s.biases:
        p[name + ".bias"] = torch.zeros(s.dim, dtype=dtype)


def to_unit(p):
    """nGPT: vectors along the embedding axis have unit length: rows of readers, columns of writers, rows of tables."""
    with torch.no_grad():
        for name, w in p.items():
            if name.endswith(("attn.qkv.weight", "ffn.in.weight", "embed.tokens.weight")):
                w /= w.norm(dim=1, keepdim=True)
            elif name.endswith(("attn.out.weight", "ffn.out.weight")):
                w /= w.norm(dim=0, keepdim=True)


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def rotate(x):
    """Rotary positions as Llama has them: channel i turns with channel i + half, by position * 10000^(-i/half)."""
    tokens, half = x.shape[-2], x.shape[-1] // 2
    angle = torch.arange(tokens, dtype=x.dtype)[:, None] * 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


class Watched:
    """What one forward pass shows: streams after each block, what is added to them, scores and weights of attention."""

    def __init__(self):
        self.streams, self.added, self.scores, self.pattern, self.out = [], [], [], [], []


def forward(p, s, ids, watched=None):
    """Logits of ids [sequences, tokens]."""
    d, heads, (batch, tokens) = s.dim, s.heads, ids.shape

    def linear(x, name):
        return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))

    def norm(x, name):
        if s.norm == "rmsnorm":
            return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * p[name + ".weight"]
        return F.layer_norm(x, (d,), p[name + ".weight"], p[name + ".bias"], 1e-5)

    def attention(x, b):
        q, k, v = (y.view(batch, tokens, heads, -1).transpose(1, 2) for y in linear(x, b + "attn.qkv").split(d, -1))
        if s.rope:
            q, k = rotate(q), rotate(k)
        scale = 1 / math.sqrt(d // heads)
        if s.ngpt:
            gain = lambda name: p[b + name].view(heads, 1, -1)
            q, k = unit(q) * gain("attn.query_norm.weight"), unit(k) * gain("attn.key_norm.weight")
            scale = math.sqrt(d // heads)
        scores = q @ k.transpose(-1, -2) * scale
        scores = scores.masked_fill(torch.ones(tokens, tokens, dtype=torch.bool).triu(1), -math.inf)
        pattern = scores.softmax(-1)
        if watched:
            watched.scores.append(scores)
            watched.pattern.append(pattern)
        return linear((pattern @ v).transpose(1, 2).reshape(batch, tokens, d), b + "attn.out")

    def ffn(x, b):
        inner = linear(x, b + "ffn.in")
        if s.swiglu:
            gate, up = inner.split(s.ffn, -1)
            return linear(F.silu(gate) * up, b + "ffn.out")
        if s.ngpt:
            inner = inner * p[b + "ffn.gain.weight"] * math.sqrt(d)
        return linear(F.gelu(inner, approximate="tanh"), b + "ffn.out")

    x = p["embed.tokens.weight"][ids]
    if not s.rope:
        x = x + p["embed.positions.weight"][:tokens]

    def see(x):
        if watched:
            if x.requires_grad:
                x.retain_grad()
            watched.streams.append(x)

    see(x)
    for l in range(s.layers):
        b = f"blocks.{l}."
        for k, sub_layer in enumerate((attention, ffn)):
            def f(y):
                out = sub_layer(y, b)
                if watched:
                    watched.out.append(out)
                return out
            scheme = s.scheme
            if scheme == "mix-ln":
                scheme = "post-ln" if (l + 1) / s.layers <= 0.25 else "pre-ln"
            if scheme == "post-ln":
                added = f(x)
                x = norm(x + added, f"{b}norm.{k}")
            elif scheme == "pre-ln":
                added = f(norm(x, f"{b}norm.{k}"))
                x = x + added
            elif scheme == "peri-ln":
                added = norm(f(norm(x, f"{b}norm.{2 * k}")), f"{b}norm.{2 * k + 1}")
                x = x + added
            elif scheme == "sqrt-scaling":
                added = f(x) / math.sqrt(l + 1)
                x = norm(x + added, f"{b}norm.{k}")
            elif scheme == "ngpt":
                alpha = p[f"{b}scheme.{k}.alpha"]
                added = alpha * unit(f(x))
                x = unit(x + added - alpha * x)
            if watched:
                watched.added.append(added)
        see(x)
    if s.scheme in HAS_FINAL_NORM:
        x = norm(x, "readout.norm.0")
    logits = x @ p["embed.tokens.weight"].T
    return logits * p["head.gain.weight"] if s.ngpt else logits


def loss_of(p, s, ids, targets, watched=None):
    return F.cross_entropy(forward(p, s, ids, watched).flatten(0, 1), targets.flatten())


# Training.
class Recipe:
    """Settings of a run, and what docs/schemes.md says of the scheme where nothing is said here."""

    def __init__(self, s, steps, batch, seed=1, rate=None, warm_up=None, decay=None, clip=None, beta2=0.95,
                 accumulate=1, final_rate=0.1):
        usual_warm_up = {"post-ln": steps // 10, "ngpt": 0}.get(s.scheme, steps // 20)
        self.steps, self.batch, self.seed, self.beta2, self.accumulate = steps, batch, seed, beta2, accumulate
        self.rate = 1e-3 * math.sqrt(128 / s.dim) if rate is None else rate
        self.final_rate = final_rate
        self.warm_up = usual_warm_up if warm_up is None else warm_up
        self.decay = (0 if s.scheme in ("ngpt", "mix-ln") else 0.1) if decay is None else decay
        self.clip = (0 if s.scheme == "mix-ln" else 1) if clip is None else clip

    def rate_at(self, step):
        if step < self.warm_up:
            return self.rate * (step + 1) / (self.warm_up + 1)
        share = (step - self.warm_up) / max(1, self.steps - self.warm_up)
        return self.rate * (self.final_rate + (1 - self.final_rate) * (1 + math.cos(math.pi * share)) / 2)


def rate_factor(name, s):
    """nGPT (arXiv:2410.01131): scales that are used c times larger than they are stored learn c times faster."""
    if name.endswith("alpha"):
        return 0.05 * math.sqrt(s.dim)
    if name.endswith(("query_norm.weight", "key_norm.weight", "head.gain.weight")):
        return math.sqrt(s.dim)
    return 1.0


class Training:
    def __init__(self, p, s, recipe, text):
        self.p, self.s, self.recipe, self.text = p, s, recipe, text
        for w in p.values():
            w.requires_grad_(True)
        # A group of its own for every tensor: decay of matrices alone, factors of the rate.
        groups = [{"params": [w], "weight_decay": recipe.decay if w.dim() == 2 else 0.0,
                   "factor": rate_factor(name, s) if s.ngpt else 1.0} for name, w in p.items()]
        self.adamw = torch.optim.AdamW(groups, betas=(0.9, recipe.beta2), eps=1e-8)
        self.done = 0

    def step(self, watched=None):
        """The loss before the update; `watched` sees the first batch of the step."""
        r, total = self.recipe, 0.0
        self.adamw.zero_grad()
        for i in range(r.accumulate):
            ids, targets = self.text.batch(r.seed, self.done, r.batch, self.s.context, i * r.batch)
            loss = loss_of(self.p, self.s, ids, targets, watched if i == 0 else None)
            (loss / r.accumulate).backward()
            total += loss.item() / r.accumulate
        self.gradients = {name: w.grad.clone() for name, w in self.p.items()} if watched else None
        self.gradient_norm = math.sqrt(sum(w.grad.double().pow(2).sum().item() for w in self.p.values()))
        if r.clip and self.gradient_norm > r.clip:
            for w in self.p.values():
                w.grad *= r.clip / self.gradient_norm
        for group in self.adamw.param_groups:
            group["lr"] = r.rate_at(self.done) * group["factor"]
            if group["factor"] != 1 and group["weight_decay"] != 0:
                raise ValueError("decay would be multiplied too")
        self.adamw.step()
        if self.s.ngpt:
            to_unit(self.p)
        self.done += 1
        return total

    def validate(self, most=10**9):
        context, ids = self.s.context, self.text.validation
        count = (len(ids) - 1) // context
        starts = [i * context for i in range(count)] if count <= most else [i * count // most * context for i in range(most)]
        sequences = min(len(starts), self.recipe.batch)
        starts = starts[:len(starts) // sequences * sequences]
        with torch.no_grad():
            losses = [loss_of(self.p, self.s, *self.text.windows(ids, starts[i:i + 64], context)).item()
                      * len(starts[i:i + 64]) for i in range(0, len(starts), 64)]
        return sum(losses) / len(starts)
