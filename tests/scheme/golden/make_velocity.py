#!/usr/bin/env python3
"""Reference values for the continuous-time limit: writes velocity.json.

Evaluates the closed formulas of normalized-attention dynamics, x = r theta,
    dx/dt = r' theta + r P_theta A / s,     P_theta y = y - <theta, y> theta,
with the speed regulation factor s_j and the radial speed r'_j of each scheme
(Karagodin, Ge, Polyanskiy, Rigollet, arXiv 2510.22026, and for LN-Scaling its
two forms). Before writing, every value is compared with one layer of
make_layers.py at shrinking dt: the difference must fall like dt.
"""
import math

import numpy as np

import make_layers as ml

n, d, beta = 4, 5, 0.8
T, tau = 10, 0.25


def dot(a, b):
    return (a * b).sum(axis=1)


def post(theta, r, t):
    A = ml.attention(theta, beta)
    return A, np.ones(n), np.zeros(n)


def pre(theta, r, t):
    A = ml.attention(theta, beta)
    return A, r, dot(theta, A)


def peri(theta, r, t):
    A = ml.attention(theta, beta)
    size = np.sqrt(dot(A, A))
    return A, r * size, dot(theta, A) / size


def ngpt(theta, r, t):
    A = ml.attention(theta, beta)
    return A, np.sqrt(dot(A, A)) / (1 / (1 + t)), np.zeros(n)


def sqrt_scaling(theta, r, t):
    A = ml.attention(theta, beta)
    return A, np.full(n, math.sqrt(t + 1)), np.zeros(n)


def ln_scaling(theta, r, t):
    """The scaled input softens attention: A at inverse temperature beta/(t+1)."""
    A = ml.attention(theta, beta / (t + 1))
    return A, r * math.sqrt(t + 1), dot(theta, A) / math.sqrt(t + 1)


def ln_scaling_output(theta, r, t):
    A = ml.attention(theta, beta)
    return A, r * math.sqrt(t + 1), dot(theta, A) / math.sqrt(t + 1)


# scheme, settings, law, does the radius move?, times
ROWS = [
    ("post-ln", "", post, False, (0.3, 2, 7)),
    ("pre-ln", "", pre, True, (0.3, 2, 7)),
    ("mix-ln", "tau=0.25", post, False, (0.3, 2, 2)),  # before the switch at t = 2.5
    ("mix-ln", "tau=0.25", pre, True, (7, 7, 7)),      # after it
    ("peri-ln", "", peri, True, (0.3, 2, 7)),
    ("ngpt", "alpha=1/(1+t)", ngpt, False, (0.3, 2, 7)),
    ("sqrt-scaling", "", sqrt_scaling, False, (0.3, 2, 7)),
    ("ln-scaling", "", ln_scaling, True, (0.3, 2, 7)),
    ("ln-scaling-output", "", ln_scaling_output, True, (0.3, 2, 7)),
]


def check(scheme, x, t, velocity):
    """(layer(x) - x)/dt must approach the velocity, first order in dt."""
    step = ml.SCHEMES[scheme][0]
    args = {"mix-ln": {"tau": tau}, "ngpt": {"alpha": 1 / (1 + t)}}.get(scheme, {})
    errors = []
    for dt in (1e-2, 1e-3, 1e-4):
        c = ml.At(1, 1, dt, t=t, depth=t / T)
        after = step(lambda z: ml.attention(z, beta), x, c, **args)
        errors.append(np.abs((after - x) / dt - velocity).max())
    # Pre-type layers are linear in dt, so only rounding is left for them.
    exact = errors[0] < 1e-12 and errors[2] < 1e-10
    orders = [math.log10(a / b) for a, b in zip(errors, errors[1:])] if not exact else []
    assert exact or all(abs(o - 1) < 0.05 for o in orders), (scheme, t, errors)
    return errors


def main(verbose=False):
    rng = np.random.RandomState(20252)
    states = []
    for scheme, settings, law, radial, times in ROWS:
        for t in times:
            theta = ml.N(rng.standard_normal((n, d)))
            r = rng.uniform(0.5, 3, n) if radial else np.ones(n)
            A, s, dr = law(theta, r, t)
            tangent = A - dot(theta, A)[:, None] * theta
            velocity = dr[:, None] * theta + (r / s)[:, None] * tangent
            x = r[:, None] * theta
            errors = check(scheme, x, t, velocity)
            if verbose:
                print(scheme, t, " ".join("%.2e" % e for e in errors))
            states.append({"scheme": scheme, "settings": settings, "t": t, "T": T,
                           "x": x, "s": s, "dr": dr, "velocity": velocity})
    ml.write("velocity.json", {"n": n, "d": d, "beta": beta}, "states", states)


if __name__ == "__main__":
    import sys
    main("-v" in sys.argv)
