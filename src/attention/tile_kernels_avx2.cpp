// The tile kernels built for AVX2 (src/CMakeLists.txt sets the flags of this file by its name).
#include "attention/tile_kernels_tables.hpp"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

#include <cstdint>

namespace flyball::attention {

namespace {

#include "attention/tile_kernels_body.inl"

}  // namespace

const TileKernels<double> tile_kernels_avx2_double = table<double>;
const TileKernels<float> tile_kernels_avx2_float = table<float>;

}  // namespace flyball::attention

#else

namespace flyball::attention {

const TileKernels<double> tile_kernels_avx2_double = tile_kernels_plain_double;
const TileKernels<float> tile_kernels_avx2_float = tile_kernels_plain_float;

}  // namespace flyball::attention

#endif
