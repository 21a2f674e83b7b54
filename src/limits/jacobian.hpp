// How much the weights of a row can move when its logits do: norms of the Jacobian of softmax at weights a.
//
//     J = (diag(a) - a a')/T
//
//     spectral          its largest eigenvalue: the root between the two largest weights of sum a_i^2/(a_i - x) = 1,
//                       at most 1/(2T), which two equal weights of 1/2 attain (the paper prints 1/(4T))
//     infinity          largest row sum of |J|: 2 max a_i (1 - a_i)/T
//     infinity to one   the most that sum |J u| can be for |u_i| <= 1: (4/T) max over sets S of p_S (1 - p_S). With one
//                       weight a >= 1/2 that is 4 a (1 - a)/T; otherwise the best set is a partition of numbers into
//                       two halves, and the value lies between that of any set we find and 1/T. Karmarkar and Karp's
//                       differencing finds one whose two sides nearly agree.
//
// Lemma 2, for any normaliser alpha_i = F(l_i)/Z with slopes D_i = F'(l_i):
//
//     J = (diag(D) - alpha D')/Z,     |J|_2 <= max|D| (1/(L min F) + |alpha|_2/(sqrt(L) min F))
//
// Where the first comes from: J of softmax is diagonal less a matrix of rank one, so its eigenvalues lie between the
// weights and solve 1 = sum a_i^2/(a_i - x) (the secular equation); the largest is the one between a_1 and a_2.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::limits {

// All for T = 1: divide by T. `a` has no negative number and sums to 1. Not sorted.
double spectral_norm(const std::vector<double>& a);
double infinity_norm(const std::vector<double>& a);

// The same of weights in falling order, m >= 2. Those below `negligible` times the second may be left off: a key of
// weight a adds a^2/(x - a) to a sum that is 1 at the root, where it has a slope of 1 or more.
// The largest a_i (1 - a_i) is that of the largest weight: any other is at most 1 - a_1, where the parabola has the
// same value.
inline constexpr double negligible = 1e-9;
double sorted_spectral_norm(std::size_t m, const double* a);
inline double infinity_norm(double largest) {
    return 2 * largest * (1 - largest);
}

struct Interval {
    double lower = 0;
    double upper = 0;
};
Interval infinity_to_one_norm(const std::vector<double>& a);

// |p_S - p_rest| of a partition by differencing the two largest numbers until one is left: O(L log L).
double differencing(const std::vector<double>& a);

double lemma2_bound(const std::vector<double>& F, const std::vector<double>& slope);

namespace reference {
// By the eigenvalues of the matrix written out; by all 2^L sets (at most 20 keys); of any normaliser's Jacobian.
double spectral_norm(const std::vector<double>& a);
double infinity_to_one_norm(const std::vector<double>& a);
double spectral_norm(const std::vector<double>& F, const std::vector<double>& slope);
}  // namespace reference

}  // namespace flyball::limits
