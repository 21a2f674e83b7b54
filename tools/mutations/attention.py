"""Mistakes planted in src/attention; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
]

# Written by someone who had not seen the tests.
BLIND = [
    ("entmax-forgets-half", "src/attention/row_weights.cpp",
     "scale_and_sort(beta / 2,", "scale_and_sort(beta,"),
    ("unnormalized-divides-by-allowed", "src/attention/blas_rows.cpp",
     "- std::log2(static_cast<double>(problem_.tokens))", "- std::log2(count)"),
    ("causal-sees-one-ahead", "src/attention/general_tiles.inl",
     "begin + i + 1 < job.tokens ? begin + i + 1 : job.tokens",
     "begin + i + 1 < job.tokens ? begin + i + 2 : job.tokens"),
    ("query-key-swapped", "src/attention/attention.cpp",
     "worker.query.data(), worker.key.data(), worker.value.data()",
     "worker.key.data(), worker.query.data(), worker.value.data()"),
    ("consensus-on-circle-has-no-cluster", "src/attention/pairs.cpp",
     "return std::max<std::size_t>(gaps, 1);", "return gaps;"),
    ("energy-tiles-counted-once", "src/attention/pairs.cpp",
     "sum += (row == column ? 1 : 2) * exponential_sum(", "sum += exponential_sum("),
    ("ssmax-log-base-two", "src/attention/exponent.cpp",
     "std::log(static_cast<double>(allowed))", "std::log2(static_cast<double>(allowed))"),
    ("direct-unnormalized-root-squared", "src/attention/direct.cpp",
     "std::exp2((exponent.shift + exponent.log2_gain) / 2)", "std::exp2(exponent.shift + exponent.log2_gain)"),
]
