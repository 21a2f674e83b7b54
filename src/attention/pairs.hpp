// Statistics over all pairs of n unit vectors: what observables need of the n x n cosines, without holding them.
//
//     sum_jk exp(beta (<z_j, z_k> - 1))
//     components of the graph with an edge where <z_j, z_k> > level
//     how many pairs j < k have <z_j, z_k> > above
//
// In general cache-sized tiles of the Gram matrix, each a small product, which all three share; the sum on the circle
// in O(n K) like the attention there; components and counts on the circle by sorting angles, components in three
// dimensions by sorting a coordinate. The same bits at any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace flyball::attention {

struct PairStatistics {
    double exponential_sum = 0;             // over all n^2 pairs
    std::optional<std::size_t> components;  // when asked for
    std::optional<std::uint64_t> above;     // when asked for; of the n (n - 1)/2 pairs
};

// z: [n, d], rows of length 1 or 0; level < 1, or nothing to leave the components out; above in [-1, 1), likewise.
PairStatistics pair_statistics(std::size_t n, std::size_t d, const double* z, double beta, std::optional<double> level,
                               std::optional<double> above = std::nullopt);

}  // namespace flyball::attention
