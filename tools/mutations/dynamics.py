"""Mistakes planted in src/dynamics; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
]

# Written by someone who had not seen the tests.
BLIND = [
    ("mean-cosine-over-n", "src/dynamics/observables.cpp",
     "spread / static_cast<double>(n - 1)", "spread / static_cast<double>(n)"),
    ("effective-rank-of-eigenvalues", "src/dynamics/observables.cpp",
     "value = std::sqrt(std::max(0.0, value));", "value = std::max(0.0, value);"),
    ("heads-that-do-not-divide-accepted", "src/dynamics/settings.cpp",
     "s.dim % s.heads != 0", "s.dim < s.heads"),
    ("start-stream-shared-with-weights", "src/dynamics/start.cpp",
     "start_stream + 16 * m", "start_stream + m"),
    ("layer-speed-per-layer", "src/dynamics/particles.cpp",
     "speed = sum / static_cast<double>(rows_) / settings_.dt;", "speed = sum / static_cast<double>(rows_);"),
    ("h5md-time-is-index", "src/dynamics/trajectory.cpp",
     "times.push_back(sample.t);", "times.push_back(static_cast<double>(i));"),
    ("weight-scale-by-head-width", "src/dynamics/weights.cpp",
     "gain / std::sqrt(static_cast<double>(d))", "gain / std::sqrt(static_cast<double>(weights.width))"),
    ("ffn-matrices-share-draw", "src/dynamics/weights.cpp",
     "system, 2 * draw + 1,", "system, 2 * draw,"),
]
