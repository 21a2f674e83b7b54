#!/usr/bin/env python3
"""Reference values for discrete layers: writes layers.json next to this file.

Every scheme is written out from its published equation in plain numpy, one
function per scheme, independent of the program. Tokens are rows. N(x) = x/|x|,
dt multiplies what a sub-layer adds, t = (l-1) dt, depth = l/L, l = 1..L.
"""
import math
import os
import re

import numpy as np

n, d, hidden, beta = 5, 6, 8, 1.3
L = 4


# ---- sub-layers and norms ---------------------------------------------------

def attention(z, beta):
    """attn(z)_j = sum_k softmax_k(beta <z_j, z_k>) z_k"""
    logits = beta * (z @ z.T)
    w = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (w / w.sum(axis=1, keepdims=True)) @ z


def N(x):
    """Projection of each row on the unit sphere; N(0) = 0."""
    r = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return np.where(r > 0, x / np.where(r > 0, r, 1), 0)


def silu(g):
    return g / (1 + math.exp(-g))


erf = np.vectorize(math.erf)


class At:
    """Where a sub-layer stands: block l of L, time, step, block input b."""

    def __init__(self, l, L, dt, t=None, depth=None):
        self.l, self.L, self.dt = l, L, dt
        self.t = (l - 1) * dt if t is None else t
        self.depth = l / L if depth is None else depth
        self.b = None
        self.kind = "attn"


# ---- schemes ----------------------------------------------------------------
# step(f, x, c, **settings) -> x'   runs once per sub-layer f
# A pair of streams is a tuple (x, y).

def post_ln(f, x, c):
    return N(x + c.dt * f(x))


def pre_ln(f, x, c):
    return x + c.dt * f(N(x))


def peri_ln(f, x, c):
    return x + c.dt * N(f(N(x)))


def output_ln(f, x, c):
    return x + c.dt * N(f(x))


def mix_ln(f, x, c, tau):
    return post_ln(f, x, c) if c.depth <= tau else pre_ln(f, x, c)


def ngpt(f, x, c, alpha):
    return N(x + c.dt * alpha * (N(f(x)) - x))


def sqrt_scaling(f, x, c):
    return N(x + c.dt * f(x) / math.sqrt(c.t + 1))


def ln_scaling(f, x, c):
    return x + c.dt * f(N(x) / math.sqrt(c.t + 1))


def ln_scaling_output(f, x, c):
    return x + c.dt * f(N(x)) / math.sqrt(c.t + 1)


def deepnorm(f, x, c):
    alpha = (2 * c.L) ** 0.25
    return N(alpha * x + c.dt * f(x))


def keel(f, x, c):
    alpha = 2 * c.L  # total number of sub-layers of an attention + FFN stack
    return N(alpha * x + c.dt * f(N(x)))


def admin(f, x, c, omega):
    return N(omega * x + c.dt * f(x))


def rezero(f, x, c, alpha):
    return x + c.dt * alpha * f(x)


skipinit = rezero  # same equation; they differ in how alpha starts and is shared


def layerscale(f, x, c, lam):
    return x + c.dt * lam * f(N(x))


def scalenorm(f, x, c, g):
    return x + c.dt * f(g * N(x))


def dyt(f, x, c, alpha, gain):
    return x + c.dt * f(gain * np.tanh(alpha * x))


def derf(f, x, c, alpha, s, gain):
    return x + c.dt * f(gain * erf(alpha * x + s))


def residual(f, xy, c):
    x, y = xy
    o = f(x)
    return N(x + c.dt * o), y + c.dt * o


def siamesenorm(f, xy, c):
    x, y = xy
    o = f(x + N(y))
    return N(x + c.dt * o), y + c.dt * o


def spannorm(f, x, c):
    """Both skips start at the block input b."""
    z = N(x) if c.kind == "attn" and c.l == 1 else x
    return N(c.b + c.dt * f(z))


def hybridnorm(f, x, c):
    """Without the norm on q, k and v."""
    if c.kind == "attn":
        return x + c.dt * f(x)
    w = N(x)
    return w + c.dt * f(w)


def hybridnorm_star(f, x, c):
    return pre_ln(f, x, c) if c.l == 1 else hybridnorm(f, x, c)


# block(attn, ffn, x, c, **settings) -> x'   runs once per block

def b2t(attn, ffn, x, c):
    m = N(x + c.dt * attn(x))
    return N(x + m + c.dt * ffn(m))


def gpas(attn, ffn, x, c, g):
    x = pre_ln(attn, x, c)
    x = pre_ln(ffn, x, c)
    return x - c.dt * silu(g) * x


WHOLE_BLOCK = {"b2t", "gpas"}
TWO_STREAMS = {"residual", "siamesenorm"}

# name: (step, settings, readout); the default readout is the stream x
SCHEMES = {
    "post-ln": (post_ln, {}, None),
    "pre-ln": (pre_ln, {}, N),
    "peri-ln": (peri_ln, {}, N),
    "output-ln": (output_ln, {}, N),
    "mix-ln": (mix_ln, {"tau": 0.5}, N),
    "ngpt": (ngpt, {"alpha": 0.7}, None),
    "sqrt-scaling": (sqrt_scaling, {}, None),
    "ln-scaling": (ln_scaling, {}, N),
    "ln-scaling-output": (ln_scaling_output, {}, N),
    "deepnorm": (deepnorm, {}, None),
    "keel": (keel, {}, None),
    "admin": (admin, {"omega": 1.5}, None),
    "rezero": (rezero, {"alpha": 0.3}, None),
    "skipinit": (skipinit, {"alpha": 0.4}, None),
    "layerscale": (layerscale, {"lambda": 0.2}, N),
    "scalenorm": (scalenorm, {"g": 1.7}, lambda x: 1.7 * N(x)),
    "b2t": (b2t, {}, None),
    "residual": (residual, {}, lambda xy: xy[0] + N(xy[1])),
    "siamesenorm": (siamesenorm, {}, lambda xy: xy[0] + N(xy[1])),
    "spannorm": (spannorm, {}, None),
    "hybridnorm": (hybridnorm, {}, N),
    "hybridnorm-star": (hybridnorm_star, {}, N),
    "gpas": (gpas, {"g": 0.5}, N),
    "dyt": (dyt, {"alpha": 0.8, "gain": 1.1}, lambda x: 1.1 * np.tanh(0.8 * x)),
    "derf": (derf, {"alpha": 0.8, "s": 0.2, "gain": 1.1},
             lambda x: 1.1 * erf(0.8 * x + 0.2)),
}


def layers(name, x0, attn, ffn, L, dt):
    """All streams after L blocks, and the readout. ffn is None: attention only."""
    step, settings, readout = SCHEMES[name]
    args = {"lam" if k == "lambda" else k: v for k, v in settings.items()}
    x = (x0, x0) if name in TWO_STREAMS else x0
    for l in range(1, L + 1):
        c = At(l, L, dt)
        c.b = x
        if name in WHOLE_BLOCK:  # a missing FFN contributes zero
            x = step(attn, ffn or np.zeros_like, x, c, **args)
            continue
        x = step(attn, x, c, **args)
        if ffn:
            c.kind = "ffn"
            x = step(ffn, x, c, **args)
    streams = dict(zip("xy", x)) if name in TWO_STREAMS else {"x": x}
    return streams, readout(x) if readout else streams["x"]


# ---- output -----------------------------------------------------------------

def text(v):
    """JSON with 17 significant digits, each matrix on one line."""
    if isinstance(v, dict):
        return "{" + ", ".join(text(str(k)) + ": " + text(w) for k, w in v.items()) + "}"
    if isinstance(v, (list, tuple, np.ndarray)):
        return "[" + ",".join(text(w) for w in v) + "]"
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, str):
        assert not re.search(r'["\\\n]', v)
        return '"' + v + '"'
    assert math.isfinite(v)
    return "%.17g" % v


def write(name, head, key, rows):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, "w") as out:
        out.write("{" + ",\n".join(text(k) + ": " + text(v) for k, v in head.items()))
        out.write(",\n" + text(key) + ": [\n" + ",\n".join(text(r) for r in rows) + "\n]}\n")


def main():
    rng = np.random.RandomState(20251)
    x0 = N(rng.standard_normal((n, d))) * rng.uniform(0.55, 1.95, (n, 1))
    W1 = rng.standard_normal((d, hidden)) / math.sqrt(d)
    W2 = rng.standard_normal((hidden, d)) / math.sqrt(hidden)
    x0, W1, W2 = (np.round(m, 6) for m in (x0, W1, W2))

    def attn(z):
        return attention(z, beta)

    def ffn(z):
        return np.tanh(z @ W1) @ W2

    runs = []
    for name, (_, settings, _) in SCHEMES.items():
        for dt in (1, 0.25):
            for with_ffn in (True, False):
                streams, readout = layers(name, x0, attn, ffn if with_ffn else None, L, dt)
                runs.append({"scheme": name,
                             "settings": ",".join(f"{k}={v}" for k, v in settings.items()),
                             "layers": L, "dt": dt, "ffn": with_ffn,
                             "streams": streams, "readout": readout})
    head = {"n": n, "d": d, "beta": beta, "x0": x0, "W1": W1, "W2": W2}
    write("layers.json", head, "runs", runs)


if __name__ == "__main__":
    main()
