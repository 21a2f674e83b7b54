// Sums over rows with a fixed number of lanes. Included by row_kernels_body.inl.
//
// Vector extensions of the compiler give fixed lanes on every architecture: 4 doubles or 8 floats.

template <class Real>
struct LanesOf;
template <>
struct LanesOf<double> {
    typedef double Type __attribute__((vector_size(32)));
};
template <>
struct LanesOf<float> {
    typedef float Type __attribute__((vector_size(32)));
};
template <class Real>
using Lanes = typename LanesOf<Real>::Type;
template <class Real>
constexpr std::size_t lane_count = 32 / sizeof(Real);

template <class Real>
inline void load(Lanes<Real>& lanes, const Real* from) {
    __builtin_memcpy(&lanes, from, sizeof(lanes));
}

// Sum over i, where lanes_at(i, term) gives lane_count terms at once and scalar_at(i) the last ones one by one. Lanes
// go by reference: passed by value they would change the calling convention without AVX. Two accumulators hide the
// latency of the addition; their number is fixed, so the order of summation is too.
template <class Real, class LanesAt, class ScalarAt>
inline Real lane_sum(std::size_t count, const LanesAt& lanes_at, const ScalarAt& scalar_at) {
    constexpr std::size_t width = lane_count<Real>;
    Lanes<Real> first{};
    Lanes<Real> second{};
    Lanes<Real> term;
    std::size_t i = 0;
    for (; i + 2 * width <= count; i += 2 * width) {
        lanes_at(i, term);
        first += term;
        lanes_at(i + width, term);
        second += term;
    }
    if (i + width <= count) {
        lanes_at(i, term);
        first += term;
        i += width;
    }
    first += second;
    Real total = 0;
    for (std::size_t lane = 0; lane < width; ++lane) {
        total += first[lane];
    }
    for (; i < count; ++i) {
        total += scalar_at(i);
    }
    return total;
}

template <class Real>
inline Real sum_of(const Real* a, std::size_t count) {
    return lane_sum<Real>(
        count, [a](std::size_t i, Lanes<Real>& x) { load(x, a + i); }, [a](std::size_t i) { return a[i]; });
}

template <class Real>
inline Real dot_of(const Real* a, const Real* b, std::size_t count) {
    return lane_sum<Real>(
        count,
        [a, b](std::size_t i, Lanes<Real>& x) {
            Lanes<Real> y;
            load(x, a + i);
            load(y, b + i);
            x *= y;
        },
        [a, b](std::size_t i) { return a[i] * b[i]; });
}

template <class Real>
inline Real squares_around(const Real* a, Real mean, std::size_t count) {
    return lane_sum<Real>(
        count,
        [a, mean](std::size_t i, Lanes<Real>& x) {
            load(x, a + i);
            x -= mean;
            x *= x;
        },
        [a, mean](std::size_t i) { return (a[i] - mean) * (a[i] - mean); });
}
