// Attention and FFN weights of a run: identity, random, from a file or a model. Each system has a draw of its own.
#pragma once

#include <vector>

#include "attention/attention.hpp"
#include "dynamics/settings.hpp"

namespace flyball::dynamics {

// Weights of system m; `draw` counts redraws (the integer part of t when weights are fresh, else 0), or the blocks of a
// model.
//
//     gaussian      entries N(0, 1/d)
//     kaiming:G     entries N(0, G^2/d)
//     orthogonal    Haar, cut to the heads' rows
//
// each times the gain of its matrix (Settings::gains), or the identity, cut likewise, in its place. Head h has query,
// key, value of [d/H, d] and output of [d, d/H].
attention::Weights<double> draw_weights(const Settings& settings, std::size_t system, std::size_t draw);

// A random two-layer perceptron:
//
//     ffn(z) = W2 gelu(W1 z)        W1 [width, dim] ~ N(0, 1/dim),   W2 [dim, width] ~ N(0, 1/width)
struct FeedForward {
    std::size_t dim = 0;
    std::size_t width = 0;
    std::vector<double> first;
    std::vector<double> second;

    void operator()(std::size_t rows, const double* in, double* out) const;
};
FeedForward draw_feed_forward(const Settings& settings, std::size_t system, std::size_t draw);

}  // namespace flyball::dynamics
