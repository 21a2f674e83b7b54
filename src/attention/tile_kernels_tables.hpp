// The kernel tables that tile_kernels() chooses from. On other architectures than x86-64 the AVX2 tables are the plain
// ones.
#pragma once

#include "attention/tile_kernels.hpp"

namespace flyball::attention {

extern const TileKernels<double> tile_kernels_plain_double;
extern const TileKernels<float> tile_kernels_plain_float;
extern const TileKernels<double> tile_kernels_avx2_double;
extern const TileKernels<float> tile_kernels_avx2_float;

}  // namespace flyball::attention
