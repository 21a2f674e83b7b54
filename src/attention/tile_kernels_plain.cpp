// The tile kernels for the baseline instruction set of the architecture.
#include <cstdint>

#include "attention/tile_kernels_tables.hpp"
#include "core/isa_variants.hpp"

namespace flyball::attention {

namespace {

#include "attention/tile_kernels_body.inl"

}  // namespace

const TileKernels<double> tile_kernels_plain_double = table<double>;
const TileKernels<float> tile_kernels_plain_float = table<float>;

template <>
const TileKernels<double>& tile_kernels<double>(Isa isa) {
    return IsaVariants<TileKernels<double>>{tile_kernels_plain_double, tile_kernels_avx2_double}[isa];
}
template <>
const TileKernels<float>& tile_kernels<float>(Isa isa) {
    return IsaVariants<TileKernels<float>>{tile_kernels_plain_float, tile_kernels_avx2_float}[isa];
}

}  // namespace flyball::attention
