"""Mistakes planted in src/claims; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("verdicts-of-corrected-claims-hold", "src/claims/claim.cpp",
     "as_corrected ? Verdict::holds_corrected : Verdict::fails", "as_corrected ? Verdict::holds : Verdict::fails"),
    ("slope-error-without-degrees-of-freedom", "src/claims/fit.cpp",
     "student_quantile(n - 2) * std::sqrt(squares / static_cast<double>(n - 2) / xx)",
     "student_quantile(n - 2) * std::sqrt(squares / static_cast<double>(n) / xx)"),
    ("paper-peri-ln-speed-without-radius", "src/claims/paper.cpp",
     "return x.r * x.length;", "return x.length;"),
    ("paper-velocity-without-its-two", "src/claims/paper.cpp",
     "result.rate = 2 * q * (1 - gamma)", "result.rate = q * (1 - gamma)"),
    ("simpson-weights-swapped", "src/claims/paper.cpp",
     "(i % 2 == 1 ? 4 : 2) * integrand", "(i % 2 == 1 ? 2 : 4) * integrand"),
    ("one-token-attends-to-all-but-itself", "src/claims/paper.cpp",
     "const double weight = std::exp(beta * cosine);", "const double weight = j == k ? 0 : std::exp(beta * cosine);"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("mean-error-over-n", "src/claims/fit.cpp",
     "std::sqrt(squares / (n - 1) / n)", "std::sqrt(squares / n / n)"),
    ("confidence-level-swapped", "src/claims/fit.cpp",
     "std::pow(0.05, 1 /", "std::pow(0.95, 1 /"),
    ("claim-value-three-digits", "src/claims/claim.cpp",
     "{:.6g}", "{:.3g}"),
    ("pair-cosine-factor-inverted", "src/claims/experiment.cpp",
     "* tokens / (tokens - 1)", "* (tokens - 1) / tokens"),
    ("headline-figures-exchanged", "src/claims/dynamics_headline.cpp",
     "early ? place.ends[i].early : place.ends[i].late", "early ? place.ends[i].late : place.ends[i].early"),
    ("growth-groups-share-seed", "src/claims/dynamics_random.cpp",
     "s.seed = context.seed * 101 + group;", "s.seed = context.seed * 101;"),
    ("initial-prediction-arguments-swapped", "src/claims/dynamics_symmetric.cpp",
     "which.velocity(256, 5, 1)", "which.velocity(256, 1, 5)"),
    ("temperature-shows-random-slope", "src/claims/dynamics_start.cpp",
     "result.measured = symmetric_slope.measured();", "result.measured = random_slope.measured();"),
]
