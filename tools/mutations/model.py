"""Mistakes planted in src/model; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("loss-counts-every-token", "src/model/loss.cpp",
     "count += target != no_target ? 1 : 0;", "count += 1;"),
    ("loss-of-the-same-token", "src/model/pass.cpp",
     "targets[i] = ids[i + 1];", "targets[i] = ids[i];"),
    ("positions-from-one", "src/model/pass.cpp",
     "sum += positions[i * dim + k];", "sum += positions[(i + 1 < tokens_ ? i + 1 : i) * dim + k];"),
    ("rope-turns-the-wrong-way", "src/model/rope.cpp",
     "const Real sine = back ? -s[i] : s[i];", "const Real sine = back ? s[i] : -s[i];"),
    ("yarn-ramp-upside-down", "src/model/rope.cpp",
     "frequencies[i] *= ramp / rope.factor + (1 - ramp);", "frequencies[i] *= (1 - ramp) / rope.factor + ramp;"),
    ("rope-also-turns-values", "src/model/sub_layers.cpp",
     "a.heads + a.kv_heads, a.head_dim, qkv", "a.heads + 2 * a.kv_heads, a.head_dim, qkv"),
    ("gate-and-up-swapped", "src/model/sub_layers.cpp",
     "row, row + a.ffn_dim, activated + i * a.ffn_dim", "row + a.ffn_dim, row, activated + i * a.ffn_dim"),
    ("softmax-gradient-without-scale", "src/model/heads.cpp",
     "const auto scale = static_cast<Real>(shape.scale);", "const auto scale = Real{1};"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("rope-llama3-mixture-swapped", "src/model/rope.cpp",
     "(1 - smooth) * frequency / rope.factor + smooth * frequency",
     "smooth * frequency / rope.factor + (1 - smooth) * frequency"),
    ("sliding-window-one-short", "src/model/heads.cpp",
     "? token + 1 - shape.window - r.column", "? token + 2 - shape.window - r.column"),
    ("kv-heads-interleaved", "src/model/heads.cpp",
     "head * shape.kv_heads / shape.heads", "head % shape.kv_heads"),
    ("loss-forgets-last-vocabulary-tile", "src/model/loss.cpp",
     "std::size_t j = 1; j < column_tiles; ++j", "std::size_t j = 1; j + 1 < column_tiles; ++j"),
    ("gelu-tanh-constant", "src/model/layer_kernels_body.inl",
     "static_cast<Real>(0.044715)", "static_cast<Real>(0.04715)"),
    ("qwen-window-layers-off-by-one", "src/model/family.cpp",
     "} else if (l < full) {", "} else if (l <= full) {"),
    ("byte-fallback-lower-case", "src/model/bpe.cpp",
     "<0x{:02X}>", "<0x{:02x}>"),
    ("hf-home-without-hub", "src/model/locate.cpp",
     'return fs::path(value) / "hub";', "return fs::path(value);"),
]
