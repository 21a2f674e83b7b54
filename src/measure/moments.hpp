// What is measured of the hidden states of a batch, X[s, j, k]: sequence s, token j, channel k.
//
//     mean_abs         mean over s, j, k of |X|
//     entry_variance   mean over s of the variance of X over (j, k)
//     data_variance    mean over (j, k) of the variance of X over s; NaN for one sequence
//     norm             mean over s, j of the length of row (s, j)
//
// Variances are mean squared deviations from the mean (divided by the number of values, not one less). The first three
// are what "Stability of Transformers under Layer Normalization" (arXiv 2510.09904) shows over depth.
//
// Sums are in double, over slots that depend on sizes alone: the same bits at any number of threads.
#pragma once

#include <cstddef>

namespace flyball::measure {

struct Moments {
    double mean_abs = 0;
    double entry_variance = 0;
    double data_variance = 0;
    double norm = 0;
};

// x: [sequences, tokens, dim], contiguous.
template <class Real>
Moments moments(const Real* x, std::size_t sequences, std::size_t tokens, std::size_t dim);

// Mean over rows of the length of a row. x: [rows, dim].
template <class Real>
double mean_length(const Real* x, std::size_t rows, std::size_t dim);

// Root of the sum of all squares.
template <class Real>
double frobenius(const Real* x, std::size_t count);

// How far rows are turned: row j of b against row j of a, means over rows.
struct Turn {
    double angle = 0;             // in radians, 2 atan2(|u - v|, |u + v|) of the two directions u, v
    double one_minus_cosine = 0;  // |u - v|^2/2, which keeps its digits for small angles as the angle does
};
// A zero row has no direction: its angle counts 0, its cosine with anything counts 0.
template <class Real>
Turn mean_turn(const Real* a, const Real* b, std::size_t rows, std::size_t dim);

}  // namespace flyball::measure
