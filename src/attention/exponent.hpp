// How scores become exponents of two without overflow, for the kernels of exponential weights without a mask.
//
//     weight of z_k in row j = 2^(scale <z_j, z_k> - shift_j) times something that row j divides out
//
// One shift for all rows, scale max|z|^2, is the fastest and what symmetric kernels need. It is right whenever no row
// sinks below the smallest numbers: row j has the weight of j itself, 2^(scale (|z_j|^2 - max|z|^2)). For unit vectors
// that is 1 for any beta whose scores are not so large that their rounding is seen; otherwise `one_shift` says whether
// it holds, and if not rows need maxima of their own.
#pragma once

#include <cstddef>

#include "attention/attention.hpp"

namespace flyball::attention {

inline constexpr double log2_e = 1.4426950408889634074;

struct SquareRange {
    double least = 0;
    double most = 0;
};

// Least and largest |z_j|^2 of z [n, d]; NaN if any is.
template <class Real>
SquareRange square_range(std::size_t tokens, std::size_t dim, const Real* z);

struct Exponent {
    double scale = 0;
    bool one_shift = false;
    double shift = 0;
    bool normalize = true;  // divide by the sum of weights; otherwise multiply by 2^(shift + log2_gain)
    double log2_gain = 0;
};

// `allowed` is the number of tokens the row sees; `single` is true for float.
Exponent exponent_of(Kind kind, double beta, std::size_t tokens, std::size_t allowed, SquareRange range, bool single);

}  // namespace flyball::attention
