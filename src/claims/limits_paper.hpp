// What "Limitations of Normalization in Attention Mechanism" (Mudarisov, Burtsev, Petrova, State, arXiv 2508.17821)
// states, typed by hand on plain vectors: the predictions of its part of the ledger. Nothing here uses src/limits, from
// where the measurements come.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::claims {

// One query: weights alpha [L] and vectors x [L, dim].
struct SelectionRow {
    std::vector<double> alpha;
    std::vector<double> x;
    std::size_t dim = 0;

    std::size_t keys() const { return alpha.size(); }
};

// Theorem 1.1 for the set `top`: (1-abar) d1 + max|x_j| (abar (L-N) - (1-abar)).
double theorem_1_bound(const SelectionRow& row, const std::vector<std::size_t>& top);

// Theorem 1.2: the main sum, the most that the error term can be, and the same with the variance inside the root.
struct Expectation {
    double main = 0;
    double slack = 0;
    double rms = 0;
};
Expectation theorem_1_expectation(const SelectionRow& row, std::size_t n);

// Theorem 2 for the set `top` of unit vectors: the two printed bounds, the second with terms r >= xi_i taken as 1, and
// the corrected ones, the shares of i with xi_i <= r and with zeta_i <= r. The factors multiply every xi and every zeta
// (1: as printed).
struct Theorem2 {
    double lower = 0;
    double upper = 0;
    double patched = 0;
    double corrected_lower = 0;
    double corrected = 0;
};
Theorem2 theorem_2(const SelectionRow& row, const std::vector<std::size_t>& top, double xi_factor = 1,
                   double zeta_factor = 1);

// Lemma 2: max|F'| (1/(L min F) + |alpha|_2/(sqrt(L) min F)), by its two terms.
struct Lemma2 {
    double first = 0;
    double second = 0;
};
Lemma2 lemma_2(const std::vector<double>& F, const std::vector<double>& slope);

// sum over keys of |alpha_i x_i|.
double sum_of_lengths(const SelectionRow& row);

}  // namespace flyball::claims
