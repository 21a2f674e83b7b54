// Random rows for the tests: weights of softmax and Gaussian vectors, with what the fast formulation wants of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "limits/reference.hpp"
#include "limits/walk.hpp"

namespace flyball::limits {

inline reference::Row random_row(std::size_t keys, std::size_t dim, double sharpness, std::uint64_t seed) {
    const Random logits(seed, 1);
    const Random numbers(seed, 2);
    reference::Row row;
    row.dim = dim;
    double sum = 0;
    for (std::size_t i = 0; i < keys; ++i) {
        row.weights.push_back(std::exp(sharpness * logits.normal(i)));
        sum += row.weights.back();
    }
    for (double& weight : row.weights) {
        weight /= sum;
    }
    row.vectors.resize(keys * dim);
    numbers.fill_normal(row.vectors);
    return row;
}

// The Gram matrix of a row's vectors and <x_i, S>.
struct Prepared {
    explicit Prepared(const reference::Row& row) : along(row.keys()) {
        gram.assign(row.vectors.data(), row.keys(), row.dim, row.dim);
        for (std::size_t i = 0; i < row.keys(); ++i) {
            for (std::size_t j = 0; j < row.keys(); ++j) {
                along[i] += row.weights[j] * gram.row(i)[j];
            }
        }
        input = {&gram, {0, row.keys()}, row.weights.data(), along.data()};
    }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;

    Gram gram;
    std::vector<double> along;
    RowInput input;
};

}  // namespace flyball::limits
