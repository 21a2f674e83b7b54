#!/usr/bin/env python3
"""Makes growth.json: curves with the law that made them, and what a least-squares fit says of them.

The laws and rules are those of docs/inspect.md, "How the stream grows". The file was made with numpy 2.4.6.

usage: pip install numpy==2.4.6; make_growth.py
"""
import json
from pathlib import Path

import numpy as np


def fit_line(l, y, weight):
    """Least squares of weight * (a + b l - y): a, b and the standard error of b."""
    design = np.stack([np.ones_like(l), l], axis=1) * weight[:, None]
    (a, b), *_ = np.linalg.lstsq(design, y * weight, rcond=None)
    residual = design @ (a, b) - y * weight
    covariance = residual @ residual / (len(l) - 2) * np.linalg.inv(design.T @ design)
    return a, b, np.sqrt(covariance[1, 1])


def growth_of(y):
    """How the lengths y after blocks 1..L grow."""
    y = np.asarray(y, dtype=float)
    if len(y) < 4:
        return {"class": "unknown", "rate": None, "rate_error": None, "exponent": None}
    l, one = np.arange(1.0, len(y) + 1), np.ones(len(y))

    def error(fit):
        return np.sqrt(np.mean(np.log(y / fit)**2)) if np.all(fit > 0) else np.inf

    slopes, errors = {}, {}
    a, *slopes["exponential"] = fit_line(l, np.log(y), one)
    errors["exponential"] = error(np.exp(a + slopes["exponential"][0] * l))
    a, *slopes["linear"] = fit_line(l, y, 1 / y)
    errors["linear"] = error(a + slopes["linear"][0] * l)
    a, *slopes["sqrt"] = fit_line(l, y**2, 1 / y**2)
    squared = a + slopes["sqrt"][0] * l
    errors["sqrt"] = error(np.sqrt(squared)) if np.all(squared > 0) else np.inf
    best = min(errors, key=errors.get)
    constant = error(np.exp(np.mean(np.log(y))))
    slopes["bounded"] = slopes["exponential"]
    if errors[best] >= 0.75 * constant or y[-1] <= 1.25 * y[0]:  # a stream that shrinks is bounded
        best = "bounded"
    exponent = fit_line(np.log(l), np.log(y), one)[1]
    return {"class": best, "rate": slopes[best][0], "rate_error": slopes[best][1], "exponent": exponent}


def growth_curves():
    """Curves with the class and the rate that made them (None where noise moves the rate)."""
    l = np.arange(1.0, 25)
    noise = np.random.default_rng(5).standard_normal(24)
    curves = [
        ("constant", 0 * l + 7, "bounded", 0.0),
        ("constant with noise", 7 * np.exp(0.05 * noise), "bounded", None),
        ("constant with much noise", 7 * np.exp(0.8 * noise), "bounded", None),
        ("grows by a fifth in all", 10 + 2 * l / 24, "bounded", None),
        ("sqrt", np.sqrt(4 + 3 * l), "sqrt", 3.0),
        ("sqrt with noise", np.sqrt(4 + 30 * l) * np.exp(0.02 * noise), "sqrt", None),
        ("linear", 5 + 2 * l, "linear", 2.0),
        ("linear with noise", (5 + 2 * l) * np.exp(0.02 * noise), "linear", None),
        ("exponential", 2 * np.exp(0.3 * l), "exponential", 0.3),
        ("exponential with noise", 2 * np.exp(0.3 * l + 0.1 * noise), "exponential", None),
        ("shrinks by a factor", 90 * np.exp(-0.2 * l), "bounded", -0.2),
        # Just on either side of the two rules that call a curve bounded.
        ("grows by a factor of 1.24", 10 * 1.24**((l - 1) / 23), "bounded", np.log(1.24) / 23),
        ("grows by a factor of 1.26", 10 * 1.26**((l - 1) / 23), "exponential", np.log(1.26) / 23),
        ("leaves 0.77 of a constant's error", np.exp(0.04 * l + 0.345 * noise), "bounded", None),
        ("leaves 0.73 of a constant's error", np.exp(0.04 * l + 0.305 * noise), "exponential", None),
        ("six blocks, linear", (3 + 4 * l)[:6], "linear", 4.0),
        ("four blocks, sqrt", np.sqrt(1 + 5 * l)[:4], "sqrt", 5.0),
        ("three blocks", (5 + 2 * l)[:3], "unknown", None),
    ]
    written = []
    for name, y, expected, rate in curves:
        growth = growth_of(y)
        assert growth["class"] == expected, (name, growth)
        assert rate is None or abs(growth["rate"] - rate) < 1e-9, (name, growth)
        written.append(dict(name=name, lengths=y, growth=growth))
    return written


if __name__ == "__main__":
    text = json.dumps(growth_curves(), indent=1, default=lambda x: x.tolist(), allow_nan=False)
    (Path(__file__).resolve().parent / "growth.json").write_text(text + "\n")
