// Included by adamw_kernels_plain.cpp and adamw_kernels_avx2.cpp, each inside a namespace of its own: everything has
// internal linkage, so that no function compiled for AVX2 can be picked by the linker for the baseline.

void update(std::size_t count, float* __restrict weights, float* __restrict first, float* __restrict second,
            const float* __restrict gradients, const AdamwKernels::Factors& factors) {
    const AdamwKernels::Factors f = factors;
    for (std::size_t i = 0; i < count; ++i) {
        const float g = f.scale * gradients[i];
        const float m = f.keep1 * first[i] + f.add1 * g;
        const float v = f.keep2 * second[i] + f.add2 * (g * g);
        first[i] = m;
        second[i] = v;
        weights[i] = f.keep_weight * weights[i] - f.rate * m / (__builtin_sqrtf(v) * f.root + f.eps);
    }
}

// The square of a float is exact in double. Four vectors of four lanes hide the latency of the addition; the order of
// summation is the same everywhere.
double squares(std::size_t count, const float* values) {
    typedef float Floats __attribute__((vector_size(16)));
    typedef double Doubles __attribute__((vector_size(32)));
    constexpr std::size_t width = 4;
    constexpr std::size_t chains = 4;
    Doubles sums[chains] = {};
    std::size_t i = 0;
    for (; i + chains * width <= count; i += chains * width) {
#pragma GCC unroll 4
        for (std::size_t c = 0; c < chains; ++c) {
            Floats narrow;
            __builtin_memcpy(&narrow, values + i + c * width, sizeof(narrow));
            const Doubles x = __builtin_convertvector(narrow, Doubles);
            sums[c] += x * x;
        }
    }
    const Doubles sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; i < count; ++i) {
        total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    return total;
}

constexpr AdamwKernels table = {update, squares};
