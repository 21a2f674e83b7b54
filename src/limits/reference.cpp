#include "limits/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "measure/rows.hpp"

namespace flyball::limits::reference {

namespace {

constexpr double none = std::numeric_limits<double>::infinity();

std::vector<bool> members(const Row& row, const std::vector<std::size_t>& set) {
    std::vector<bool> in(row.keys(), false);
    for (const std::size_t i : set) {
        in[i] = true;
    }
    return in;
}

std::vector<double> sum_over(const Row& row, const std::vector<std::size_t>& set) {
    std::vector<double> sum(row.dim, 0.0);
    for (const std::size_t i : set) {
        for (std::size_t c = 0; c < row.dim; ++c) {
            sum[c] += row.weights[i] * row.vector(i)[c];
        }
    }
    return sum;
}

// |alpha_i x_i - s|
double apart(const Row& row, std::size_t i, const std::vector<double>& s) {
    double squares = 0;
    for (std::size_t c = 0; c < row.dim; ++c) {
        const double difference = row.weights[i] * row.vector(i)[c] - s[c];
        squares += difference * difference;
    }
    return std::sqrt(squares);
}

double between(const Row& row, std::size_t i, std::size_t j) {
    return std::sqrt(measure::squared_distance(row.vector(i), row.vector(j), row.dim));
}

// What key i contributes to Theorem 1.2: |a_i - N mean_{-i}|^2 and the variance of a drawn sum.
struct Contribution {
    double main = 0;
    double variance = 0;
};
Contribution contribution(const Row& row, std::size_t i, std::size_t n) {
    const auto others = static_cast<double>(row.keys() - 1);
    std::vector<double> mean(row.dim, 0.0);
    for (std::size_t j = 0; j < row.keys(); ++j) {
        for (std::size_t c = 0; c < row.dim && j != i; ++c) {
            mean[c] += row.weights[j] * row.vector(j)[c] / others;
        }
    }
    Contribution result;
    for (std::size_t c = 0; c < row.dim; ++c) {
        const double difference = row.weights[i] * row.vector(i)[c] - static_cast<double>(n) * mean[c];
        result.main += difference * difference;
    }
    double squares = 0;
    for (std::size_t j = 0; j < row.keys(); ++j) {
        for (std::size_t c = 0; c < row.dim && j != i; ++c) {
            const double difference = row.weights[j] * row.vector(j)[c] - mean[c];
            squares += difference * difference;
        }
    }
    const auto drawn = static_cast<double>(n);
    result.variance = others < 2 ? 0 : drawn * (others - drawn) / (others * (others - 1)) * squares;
    return result;
}

template <class Term>
double share_times_sum(const Row& row, std::size_t n, const Term& term) {
    double sum = 0;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        sum += term(contribution(row, i, n));
    }
    return sum * static_cast<double>(row.keys() - n) / static_cast<double>(row.keys());
}

}  // namespace

std::vector<std::size_t> order_of(const std::vector<double>& weights) {
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    return order;
}

double distance(const Row& row, const std::vector<std::size_t>& set) {
    const std::vector<bool> in = members(row, set);
    const std::vector<double> s = sum_over(row, set);
    double sum = 0;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        sum += in[i] ? 0 : apart(row, i, s);
    }
    return sum;
}

double bound(const Row& row, const std::vector<std::size_t>& set) {
    const std::vector<bool> in = members(row, set);
    double inside = 0;
    double longest = 0;
    if (std::any_of(row.weights.begin(), row.weights.end(), [](double w) { return w < 0; })) {
        return std::nan("");  // s/abar is then no mean of the selected vectors
    }
    for (const std::size_t j : set) {
        inside += row.weights[j];
        longest = std::max(longest, measure::length(row.vector(j), row.dim));
    }
    double outside = 0;
    double bracket = 0;
    double farthest = 0;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        if (in[i]) {
            continue;
        }
        outside += row.weights[i];
        bracket += std::abs(row.weights[i] - inside);
        for (const std::size_t j : set) {
            farthest = std::max(farthest, between(row, i, j));
        }
    }
    return outside * farthest + longest * bracket;
}

double expected(const Row& row, std::size_t n) {
    return share_times_sum(row, n, [](const Contribution& c) { return std::sqrt(c.main); });
}
double expected_rms(const Row& row, std::size_t n) {
    return share_times_sum(row, n, [](const Contribution& c) { return std::sqrt(c.main + c.variance); });
}
double expected_slack(const Row& row, std::size_t n) {
    return share_times_sum(row, n, [](const Contribution& c) { return std::sqrt(c.variance); });
}

double expected_exactly(const Row& row, std::size_t n) {
    double sum = 0;
    std::size_t count = 0;
    for (std::uint32_t bits = 0; bits < (std::uint32_t{1} << row.keys()); ++bits) {
        std::vector<std::size_t> set;
        for (std::size_t i = 0; i < row.keys(); ++i) {
            if ((bits >> i & 1U) != 0) {
                set.push_back(i);
            }
        }
        if (set.size() == n) {
            sum += distance(row, set);
            ++count;
        }
    }
    return sum / static_cast<double>(count);
}

DistanceAtN distances(const Row& row, std::size_t n) {
    std::vector<std::size_t> set = order_of(row.weights);
    set.resize(n);
    DistanceAtN at;
    at.n = n;
    std::vector<double> inside;
    for (const std::size_t i : set) {
        at.mass += row.weights[i];
        inside.push_back(row.weights[i]);
    }
    at.selected = measure::length(sum_over(row, set).data(), row.dim);
    at.distance = distance(row, set);
    at.bound = bound(row, set);
    at.expected = expected(row, n);
    at.expected_rms = expected_rms(row, n);
    const bool positive = std::all_of(row.weights.begin(), row.weights.end(), [](double w) { return w >= 0; });
    at.share = positive ? at.mass / std::accumulate(row.weights.begin(), row.weights.end(), 0.0) : std::nan("");
    at.uniformity = n < 2 || !positive ? std::nan("") : measure::entropy(inside) / std::log(static_cast<double>(n));
    return at;
}

Spread spread(const Row& row) {
    Spread result{none, none};
    for (std::size_t i = 0; i < row.keys(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const double d = between(row, i, j);
            result.least = std::min(result.least, d);
            result.least_distinct = d > 0 ? std::min(result.least_distinct, d) : result.least_distinct;
        }
    }
    return result;
}

Row normalised(Row row) {
    row.vectors = measure::directions({row.vectors.data(), row.keys(), row.dim});
    return row;
}

// Theorem 2 as it stands: every sum over pairs written out, O(N^3) for a row.
SeparationAtN separation(const Row& given, std::size_t n, double delta) {
    const Row row = normalised(given);
    std::vector<std::size_t> set = order_of(row.weights);
    set.resize(n);
    const std::vector<bool> in = members(row, set);
    const std::vector<double> s = sum_over(row, set);
    SeparationAtN at;
    at.n = n;
    at.r = none;
    for (std::size_t i = 0; i < row.keys(); ++i) {
        at.r = in[i] ? at.r : std::min(at.r, apart(row, i, s));
    }
    double widest = 0;
    for (const std::size_t j : set) {
        for (const std::size_t k : set) {
            widest = std::max(widest, between(row, j, k));
        }
    }
    const auto reach = [&](std::size_t i, double least) {  // xi_i, or zeta_i
        double alone = 0;
        double pairs = 0;
        for (const std::size_t j : set) {
            for (const std::size_t k : set) {
                if (j != i && k != i) {
                    (j == k ? alone : pairs) += row.weights[j] * row.weights[k];
                }
            }
        }
        return std::sqrt(std::max(0.0, alone + (1 - least * least / 2) * pairs));
    };
    const auto size = static_cast<double>(n);
    at.lower = 1;
    for (const std::size_t i : set) {
        const double xi = reach(i, delta);
        const double zeta = reach(i, widest);
        const double term = std::exp(-(xi - at.r) * (xi - at.r) / 2);
        at.ratio += apart(row, i, s) <= at.r ? 1 / size : 0;
        at.lower -= xi / (at.r * size);
        at.upper += term / size;
        at.upper_patched += (at.r >= xi ? 1 : term) / size;
        // Where one of them is |a_i - s| itself, as for one key, rounding must not put it on the wrong side of r.
        constexpr double rounding = 1 + 1e-12;
        at.lower_exact += rounding * xi <= at.r ? 1 / size : 0;
        at.upper_exact += zeta <= rounding * at.r ? 1 / size : 0;
    }
    return at;
}

}  // namespace flyball::limits::reference
