// Vectors of lanes and the exponential on them. Included by tile_kernels_plain.cpp and tile_kernels_avx2.cpp inside a
// namespace of their own: everything has internal linkage, so that no function compiled for AVX2 can be picked by the
// linker for the baseline. For the same reason nothing here calls a template of the standard library.
//
// AVX-512: 64 bytes. AVX2: 32 bytes and fused multiply-add. Elsewhere: 16 bytes, the natural vector of SSE2 and NEON,
// product then sum.

#if defined(__AVX512F__)
constexpr std::size_t lane_bytes = 64;
#elif defined(__AVX2__) && defined(__FMA__)
constexpr std::size_t lane_bytes = 32;
#else
constexpr std::size_t lane_bytes = 16;
#endif

template <class Real>
struct LanesOf;
template <>
struct LanesOf<double> {
    typedef double Type __attribute__((vector_size(lane_bytes)));
    typedef std::uint64_t Bits __attribute__((vector_size(lane_bytes)));
};
template <>
struct LanesOf<float> {
    typedef float Type __attribute__((vector_size(lane_bytes)));
    typedef std::uint32_t Bits __attribute__((vector_size(lane_bytes)));
};
template <class Real>
using Lanes = typename LanesOf<Real>::Type;
template <class Real>
constexpr std::size_t lane_count = lane_bytes / sizeof(Real);

template <class Real>
[[gnu::always_inline]] inline Lanes<Real> load(const Real* from) {
    Lanes<Real> lanes;
    __builtin_memcpy(&lanes, from, sizeof(lanes));
    return lanes;
}
template <class Real>
[[gnu::always_inline]] inline void store(Real* to, Lanes<Real> lanes) {
    __builtin_memcpy(to, &lanes, sizeof(lanes));
}

#if defined(__AVX512F__)
[[gnu::always_inline]] inline Lanes<double> all(double x) {
    return _mm512_set1_pd(x);
}
[[gnu::always_inline]] inline Lanes<float> all(float x) {
    return _mm512_set1_ps(x);
}
[[gnu::always_inline]] inline Lanes<double> fma(Lanes<double> a, Lanes<double> b, Lanes<double> c) {
    return _mm512_fmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline Lanes<float> fma(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
    return _mm512_fmadd_ps(a, b, c);
}
// The larger of each lane; b where a lane is NaN.
[[gnu::always_inline]] inline Lanes<double> larger(Lanes<double> a, Lanes<double> b) {
    return _mm512_mask_max_pd(a, static_cast<__mmask8>(-1), a, b);  // GCC 12 warns about the plain one
}
[[gnu::always_inline]] inline Lanes<float> larger(Lanes<float> a, Lanes<float> b) {
    return _mm512_mask_max_ps(a, static_cast<__mmask16>(-1), a, b);
}
#elif defined(__AVX2__) && defined(__FMA__)
[[gnu::always_inline]] inline Lanes<double> all(double x) {
    return _mm256_set1_pd(x);
}
[[gnu::always_inline]] inline Lanes<float> all(float x) {
    return _mm256_set1_ps(x);
}
[[gnu::always_inline]] inline Lanes<double> fma(Lanes<double> a, Lanes<double> b, Lanes<double> c) {
    return _mm256_fmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline Lanes<float> fma(Lanes<float> a, Lanes<float> b, Lanes<float> c) {
    return _mm256_fmadd_ps(a, b, c);
}
// The larger of each lane; b where a lane is NaN.
[[gnu::always_inline]] inline Lanes<double> larger(Lanes<double> a, Lanes<double> b) {
    return _mm256_max_pd(a, b);
}
[[gnu::always_inline]] inline Lanes<float> larger(Lanes<float> a, Lanes<float> b) {
    return _mm256_max_ps(a, b);
}
#else
template <class Real>
[[gnu::always_inline]] inline auto all(Real x) {
    Lanes<Real> lanes;
    for (std::size_t i = 0; i < lane_count<Real>; ++i) {
        lanes[i] = x;
    }
    return lanes;
}
template <class Vector>
[[gnu::always_inline]] inline Vector fma(Vector a, Vector b, Vector c) {
    return a * b + c;
}
template <class Vector>
[[gnu::always_inline]] inline Vector larger(Vector a, Vector b) {
    for (std::size_t i = 0; i < sizeof(Vector) / sizeof(a[0]); ++i) {
        a[i] = a[i] > b[i] ? a[i] : b[i];
    }
    return a;
}
#endif

// All lanes joined, by halves: one after the other they would wait for each other.
template <class Vector, class Join>
[[gnu::always_inline]] inline auto folded(Vector v, const Join& join) {
    constexpr std::size_t count = sizeof(v) / sizeof(v[0]);
    static_assert(count == 2 || count == 4 || count == 8 || count == 16);
    if constexpr (count == 16) {
        v = join(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
        v = join(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
        v = join(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
        v = join(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
    } else if constexpr (count == 8) {
        v = join(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
        v = join(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
        v = join(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
    } else if constexpr (count == 4) {
        v = join(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
        v = join(v, __builtin_shufflevector(v, v, 1, 0, 3, 2));
    } else {
        v = join(v, __builtin_shufflevector(v, v, 1, 0));
    }
    return v[0];
}
template <class Real>
[[gnu::always_inline]] inline Real sum_of(const Lanes<Real>& lanes) {
    return folded(lanes, [](const Lanes<Real>& a, const Lanes<Real>& b) { return a + b; });
}
template <class Real>
[[gnu::always_inline]] inline Real largest_of(const Lanes<Real>& lanes) {
    return folded(lanes, [](const Lanes<Real>& a, const Lanes<Real>& b) { return larger(a, b); });
}

// ---- 2^t and e^x --------------------------------------------------------------------------------------------------
//
// t = n + f, n whole, |f| <= 1/2:  2^t = 2^n p(f), p the polynomial of least relative error over [-1/2, 1/2] (Remez),
// its constant term rounded to 1. Adding 1.5 * 2^52 rounds t and leaves n in the low bits of the sum, from where a
// shift moves it into the exponent of p.
//
// The range is clamped at `lowest`, one below the exponent of the smallest normal number. There f = 0, p = 1 exactly,
// and the exponent field becomes 0: the result is 0.0 without a comparison. Between the two the result is some number
// below the smallest normal one.

template <class Real>
struct ExpNumbers;
template <>
struct ExpNumbers<double> {
    static constexpr int degree = 10;  // relative error 2.1e-16
    static constexpr double factor[11] = {1.0,
                                          0.69314718055994977475,
                                          0.24022650695908767677,
                                          0.055504108664458850071,
                                          0.0096181291080346462007,
                                          0.0013333558228558875944,
                                          0.00015403529961050232221,
                                          0.000015252658118053735859,
                                          1.321566288002748113e-6,
                                          1.020853762475920871e-7,
                                          7.0372706099166331868e-9};
    static constexpr double rounder = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr int mantissa = 52;
    static constexpr double lowest = -1023;
    static constexpr double log2_e = 1.4426950408889634074;
    static constexpr double ln2_high = 0.693147180369123816490;  // 32 bits: times n it is exact
    static constexpr double ln2_low = 1.90821492927058770002e-10;
    static constexpr double underflow = -708.39;
    static constexpr double overflow = 709.78;
};
template <>
struct ExpNumbers<float> {
    static constexpr int degree = 5;  // relative error 1.0e-7, below a unit in the last place
    static constexpr float factor[6] = {1.0F,          0.693147004F,   0.240222439F,
                                        0.0555073321F, 0.00967151299F, 0.00132647273F};
    static constexpr float rounder = 12582912.0F;  // 1.5 * 2^23
    static constexpr int mantissa = 23;
    static constexpr float lowest = -127;
    static constexpr float log2_e = 1.44269504F;
    static constexpr float ln2_high = 0.693359375F;  // 10 bits
    static constexpr float ln2_low = -2.12194440e-4F;
    static constexpr float underflow = -87.33F;
    static constexpr float overflow = 88.72F;
    static constexpr float beyond = 89;  // whose power is infinite
};

// 2^n p(f) for each vector, n in the low bits of `rounded`. The vectors go in lock step: each coefficient is loaded
// once for all of them, and their independent chains hide the latency of the multiply-adds.
template <class Real, int count>
[[gnu::always_inline]] inline void scaled_powers(const Lanes<Real> (&rounded)[count], Lanes<Real> (&f)[count]) {
    using Numbers = ExpNumbers<Real>;
    using Bits = typename LanesOf<Real>::Bits;
    Lanes<Real> p[count];
#pragma GCC unroll 8
    for (int v = 0; v < count; ++v) {
        p[v] = fma(f[v], all(Numbers::factor[Numbers::degree]), all(Numbers::factor[Numbers::degree - 1]));
    }
#pragma GCC unroll 16
    for (int i = Numbers::degree - 2; i >= 0; --i) {
        const Lanes<Real> factor = all(Numbers::factor[i]);
#pragma GCC unroll 8
        for (int v = 0; v < count; ++v) {
            p[v] = fma(p[v], f[v], factor);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < count; ++v) {
        f[v] = (Lanes<Real>)((Bits)p[v] + ((Bits)rounded[v] << Numbers::mantissa));
    }
}

// t becomes 2^t, for t below 1023 (double) or 127 (float); -inf gives 0.
template <class Real, int count>
[[gnu::always_inline]] inline void exp2_lanes(Lanes<Real> (&t)[count]) {
    using Numbers = ExpNumbers<Real>;
    const Lanes<Real> rounder = all(Numbers::rounder);
    Lanes<Real> rounded[count];
#pragma GCC unroll 8
    for (int v = 0; v < count; ++v) {
        t[v] = larger(all(Numbers::lowest), t[v]);
        rounded[v] = t[v] + rounder;
        t[v] = t[v] - (rounded[v] - rounder);
    }
    scaled_powers<Real, count>(rounded, t);
}

// e^x for any x: 0 below `underflow`, inf above `overflow`. r = x - n ln 2 in two parts, so that the error does not
// grow with x.
template <class Real>
inline Lanes<Real> exp_of(Lanes<Real> x) {
    using Numbers = ExpNumbers<Real>;
    using Bits = typename LanesOf<Real>::Bits;
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4) {
        // The same polynomial with half the instructions: the last one scales, overflows and leaves zeros by itself.
        const Lanes<Real> inside =
            _mm512_mask_min_ps(x, static_cast<__mmask16>(-1), _mm512_set1_ps(Numbers::beyond), x);
        const Lanes<Real> n = fma(inside, all(Numbers::log2_e), all(Numbers::rounder)) - all(Numbers::rounder);
        const Lanes<Real> f =
            fma(-n, all(Numbers::ln2_low), fma(-n, all(Numbers::ln2_high), inside)) * all(Numbers::log2_e);
        Lanes<Real> p = all(Numbers::factor[Numbers::degree]);
#pragma GCC unroll 8
        for (int i = Numbers::degree - 1; i >= 0; --i) {
            p = fma(p, f, all(Numbers::factor[i]));
        }
        return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(Numbers::underflow), _CMP_GE_OQ), p, n);
    }
#endif
    const Lanes<Real> low = all(Numbers::underflow);
    const Lanes<Real> high = all(Numbers::overflow);
    const Lanes<Real> rounder = all(Numbers::rounder);
    const Bits alive = (Bits)(x >= low);
    const Bits over = (Bits)(x > high);
    const Lanes<Real> inside = -larger(-high, -larger(low, x));
    const Lanes<Real> rounded[1] = {fma(inside, all(Numbers::log2_e), rounder)};
    const Lanes<Real> n = rounded[0] - rounder;
    const Lanes<Real> r = fma(-n, all(Numbers::ln2_low), fma(-n, all(Numbers::ln2_high), inside));
    Lanes<Real> f[1] = {r * all(Numbers::log2_e)};
    scaled_powers<Real, 1>(rounded, f);
    const Bits infinity = (Bits)all(static_cast<Real>(__builtin_inf()));
    return (Lanes<Real>)(((Bits)f[0] & alive & ~over) | (infinity & over));
}

// The last few numbers go through a padded vector, so that every number takes the same path.
template <class Real>
void exp_all(std::size_t count, Real* x) {
    constexpr std::size_t width = lane_count<Real>;
    std::size_t i = 0;
    for (; i + width <= count; i += width) {
        store<Real>(x + i, exp_of<Real>(load(x + i)));
    }
    if (i < count) {
        Real rest[width] = {};
        __builtin_memcpy(rest, x + i, (count - i) * sizeof(Real));
        store<Real>(rest, exp_of<Real>(load<Real>(rest)));
        __builtin_memcpy(x + i, rest, (count - i) * sizeof(Real));
    }
}
