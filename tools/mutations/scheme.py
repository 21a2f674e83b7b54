"""Mistakes planted in src/scheme; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
]

# Written by someone who had not seen the tests.
BLIND = [
    ("deepnorm-default-exponent", "src/scheme/catalogue.cpp",
     "where a = (2*L)^0.25", "where a = (2*L)^0.5"),
    ("model-block-time-from-one", "src/scheme/environment.hpp",
     "env.t = static_cast<double>(l) - 1;", "env.t = static_cast<double>(l);"),
    ("dual-quotient-rule", "src/scheme/dual.hpp",
     "(a.slope - q * b.slope) / b.value", "(a.slope - b.slope) / b.value"),
    ("norm-eps-outside-root", "src/scheme/row_kernels_body.inl",
     "static_cast<Real>(__builtin_sqrt(static_cast<double>(squares / divisor + map.eps)))",
     "(static_cast<Real>(__builtin_sqrt(static_cast<double>(squares / divisor))) + map.eps)"),
    ("plane-rms-radius-from-tokens", "src/scheme/plane.cpp",
     "rms ? std::sqrt(env.d) : 1", "rms ? std::sqrt(env.n) : 1"),
    ("caret-forgets-ellipsis", "src/scheme/syntax_error.cpp",
     "prefix.size() + columns(text.substr(first, begin - first))", "columns(text.substr(first, begin - first))"),
    ("printer-drops-divisor-parentheses", "src/scheme/printer.cpp",
     "symbol(e.op), print_at(b, sign_level)", "symbol(e.op), print_at(b, term_level)"),
    ("less-equal-is-less", "src/scheme/evaluate.hpp",
     "return a <= b;", "return a < b;"),
]
