// Statistics over all pairs of n unit vectors: what observables need of the n x n cosines, without holding them.
//
//     sum_jk exp(beta (<z_j, z_k> - 1))       and      components of the graph with an edge where <z_j, z_k> > level
//
// In general cache-sized tiles of the Gram matrix, each a small product; the sum on the circle in O(n K) like the
// attention there; components on the circle by sorting angles, in three dimensions by sorting a coordinate.
// The same bits at any number of threads.
#pragma once

#include <cstddef>
#include <optional>

namespace flyball::attention {

struct PairStatistics {
    double exponential_sum = 0;             // over all n^2 pairs
    std::optional<std::size_t> components;  // when asked for
};

// z: [n, d], rows of length 1; level < 1, or nothing to leave the components out.
PairStatistics pair_statistics(std::size_t n, std::size_t d, const double* z, double beta, std::optional<double> level);

}  // namespace flyball::attention
