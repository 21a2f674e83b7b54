#!/usr/bin/env python3
"""Makes laws.json: reduced laws integrated from the scalar equations written out below, with scipy and mpmath.

Nothing here comes from Flyball: the right-hand sides are typed from the theory of equiangular tokens,
    q = exp(beta gamma), Z = e^beta + (n-1) q, gamma' = 2 q (1-gamma)(1+(n-1)gamma)/(s Z),
with the s and r' of each scheme, in u = -log(1-gamma) so that 1-gamma keeps its digits.

usage: make_laws.py > laws.json        (needs scipy and mpmath)
"""
import json
import math

import mpmath as mp
from scipy.integrate import solve_ivp

TIMES = [0.1, 1.0, 5.0, 20.0]
CASES = [(256, 5.0, 1.0), (2, 1.0, 0.5), (1000, 0.0, 2.0), (32, 1.0, 1.0), (32, 3.0, 3.0), (7, 1.5, 1.0)]
T = 10.0
TAU = 0.25


def parts(n, beta, gamma, w):
    """<theta, A>, |A| and the turning 2 q (1+(n-1) gamma)/Z, with e^beta factored out; w = 1 - gamma."""
    q = math.exp(-beta * w)
    z = 1 + (n - 1) * q
    along = (1 + (n - 1) * gamma * q) / z
    size = math.sqrt(1 + 2 * (n - 1) * gamma * q + (n - 1) * (1 + (n - 2) * gamma) * q * q) / z
    return along, size, 2 * q * (1 + (n - 1) * gamma) / z


# name: (s, r') as functions of t, r, <theta,A>, |A|
SCHEMES = {
    "post-ln": lambda t, r, along, size: (1, 0),
    "pre-ln": lambda t, r, along, size: (r, along),
    "mix-ln": lambda t, r, along, size: (1, 0) if t <= TAU * T else (r, along),
    "peri-ln": lambda t, r, along, size: (r * size, along / size),
    "ngpt": lambda t, r, along, size: (size, 0),
    "ngpt:alpha=1/(1+t)": lambda t, r, along, size: (size * (1 + t), 0),
    "ngpt:alpha=exp(-t)": lambda t, r, along, size: (size * math.exp(t), 0),
    "sqrt-scaling": lambda t, r, along, size: (math.sqrt(1 + t), 0),
    "ln-scaling-output": lambda t, r, along, size: (r * math.sqrt(1 + t), along / math.sqrt(1 + t)),
}
KEEPS_LENGTH = {"pre-ln", "peri-ln", "ln-scaling-output"}  # the others start on the unit sphere


def curve(name, n, beta, r0):
    def slope(t, y):
        u, r = y
        w = math.exp(-u)
        along, size, turn = parts(n, beta, -math.expm1(-u), w)
        s, growth = SCHEMES[name](t, r, along, size)
        return [turn / s, growth]  # u' = gamma'/(1-gamma)

    y = [0.0, r0 if name in KEEPS_LENGTH else 1.0]
    t = 0.0
    rows = []
    for end in sorted({*TIMES, TAU * T}):
        # The switch of Mix-LN is a time of its own: no step crosses it. Just after it the second half holds.
        begin = math.nextafter(t, math.inf) if t == TAU * T else t
        solution = solve_ivp(slope, (begin, end), y, method="DOP853", rtol=1e-13, atol=1e-15)
        y, t = solution.y[:, -1].tolist(), end
        if end in TIMES:
            w = math.exp(-y[0])
            along, size, turn = parts(n, beta, -math.expm1(-y[0]), w)
            rate = turn / SCHEMES[name](t, y[1], along, size)[0]
            rows.append({"t": t, "log_one_minus_gamma": -y[0], "radius": y[1], "log_velocity": math.log(rate * w)})
    return rows


def log_k(n, beta):
    mp.mp.dps = 40
    def integrand(g):
        return mp.expm1(beta * (1 - g)) / ((1 - g) * (1 + (n - 1) * g))
    points = [0, mp.mpf(1) / n, mp.mpf(1) / 2, mp.mpf(9) / 10, 1]
    return mp.quad(integrand, sorted(set(points)))


def log_post(n, beta):
    """log C of gamma' ~ C exp(-2t): t = int Z/(2 q (1-g)(1+(n-1)g)) dg, of which -log(1-g)/2 is the singular part."""
    mp.mp.dps = 40
    def integrand(g):
        return (mp.exp(beta * (1 - g)) + n - 1) / (2 * (1 - g) * (1 + (n - 1) * g)) - 1 / (2 * (1 - g))
    return mp.log(2) + 2 * mp.quad(integrand, [0, mp.mpf(1) / n, mp.mpf(1) / 2, mp.mpf(9) / 10, 1])


def log_ngpt(n, beta):
    """The same for gamma' = 2 q (1-g)(1+(n-1)g)/(|A| Z)."""
    mp.mp.dps = 40
    def integrand(g):
        q = mp.exp(-beta * (1 - g))
        size = mp.sqrt(1 + 2 * (n - 1) * g * q + (n - 1) * (1 + (n - 2) * g) * q * q)
        return size / (2 * q * (1 - g) * (1 + (n - 1) * g)) - 1 / (2 * (1 - g))
    return mp.log(2) + 2 * mp.quad(integrand, [0, mp.mpf(1) / n, mp.mpf(1) / 2, mp.mpf(9) / 10, 1])


def laws(n, beta, r0):
    """Closed forms of the terminal laws; exponents from the table of Theorem 4.1, constants from the integrals above."""
    post, ngpt, k = float(log_post(n, beta)), float(log_ngpt(n, beta)), float(log_k(n, beta))
    pre = math.log(2) + k + 2 * math.log(r0)
    return {
        "post-ln": {"law": "exponential", "rate": 2, "p": 1, "power": 0, "log_constant": post},
        "pre-ln": {"law": "power", "exponent": -3, "log_constant": pre},
        "peri-ln": {"law": "power", "exponent": -3, "log_constant": pre},
        "ngpt": {"law": "exponential", "rate": 2, "p": 1, "power": 0, "log_constant": ngpt},
        # int_0^t 1/(1+t) = log(1+t): gamma' = alpha C exp(-2 log(1+t)) -> C t^-3
        "ngpt:alpha=1/(1+t)": {"law": "power", "exponent": -3, "log_constant": ngpt},
        "ngpt:alpha=exp(-t)": {"law": "frozen"},
        # u = 2 (sqrt(t+1) - 1): gamma' = C exp(-4 sqrt(t+1) + 4)/sqrt(t+1)
        "sqrt-scaling": {"law": "stretched", "rate": 4, "p": 0.5, "power": -0.5, "log_constant": post + 4},
    }


def main():
    cases = []
    for n, beta, r0 in CASES:
        cases.append({"tokens": n, "beta": beta, "r0": r0, "log_k": float(log_k(n, beta)),
                      "curves": {name: curve(name, n, beta, r0) for name in SCHEMES}, "laws": laws(n, beta, r0)})
    # Where Pre-LN and Peri-LN take absurd times, and beyond: only the constants.
    for n, beta in [(32, 9.0), (256, 9.0), (1000000, 12.0), (2, 5.0)]:
        cases.append({"tokens": n, "beta": beta, "r0": 1.0, "log_k": float(log_k(n, beta)), "curves": {},
                      "laws": laws(n, beta, 1.0)})
    print(json.dumps(cases, indent=1))


main()
