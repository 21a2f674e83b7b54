// Limits of sequences whose members are known with errors, and the error of the limit.
#include "theory/limits.hpp"

#include <algorithm>

namespace flyball::theory {

namespace {

constexpr std::size_t apart = 2;  // members of the grid that are compared with each other
constexpr double holds = 0.01;

}  // namespace

// Candidates are members as they are and members extrapolated by Aitken's formula: with d1, d2 two differences in a row
// and q = d2/d1, the rest of a geometric way is d2 q/(1 - q). Each comes with an error, how far the last few lie apart
// and their rounding; the candidate with the least error wins. It is put to the test by all members after it.
Estimate limit_of(const std::vector<Term>& terms) {
    Estimate best;
    std::size_t found_at = 0;
    std::vector<double> grid;
    std::vector<double> extrapolated;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Term& term = terms[i];
        const auto offer = [&](double value, double earlier) {
            // Every step of the integrator adds its own small error.
            const double error = std::abs(value - earlier) + term.rounding + 4e-13 * static_cast<double>(i);
            if (error < best.error) {
                best = {value, error};
                found_at = i;
            }
        };
        constexpr std::size_t few = 8;
        if (i >= few) {
            offer(term.value, terms[i - few].value);
        }
        if (!term.on_grid) {
            continue;
        }
        grid.push_back(term.value);
        if (grid.size() <= 2 * apart) {
            continue;
        }
        const double third = grid.back();
        const double d2 = third - grid[grid.size() - 1 - apart];
        const double d1 = grid[grid.size() - 1 - apart] - grid[grid.size() - 1 - 2 * apart];
        const double ratio = d1 == 0 ? 0 : d2 / d1;
        extrapolated.push_back(ratio > 0 && ratio < 0.95 ? third + d2 * ratio / (1 - ratio) : third);
        // Two members may agree by chance: what counts is how far the last ones lie from each other.
        for (const std::vector<double>* members : {&grid, &extrapolated}) {
            if (members->size() > 2 * apart) {
                const auto recent = std::minmax_element(members->end() - 2 * apart - 1, members->end());
                offer(members->back(), members->back() + (*recent.second - *recent.first));
            }
        }
    }
    // A sequence may pass its neighbours so closely that it looks like a limit, and go on.
    const double nearby = found_at < terms.size() ? std::abs(terms[found_at].value - best.value) : 0;
    for (std::size_t i = found_at + 1; i < terms.size(); ++i) {
        if (std::abs(terms[i].value - best.value) > holds + 2 * nearby + 100 * (terms[i].rounding + best.error)) {
            return {best.value, HUGE_VAL};
        }
    }
    return best;
}

Estimate limit_of_series(std::vector<Term> terms, double delta, int first) {
    Estimate best = limit_of(terms);
    for (int k = first; k < first + 4; ++k) {
        terms = without_power(terms, -k * delta);
        const Estimate next = limit_of(terms);
        if (next.error < best.error) {
            best = next;
        }
    }
    return best;
}

// Of v = c t^p + rest at two times with Q = (t/t')^p:  v(t) - Q v(t') = rest(t) - Q rest(t'), and a constant rest comes
// out as itself after the division by 1 - Q. Rounding grows by (1 + Q)/|1 - Q|.
std::vector<Term> without_power(const std::vector<Term>& terms, double p) {
    std::vector<Term> result;
    for (std::size_t i = apart; i < terms.size(); ++i) {
        const Term& late = terms[i];
        const Term& early = terms[i - apart];
        const double q = std::exp(p * std::log(late.t / early.t));
        const double noise = (late.rounding + q * early.rounding) / std::abs(1 - q);
        result.push_back({late.t, (late.value - q * early.value) / (1 - q), noise, true});
    }
    return result;
}

// At times in a ratio R the differences of c t^p + constant are in the ratio R^p: p = log(d2/d1)/log R.
std::vector<Term> local_powers(const std::vector<Term>& terms) {
    std::vector<Term> result;
    for (std::size_t i = 2 * apart; i < terms.size(); ++i) {
        const Term& late = terms[i];
        const Term& middle = terms[i - apart];
        const Term& early = terms[i - 2 * apart];
        const double d2 = late.value - middle.value;
        const double d1 = middle.value - early.value;
        const double step = std::log(late.t / middle.t);
        const double noise =
            ((late.rounding + middle.rounding) / std::abs(d2) + (middle.rounding + early.rounding) / std::abs(d1)) /
            step;
        if (!(d2 / d1 > 0 && noise < 0.1)) {  // the way has not begun yet, or nothing is left of it but rounding
            if (result.size() > 2 * apart) {
                break;
            }
            result.clear();
            continue;
        }
        result.push_back({late.t, std::log(d2 / d1) / step, noise, true});
    }
    return result;
}

bool settles(const std::vector<Term>& terms, double negligible) {
    if (terms.size() < 5) {
        return false;
    }
    const Term& first = terms[terms.size() / 2];
    const Term& middle = terms[terms.size() * 3 / 4];
    const Term& last = terms.back();
    const double noise = 10 * (middle.rounding + last.rounding) + negligible;
    return std::abs(last.value - middle.value) <= 0.5 * std::abs(middle.value - first.value) + noise;
}

}  // namespace flyball::theory
