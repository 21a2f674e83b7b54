"""Mistakes planted in src/train; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("adamw-decay-added", "src/train/adamw_kernels.cpp",
     "narrow(1 - step.rate * step.decay)", "narrow(1 + step.rate * step.decay)"),
    ("adamw-decay-without-rate", "src/train/adamw_kernels.cpp",
     "narrow(1 - step.rate * step.decay)", "narrow(1 - step.decay)"),
    ("adamw-first-moment-uncorrected", "src/train/adamw_kernels.cpp",
     "narrow(step.rate / step.bias1)", "narrow(step.rate)"),
    ("adamw-second-correction-inverted", "src/train/adamw_kernels.cpp",
     "narrow(1 / std::sqrt(step.bias2))", "narrow(std::sqrt(step.bias2))"),
    ("adamw-scale-after-the-square", "src/train/adamw_kernels_body.inl",
     "f.add2 * (g * g)", "f.add2 * (g * gradients[i])"),
    ("squared-norm-drops-the-rest", "src/train/adamw_kernels_body.inl",
     "total += static_cast<double>(values[i]) * static_cast<double>(values[i]);", "total += 0;"),
]
