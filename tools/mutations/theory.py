"""Mistakes planted in src/theory; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("equal-weights-off-by-one", "src/theory/direction.cpp",
     "return {0, 1 / n};", "return {0, 1 / (n - 1)};"),
    ("own-weight-with-all-others", "src/theory/direction.cpp",
     "-std::expm1(-exponent) / (1 + (n - 1) * q)", "-std::expm1(-exponent) / (1 + n * q)"),
    ("cosine-chart-without-its-square", "src/theory/direction.cpp",
     "return (2 * e + n) / (e * e + 2 * e + n);", "return (2 * e + n) / (2 * e + n + e);"),
    ("speed-without-its-two", "src/theory/direction.cpp",
     "return 2 * (1 + n * value) / size * rate / size;", "return (1 + n * value) / size * rate / size;"),
    ("time-to-cosine-below-half", "src/theory/solve.cpp",
     "cosine < 0.5 ? point.gamma >= cosine", "cosine < 0.5 ? point.gamma > 0.5"),
    ("solutions-in-sorted-order", "src/theory/solve.cpp",
     "points[i] = track.point();", "points[&i - order.data()] = track.point();"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("consensus-constant-log-n", "src/theory/consensus.cpp",
     "return ratio - std::log(n - 1);", "return ratio - std::log(n);"),
    ("negative-beta-other-weight", "src/theory/direction.cpp",
     "1 / (p + n - 1)};", "1 / (p + n)};"),
    ("heads-other-weight-not-averaged", "src/theory/direction.cpp",
     "mean.other / heads * turn", "mean.other * turn"),
    ("time-to-cosine-few-digits", "src/theory/solve.cpp",
     "4e-16 * high", "4e-6 * high"),
    ("stretched-constant-without-p", "src/theory/law.cpp",
     "log_rate + std::log(power) - offset.value", "log_rate - offset.value"),
    ("power-constant-wrong-power", "src/theory/law.cpp",
     "(m + 1) * std::log(s.t)", "m * std::log(s.t)"),
    ("theory-dim-ignored", "src/theory/flow.cpp",
     "settings_.dim.value_or(settings_.tokens)", "settings_.tokens"),
    ("readout-derivative-sign", "src/theory/readout.cpp",
     "- 0.15 * (moved(2) - moved(-2))", "+ 0.15 * (moved(2) - moved(-2))"),
]
