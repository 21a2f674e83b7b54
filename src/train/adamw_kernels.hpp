// The arithmetic of AdamW (Loshchilov, Hutter 2019) on one stretch of parameters, and the length of a gradient.
//
//     g = gradient_scale * gradient
//     m <- beta1 m + (1 - beta1) g              v <- beta2 v + (1 - beta2) g^2
//     w <- (1 - rate decay) w - rate (m/bias1) / (sqrt(v/bias2) + eps)         bias = 1 - beta^step
//
// Decay is decoupled and multiplies the weight before the step, as torch.optim.AdamW does it. m and v are sums with
// weights (1 - beta) beta^k over the steps there were, which add up to bias, not 1: dividing by it makes means of them.
// Numbers are float; every factor is computed in double and rounded once. A stretch has one decay: matrices and vectors
// are two calls.
//
// Promises: each weight is updated by itself, and the norm is summed in a number of slots that depends on the count
// alone: the same bits at any number of threads, and on any instruction set (no fused multiply-add). NaN and infinity
// flow through to the result.
// Not here: schedules, clipping (gradient_scale is how the caller clips), which parameters decay.
#pragma once

#include <cstddef>

#include "core/isa.hpp"

namespace flyball::train {

struct AdamwStep {
    double rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double decay = 0;
    double bias1 = 1;  // 1 - beta1^step, step counted from 1
    double bias2 = 1;  // 1 - beta2^step
    double gradient_scale = 1;
};

// weights, first (m) and second (v) are updated; all four are [count].
void adamw_update(std::size_t count, float* weights, float* first, float* second, const float* gradients,
                  const AdamwStep& step);

// Sum of squares, in double.
double squared_norm(std::size_t count, const float* values);

// One source (adamw_kernels_body.inl) compiled for the baseline and for AVX2: a slot's worth of the two above.
struct AdamwKernels {
    struct Factors {  // of one step, rounded to float
        float scale;
        float keep1, add1;      // beta1, 1 - beta1
        float keep2, add2;      // beta2, 1 - beta2
        float keep_weight;      // 1 - rate decay
        float rate, root, eps;  // rate/bias1, 1/sqrt(bias2), eps
    };
    void (*update)(std::size_t count, float* weights, float* first, float* second, const float* gradients,
                   const Factors& factors);
    double (*squares)(std::size_t count, const float* values);
};

const AdamwKernels& adamw_kernels(Isa isa);

extern const AdamwKernels adamw_kernels_plain;
extern const AdamwKernels adamw_kernels_avx2;

}  // namespace flyball::train
