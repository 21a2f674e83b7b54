// What a transformer does to numbers one by one or row by row, outside the matrix products and the equation: softmax,
// activations, the loss. One source (layer_kernels_body.inl) compiled for the baseline, AVX2 and AVX-512.
//
// Errors are a few units in the last place of the largest term; NaN and infinity in a row of scores make the row NaN.
#pragma once

#include <cstddef>

#include "core/isa.hpp"
#include "model/architecture.hpp"

namespace flyball::model {

inline constexpr std::size_t row_padding = 32;  // rows given to softmax have room up to a multiple of this

inline constexpr std::size_t padded(std::size_t count) {
    return (count + row_padding - 1) / row_padding * row_padding;
}

// What softmax found in a row: weight_k = 2^(row_k - maximum) * inverse. NaN for a row of NaN.
template <class Real>
struct SoftmaxScale {
    Real maximum = 0;
    Real inverse = 0;
};

template <class Real>
struct LayerKernels {
    // row_k becomes 2^row_k / sum 2^row, k < count; numbers up to padded(count) become 0.
    SoftmaxScale<Real> (*softmax)(std::size_t count, Real* row);
    // The same bits for the same row.
    void (*softmax_again)(std::size_t count, const SoftmaxScale<Real>& scale, Real* row);
    // grad_k becomes weight_k (grad_k - sum weight grad): from the gradient of softmax's result to that of its scores
    void (*softmax_reverse)(std::size_t count, const Real* weights, Real* grad);
    // out may be in
    void (*activate)(Activation activation, std::size_t count, const Real* in, Real* out);
    // out = act(gate) * up
    void (*gate)(Activation activation, std::size_t count, const Real* gate, const Real* up, Real* out);
    // out = act'(in)
    void (*slope)(Activation activation, std::size_t count, const Real* in, Real* out);
    // out = act(in), and in becomes act'(in): what reverse mode needs of it
    void (*activate_and_slope)(Activation activation, std::size_t count, Real* in, Real* out);
    // out *= in, out += in; out is not in
    void (*multiply)(std::size_t count, const Real* in, Real* out);
    void (*add)(std::size_t count, const Real* in, Real* out);
    // log sum e^row; minus infinity where all of row is, NaN for a NaN or an infinity among it
    double (*log_sum_exp)(std::size_t count, const Real* row);
    // row_k becomes scale * e^(row_k - shift)
    void (*exponentials)(std::size_t count, Real shift, Real scale, Real* row);
};

template <class Real>
const LayerKernels<Real>& layer_kernels(Isa isa);
template <class Real>
const LayerKernels<Real>& layer_kernels() {
    return layer_kernels<Real>(active_isa());
}

extern const LayerKernels<double> layer_kernels_plain_double;
extern const LayerKernels<float> layer_kernels_plain_float;
extern const LayerKernels<double> layer_kernels_avx2_double;
extern const LayerKernels<float> layer_kernels_avx2_float;
extern const LayerKernels<double> layer_kernels_avx512_double;
extern const LayerKernels<float> layer_kernels_avx512_float;

}  // namespace flyball::model
