"""Mistakes planted in src/core; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("normal-with-half-the-variance", "src/core/random.cpp",
     "std::sqrt(-2.0 * std::log(", "std::sqrt(-1.0 * std::log("),
    ("odd-normals-repeat-even-ones", "src/core/random.cpp",
     "return index % 2 == 0 ? even : odd;", "return even;"),
    ("uniform-reaches-zero", "src/core/random.cpp",
     "(static_cast<double>(bits >> 12) + 0.5) * 0x1p-52", "static_cast<double>(bits >> 12) * 0x1p-52"),
    ("bf16-truncates", "src/core/half.hpp",
     "(bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16", "bits >> 16"),
    ("haar-without-signs", "src/core/lapack.cpp",
     "signs[i] = matrix[i * size + i] < 0 ? -1 : 1;", "signs[i] = 1;"),
    ("remaining-time-is-total-time", "src/core/progress.cpp",
     "elapsed / share - elapsed", "elapsed / share"),
    ("plus-minus-is-a-sign", "src/core/number.cpp",
     "if (text.empty() || text.front() == '-') {", "if (text.empty()) {"),
    ("whole-tensor-of-half-floats-as-bf16", "src/core/safetensors.cpp",
     "tensor.bytes, out, f16_to_float", "tensor.bytes, out, bf16_to_float"),
    ("overlapping-tensors-accepted", "src/core/safetensors_header.cpp",
     "if (item->second.begin != position) {", "if (item->second.begin > position) {"),
    ("whole-numbers-rounded", "src/core/number.cpp",
     "if (!real || *real < 0 || *real > exact || *real != std::trunc(*real)) {",
     "if (!real || *real < 0 || *real > exact) {"),
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
