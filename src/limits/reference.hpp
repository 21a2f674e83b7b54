// The definitions of limits.hpp written out, on vectors, in plain double. Slow; for tests, for one row at a time, and
// for whoever wants to read what is computed.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "limits/limits.hpp"

namespace flyball::limits::reference {

struct Row {
    std::vector<double> weights;  // [keys]
    std::vector<double> vectors;  // [keys, dim]
    std::size_t dim = 0;

    std::size_t keys() const { return weights.size(); }
    const double* vector(std::size_t i) const { return vectors.data() + i * dim; }
};

// All keys, the largest weight first, of equal ones the first.
std::vector<std::size_t> order_of(const std::vector<double>& weights);

// d for any set of keys, and Theorem 1.1 for it: the bracket is sum over i outside of |alpha_i - abar|.
double distance(const Row& row, const std::vector<std::size_t>& set);
double bound(const Row& row, const std::vector<std::size_t>& set);

// The two forms of Theorem 1.2, and the most that its error can be.
double expected(const Row& row, std::size_t n);
double expected_rms(const Row& row, std::size_t n);
double expected_slack(const Row& row, std::size_t n);

// The mean of d over all sets of n keys: what Theorem 1.2 speaks of. At most 20 keys.
double expected_exactly(const Row& row, std::size_t n);

// Everything for the N keys of largest weight; n < keys.
DistanceAtN distances(const Row& row, std::size_t n);

// The least distance of two vectors, and of two that differ; infinite where there are none.
struct Spread {
    double least = 0;
    double least_distinct = 0;
};
Spread spread(const Row& row);

// Vectors are divided by their lengths first (a zero vector stays zero); n < keys.
SeparationAtN separation(const Row& row, std::size_t n, double delta);
Row normalised(Row row);

}  // namespace flyball::limits::reference
