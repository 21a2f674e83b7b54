// The kernel tables that row_kernels() chooses from. On other architectures than x86-64 the others are the plain one.
#pragma once

#include "scheme/row_kernels.hpp"

namespace flyball::scheme {

extern const RowKernels<double> row_kernels_plain_double;
extern const RowKernels<float> row_kernels_plain_float;
extern const RowKernels<double> row_kernels_avx2_double;
extern const RowKernels<float> row_kernels_avx2_float;
extern const RowKernels<double> row_kernels_avx512_double;
extern const RowKernels<float> row_kernels_avx512_float;

}  // namespace flyball::scheme
