"""Mistakes planted in src/measure; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("effective-rank-constant", "src/measure/rows.cpp",
     "return std::exp(entropy(values));", "return static_cast<double>(size);"),
    ("variance-over-n-minus-one", "src/measure/rows.cpp",
     "return spread / n;", "return spread / (n - 1);"),
    ("cosine-without-n-over-n-minus-one", "src/measure/rows.cpp",
     "return zero / n + variance(theta) * n / (n - 1);", "return zero / n + variance(theta);"),
    ("rank-of-squared-singular-values", "src/measure/rows.cpp",
     "value = std::isnan(value) ? value : std::sqrt(std::max(0.0, value));",
     "value = std::isnan(value) ? value : std::max(0.0, value);"),
    ("angular-speed-not-over-length", "src/measure/rows.cpp",
     "sum += std::sqrt(across) / size;", "sum += std::sqrt(across);"),
    ("angular-speed-without-projection", "src/measure/rows.cpp",
     "const double part = v[c] - along * (x[c] / size);", "const double part = v[c] - 0 * along * (x[c] / size);"),
    ("entropy-without-share", "src/measure/rows.cpp",
     "sum -= weight / total * std::log(weight / total);", "sum -= weight / total * std::log(weight);"),
    ("quantile-of-n", "src/measure/rows.cpp",
     "const double place = share * static_cast<double>(values.size() - 1);",
     "const double place = std::min(share * static_cast<double>(values.size()), static_cast<double>(values.size() - 1));"),
    ("quantile-without-interpolation", "src/measure/rows.cpp",
     "return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);",
     "return values[place - static_cast<double>(below) > 0.5 ? above : below];"),
    ("length-underflow", "src/measure/rows.cpp",
     "if (squares > 1e-280 && squares < 1e280) {", "if (squares < 1e280) {"),
    ("variance-about-the-first-row", "src/measure/rows.cpp",
     "const double offset = theta.row(j)[c] - theta.data[c] - mean[c];",
     "const double offset = theta.row(j)[c] - theta.data[c] - 0 * mean[c];"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("mean-cosine-over-n", "src/measure/rows.cpp",
     "variance(theta) * n / (n - 1)", "variance(theta)"),
    ("effective-rank-of-eigenvalues", "src/measure/rows.cpp",
     "std::isnan(value) ? value : std::sqrt(std::max(0.0, value))", "std::isnan(value) ? value : std::max(0.0, value)"),
    ("tiny-length-not-scaled-back", "src/measure/rows.cpp",
     "return largest * std::sqrt(sum);", "return std::sqrt(sum);"),
    ("effective-rank-of-squared-values", "src/measure/rows.cpp",
     "std::sqrt(std::max(0.0, value))", "std::max(0.0, value)"),
    ("angular-speed-averaged-over-numbers", "src/measure/rows.cpp",
     "return sum / static_cast<double>(rows.count);", "return sum / static_cast<double>(rows.count * rows.dim);"),
    ("entropy-logarithm-not-normalised", "src/measure/rows.cpp",
     "std::log(weight / total)", "std::log(weight)"),
    ("quantile-place-by-n", "src/measure/rows.cpp",
     "share * static_cast<double>(values.size() - 1)", "share * static_cast<double>(values.size())"),
]
