// Tokens, weights and the definition of attention in plain loops: what the benchmarks of attention check before they
// time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "core/random.hpp"

namespace flyball::bench {

template <class Real>
std::vector<Real> unit_tokens(std::size_t count, std::size_t dim) {
    std::vector<double> x(count * dim);
    Random(3, 1).fill_normal(x);
    for (std::size_t j = 0; j < count; ++j) {
        double square = 0;
        for (std::size_t c = 0; c < dim; ++c) {
            square += x[j * dim + c] * x[j * dim + c];
        }
        for (std::size_t c = 0; c < dim; ++c) {
            x[j * dim + c] /= std::sqrt(square);
        }
    }
    return {x.begin(), x.end()};
}

template <class Real>
attention::Weights<Real> drawn_weights(std::size_t dim) {
    attention::Weights<Real> weights;
    weights.width = dim;
    attention::HeadWeights<Real> head;
    std::uint64_t stream = 5;
    for (std::vector<Real>* matrix : {&head.query, &head.key, &head.value, &head.output}) {
        std::vector<double> numbers(dim * dim);
        Random(3, stream++).fill_normal(numbers);
        for (const double x : numbers) {
            matrix->push_back(static_cast<Real>(x / std::sqrt(static_cast<double>(dim))));
        }
    }
    weights.head.push_back(head);
    return weights;
}

// matrix z: [rows, columns] times [columns].
template <class Real>
std::vector<double> image(const std::vector<Real>& matrix, std::size_t rows, const std::vector<double>& z) {
    if (matrix.empty()) {
        return z;
    }
    std::vector<double> result(rows, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t c = 0; c < z.size(); ++c) {
            result[i] += static_cast<double>(matrix[i * z.size() + c]) * z[c];
        }
    }
    return result;
}

// transpose(matrix) z: [rows, columns] and [rows].
template <class Real>
std::vector<double> image_back(const std::vector<Real>& matrix, std::size_t columns, const std::vector<double>& z) {
    if (matrix.empty()) {
        return z;
    }
    std::vector<double> result(columns, 0.0);
    for (std::size_t i = 0; i < z.size(); ++i) {
        for (std::size_t c = 0; c < columns; ++c) {
            result[c] += static_cast<double>(matrix[i * columns + c]) * z[i];
        }
    }
    return result;
}

// Softmax of at most one head: row j of the first system by the definition.
template <class Real>
std::vector<double> definition_row(const attention::Shape& shape, const attention::Settings& settings,
                                   const attention::Weights<Real>& weights, const Real* z, std::size_t j) {
    const attention::HeadWeights<Real> head =
        weights.identity() ? attention::HeadWeights<Real>{} : weights.head.front();
    const std::size_t width = weights.identity() ? shape.dim : weights.width;
    const std::vector<double> token(z + j * shape.dim, z + (j + 1) * shape.dim);
    // <Q z_j, K z_k> = <K' Q z_j, z_k>
    const std::vector<double> query = image_back(head.key, shape.dim, image(head.query, width, token));
    const std::size_t seen = settings.mask == attention::Mask::causal ? j + 1 : shape.tokens;
    std::vector<double> scores(seen, 0.0);
    for (std::size_t k = 0; k < seen; ++k) {
        for (std::size_t c = 0; c < shape.dim; ++c) {
            scores[k] += settings.beta * query[c] * static_cast<double>(z[k * shape.dim + c]);
        }
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    std::vector<double> mixed(shape.dim, 0.0);  // of tokens: the value matrix is linear
    for (std::size_t k = 0; k < seen; ++k) {
        const double weight = std::exp(scores[k] - most);
        total += weight;
        for (std::size_t c = 0; c < shape.dim; ++c) {
            mixed[c] += weight * static_cast<double>(z[k * shape.dim + c]);
        }
    }
    for (double& x : mixed) {
        x /= total;
    }
    return image(head.output, shape.dim, image(head.value, width, mixed));
}

// Some rows of `out` against the definition; a wrong one ends the program with exit code 3.
template <class Real>
void check(const attention::Shape& shape, const attention::Settings& settings, const attention::Weights<Real>& weights,
           const std::string& kernel, const Real* z, const Real* out) {
    const double tolerance = sizeof(Real) == sizeof(double) ? 1e-12 : 1e-4;
    for (std::size_t j = 0; j < shape.tokens; j += shape.tokens / 7 + 1) {
        const std::vector<double> row = definition_row(shape, settings, weights, z, j);
        for (std::size_t c = 0; c < shape.dim; ++c) {
            if (!(std::fabs(static_cast<double>(out[j * shape.dim + c]) - row[c]) < tolerance)) {
                std::fprintf(stderr, "wrong answer: %s, %zu tokens in dimension %zu\n", kernel.c_str(), shape.tokens,
                             shape.dim);
                std::exit(3);
            }
        }
    }
}

}  // namespace flyball::bench
