// The row kernels built for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
#include "limits/row_kernels.hpp"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

#include <cstdint>

namespace flyball::limits {

namespace {

#include "limits/row_kernels_body.inl"

}  // namespace

const RowKernels row_kernels_avx2 = table;

}  // namespace flyball::limits

#else

namespace flyball::limits {

const RowKernels row_kernels_avx2 = row_kernels_plain;

}  // namespace flyball::limits

#endif
