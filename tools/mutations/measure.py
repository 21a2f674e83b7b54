"""Mistakes planted in src/measure; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("effective-rank-constant", "src/measure/rows.cpp",
     "return std::exp(entropy(values));", "return static_cast<double>(size);"),
    ("speed-with-its-radial-part", "src/measure/rows.cpp",
     "const double part = v[c] - along * (x[c] / size);", "const double part = v[c];"),
    ("speed-without-its-length", "src/measure/rows.cpp",
     "sum += std::sqrt(across) / size;", "sum += std::sqrt(across);"),
    ("variance-over-n-minus-one", "src/measure/rows.cpp",
     "return spread / n;", "return spread / (n - 1);"),
    ("variance-around-the-first-row", "src/measure/rows.cpp",
     "theta.row(j)[c] - theta.data[c] - mean[c];", "theta.row(j)[c] - theta.data[c];"),
    ("entropy-in-bits", "src/measure/rows.cpp",
     "std::log(weight / total)", "std::log2(weight / total)"),
    ("entropy-of-unscaled-weights", "src/measure/rows.cpp",
     "total += weight;", "total = 1;"),
    ("quantile-without-interpolation", "src/measure/rows.cpp",
     "values[below] + (place - static_cast<double>(below)) * (values[above] - values[below])", "values[below]"),
    ("zero-rows-count-as-agreement", "src/measure/rows.cpp",
     "return zero / n + variance", "return variance"),
    ("length-of-huge-rows-forgets-their-size", "src/measure/rows.cpp",
     "return largest * std::sqrt(sum);", "return std::sqrt(sum);"),
    ("speed-over-all-but-one", "src/measure/rows.cpp",
     "return sum / static_cast<double>(rows.count);", "return sum / static_cast<double>(rows.count - 1);"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("mean-cosine-over-n", "src/measure/rows.cpp",
     "variance(theta) * n / (n - 1)", "variance(theta)"),
    ("effective-rank-of-eigenvalues", "src/measure/rows.cpp",
     "std::isnan(value) ? value : std::sqrt(std::max(0.0, value))", "std::isnan(value) ? value : std::max(0.0, value)"),
]
