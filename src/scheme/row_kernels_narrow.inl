// Rows of few channels on the sphere: particles in 1 to 8 dimensions. Included after the general maps.
//
// With so few numbers per row the general loops are all overhead. Here the dimension is known to the compiler and the
// roots and divisions of many rows are done together. A group with a row that is zero, or whose squares overflow or
// vanish, is left to the general code.

constexpr std::size_t narrow_most = 8;
constexpr std::size_t narrow_group = 64;  // rows

inline double root(double x) {
    return __builtin_sqrt(x);
}
inline float root(float x) {
    return __builtin_sqrtf(x);
}

// inverse[i] = 1/|x_i|; false when a row needs care.
template <class Real, std::size_t D>
inline bool inverse_lengths(std::size_t rows, const Real* __restrict x, Real* __restrict inverse) {
    bool plain = true;
    for (std::size_t i = 0; i < rows; ++i) {
        Real squares = x[i * D] * x[i * D];
        for (std::size_t k = 1; k < D; ++k) {
            squares += x[i * D + k] * x[i * D + k];
        }
        inverse[i] = squares;
        plain = plain && squares > smallest_squares<Real> && squares < largest_squares<Real>;
    }
    for (std::size_t i = 0; i < rows; ++i) {
        inverse[i] = 1 / root(inverse[i]);
    }
    return plain;
}

template <class Real, std::size_t D>
void narrow_sphere(const RowMap<Real>& map, std::size_t rows, const Real* in, Real* __restrict out) {
    Real inverse[narrow_group];
    for (std::size_t begin = 0; begin < rows; begin += narrow_group) {
        const std::size_t count = rows - begin < narrow_group ? rows - begin : narrow_group;
        const Real* x = in + begin * D;
        Real* u = out + begin * D;
        if (!inverse_lengths<Real, D>(count, x, inverse)) {
            apply_rows(map, count, D, x, u);
            continue;
        }
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < D; ++k) {
                u[i * D + k] = x[i * D + k] * inverse[i];
            }
        }
    }
}

template <class Real, std::size_t D>
void narrow_sphere_dual(const RowMap<Real>& map, std::size_t rows, const Real* in, const Real* slope_in,
                        Real* __restrict out, Real* __restrict slope_out) {
    Real inverse[narrow_group];
    for (std::size_t begin = 0; begin < rows; begin += narrow_group) {
        const std::size_t count = rows - begin < narrow_group ? rows - begin : narrow_group;
        const Real* x = in + begin * D;
        const Real* v = slope_in + begin * D;
        Real* u = out + begin * D;
        Real* du = slope_out + begin * D;
        if (!inverse_lengths<Real, D>(count, x, inverse)) {
            apply_dual_rows(map, count, D, x, v, u, du);
            continue;
        }
        for (std::size_t i = 0; i < count; ++i) {
            Real along = 0;
            for (std::size_t k = 0; k < D; ++k) {
                u[i * D + k] = x[i * D + k] * inverse[i];
                along += u[i * D + k] * v[i * D + k];
            }
            for (std::size_t k = 0; k < D; ++k) {
                du[i * D + k] = (v[i * D + k] - u[i * D + k] * along) * inverse[i];
            }
        }
    }
}

template <class Real>
bool is_narrow(const RowMap<Real>& map, std::size_t dim) {
    return dim <= narrow_most && map.function == RowFunction::sphere && map.eps == 0 && map.gain == nullptr &&
           map.bias == nullptr;
}

template <class Real>
void apply(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, Real* out) {
    using Narrow = void (*)(const RowMap<Real>&, std::size_t, const Real*, Real*);
    constexpr Narrow narrow[narrow_most] = {narrow_sphere<Real, 1>, narrow_sphere<Real, 2>, narrow_sphere<Real, 3>,
                                            narrow_sphere<Real, 4>, narrow_sphere<Real, 5>, narrow_sphere<Real, 6>,
                                            narrow_sphere<Real, 7>, narrow_sphere<Real, 8>};
    if (is_narrow(map, dim)) {
        narrow[dim - 1](map, rows, in, out);
    } else {
        apply_rows(map, rows, dim, in, out);
    }
}

template <class Real>
void apply_dual(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, const Real* slope_in,
                Real* out, Real* slope_out) {
    using Narrow = void (*)(const RowMap<Real>&, std::size_t, const Real*, const Real*, Real*, Real*);
    constexpr Narrow narrow[narrow_most] = {narrow_sphere_dual<Real, 1>, narrow_sphere_dual<Real, 2>,
                                            narrow_sphere_dual<Real, 3>, narrow_sphere_dual<Real, 4>,
                                            narrow_sphere_dual<Real, 5>, narrow_sphere_dual<Real, 6>,
                                            narrow_sphere_dual<Real, 7>, narrow_sphere_dual<Real, 8>};
    if (is_narrow(map, dim)) {
        narrow[dim - 1](map, rows, in, slope_in, out, slope_out);
    } else {
        apply_dual_rows(map, rows, dim, in, slope_in, out, slope_out);
    }
}
