// The layer kernels built for AVX-512 (src/CMakeLists.txt sets the flags of this file by its name).
#include "model/layer_kernels.hpp"

#if defined(__AVX512F__)

#include <immintrin.h>

#include <cstdint>

namespace flyball::model {

namespace {

#include "model/layer_kernels_body.inl"

}  // namespace

const LayerKernels<double> layer_kernels_avx512_double = table<double>;
const LayerKernels<float> layer_kernels_avx512_float = table<float>;

}  // namespace flyball::model

#else

namespace flyball::model {

const LayerKernels<double> layer_kernels_avx512_double = layer_kernels_plain_double;
const LayerKernels<float> layer_kernels_avx512_float = layer_kernels_plain_float;

}  // namespace flyball::model

#endif
