// AdamW's kernels for any CPU.
#include "train/adamw_kernels.hpp"

namespace flyball::train {

namespace {

#include "train/adamw_kernels_body.inl"

}  // namespace

const AdamwKernels adamw_kernels_plain = table;

}  // namespace flyball::train
