// The layer kernels for the baseline instruction set of the architecture.
#include <cstdint>

#include "core/isa_variants.hpp"
#include "model/layer_kernels.hpp"

namespace flyball::model {

namespace {

#include "model/layer_kernels_body.inl"

}  // namespace

const LayerKernels<double> layer_kernels_plain_double = table<double>;
const LayerKernels<float> layer_kernels_plain_float = table<float>;

template <>
const LayerKernels<double>& layer_kernels<double>(Isa isa) {
    return IsaVariants<LayerKernels<double>>{layer_kernels_plain_double, layer_kernels_avx2_double,
                                             layer_kernels_avx512_double}[isa];
}
template <>
const LayerKernels<float>& layer_kernels<float>(Isa isa) {
    return IsaVariants<LayerKernels<float>>{layer_kernels_plain_float, layer_kernels_avx2_float,
                                            layer_kernels_avx512_float}[isa];
}

}  // namespace flyball::model
