#include "claims/limits_paper.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::claims {

namespace {

using Vector = std::vector<double>;

Vector term(const SelectionRow& row, std::size_t i) {  // alpha_i x_i
    Vector a(row.dim);
    for (std::size_t c = 0; c < row.dim; ++c) {
        a[c] = row.alpha[i] * row.x[i * row.dim + c];
    }
    return a;
}
Vector plain(const SelectionRow& row, std::size_t i) {
    const auto begin = row.x.begin() + static_cast<std::ptrdiff_t>(i * row.dim);
    return {begin, begin + static_cast<std::ptrdiff_t>(row.dim)};
}
Vector plus(Vector a, const Vector& b, double factor) {
    for (std::size_t c = 0; c < a.size(); ++c) {
        a[c] += factor * b[c];
    }
    return a;
}
double norm(const Vector& a) {
    double squares = 0;
    for (const double value : a) {
        squares += value * value;
    }
    return std::sqrt(squares);
}

bool is_in(const std::vector<std::size_t>& set, std::size_t i) {
    return std::find(set.begin(), set.end(), i) != set.end();
}

}  // namespace

double theorem_1_bound(const SelectionRow& row, const std::vector<std::size_t>& top) {
    double abar = 0;
    double longest = 0;
    double d1 = 0;
    for (const std::size_t j : top) {
        abar += row.alpha[j];
        longest = std::max(longest, norm(plain(row, j)));
        for (std::size_t i = 0; i < row.keys(); ++i) {
            d1 = is_in(top, i) ? d1 : std::max(d1, norm(plus(plain(row, i), plain(row, j), -1)));
        }
    }
    const auto outside = static_cast<double>(row.keys() - top.size());
    return (1 - abar) * d1 + longest * (abar * outside - (1 - abar));
}

Expectation theorem_1_expectation(const SelectionRow& row, std::size_t n) {
    const auto L = static_cast<double>(row.keys());
    const auto N = static_cast<double>(n);
    Vector all(row.dim, 0.0);
    for (std::size_t i = 0; i < row.keys(); ++i) {
        all = plus(all, term(row, i), 1);
    }
    Expectation sum;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        const Vector own = term(row, i);
        Vector mean = plus(all, own, -1);
        for (double& value : mean) {
            value /= L - 1;
        }
        double spread = 0;
        for (std::size_t j = 0; j < row.keys(); ++j) {
            const double off = j == i ? 0 : norm(plus(term(row, j), mean, -1));
            spread += off * off;
        }
        const double drawn = N * (L - 1 - N) / ((L - 1) * (L - 2)) * spread;
        const double own_term = norm(plus(own, mean, -N));
        sum.main += own_term;
        sum.slack += std::sqrt(drawn);
        sum.rms += std::sqrt(own_term * own_term + drawn);
    }
    sum.main *= (L - N) / L;
    sum.rms *= (L - N) / L;
    sum.slack *= (L - N) / L;
    return sum;
}

Theorem2 theorem_2(const SelectionRow& row, const std::vector<std::size_t>& top, double xi_factor, double zeta_factor) {
    double delta = 2;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            delta = std::min(delta, norm(plus(plain(row, i), plain(row, j), -1)));
        }
    }
    double widest = 0;
    Vector s(row.dim, 0.0);
    for (const std::size_t j : top) {
        s = plus(s, term(row, j), 1);
        for (const std::size_t k : top) {
            widest = std::max(widest, norm(plus(plain(row, k), plain(row, j), -1)));
        }
    }
    double r = HUGE_VAL;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        r = is_in(top, i) ? r : std::min(r, norm(plus(term(row, i), s, -1)));
    }
    const auto reach = [&](std::size_t i, double distance) {
        double squared = 0;
        for (const std::size_t j : top) {
            for (const std::size_t k : top) {
                if (j != i && k != i) {
                    squared += row.alpha[j] * row.alpha[k] * (j == k ? 1 : 1 - distance * distance / 2);
                }
            }
        }
        return std::sqrt(std::max(0.0, squared));
    };
    const auto N = static_cast<double>(top.size());
    Theorem2 bounds{1, 0, 0, 0, 0};
    for (const std::size_t i : top) {
        const double xi = xi_factor * reach(i, delta);
        const double gauss = std::exp(-(xi - r) * (xi - r) / 2);
        bounds.lower -= xi / (r * N);
        bounds.upper += gauss / N;
        bounds.patched += (r >= xi ? 1 : gauss) / N;
        bounds.corrected_lower += xi <= r ? 1 / N : 0;
        bounds.corrected += zeta_factor * reach(i, widest) <= r ? 1 / N : 0;
    }
    return bounds;
}

Lemma2 lemma_2(const std::vector<double>& F, const std::vector<double>& slope) {
    double Z = 0;
    double least = HUGE_VAL;
    double steepest = 0;
    double squares = 0;
    for (std::size_t i = 0; i < F.size(); ++i) {
        Z += F[i];
        squares += F[i] * F[i];
        least = std::min(least, F[i]);
        steepest = std::max(steepest, std::abs(slope[i]));
    }
    const auto L = static_cast<double>(F.size());
    return {steepest / (L * least), steepest * std::sqrt(squares) / Z / (std::sqrt(L) * least)};
}

double sum_of_lengths(const SelectionRow& row) {
    double sum = 0;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        sum += norm(term(row, i));
    }
    return sum;
}

}  // namespace flyball::claims
