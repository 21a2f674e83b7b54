// What softmax attention can and cannot select: the quantities, their symbols, and where they come from.
//
// Source: "Limitations of Normalization in Attention Mechanism" (Mudarisov, Burtsev, Petrova, State, arXiv 2508.17821).
// One query sees L keys with weights alpha_1..alpha_L and vectors x_1..x_L. I_N holds the N keys of largest weight (of
// equal ones the first), a_i = alpha_i x_i, S = sum of all a_i, and s = sum over I_N of a_i, not renormalised.
//
//     distance       d = sum over i not in I_N of |a_i - s|                                              (eq. 7)
//     bound          A d1 + max over I_N of |x_j| * (abar (L - N) - A)                          (Theorem 1.1)
//                    abar = sum of alpha over I_N, A = sum of alpha over the others (1 - abar where weights sum to
//                    1), d1 = largest |x_i - x_j| with j in I_N and i outside
//     expected       ((L-N)/L) sum_i |a_i - (N/(L-1)) sum_{j != i} a_j|                          (Theorem 1.2)
//                    the mean of d over sets of N keys drawn at random, from below
//     expected_rms   the same with the variance of the drawn sum inside the root, which is the mean from above
//     separation     N_s/N, N_s = how many i of I_N have |a_i - s| <= r, r = least |a_i - s| outside I_N    (eq. 10)
//                    of vectors divided by their lengths
//     sensitivity    g(T, eps) = |weights((l + eps v)/T) - weights(l/T)| / eps, |v| = 1          (Corollary 3)
//
// A row is the keys that its query sees; rows with L <= max(N, 2) are left out. The mean over the rows of a head is the
// head's value.
//
// Two formulations. reference.hpp has every formula as it stands above, on vectors, in plain double. walk.hpp has them
// from the Gram matrix <x_i, x_j> of a layer, adding one key after another: all N of a row cost O(N L), without a
// factor for the width of the vectors. The tests compare the two.
//
// Not here: training, and what a head should attend to. Nothing of the size heads x L x L is ever kept.
#pragma once

#include <cstddef>

namespace flyball::limits {

// A row for one N.
struct DistanceAtN {
    std::size_t n = 0;
    double mass = 0;          // abar
    double share = 0;         // abar over the sum of all weights; NaN where one is negative
    double selected = 0;      // |s|
    double distance = 0;      // d
    double bound = 0;         // of Theorem 1.1; NaN where a weight is negative
    double expected = 0;      // main sum of Theorem 1.2
    double expected_rms = 0;  // the expectation from above
    double uniformity = 0;    // entropy of the weights inside I_N over log N; NaN for N = 1
};

// Theorem 2 for one N. With vectors on the sphere of radius M = 1 and delta the least distance of two of them,
//     xi_i^2 = M^2 sum_{j != i} alpha_j^2 + (M^2 - delta^2/2) sum_{j != k; j, k != i} alpha_j alpha_k,  j, k in I_N
// bounds |a_i - s| from above, and zeta_i, the same with the largest distance inside I_N in place of delta, from below.
struct SeparationAtN {
    std::size_t n = 0;
    double ratio = 0;          // N_s/N
    double r = 0;              // least |a_i - s| outside I_N
    double lower = 0;          // 1 - sum xi_i/(r N), as printed
    double upper = 0;          // (1/N) sum exp(-(xi_i - r)^2/(2 M^2)), as printed
    double upper_patched = 0;  // terms with r >= xi_i taken as 1
    double lower_exact = 0;    // #{xi_i <= r}/N, never above the ratio
    double upper_exact = 0;    // #{zeta_i <= r}/N, never below the ratio
};

}  // namespace flyball::limits
