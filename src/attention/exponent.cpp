#include "attention/exponent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attention/row_weights.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

// The smaller and the larger of two; a NaN stays, whichever of them it is.
double smaller(double a, double b) {
    return a <= b || std::isnan(a) ? a : b;
}
double greater(double a, double b) {
    return a >= b || std::isnan(a) ? a : b;
}

}  // namespace

// Least and largest do not depend on the order of rows, so slots may be joined in any.
template <class Real>
SquareRange square_range(std::size_t tokens, std::size_t dim, const Real* z) {
    constexpr std::size_t numbers_per_slot = 32768;
    constexpr std::size_t most_slots = 16;
    const std::size_t slots = std::clamp<std::size_t>(tokens * dim / numbers_per_slot, 1, most_slots);
    constexpr SquareRange empty = {std::numeric_limits<double>::infinity(), 0};
    std::array<SquareRange, most_slots> ranges;
    ranges.fill(empty);
    parallel_slots(tokens, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
        SquareRange range = empty;
        for (std::size_t j = begin; j < end; ++j) {
            double square = 0;
            for (std::size_t c = 0; c < dim; ++c) {
                const double x = static_cast<double>(z[j * dim + c]);
                square += x * x;
            }
            range.least = smaller(range.least, square);
            range.most = greater(range.most, square);
        }
        ranges[slot] = range;
    });
    SquareRange whole = empty;
    for (const SquareRange& range : ranges) {
        whole.least = smaller(whole.least, range.least);
        whole.most = greater(whole.most, range.most);
    }
    return whole;
}
template SquareRange square_range(std::size_t, std::size_t, const double*);
template SquareRange square_range(std::size_t, std::size_t, const float*);

// How far below the shift the largest weight of some row can lie, in powers of two (`depth`):
//
//     scale >= 0    row j has its own weight:    scale |z_j|^2 - scale max|z|^2    >= -scale (max|z|^2 - min|z|^2)
//     scale <  0    any k, the worst case:       scale <z_j, z_k> - |scale| max|z|^2  >= -2 |scale| max|z|^2
Exponent exponent_of(Kind kind, double beta, std::size_t tokens, std::size_t allowed, SquareRange range, bool single) {
    Exponent exponent;
    exponent.scale = beta * log2_e * score_factor(kind, allowed);
    exponent.shift = std::fabs(exponent.scale) * range.most;
    // A negative beta prefers the opposite token, which need not exist: then scores down to -max|z|^2 must survive.
    const double depth =
        exponent.scale >= 0 ? exponent.scale * (range.most - range.least) : -2 * exponent.scale * range.most;
    // Powers of two left below this depth, about 200 and 66, are more than a double or float sum can see.
    const bool deep = !(depth <= (single ? 60.0 : 800.0));
    // Scores and shift are rounded each by itself. Where that is more than a power of two, a row's own weight is not 1.
    const bool coarse = !(exponent.shift <= (single ? 0x1p18 : 0x1p46));
    exponent.one_shift = !deep && !coarse;
    exponent.normalize = !form_of(kind).by_tokens;
    exponent.log2_gain = -beta * log2_e - std::log2(static_cast<double>(tokens));
    return exponent;
}

}  // namespace flyball::attention
