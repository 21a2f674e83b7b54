"""Mistakes planted in src/dynamics; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("energy-doubled", "src/dynamics/observables.cpp",
     "-pairs.exponential_sum / (static_cast<double>(n) * static_cast<double>(n))",
     "-2 * pairs.exponential_sum / (static_cast<double>(n) * static_cast<double>(n))"),
    ("quantiles-wrong", "src/dynamics/observables.cpp",
     "sample.cosine_lo = measure::quantile(cosines, 0.05);", "sample.cosine_lo = measure::quantile(cosines, 0.5);"),
    ("collapse-time-tripled", "src/dynamics/run.cpp",
     "record_.collapse_time = sample.t;", "record_.collapse_time = 3 * sample.t;"),
    ("log-time-even-in-time", "src/dynamics/settings.cpp",
     "t = first * std::pow(end / first, step);", "t = first + (end - first) * step;"),
    ("clusters-of-looser-tokens", "src/dynamics/observables.cpp",
     "constexpr double cluster_cosine = 1 - 1e-3;", "constexpr double cluster_cosine = 1 - 1e-2;"),
    ("smallest-radius-from-zero", "src/dynamics/observables.cpp",
     "sample.radius_min = HUGE_VAL;", "sample.radius_min = 0;"),
    ("column-variance-is-energy", "src/dynamics/sample.cpp",
     '"variance", &Sample::variance', '"variance", &Sample::energy'),
    ("h5md-steps-from-one", "src/dynamics/trajectory.cpp",
     "steps.push_back(static_cast<long long>(i));", "steps.push_back(static_cast<long long>(i + 1));"),
    ("cone-twice-as-wide", "src/dynamics/start.cpp",
     "std::acos(1 - s.cone_delta) / 2", "std::acos(1 - s.cone_delta)"),
    ("rk4-weights-swapped", "src/dynamics/integrator.cpp",
     "{1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};", "{1.0 / 6, 1.0 / 3, 1.0 / 6, 1.0 / 3}};"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("heads-that-do-not-divide-accepted", "src/dynamics/settings.cpp",
     "s.dim % s.heads != 0", "s.dim < s.heads"),
    ("start-stream-shared-with-weights", "src/dynamics/start.cpp",
     "start_stream + 16 * m", "start_stream + m"),
    ("layer-speed-per-layer", "src/dynamics/particles.cpp",
     "speed = sum / static_cast<double>(rows_) / settings_.dt;", "speed = sum / static_cast<double>(rows_);"),
    ("h5md-time-is-index", "src/dynamics/trajectory.cpp",
     "times.push_back(sample.t);", "times.push_back(static_cast<double>(i));"),
    ("weight-scale-by-head-width", "src/dynamics/weights.cpp",
     "factor /= std::sqrt(static_cast<double>(d));", "factor /= std::sqrt(static_cast<double>(d / s.heads));"),
    ("ffn-matrices-share-draw", "src/dynamics/weights.cpp",
     "system, 2 * draw + 1,", "system, 2 * draw,"),
    ("radius-max-is-mean", "src/dynamics/sample.cpp",
     '"radius.max", &Sample::radius_max', '"radius.max", &Sample::radius'),
]
