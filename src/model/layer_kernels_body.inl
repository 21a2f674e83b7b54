// Included by layer_kernels_plain.cpp, layer_kernels_avx2.cpp and layer_kernels_avx512.cpp, each inside a namespace of
// its own: everything has internal linkage, so that no function compiled for AVX2 can be picked by the linker for the
// baseline.

#include "attention/lanes.inl"

// Applies `body` to all numbers in vectors; the last few go through padded copies, so that every number takes the same
// path.
template <class Real, class Body>
inline void for_lanes(std::size_t count, const Real* in, Real* out, const Body& body) {
    constexpr std::size_t W = lane_count<Real>;
    std::size_t i = 0;
    for (; i + W <= count; i += W) {
        store<Real>(out + i, body(load<Real>(in + i)));
    }
    if (i < count) {
        Real rest[W] = {};
        __builtin_memcpy(rest, in + i, (count - i) * sizeof(Real));
        store<Real>(rest, body(load<Real>(rest)));
        __builtin_memcpy(out + i, rest, (count - i) * sizeof(Real));
    }
}

template <class Real>
inline Lanes<Real> choose(typename LanesOf<Real>::Bits where, const Lanes<Real>& yes, const Lanes<Real>& no) {
    using Bits = typename LanesOf<Real>::Bits;
    return (Lanes<Real>)(((Bits)yes & where) | ((Bits)no & ~where));
}

// Of a vector and itself: where it is NaN.
template <class Real>
inline typename LanesOf<Real>::Bits differs(const Lanes<Real>& a, const Lanes<Real>& b) {
    return (typename LanesOf<Real>::Bits)(a != b);
}

template <class Real>
inline bool any(const typename LanesOf<Real>::Bits& lanes) {
    using Bits = typename LanesOf<Real>::Bits;
    return folded(lanes, [](const Bits& a, const Bits& b) { return a | b; }) != 0;
}

// ---- softmax -------------------------------------------------------------------------------------------------------

// Three passes over a row that stays in the first-level cache: maximum, powers and their sum, division. The scores come
// times log2(e), so that powers of 2 serve. Padding is -inf, weight 0: every row is whole vectors.
template <class Real>
SoftmaxScale<Real> softmax(std::size_t count, Real* row) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t V = row_padding / W < 4 ? row_padding / W : 4;  // vectors at a time
    using Bits = typename LanesOf<Real>::Bits;
    const Real infinity = static_cast<Real>(__builtin_inf());
    const std::size_t room = (count + row_padding - 1) / row_padding * row_padding;
    for (std::size_t k = count; k < room; ++k) {
        row[k] = -infinity;
    }
    Lanes<Real> most[V];
    for (std::size_t v = 0; v < V; ++v) {
        most[v] = all(-infinity);
    }
    Bits strange = {};  // lanes with a NaN
    for (std::size_t k = 0; k < room; k += V * W) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            const Lanes<Real> x = load<Real>(row + k + v * W);
            strange |= differs<Real>(x, x);
            most[v] = larger(x, most[v]);
        }
    }
    for (std::size_t v = 1; v < V; ++v) {
        most[0] = larger(most[0], most[v]);
    }
    const Real maximum = largest_of<Real>(most[0]);
    if (!(maximum < infinity && maximum > -infinity) || any<Real>(strange)) {
        for (std::size_t k = 0; k < room; ++k) {
            row[k] = k < count ? static_cast<Real>(__builtin_nan("")) : Real{0};
        }
        return {static_cast<Real>(__builtin_nan("")), static_cast<Real>(__builtin_nan(""))};
    }
    const Lanes<Real> shift = all(maximum);
    Lanes<Real> total[V];
    for (std::size_t v = 0; v < V; ++v) {
        total[v] = all(Real{0});
    }
    for (std::size_t k = 0; k < room; k += V * W) {
        Lanes<Real> e[V];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            e[v] = load<Real>(row + k + v * W) - shift;
        }
        exp2_lanes<Real, static_cast<int>(V)>(e);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            store<Real>(row + k + v * W, e[v]);
            total[v] += e[v];
        }
    }
    for (std::size_t width = V / 2; width > 0; width /= 2) {  // pairs, then pairs of pairs
        for (std::size_t v = 0; v < width; ++v) {
            total[v] = total[2 * v] + total[2 * v + 1];
        }
    }
    const SoftmaxScale<Real> scale{maximum, 1 / sum_of<Real>(total[0])};
    const Lanes<Real> inverse = all(scale.inverse);
    for (std::size_t k = 0; k < room; k += W) {
        store<Real>(row + k, load<Real>(row + k) * inverse);
    }
    return scale;
}

// With maximum and sum known only the powers are left: a third of the work, and the same bits.
template <class Real>
void softmax_again(std::size_t count, const SoftmaxScale<Real>& scale, Real* row) {
    constexpr std::size_t W = lane_count<Real>;
    constexpr std::size_t V = row_padding / W < 4 ? row_padding / W : 4;
    const std::size_t room = (count + row_padding - 1) / row_padding * row_padding;
    const bool is_strange = scale.inverse != scale.inverse;
    for (std::size_t k = count; k < room; ++k) {
        row[k] = -static_cast<Real>(__builtin_inf());
    }
    if (is_strange) {
        for (std::size_t k = 0; k < room; ++k) {
            row[k] = k < count ? static_cast<Real>(__builtin_nan("")) : Real{0};
        }
        return;
    }
    const Lanes<Real> shift = all(scale.maximum);
    const Lanes<Real> inverse = all(scale.inverse);
    for (std::size_t k = 0; k < room; k += V * W) {
        Lanes<Real> e[V];
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            e[v] = load<Real>(row + k + v * W) - shift;
        }
        exp2_lanes<Real, static_cast<int>(V)>(e);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < V; ++v) {
            store<Real>(row + k + v * W, e[v] * inverse);
        }
    }
}

template <class Real>
void softmax_reverse(std::size_t count, const Real* weights, Real* grad) {
    constexpr std::size_t W = lane_count<Real>;
    Lanes<Real> sum[2] = {all(Real{0}), all(Real{0})};
    std::size_t k = 0;
    for (; k + 2 * W <= count; k += 2 * W) {
        sum[0] = fma(load<Real>(weights + k), load<Real>(grad + k), sum[0]);
        sum[1] = fma(load<Real>(weights + k + W), load<Real>(grad + k + W), sum[1]);
    }
    Real along = sum_of<Real>(sum[0] + sum[1]);
    for (; k < count; ++k) {
        along += weights[k] * grad[k];
    }
    for (k = 0; k < count; ++k) {
        grad[k] = weights[k] * (grad[k] - along);
    }
}

// ---- activations ---------------------------------------------------------------------------------------------------
//
//     silu         x s(x)                              s(x) = 1/(1 + e^-x)
//     gelu_tanh    x/2 (1 + tanh u) = x s(2u)          u = sqrt(2/pi) (x + 0.044715 x^3)
//     gelu         x/2 (1 + erf(x/sqrt 2)) = x Phi(x)

template <class Real>
inline Lanes<Real> logistic(const Lanes<Real>& x) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4) {
        // Half the time of a division: 14 bits from a table, then 1/d = y + y (1 - d y), good to the last place. d
        // stays finite, so that 1 - d y is a number; NaN is the second operand, which min returns.
        const __m512 d =
            _mm512_add_ps(_mm512_set1_ps(1),
                          _mm512_mask_min_ps(x, static_cast<__mmask16>(-1), _mm512_set1_ps(1.7e38F), exp_of<Real>(-x)));
        const __m512 y = _mm512_mask_rcp14_ps(d, static_cast<__mmask16>(-1), d);  // GCC 12 warns about the plain one
        return _mm512_fmadd_ps(y, _mm512_fnmadd_ps(d, y, _mm512_set1_ps(1)), y);
    }
#endif
    return all(Real{1}) / (all(Real{1}) + exp_of<Real>(-x));
}

template <class Real>
inline Lanes<Real> twice_u(const Lanes<Real>& x) {
    const Lanes<Real> cubic = fma(x * x, all(static_cast<Real>(0.044715)), all(Real{1}));
    return all(static_cast<Real>(1.5957691216057307117)) * x * cubic;  // 2 sqrt(2/pi)
}

// Phi(x), the normal distribution. float: erfc(z) = t p(t) e^(-z^2), t = 1/(1 + 0.3275911 z), z = |x|/sqrt 2 >= 0
// (Abramowitz and Stegun 7.1.26, error below 1.5e-7); used for the tail, so that small results keep their digits.
template <class Real>
inline Lanes<Real> normal_below(const Lanes<Real>& x) {
    if constexpr (sizeof(Real) == 8) {
        Lanes<Real> result;
        for (std::size_t lane = 0; lane < lane_count<Real>; ++lane) {
            result[lane] = static_cast<Real>(0.5) *
                           static_cast<Real>(__builtin_erfc(-static_cast<double>(x[lane]) * 0.70710678118654752440));
        }
        return result;
    } else {
        using Bits = typename LanesOf<Real>::Bits;
        const Lanes<Real> z = larger(x, -x) * all(static_cast<Real>(0.70710678118654752440));
        const Lanes<Real> t = all(Real{1}) / fma(z, all(static_cast<Real>(0.3275911)), all(Real{1}));
        Lanes<Real> p = all(static_cast<Real>(1.061405429));
        p = fma(p, t, all(static_cast<Real>(-1.453152027)));
        p = fma(p, t, all(static_cast<Real>(1.421413741)));
        p = fma(p, t, all(static_cast<Real>(-0.284496736)));
        p = fma(p, t, all(static_cast<Real>(0.254829592)));
        const Lanes<Real> tail = all(static_cast<Real>(0.5)) * p * t * exp_of<Real>(-z * z);
        const Bits positive = (Bits)(x > all(Real{0}));
        return choose<Real>(positive, all(Real{1}) - tail, tail);
    }
}

template <class Real>
inline Lanes<Real> activated(Activation activation, const Lanes<Real>& x) {
    switch (activation) {
        case Activation::gelu:
            return x * normal_below<Real>(x);
        case Activation::gelu_tanh:
            return x * logistic<Real>(twice_u<Real>(x));
        case Activation::silu:
            return x * logistic<Real>(x);
        case Activation::relu:
            return larger(all(Real{0}), x);
    }
    __builtin_unreachable();
}

//     silu         s + x s (1 - s)
//     gelu_tanh    s + x (2u)' s (1 - s)       s = s(2u),  (2u)' = 2 sqrt(2/pi) (1 + 3 0.044715 x^2)
//     gelu         Phi(x) + x phi(x)           phi the normal density
template <class Real>
inline Lanes<Real> slope_at(Activation activation, const Lanes<Real>& x) {
    using Bits = typename LanesOf<Real>::Bits;
    const Lanes<Real> one = all(Real{1});
    switch (activation) {
        case Activation::gelu: {
            const Lanes<Real> density =
                all(static_cast<Real>(0.39894228040143267794)) * exp_of<Real>(x * x * all(static_cast<Real>(-0.5)));
            return fma(x, density, normal_below<Real>(x));
        }
        case Activation::gelu_tanh: {
            const Lanes<Real> s = logistic<Real>(twice_u<Real>(x));
            const Lanes<Real> cubic = fma(x * x, all(static_cast<Real>(3 * 0.044715)), one);
            return fma(x * all(static_cast<Real>(1.5957691216057307117)) * cubic, s * (one - s), s);
        }
        case Activation::silu: {
            const Lanes<Real> s = logistic<Real>(x);
            return fma(x, s * (one - s), s);
        }
        case Activation::relu:
            return choose<Real>((Bits)(x > all(Real{0})), one, all(Real{0}));
    }
    __builtin_unreachable();
}

template <class Real>
void activate(Activation activation, std::size_t count, const Real* in, Real* out) {
    for_lanes<Real>(count, in, out, [activation](const Lanes<Real>& x) { return activated<Real>(activation, x); });
}

template <class Real>
void gate(Activation activation, std::size_t count, const Real* gate_in, const Real* up, Real* out) {
    for_lanes<Real>(count, gate_in, out, [activation](const Lanes<Real>& x) { return activated<Real>(activation, x); });
    for (std::size_t i = 0; i < count; ++i) {
        out[i] *= up[i];
    }
}

template <class Real>
void slope(Activation activation, std::size_t count, const Real* in, Real* out) {
    for_lanes<Real>(count, in, out, [activation](const Lanes<Real>& x) { return slope_at<Real>(activation, x); });
}

// Both from one exponential. The activation is a constant here: a loop that asks for it loads its numbers anew every
// time.
template <Activation activation, class Real>
inline Lanes<Real> activated_and_slope(Lanes<Real>& x) {
    const Lanes<Real> one = all(Real{1});
    const Lanes<Real> in = x;
    switch (activation) {
        case Activation::gelu: {
            const Lanes<Real> below = normal_below<Real>(in);
            const Lanes<Real> density =
                all(static_cast<Real>(0.39894228040143267794)) * exp_of<Real>(in * in * all(static_cast<Real>(-0.5)));
            x = fma(in, density, below);
            return in * below;
        }
        case Activation::gelu_tanh: {
            const Lanes<Real> s = logistic<Real>(twice_u<Real>(in));
            const Lanes<Real> cubic = fma(in * in, all(static_cast<Real>(3 * 0.044715)), one);
            const Lanes<Real> value = in * s;
            x = fma(value * all(static_cast<Real>(1.5957691216057307117)) * cubic, one - s, s);
            return value;
        }
        case Activation::silu: {
            const Lanes<Real> s = logistic<Real>(in);
            const Lanes<Real> value = in * s;
            x = fma(value, one - s, s);
            return value;
        }
        case Activation::relu:
            x = slope_at<Real>(activation, in);
            return activated<Real>(activation, in);
    }
    __builtin_unreachable();
}

template <Activation activation, class Real>
void activate_and_slope_by(std::size_t count, Real* in, Real* out) {
    constexpr std::size_t W = lane_count<Real>;
    std::size_t i = 0;
    for (; i + 2 * W <= count; i += 2 * W) {
        Lanes<Real> x = load<Real>(in + i);
        Lanes<Real> y = load<Real>(in + i + W);
        store<Real>(out + i, activated_and_slope<activation, Real>(x));
        store<Real>(out + i + W, activated_and_slope<activation, Real>(y));
        store<Real>(in + i, x);
        store<Real>(in + i + W, y);
    }
    for (; i + W <= count; i += W) {
        Lanes<Real> x = load<Real>(in + i);
        store<Real>(out + i, activated_and_slope<activation, Real>(x));
        store<Real>(in + i, x);
    }
    if (i < count) {
        Real rest[W] = {};
        Real values[W];
        __builtin_memcpy(rest, in + i, (count - i) * sizeof(Real));
        Lanes<Real> x = load<Real>(rest);
        store<Real>(values, activated_and_slope<activation, Real>(x));
        store<Real>(rest, x);
        __builtin_memcpy(out + i, values, (count - i) * sizeof(Real));
        __builtin_memcpy(in + i, rest, (count - i) * sizeof(Real));
    }
}

template <class Real>
void activate_and_slope(Activation activation, std::size_t count, Real* in, Real* out) {
    switch (activation) {
        case Activation::gelu:
            return activate_and_slope_by<Activation::gelu, Real>(count, in, out);
        case Activation::gelu_tanh:
            return activate_and_slope_by<Activation::gelu_tanh, Real>(count, in, out);
        case Activation::silu:
            return activate_and_slope_by<Activation::silu, Real>(count, in, out);
        case Activation::relu:
            return activate_and_slope_by<Activation::relu, Real>(count, in, out);
    }
    __builtin_unreachable();
}

// ---- sums and products of rows ------------------------------------------------------------------------------------

template <class Real>
void multiply(std::size_t count, const Real* in, Real* __restrict out) {
    for (std::size_t k = 0; k < count; ++k) {
        out[k] *= in[k];
    }
}

template <class Real>
void add(std::size_t count, const Real* in, Real* __restrict out) {
    for (std::size_t k = 0; k < count; ++k) {
        out[k] += in[k];
    }
}

// ---- loss ----------------------------------------------------------------------------------------------------------

// maximum + log sum e^(row - maximum). Sums of 64 vectors at a time in Real, then in double: a vocabulary of 10^5
// floats added up in float would lose digits. A NaN is an outcome that must not be lost: it decides the result.
template <class Real>
double log_sum_exp(std::size_t count, const Real* row) {
    constexpr std::size_t W = lane_count<Real>;
    using Bits = typename LanesOf<Real>::Bits;
    Lanes<Real> most = all(row[0]);
    Bits nan_lanes = {};
    std::size_t k = 0;
    for (; k + W <= count; k += W) {
        const Lanes<Real> x = load<Real>(row + k);
        nan_lanes |= differs<Real>(x, x);
        most = larger(x, most);
    }
    Real maximum = largest_of<Real>(most);
    bool strange = any<Real>(nan_lanes);
    for (; k < count; ++k) {
        strange = strange || __builtin_isnan(static_cast<double>(row[k]));
        maximum = row[k] > maximum ? row[k] : maximum;
    }
    if (!strange && maximum == static_cast<Real>(-__builtin_inf())) {
        return -__builtin_inf();  // a sum of nothing, as a part of a row may have it
    }
    if (strange || !(__builtin_fabs(static_cast<double>(maximum)) < __builtin_inf())) {
        return __builtin_nan("");
    }
    constexpr std::size_t piece = 64 * W;
    double total = 0;
    for (k = 0; k + W <= count;) {
        Lanes<Real> sum = all(Real{0});
        for (std::size_t end = k + piece; k + W <= count && k < end; k += W) {
            sum += exp_of<Real>(load<Real>(row + k) - all(maximum));
        }
        total += static_cast<double>(sum_of<Real>(sum));
    }
    for (; k < count; ++k) {
        total += __builtin_exp(static_cast<double>(row[k] - maximum));
    }
    return static_cast<double>(maximum) + __builtin_log(total);
}

template <class Real>
void exponentials(std::size_t count, Real shift, Real scale, Real* row) {
    for_lanes<Real>(count, row, row, [&](const Lanes<Real>& x) { return all(scale) * exp_of<Real>(x - all(shift)); });
}

template <class Real>
constexpr LayerKernels<Real> table = {softmax<Real>, softmax_again<Real>, softmax_reverse<Real>,    activate<Real>,
                                      gate<Real>,    slope<Real>,         activate_and_slope<Real>, multiply<Real>,
                                      add<Real>,     log_sum_exp<Real>,   exponentials<Real>};
