// The definition of attention once more, independent of the library: one formula, scores in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "attention/attention.hpp"
#include "core/random.hpp"

namespace flyball::attention::testing {

// The sparsemax (the excess over the threshold itself) and entmax (its square) by bisection: slower and plainer than the library's
// sorting.
inline std::vector<double> projected(std::vector<double> s, bool squared) {
    const double top = *std::max_element(s.begin(), s.end());
    for (double& x : s) {
        x -= top;
    }
    double low = -1;
    double high = 0;
    const auto weight = [&](double x, double tau) {
        const double excess = std::max(x - tau, 0.0);
        return squared ? excess * excess : excess;
    };
    const auto mass = [&](double tau) {
        double sum = 0;
        for (const double x : s) {
            sum += weight(x, tau);
        }
        return sum;
    };
    // Until no number lies between.
    for (double middle = -0.5; low < middle && middle < high; middle = (low + high) / 2) {
        (mass(middle) >= 1 ? low : high) = middle;
    }
    std::vector<double> p;
    for (const double x : s) {
        p.push_back(weight(x, low));
    }
    return p;
}

inline std::vector<double> softmax(std::vector<double> s) {
    const double top = *std::max_element(s.begin(), s.end());
    double sum = 0;
    for (double& x : s) {
        x = std::exp(x - top);
        sum += x;
    }
    for (double& x : s) {
        x /= sum;
    }
    return s;
}

inline std::vector<double> multiplied(double factor, std::vector<double> s) {
    for (double& x : s) {
        x *= factor;
    }
    return s;
}

// No default: a kind without its definition here does not compile.
inline std::vector<double> weights_of(Kind kind, double beta, std::size_t tokens, std::vector<double> s) {
    const double m = static_cast<double>(s.size());
    switch (kind) {
        case Kind::softmax:
            return softmax(multiplied(beta, s));
        case Kind::ssmax:
            return softmax(multiplied(beta * std::log(m), s));
        case Kind::sparsemax:
            return projected(multiplied(beta, s), false);
        case Kind::entmax15:
            return projected(multiplied(beta / 2, s), true);
        case Kind::unnormalized:
            for (double& x : s) {
                x = std::exp(beta * (x - 1)) / static_cast<double>(tokens);
            }
            return s;
        case Kind::sigmoid:
            for (double& x : s) {
                x = 1 / (1 + std::exp(-(beta * x - std::log(m))));
            }
            return s;
    }
    return {};
}

// matrix [rows, columns] times vector
template <class Real>
std::vector<double> times(const std::vector<Real>& matrix, std::size_t rows, const std::vector<double>& vector) {
    std::vector<double> result(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < vector.size(); ++c) {
            result[r] += static_cast<double>(matrix[r * vector.size() + c]) * vector[c];
        }
    }
    return result;
}

// Query, key or value (0, 1, 2) of a token for head h, normed where the weights say so.
template <class Real>
std::vector<double> projection(const Weights<Real>& weights, std::size_t h, std::size_t part,
                               const std::vector<double>& token) {
    const auto plain = [&](const HeadWeights<Real>& head) {
        return times(part == 0 ? head.query : part == 1 ? head.key : head.value, weights.width, token);
    };
    std::vector<double> row = plain(weights.head[h]);
    if (const ProjectionNorm& norm = weights.norms[part]; norm.on) {
        double squares = 0;
        for (std::size_t other = 0; other < weights.heads; ++other) {
            for (const double x : plain(weights.head[other])) {
                squares += other == h || norm.all_heads ? x * x : 0;
            }
        }
        for (double& x : row) {
            x /= std::sqrt(squares / norm.count + norm.eps);
        }
    }
    for (std::size_t c = 0; part == 0 && !weights.head[h].channels.empty() && c < row.size(); ++c) {
        row[c] *= static_cast<double>(weights.head[h].channels[c]);
    }
    return row;
}

// `size`, when given, becomes the largest sum of absolute values of the terms: what rounding errors are relative to.
template <class Real>
std::vector<double> definition(const Shape& shape, const Settings& settings, const Weights<Real>& weights,
                               const Real* z, double* size = nullptr) {
    const std::size_t n = shape.tokens;
    const std::size_t d = shape.dim;
    std::vector<double> out(shape.systems * n * d, 0.0);
    for (std::size_t system = 0; system < shape.systems; ++system) {
        for (std::size_t h = 0; h < weights.heads; ++h) {
            const double beta = settings.head_betas.empty() ? settings.beta : settings.head_betas[h];
            std::vector<std::vector<double>> query;
            std::vector<std::vector<double>> key;
            std::vector<std::vector<double>> value;
            for (std::size_t k = 0; k < n; ++k) {
                const Real* row = z + (system * n + k) * d;
                const std::vector<double> token(row, row + d);
                query.push_back(weights.identity() ? token : projection(weights, h, 0, token));
                key.push_back(weights.identity() ? token : projection(weights, h, 1, token));
                value.push_back(weights.identity() ? token : projection(weights, h, 2, token));
            }
            for (std::size_t j = 0; j < n; ++j) {
                std::vector<double> scores;
                for (std::size_t k = 0; k < (settings.mask == Mask::causal ? j + 1 : n); ++k) {
                    long double score = 0;
                    for (std::size_t c = 0; c < query[j].size(); ++c) {
                        score += static_cast<long double>(query[j][c]) * key[k][c];
                    }
                    scores.push_back(static_cast<double>(score));
                }
                const std::vector<double> w = weights_of(settings.kind, beta, n, scores);
                std::vector<double> sum(value[0].size(), 0.0);
                double terms = 0;
                for (std::size_t k = 0; k < w.size(); ++k) {
                    double longest = 0;
                    for (std::size_t c = 0; c < sum.size(); ++c) {
                        sum[c] += w[k] * value[k][c];
                        longest = std::max(longest, std::fabs(value[k][c]));
                    }
                    terms += w[k] * longest;
                }
                if (size != nullptr) {
                    *size = std::max(*size, terms);
                }
                const std::vector<double> row = weights.identity() ? sum : times(weights.head[h].output, d, sum);
                const double share = weights.identity() ? 1 / static_cast<double>(weights.heads) : 1.0;
                for (std::size_t c = 0; c < d; ++c) {
                    out[(system * n + j) * d + c] += share * row[c];
                }
            }
        }
    }
    return out;
}

// The larger of two errors. A NaN is the worst there is, and stays.
inline double worse(double worst, double error) {
    return error <= worst || std::isnan(worst) ? worst : error;
}

enum class Tokens { unit, duplicated, antipodes, raw, with_zeros };

inline std::vector<double> draw(std::size_t count, std::uint64_t stream) {
    std::vector<double> numbers(count);
    Random(7, stream).fill_normal(numbers);
    return numbers;
}

// [count, dim]
template <class Real>
std::vector<Real> draw_tokens(Tokens kind, std::size_t count, std::size_t dim, std::uint64_t stream = 1) {
    std::vector<double> x = draw(count * dim, stream);
    const Random random(11, stream);
    for (std::size_t j = 0; j < count; ++j) {
        double* row = x.data() + j * dim;
        double square = 0;
        for (std::size_t c = 0; c < dim; ++c) {
            square += row[c] * row[c];
        }
        double length = 1;
        if (kind == Tokens::raw) {
            length = 0.1 * std::pow(300.0, random.uniform(j));  // 0.1 .. 30
        } else if (kind == Tokens::with_zeros && j % 3 == 0) {
            length = 0;
        }
        for (std::size_t c = 0; c < dim; ++c) {
            row[c] *= length / std::sqrt(square);
            if (kind == Tokens::antipodes && j % 2 == 1) {
                row[c] = -(row - dim)[c];
            }
        }
        if (kind == Tokens::duplicated && j % 2 == 1) {
            std::copy(row - dim, row, row);
        }
    }
    return std::vector<Real>(x.begin(), x.end());
}

template <class Real>
Weights<Real> draw_weights(std::size_t heads, std::size_t width, std::size_t dim) {
    Weights<Real> weights;
    weights.heads = heads;
    weights.width = width;
    for (std::size_t h = 0; h < heads; ++h) {
        const auto matrix = [&](std::uint64_t stream) {
            std::vector<double> numbers = draw(width * dim, 100 + 10 * h + stream);
            for (double& x : numbers) {
                x /= std::sqrt(static_cast<double>(dim));
            }
            return std::vector<Real>(numbers.begin(), numbers.end());
        };
        weights.head.push_back({matrix(0), matrix(1), matrix(2), matrix(3)});
    }
    return weights;
}

// Scores are rounded relative to beta |z|^2, and so are weights: no kernel can do better than this many roundings.
template <class Real>
double allowed_error(const Settings& settings, std::size_t tokens, double longest) {
    double beta = std::fabs(settings.beta);
    for (const double b : settings.head_betas) {
        beta = std::max(beta, std::fabs(b));
    }
    if (settings.kind == Kind::ssmax) {
        beta *= std::max(1.0, std::log(static_cast<double>(tokens)));
    }
    const double rounding = sizeof(Real) == sizeof(double) ? 2.3e-16 : 1.2e-7;
    return rounding * (24 + static_cast<double>(tokens) / 8 + 6 * beta * (1 + longest * longest));
}

}  // namespace flyball::attention::testing
