// Included by row_kernels_plain.cpp and row_kernels_avx2.cpp, each inside a namespace of its own: everything has
// internal linkage, so that no function compiled for AVX2 can be picked by the linker for the baseline.

#include "attention/lanes.inl"

using Numbers = Lanes<double>;
constexpr std::size_t W = lane_count<double>;

inline Numbers roots(Numbers x) {
#if defined(__AVX2__) && defined(__FMA__)
    return _mm256_sqrt_pd(x);
#else
    for (std::size_t i = 0; i < W; ++i) {
        x[i] = __builtin_sqrt(x[i]);
    }
    return x;
#endif
}

// The last few numbers of an array, with zeros behind them.
inline Numbers load_some(std::size_t count, const double* from) {
    double rest[W] = {};
    __builtin_memcpy(rest, from, count * sizeof(double));
    return load<double>(rest);
}
inline void store_some(std::size_t count, double* to, Numbers numbers) {
    __builtin_memcpy(to, &numbers, count * sizeof(double));
}

// 1 for the first `count` lanes, 0 for the others.
inline Numbers first_lanes(std::size_t count) {
    Numbers lanes = all(0.0);
    for (std::size_t i = 0; i < count; ++i) {
        lanes[i] = 1;
    }
    return lanes;
}

// c grows, and d is summed from it in the same pass; two chains hide the latency of the roots.
double join(std::size_t m, double weight, const double* g, double ss, const double* alpha, const double* q,
            const double* open, double* c) {
    const Numbers w = all(weight);
    const Numbers length = all(ss);
    const Numbers zero = all(0.0);
    const Numbers minus_two = all(-2.0);
    Numbers sum[2] = {zero, zero};
    std::size_t i = 0;
    for (; i + 2 * W <= m; i += 2 * W) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < 2; ++v) {
            const std::size_t k = i + v * W;
            const Numbers now = fma(w, load(g + k), load(c + k));
            store<double>(c + k, now);
            const Numbers square = fma(minus_two * load(alpha + k), now, load(q + k) + length);
            sum[v] = fma(load(open + k), roots(larger(square, zero)), sum[v]);
        }
    }
    for (; i < m; i += W) {
        const std::size_t left = m - i < W ? m - i : W;
        const Numbers now = fma(w, load_some(left, g + i), load_some(left, c + i));
        store_some(left, c + i, now);
        const Numbers square = fma(minus_two * load_some(left, alpha + i), now, load_some(left, q + i) + length);
        sum[0] = fma(load_some(left, open + i), roots(larger(square, zero)), sum[0]);
    }
    return sum_of<double>(sum[0] + sum[1]);
}

void add(std::size_t m, double weight, const double* g, double* c) {
    const Numbers w = all(weight);
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        store<double>(c + i, fma(w, load(g + i), load(c + i)));
    }
    if (i < m) {
        store_some(m - i, c + i, fma(w, load_some(m - i, g + i), load_some(m - i, c + i)));
    }
}

// Roots of a quadratic form in q and b, summed.
template <class Square>
inline double sum_of_roots(std::size_t m, const double* q, const double* b, const Square& square) {
    const Numbers zero = all(0.0);
    Numbers sum[2] = {zero, zero};
    std::size_t i = 0;
    for (; i + 2 * W <= m; i += 2 * W) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < 2; ++v) {
            const std::size_t k = i + v * W;
            sum[v] += roots(larger(square(load(q + k), load(b + k)), zero));
        }
    }
    for (; i < m; i += W) {
        const std::size_t left = m - i < W ? m - i : W;
        const Numbers inside = larger(square(load_some(left, q + i), load_some(left, b + i)), zero);
        sum[0] = fma(first_lanes(left), roots(inside), sum[0]);
    }
    return sum_of<double>(sum[0] + sum[1]);
}

// a_i - k (S - a_i) = (1+k) a_i - k S, whose square is (1+k)^2 q_i - 2 k (1+k) b_i + k^2 S2: linear in q_i and b_i.
double main_sum(std::size_t m, double k, double S2, const double* q, const double* b) {
    const Numbers of_q = all((1 + k) * (1 + k));
    const Numbers of_b = all(-2 * k * (1 + k));
    const Numbers rest = all(k * k * S2);
    return sum_of_roots(m, q, b, [=](Numbers qi, Numbers bi) { return fma(of_q, qi, fma(of_b, bi, rest)); });
}

double rms_sum(std::size_t m, double k, double S2, double v, double Q, double share, const double* q, const double* b) {
    // v (Q - q_i - share (S2 - 2 b_i + q_i)) joins the form of main_sum.
    const Numbers of_q = all((1 + k) * (1 + k) - v * (1 + share));
    const Numbers of_b = all(-2 * k * (1 + k) + 2 * v * share);
    const Numbers rest = all(k * k * S2 + v * (Q - S2 * share));
    return sum_of_roots(m, q, b, [=](Numbers qi, Numbers bi) { return fma(of_q, qi, fma(of_b, bi, rest)); });
}

double farthest(std::size_t m, double own, const double* g, const double* diagonal, const double* open, double* far) {
    const Numbers minus_two = all(-2.0);
    const Numbers mine = all(own);
    Numbers most = all(0.0);
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        const Numbers now = larger(fma(minus_two, load(g + i), load(diagonal + i) + mine), load(far + i));
        store<double>(far + i, now);
        most = larger(now * load(open + i), most);
    }
    if (i < m) {
        const std::size_t left = m - i;
        const Numbers apart = fma(minus_two, load_some(left, g + i), load_some(left, diagonal + i) + mine);
        const Numbers now = larger(apart, load_some(left, far + i));
        store_some(left, far + i, now);
        most = larger(now * load_some(left, open + i), most);
    }
    return largest_of<double>(most);
}

double nearest(std::size_t m, double ss, const double* alpha, const double* square, const double* inverse,
               const double* open, const double* c) {
    // Those inside I_N are lifted out of the way: 1e300 (1 - open).
    const Numbers length = all(ss);
    const Numbers one = all(1.0);
    const Numbers lift = all(1e300);
    Numbers least = all(-1e300);  // of minus the squares, since there is a larger() and no smaller()
    const auto see = [&](Numbers a, Numbers a2, Numbers inv, Numbers o, Numbers ci) {
        const Numbers now = fma(a * inv * all(-2.0), ci, a2 + length) + lift * (one - o);
        least = larger(-now, least);
    };
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        see(load(alpha + i), load(square + i), load(inverse + i), load(open + i), load(c + i));
    }
    if (i < m) {
        const std::size_t left = m - i;
        see(load_some(left, alpha + i), load_some(left, square + i), load_some(left, inverse + i),
            load_some(left, open + i), load_some(left, c + i));
    }
    const double found = -largest_of<double>(least);
    return found > 0 ? found : 0;
}

void unit_farthest(std::size_t m, double own, double factor, const double* g, const double* inverse, const double* unit,
                   double* far) {
    const Numbers f = all(-2 * factor);
    const Numbers mine = all(own);
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        const Numbers apart = fma(f * load(inverse + i), load(g + i), load(unit + i) + mine);
        store<double>(far + i, larger(apart, load(far + i)));
    }
    if (i < m) {
        const std::size_t left = m - i;
        const Numbers apart =
            fma(f * load_some(left, inverse + i), load_some(left, g + i), load_some(left, unit + i) + mine);
        store_some(left, far + i, larger(apart, load_some(left, far + i)));
    }
}

double squared_difference(std::size_t m, const double* a, const double* b) {
    Numbers sum = all(0.0);
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        const Numbers d = load(a + i) - load(b + i);
        sum = fma(d, d, sum);
    }
    if (i < m) {
        const Numbers d = load_some(m - i, a + i) - load_some(m - i, b + i);
        sum = fma(d, d, sum);
    }
    return sum_of<double>(sum);
}

// Both sums of the secular equation by one division a weight: a/(a - x), times a and squared.
void secular(std::size_t m, double x, const double* a, double* value, double* slope) {
    const Numbers at = all(x);
    Numbers first = all(0.0);
    Numbers second = all(0.0);
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        const Numbers ai = load(a + i);
        const Numbers share = ai / (ai - at);
        first = fma(ai, share, first);
        second = fma(share, share, second);
    }
    if (i < m) {  // zeros behind the end add nothing
        const Numbers ai = load_some(m - i, a + i);
        const Numbers share = ai / (ai - at);
        first = fma(ai, share, first);
        second = fma(share, share, second);
    }
    *value = sum_of<double>(first);
    *slope = sum_of<double>(second);
}

void shifted(std::size_t m, double factor, double eps, const double* l, const double* v, double* out) {
    const Numbers f = all(factor);
    const Numbers e = all(eps);
    std::size_t i = 0;
    for (; i + W <= m; i += W) {
        store<double>(out + i, f * fma(e, load(v + i), load(l + i)));
    }
    if (i < m) {
        store_some(m - i, out + i, f * fma(e, load_some(m - i, v + i), load_some(m - i, l + i)));
    }
}

constexpr RowKernels table = {join,    add,           main_sum,           rms_sum, farthest,
                              nearest, unit_farthest, squared_difference, secular, shifted};
