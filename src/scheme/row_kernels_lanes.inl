// Sums over rows, with the same order of additions for every instruction set. Included by row_kernels_body.inl.
//
// A sum is 128 bytes of partial sums, number i going to partial sum i mod 32 (float) or i mod 16 (double), which are
// then added pairwise by halves: 32 -> 16 -> .. -> 1. The partial sums are four vectors of 32 bytes or two of 64
// (vector_bytes, which the including file says). What is left over after the last 128 bytes goes by 32 bytes, then one
// by one.
//
// Many partial sums are also the more exact ones: an error grows like count/32, not like count.
//
// Vectors are the compiler's own, so that the same text serves every architecture. They go by reference: passed by
// value they would change the calling convention without AVX.

template <class Real, std::size_t bytes>
struct VectorOf;
template <>
struct VectorOf<double, 32> {
    typedef double Type __attribute__((vector_size(32)));
};
template <>
struct VectorOf<float, 32> {
    typedef float Type __attribute__((vector_size(32)));
};
template <>
struct VectorOf<double, 64> {
    typedef double Type __attribute__((vector_size(64)));
};
template <>
struct VectorOf<float, 64> {
    typedef float Type __attribute__((vector_size(64)));
};

// A vector, or one number.
template <class To, class Real>
inline void read(To& to, const Real* from) {
    __builtin_memcpy(&to, from, sizeof(to));
}

template <class Real>
inline Real sum_of_parts(const typename VectorOf<Real, 32>::Type (&parts)[4]) {
    const typename VectorOf<Real, 32>::Type all = (parts[0] + parts[2]) + (parts[1] + parts[3]);
    if constexpr (sizeof(Real) == 8) {
        return (all[0] + all[2]) + (all[1] + all[3]);
    } else {
        return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]));
    }
}

// totals[n] = sum over i < count of term n; at(i, terms) gives the N terms of as many i as terms[0] has lanes.
template <std::size_t N, class Real, class At>
inline void sums_of(std::size_t count, const At& at, Real (&totals)[N]) {
    using Small = typename VectorOf<Real, 32>::Type;
    using Large = typename VectorOf<Real, vector_bytes>::Type;
    constexpr std::size_t small = 32 / sizeof(Real);
    constexpr std::size_t large = vector_bytes / sizeof(Real);
    constexpr std::size_t vectors = 128 / vector_bytes;
    std::size_t i = 0;
    if (count < small) {
        for (std::size_t n = 0; n < N; ++n) {
            totals[n] = 0;
        }
    } else {
        Large sum[N][vectors] = {};
        for (; i + vectors * large <= count; i += vectors * large) {
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) {
                Large terms[N];
                at(i + v * large, terms);
#pragma GCC unroll 2
                for (std::size_t n = 0; n < N; ++n) {
                    sum[n][v] += terms[n];
                }
            }
        }
        Small parts[N][4];
        static_assert(sizeof(parts) == sizeof(sum));
        __builtin_memcpy(&parts, &sum, sizeof(sum));
        for (std::size_t part = 0; i + small <= count; i += small, ++part) {
            Small terms[N];
            at(i, terms);
            for (std::size_t n = 0; n < N; ++n) {
                parts[n][part] += terms[n];
            }
        }
        for (std::size_t n = 0; n < N; ++n) {
            totals[n] = sum_of_parts<Real>(parts[n]);
        }
    }
    for (; i < count; ++i) {
        Real terms[N];
        at(i, terms);
        for (std::size_t n = 0; n < N; ++n) {
            totals[n] += terms[n];
        }
    }
}

template <class Real>
inline Real sum_of(const Real* a, std::size_t count) {
    Real total[1];
    sums_of<1>(
        count, [a](std::size_t i, auto& terms) { read(terms[0], a + i); }, total);
    return total[0];
}

template <class Real>
inline Real dot_of(const Real* a, const Real* b, std::size_t count) {
    Real total[1];
    sums_of<1>(
        count,
        [a, b](std::size_t i, auto& terms) {
            auto& x = terms[0];
            auto y = x;
            read(x, a + i);
            read(y, b + i);
            x *= y;
        },
        total);
    return total[0];
}

template <class Real>
inline Real squares_around(const Real* a, Real mean, std::size_t count) {
    Real total[1];
    sums_of<1>(
        count,
        [a, mean](std::size_t i, auto& terms) {
            auto& x = terms[0];
            read(x, a + i);
            x -= mean;
            x *= x;
        },
        total);
    return total[0];
}
