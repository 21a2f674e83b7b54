// AdamW's kernels built for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
#include "train/adamw_kernels.hpp"

#if defined(__AVX2__)

namespace flyball::train {

namespace {

#include "train/adamw_kernels_body.inl"

}  // namespace

const AdamwKernels adamw_kernels_avx2 = table;

}  // namespace flyball::train

#else

namespace flyball::train {

const AdamwKernels adamw_kernels_avx2 = adamw_kernels_plain;

}  // namespace flyball::train

#endif
