// Included by row_kernels_plain.cpp, row_kernels_avx2.cpp and row_kernels_avx512.cpp, each inside a namespace of its
// own: everything here has internal linkage, so that no function compiled for AVX2 can be picked by the linker for the
// baseline. They define vector_bytes, 32 or 64.

#include "scheme/row_kernels_lanes.inl"

#include "scheme/row_kernels_combine.inl"

// ---- sphere, rms, centred -----------------------------------------------------------------------------------------

// What a function of a row does, for every one of them: a member of RowFunction without a case does not compile.
struct RowShape {
    bool curve = false;    // of each number alone: tanh, erf
    bool centred = false;  // c = x - mean
    bool mean = false;     // m is the mean of the squares, otherwise their sum
};

constexpr RowShape shape_of(RowFunction function) {
    switch (function) {
        case RowFunction::sphere:
            return {false, false, false};
        case RowFunction::rms:
            return {false, false, true};
        case RowFunction::centred:
            return {false, true, true};
        case RowFunction::tanh:
        case RowFunction::erf:
            return {true, false, false};
    }
    __builtin_unreachable();
}

// u = ((x - mean)/largest) * inverse. `largest` is 1 except for rows whose squares overflow or vanish.
template <class Real>
struct RowScale {
    Real mean = 0;
    Real largest = 1;
    Real inverse = 0;
};

// Squares between these have lost nothing.
template <class Real>
constexpr Real smallest_squares = sizeof(Real) == 8 ? static_cast<Real>(1e-280) : static_cast<Real>(1e-30);
template <class Real>
constexpr Real largest_squares = sizeof(Real) == 8 ? static_cast<Real>(1e280) : static_cast<Real>(1e30);

template <class Real>
Real largest_of(const Real* x, Real mean, std::size_t dim) {
    Real largest = 0;
    for (std::size_t k = 0; k < dim; ++k) {
        const Real size = __builtin_fabs(static_cast<double>(x[k] - mean)) > static_cast<double>(largest)
                              ? static_cast<Real>(__builtin_fabs(static_cast<double>(x[k] - mean)))
                              : largest;
        largest = size;
    }
    return largest;
}

// The mean of a finite row whose sum overflows.
template <class Real>
Real careful_mean(const Real* x, std::size_t dim) {
    const Real largest = largest_of(x, Real{0}, dim);
    Real sum = 0;
    for (std::size_t k = 0; k < dim; ++k) {
        sum += x[k] / largest;
    }
    return sum / static_cast<Real>(dim) * largest;
}

// Two ways, so that usual rows cost one pass and no row is lost: squares as they are where they neither overflow nor
// vanish, otherwise of x divided by its largest entry.
template <class Real>
RowScale<Real> scale_of(const RowMap<Real>& map, const Real* x, std::size_t dim) {
    RowScale<Real> scale;
    const Real count = static_cast<Real>(dim);
    const RowShape shape = shape_of(map.function);
    Real squares = 0;
    if (shape.centred) {
        scale.mean = sum_of(x, dim) / count;
        if (!__builtin_isfinite(static_cast<double>(scale.mean))) {
            scale.mean = careful_mean(x, dim);
        }
        squares = squares_around(x, scale.mean, dim);
    } else {
        squares = dot_of(x, x, dim);
    }
    const Real divisor = shape.mean ? count : Real{1};
    // Beside squares that overflow, eps is nothing: such rows go on below as if there were none. (1/sqrt(inf) would
    // make them zero without a word.)
    if (map.eps > 0 && !(squares >= largest_squares<Real>)) {
        scale.inverse = 1 / static_cast<Real>(__builtin_sqrt(static_cast<double>(squares / divisor + map.eps)));
        return scale;
    }
    if (!(squares > smallest_squares<Real> && squares < largest_squares<Real>)) {
        const Real largest = largest_of(x, scale.mean, dim);
        if (largest == 0 && squares == 0) {
            return scale;  // a zero row stays zero
        }
        if (!__builtin_isnan(static_cast<double>(squares)) && largest > 0) {
            scale.largest = largest;
            squares = 0;
            for (std::size_t k = 0; k < dim; ++k) {
                const Real c = (x[k] - scale.mean) / largest;
                squares += c * c;
            }
        }
    }
    const Real spread = static_cast<Real>(__builtin_sqrt(static_cast<double>(squares / divisor)));
    if (shape.centred) {
        // A constant row leaves rounding errors of the mean: that is zero, not a direction.
        constexpr Real rounding = 8 * std::numeric_limits<Real>::epsilon();
        const double level =
            __builtin_fabs(static_cast<double>(scale.mean / scale.largest)) * static_cast<double>(rounding);
        if (static_cast<double>(spread) <= level) {
            return RowScale<Real>{scale.mean, 1, 0};
        }
    }
    scale.inverse = 1 / spread;
    return scale;
}

template <class Real>
void finish_row(const RowMap<Real>& map, std::size_t dim, Real* __restrict u) {
    if (map.gain != nullptr) {
        for (std::size_t k = 0; k < dim; ++k) {
            u[k] *= map.gain[k];
        }
    }
    if (map.bias != nullptr) {
        for (std::size_t k = 0; k < dim; ++k) {
            u[k] += map.bias[k];
        }
    }
}

// u, of one number or of a vector of them. `extreme`: largest is not 1.
template <bool extreme, class Real, class Number>
inline void direct(const RowScale<Real>& scale, Number& x) {
    x -= scale.mean;
    if constexpr (extreme) {
        x /= scale.largest;
    }
    x *= scale.inverse;
}

template <class Real>
void direction(const RowScale<Real>& scale, const Real* x, std::size_t dim, Real* __restrict u) {
    if (scale.largest == 1) {
        for (std::size_t k = 0; k < dim; ++k) {
            u[k] = (x[k] - scale.mean) * scale.inverse;
        }
        return;
    }
    for (std::size_t k = 0; k < dim; ++k) {
        u[k] = (x[k] - scale.mean) / scale.largest * scale.inverse;
    }
}

// The usual row of a model in one pass: gain * u + bias.
template <class Real>
void finished_direction(const RowScale<Real>& scale, const RowMap<Real>& map, const Real* x, std::size_t dim,
                        Real* __restrict out) {
    if (scale.largest != 1 || map.gain == nullptr) {
        direction(scale, x, dim, out);
        finish_row(map, dim, out);
        return;
    }
    const Real* const gain = map.gain;
    if (map.bias == nullptr) {
        for (std::size_t k = 0; k < dim; ++k) {
            out[k] = (x[k] - scale.mean) * scale.inverse * gain[k];
        }
        return;
    }
    const Real* const bias = map.bias;
    for (std::size_t k = 0; k < dim; ++k) {
        out[k] = (x[k] - scale.mean) * scale.inverse * gain[k] + bias[k];
    }
}

// The Jacobian of u = c/s, s = sqrt(m(c^2) + eps), applied to v:
//
//     dc = v - mean(v)                                           v itself unless centred
//     ds = m(c dc)/s = m(u dc)
//     du = (dc - u ds) / s = (v - mean(v) - u m(u v)) / s        since m(u) = 0 where a mean is taken off
//
// It is symmetric, so the same line is the way back.
template <class Real>
void jacobian(const RowMap<Real>& map, const RowScale<Real>& scale, std::size_t dim, const Real* u, const Real* v,
              Real* __restrict out) {
    const Real count = static_cast<Real>(dim);
    const RowShape shape = shape_of(map.function);
    const Real divisor = shape.mean ? count : Real{1};
    const Real mean = shape.centred ? sum_of(v, dim) / count : Real{0};
    const Real along = dot_of(u, v, dim) / divisor;
    const Real inverse = scale.inverse / scale.largest;
    for (std::size_t k = 0; k < dim; ++k) {
        out[k] = (v[k] - mean - u[k] * along) * inverse;
    }
}

// ---- the maps ------------------------------------------------------------------------------------------------------

template <class Real>
void curve(const RowMap<Real>& map, std::size_t count, const Real* in, Real* __restrict out) {
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = map.alpha * in[i] + map.shift;
    }
    switch (map.function) {
        case RowFunction::tanh:
            return tanh_all(count, out);
        case RowFunction::erf:
            return erf_all(count, out);
        case RowFunction::sphere:
        case RowFunction::rms:
        case RowFunction::centred:
            break;
    }
    __builtin_unreachable();
}

// Derivative of the curve with respect to alpha*x + shift, from its argument and value.
template <class Real>
void curve_slope(const RowMap<Real>& map, std::size_t count, const Real* in, const Real* value,
                 Real* __restrict slope) {
    switch (map.function) {
        case RowFunction::tanh:
            for (std::size_t i = 0; i < count; ++i) {
                slope[i] = 1 - value[i] * value[i];
            }
            return;
        case RowFunction::erf: {
            for (std::size_t i = 0; i < count; ++i) {
                const Real z = map.alpha * in[i] + map.shift;
                slope[i] = -z * z;
            }
            exp_all(count, slope);
            const Real two_over_root_pi = static_cast<Real>(1.1283791670955125739);
            for (std::size_t i = 0; i < count; ++i) {
                slope[i] *= two_over_root_pi;
            }
            return;
        }
        case RowFunction::sphere:
        case RowFunction::rms:
        case RowFunction::centred:
            break;
    }
    __builtin_unreachable();
}

constexpr std::size_t strip = 256;  // rows of any width are worked on in pieces of this many numbers, on the stack

template <class Real>
void apply_rows(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, Real* out) {
    const bool is_curve = shape_of(map.function).curve;
    if (is_curve) {
        curve(map, rows * dim, in, out);
    }
    for (std::size_t row = 0; row < rows; ++row) {
        if (is_curve) {
            finish_row(map, dim, out + row * dim);
        } else {
            const Real* x = in + row * dim;
            finished_direction(scale_of(map, x, dim), map, x, dim, out + row * dim);
        }
    }
}

template <class Real>
void apply_dual_rows(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, const Real* slope_in,
                     Real* out, Real* slope_out) {
    const bool is_curve = shape_of(map.function).curve;
    if (is_curve) {
        curve(map, rows * dim, in, out);
        curve_slope(map, rows * dim, in, out, slope_out);
        for (std::size_t i = 0; i < rows * dim; ++i) {
            slope_out[i] *= map.alpha * slope_in[i];
        }
    }
    for (std::size_t row = 0; row < rows; ++row) {
        Real* u = out + row * dim;
        Real* du = slope_out + row * dim;
        if (!is_curve) {
            const Real* x = in + row * dim;
            const RowScale<Real> scale = scale_of(map, x, dim);
            direction(scale, x, dim, u);
            jacobian(map, scale, dim, u, slope_in + row * dim, du);
        }
        if (map.gain != nullptr) {
            for (std::size_t k = 0; k < dim; ++k) {
                du[k] *= map.gain[k];
            }
        }
        finish_row(map, dim, u);
    }
}

#include "scheme/row_kernels_narrow.inl"

template <class Real>
void dot_channels(std::size_t rows, std::size_t dim, const Real* a, const Real* b, double* sums) {
    for (std::size_t row = 0; row < rows; ++row) {
        const Real* x = a + row * dim;
        const Real* y = b == nullptr ? nullptr : b + row * dim;
        for (std::size_t k = 0; k < dim; ++k) {
            sums[k] += static_cast<double>(y == nullptr ? x[k] : x[k] * y[k]);
        }
    }
}

template <class Real>
double dot(std::size_t count, const Real* a, const Real* b) {
    double total = 0;
    for (std::size_t begin = 0; begin < count; begin += strip) {
        const std::size_t size = count - begin < strip ? count - begin : strip;
        total += static_cast<double>(b == nullptr ? sum_of(a + begin, size) : dot_of(a + begin, b + begin, size));
    }
    return total;
}

// One row of a norm; the Jacobian is symmetric, so it is its own transpose. With v = gain * g:
//
//     grad_in += (v - mean(v) - u m(u v)) / sqrt(..),    gains += g * u,    biases += g
//
// u and v are computed in both passes instead of being stored between them.
template <bool has_gain, bool extreme, class Real>
void norm_row_reverse(const RowMap<Real>& map, const RowScale<Real>& scale, std::size_t dim, const Real* x,
                      const Real* g, Real* __restrict grad_in, Real* __restrict gains, Real* __restrict biases) {
    const Real* const gain = map.gain;
    const RowShape shape = shape_of(map.function);
    const Real count = static_cast<Real>(dim);
    Real totals[2];  // of v and of u v
    sums_of<2>(
        dim,
        [&](std::size_t i, auto& terms) {
            auto& v = terms[0];
            auto& uv = terms[1];
            read(v, g + i);
            if constexpr (has_gain) {
                auto factor = v;
                read(factor, gain + i);
                v *= factor;
            }
            read(uv, x + i);
            direct<extreme>(scale, uv);
            uv *= v;
        },
        totals);
    const Real mean = shape.centred ? totals[0] / count : Real{0};
    const Real along = totals[1] / (shape.mean ? count : Real{1});
    const Real inverse = scale.inverse / scale.largest;
    for (std::size_t k = 0; k < dim; ++k) {
        Real u = x[k];
        direct<extreme>(scale, u);
        const Real v = has_gain ? g[k] * gain[k] : g[k];
        grad_in[k] += (v - mean - u * along) * inverse;
        gains[k] += g[k] * u;
        biases[k] += g[k];
    }
}

// Gradients of gains and biases are added up over a few rows in Real, then in double. `room`: 2*dim numbers.
template <class Real>
void norm_rows_reverse(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, const Real* grad_out,
                       Real* grad_in, const RowMapGradient& gradient, Real* room) {
    constexpr std::size_t together = 16;
    Real* const gains = room;
    Real* const biases = room + dim;
    for (std::size_t first = 0; first < rows; first += together) {
        const std::size_t end = rows - first < together ? rows : first + together;
        for (std::size_t k = 0; k < 2 * dim; ++k) {
            room[k] = 0;
        }
        for (std::size_t row = first; row < end; ++row) {
            const Real* const x = in + row * dim;
            const RowScale<Real> scale = scale_of(map, x, dim);
            const auto reverse = scale.largest != 1    ? map.gain != nullptr ? norm_row_reverse<true, true, Real>
                                                                             : norm_row_reverse<false, true, Real>
                                    : map.gain != nullptr ? norm_row_reverse<true, false, Real>
                                                       : norm_row_reverse<false, false, Real>;
            reverse(map, scale, dim, x, grad_out + row * dim, grad_in + row * dim, gains, biases);
        }
        for (std::size_t k = 0; gradient.gain != nullptr && k < dim; ++k) {
            gradient.gain[k] += static_cast<double>(gains[k]);
        }
        for (std::size_t k = 0; gradient.bias != nullptr && k < dim; ++k) {
            gradient.bias[k] += static_cast<double>(biases[k]);
        }
    }
}

// y = gain u(alpha x + shift): slope holds g gain u', which every gradient but the gain's is made of.
template <class Real>
void curve_row_reverse(const RowMap<Real>& map, std::size_t dim, const Real* x, const Real* g, Real* __restrict grad_in,
                       const RowMapGradient& gradient, Real* room) {
    Real* value = room;
    Real* slope = room + dim;
    curve(map, dim, x, value);
    curve_slope(map, dim, x, value, slope);
    if (gradient.gain != nullptr) {
        dot_channels(1, dim, g, value, gradient.gain);
    }
    for (std::size_t k = 0; k < dim; ++k) {
        slope[k] *= map.gain == nullptr ? g[k] : g[k] * map.gain[k];
        grad_in[k] += map.alpha * slope[k];
    }
    if (gradient.alpha != nullptr) {
        *gradient.alpha += dot(dim, slope, x);
    }
    if (gradient.shift != nullptr) {
        *gradient.shift += dot<Real>(dim, slope, nullptr);
    }
}

template <class Real>
void apply_reverse(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, const Real* grad_out,
                   Real* grad_in, const RowMapGradient& gradient) {
    constexpr std::size_t usual = 1024;
    Real small_room[2 * usual];
    Real* room = dim <= usual ? small_room : new Real[2 * dim];
    if (!shape_of(map.function).curve) {
        norm_rows_reverse(map, rows, dim, in, grad_out, grad_in, gradient, room);
    } else {
        for (std::size_t row = 0; row < rows; ++row) {
            curve_row_reverse(map, dim, in + row * dim, grad_out + row * dim, grad_in + row * dim, gradient, room);
        }
        if (gradient.bias != nullptr) {
            dot_channels<Real>(rows, dim, grad_out, nullptr, gradient.bias);
        }
    }
    if (room != small_room) {
        delete[] room;
    }
}

template <class Real>
constexpr RowKernels<Real> table = {combine<Real>,       accumulate<Real>, apply<Real>,       apply_dual<Real>,
                                    apply_reverse<Real>, dot<Real>,        dot_channels<Real>};
