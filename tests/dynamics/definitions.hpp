// The definitions of docs/simulate.md in plain loops over tokens, pairs and coordinates; they share no code with the
// program.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace flyball::dynamics::test {

using Rows = std::vector<std::vector<double>>;  // [tokens][dim]

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline double length(const std::vector<double>& a) {
    return std::sqrt(dot(a, a));
}

inline std::vector<double> plus(const std::vector<double>& a, double c, const std::vector<double>& b) {
    std::vector<double> sum = a;
    for (std::size_t k = 0; k < a.size(); ++k) {
        sum[k] += c * b[k];
    }
    return sum;
}

// Singular values by Hestenes' rotations: pairs of columns are made orthogonal until all are.
inline std::vector<double> singular_values(Rows columns) {
    for (int sweep = 0; sweep < 60; ++sweep) {
        for (std::size_t p = 0; p < columns.size(); ++p) {
            for (std::size_t q = p + 1; q < columns.size(); ++q) {
                const double angle = 0.5 * std::atan2(2 * dot(columns[p], columns[q]),
                                                      dot(columns[p], columns[p]) - dot(columns[q], columns[q]));
                const std::vector<double> old = columns[p];
                for (std::size_t k = 0; k < old.size(); ++k) {
                    columns[p][k] = std::cos(angle) * old[k] + std::sin(angle) * columns[q][k];
                    columns[q][k] = std::cos(angle) * columns[q][k] - std::sin(angle) * old[k];
                }
            }
        }
    }
    std::vector<double> values;
    for (const auto& column : columns) {
        values.push_back(length(column));
    }
    return values;
}

inline double defined_effective_rank(const Rows& theta) {
    const std::vector<double> values = singular_values(theta);
    const double total = std::accumulate(values.begin(), values.end(), 0.0);
    double entropy = 0;
    for (const double value : values) {
        entropy -= value > 1e-12 ? value / total * std::log(value / total) : 0;
    }
    return std::exp(entropy);
}

// Tokens are painted one colour as far as pairs of cosine above 1 - 1e-3 reach.
inline double defined_clusters(const Rows& theta) {
    std::vector<int> colour(theta.size(), -1);
    int colours = 0;
    for (std::size_t start = 0; start < theta.size(); ++start) {
        if (colour[start] >= 0) {
            continue;
        }
        std::vector<std::size_t> waiting = {start};
        while (!waiting.empty()) {
            const std::size_t j = waiting.back();
            waiting.pop_back();
            colour[j] = colours;
            for (std::size_t k = 0; k < theta.size(); ++k) {
                if (colour[k] < 0 && dot(theta[j], theta[k]) > 1 - 1e-3) {
                    waiting.push_back(k);
                }
            }
        }
        ++colours;
    }
    return colours;
}

inline double defined_cosine(const Rows& theta) {
    double sum = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        for (std::size_t j = i + 1; j < theta.size(); ++j) {
            sum += dot(theta[i], theta[j]);
            pairs += 1;
        }
    }
    return sum / pairs;
}

// The share of pairs i < j whose cosine is above the level.
inline double defined_pair_fraction(const Rows& theta, double level) {
    double above = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        for (std::size_t j = i + 1; j < theta.size(); ++j) {
            above += dot(theta[i], theta[j]) > level ? 1 : 0;
            pairs += 1;
        }
    }
    return above / pairs;
}

inline double defined_variance(const Rows& theta) {
    const auto n = static_cast<double>(theta.size());
    std::vector<double> mean(theta[0].size(), 0.0);
    for (const auto& row : theta) {
        mean = plus(mean, 1 / n, row);
    }
    double sum = 0;
    for (const auto& row : theta) {
        sum += dot(plus(row, -1, mean), plus(row, -1, mean)) / n;
    }
    return sum;
}

inline double defined_energy(const Rows& theta, double beta) {
    double sum = 0;
    for (const auto& a : theta) {
        for (const auto& b : theta) {
            sum += std::exp(beta * (dot(a, b) - 1));
        }
    }
    return -sum / static_cast<double>(theta.size() * theta.size());
}

// The quantile of the numpy default: linear between the two nearest of the sorted values.
inline double defined_quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    return below + 1 == values.size()
               ? values[below]
               : values[below] * (1 - (place - std::floor(place))) + values[below + 1] * (place - std::floor(place));
}

}  // namespace flyball::dynamics::test
