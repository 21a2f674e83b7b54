// What is measured of rows of vectors: one definition of each quantity, for particles and for the streams of models.
//
//     theta_j     row_j / |row_j|, j = 1..n: directions; a zero row has no direction and stays zero
//     cosine      mean over pairs i < j of <theta_i, theta_j>; a pair with a zero row counts 0; one row alone: 1
//     variance    (1/n) sum_j |theta_j - mean|^2
//
// Near consensus every cosine rounds to 1 while the rows still differ by far less than 1e-8. So 1 - cosine is measured
// by itself. For unit rows
//
//     |sum theta|^2 = n^2 - n^2 variance
//     cosine        = (|sum theta|^2 - n)/(n(n-1))
//     1 - cosine    = variance * n/(n-1)                    (plus the share of zero rows, if there are any)
//
// which has no cancellation; the cosine is 1 minus that, and never above 1.
//
// Not here: what needs all pairs one by one (energy, clusters: attention/pairs.hpp).
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::measure {

// A view of `count` rows of `dim` numbers, one after another. It owns nothing.
struct Rows {
    const double* data = nullptr;
    std::size_t count = 0;
    std::size_t dim = 0;

    const double* row(std::size_t j) const { return data + j * dim; }
};

double dot(const double* a, const double* b, std::size_t dim);
double squared_distance(const double* a, const double* b, std::size_t dim);  // |a - b|^2

// |row|, also where the squares would overflow or vanish.
double length(const double* row, std::size_t dim);
std::vector<double> lengths(const Rows& rows);  // [count]

// Rows of unit length; zero rows stay zero. [count, dim]
std::vector<double> directions(const Rows& rows);
void directions(const Rows& rows, std::vector<double>& theta);

double variance(const Rows& theta);
double one_minus_cosine(const Rows& theta);  // theta: unit or zero rows

// exp of the entropy of the singular values' shares: 1 at consensus, min(count, dim) for orthonormal rows. NaN above
// min(count, dim) = 1024, where the eigenvalues cost more than the run. Right to 1e-12, of more than 2^23 numbers to
// 1e-6 (singular values below 1e-8 of the largest are not seen there).
double effective_rank(const Rows& rows);

// How far the rows are from all being one row (Dong et al. 2021, arXiv 2103.03404): |X - 1 m'| / |X| with m the mean
// row and |A|^2 = (largest column sum of |A|) * (largest row sum of |A|). 0 when all rows are equal; NaN when all are
// 0.
double collapse_residual(const Rows& rows);

// |d/dt (row/|row|)| when row' = slope: the part of the slope across the row, over its length. A zero row counts 0.
double angular_speed(const double* row, const double* slope, std::size_t dim);
double mean_angular_speed(const Rows& rows, const double* slope);

// -sum p log p of shares p_i = weights_i / sum of weights; zero weights count nothing.
double entropy(const std::vector<double>& weights);

// Linear interpolation between the order statistics: share 0 is the smallest value, 1 the largest. `values` is sorted
// in place and must not be empty.
double quantile(std::vector<double>& values, double share);

}  // namespace flyball::measure
