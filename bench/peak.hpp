// The hardware's limit, measured in the same run as the kernels: fused multiply-adds per second of all threads
// together.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

#include "core/parallel.hpp"

namespace flyball::bench {

// Twelve independent chains of fused multiply-adds on registers: enough to hide their latency.
inline constexpr int peak_chains = 12;

#if defined(__x86_64__)
template <class Real>
struct Peak256;
template <>
struct Peak256<double> {
    using Type = __m256d;
    __attribute__((target("avx2,fma"))) static Type set(double x) { return _mm256_set1_pd(x); }
    __attribute__((target("avx2,fma"))) static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
};
template <>
struct Peak256<float> {
    using Type = __m256;
    __attribute__((target("avx2,fma"))) static Type set(double x) { return _mm256_set1_ps(static_cast<float>(x)); }
    __attribute__((target("avx2,fma"))) static Type fma(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
};
template <class Real>
struct Peak512;
template <>
struct Peak512<double> {
    using Type = __m512d;
    __attribute__((target("avx512f"))) static Type set(double x) { return _mm512_set1_pd(x); }
    __attribute__((target("avx512f"))) static Type fma(Type a, Type b, Type c) { return _mm512_fmadd_pd(a, b, c); }
};
template <>
struct Peak512<float> {
    using Type = __m512;
    __attribute__((target("avx512f"))) static Type set(double x) { return _mm512_set1_ps(static_cast<float>(x)); }
    __attribute__((target("avx512f"))) static Type fma(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
};

// One body for both widths; a function template cannot take its target as an argument.
#define FLYBALL_CHAINS(Lanes, rounds)                                    \
    typename Lanes::Type sums[peak_chains];                              \
    for (int c = 0; c < peak_chains; ++c) {                              \
        sums[c] = Lanes::set(c + 1);                                     \
    }                                                                    \
    const typename Lanes::Type factor = Lanes::set(0.999);               \
    const typename Lanes::Type term = Lanes::set(0.001);                 \
    for (std::size_t i = 0; i < (rounds); ++i) {                         \
        _Pragma("GCC unroll 12") for (int c = 0; c < peak_chains; ++c) { \
            sums[c] = Lanes::fma(sums[c], factor, term);                 \
        }                                                                \
    }                                                                    \
    double total = 0;                                                    \
    for (int c = 0; c < peak_chains; ++c) {                              \
        total += static_cast<double>(sums[c][0]);                        \
    }                                                                    \
    return total

template <class Real>
__attribute__((target("avx2,fma"), noinline)) double chains_of_256(std::size_t rounds) {
    using Lanes = Peak256<Real>;
    FLYBALL_CHAINS(Lanes, rounds);
}
template <class Real>
__attribute__((target("avx512f"), noinline)) double chains_of_512(std::size_t rounds) {
    using Lanes = Peak512<Real>;
    FLYBALL_CHAINS(Lanes, rounds);
}
#undef FLYBALL_CHAINS

// The widest vectors that the CPU has: matrix products use them.
inline bool has_512() {
    return __builtin_cpu_supports("avx512f") != 0;
}
template <class Real>
double multiply_add_chains(std::size_t rounds) {
    return has_512() ? chains_of_512<Real>(rounds) : chains_of_256<Real>(rounds);
}
inline std::size_t peak_bytes() {
    return has_512() ? 64 : 32;
}
#else
template <class Real>
double multiply_add_chains(std::size_t rounds) {
    Real sums[peak_chains] = {};
    for (std::size_t i = 0; i < rounds; ++i) {
        for (Real& sum : sums) {
            sum = std::fma(sum, Real(0.999), Real(0.001));
        }
    }
    return static_cast<double>(sums[0]);
}
inline std::size_t peak_bytes() {
    return 16;
}
#endif

// Floating-point operations per second at the fused multiply-add peak, best of several runs.
template <class Real>
double measured_peak() {
    constexpr std::size_t rounds = 4'000'000;
    const auto slots = static_cast<std::size_t>(threads());
    double best = 0;
    for (int run = 0; run < 5; ++run) {
        const auto start = std::chrono::steady_clock::now();
        volatile double keep = parallel_sum(
            slots, slots, [](std::size_t, std::size_t, std::size_t) { return multiply_add_chains<Real>(rounds); });
        (void)keep;
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        const double operations = 2.0 * peak_chains * static_cast<double>(peak_bytes() / sizeof(Real) * rounds * slots);
        best = std::max(best, operations / time.count());
    }
    return best;
}

}  // namespace flyball::bench
