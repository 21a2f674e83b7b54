// The tile kernels for the baseline instruction set of the architecture.
#include <cstdint>

#include "attention/tile_kernels_tables.hpp"

namespace flyball::attention {

namespace {

#include "attention/tile_kernels_body.inl"

}  // namespace

const TileKernels<double> tile_kernels_plain_double = table<double>;
const TileKernels<float> tile_kernels_plain_float = table<float>;

template <>
const TileKernels<double>& tile_kernels<double>(Isa isa) {
    return isa == Isa::avx2 ? tile_kernels_avx2_double : tile_kernels_plain_double;
}
template <>
const TileKernels<float>& tile_kernels<float>(Isa isa) {
    return isa == Isa::avx2 ? tile_kernels_avx2_float : tile_kernels_plain_float;
}

}  // namespace flyball::attention
