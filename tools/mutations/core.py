"""Mistakes planted in src/core; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
]

# Written by someone who had not seen the tests.
BLIND = [
    ("format-double-loses-digits", "src/core/number.cpp",
     "std::to_chars(first, last, value).ptr", "std::to_chars(first, last, value, std::chars_format::general, 15).ptr"),
    ("seed-upper-half-dropped", "src/core/random.cpp",
     "{{low(seed_), high(seed_)}}", "{{low(seed_), 0U}}"),
    ("temporary-file-left-behind", "src/core/file.cpp",
     "if (!temporary_.empty()) {", "if (temporary_.empty()) {"),
    ("transposition-wrong-row", "src/core/suggest.cpp",
     "before[j - 2] + 1", "previous[j - 2] + 1"),
    ("trailing-bytes-accepted", "src/core/safetensors_header.cpp",
     "if (position != data_size) {", "if (position > data_size) {"),
    ("json-error-column-off-by-one", "src/core/json_events.cpp",
     "before.size() - line_start + 1", "before.size() - line_start"),
    ("f16-subnormal-factor", "src/core/half.hpp",
     "static_cast<float>(mantissa) * 0x1p-24F", "static_cast<float>(mantissa) * 0x1p-25F"),
    ("haar-sign-wrong-axis", "src/core/lapack.cpp",
     "*= signs[i];", "*= signs[k];"),
]
