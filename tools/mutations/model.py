"""Mistakes planted in src/model; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
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
