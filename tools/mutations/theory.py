"""Mistakes planted in src/theory; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
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
