// Attention of a trained model for particles: the matrices of its blocks, one block after another.
//
// Particles see unit directions; a model's norms give its attention vectors of length s (sqrt d for RMSNorm and
// LayerNorm, 1 for nGPT's unit vectors). In units of s both are the same: x is the model's stream over s, so that |x|
// is its root mean square, and
//
//     f(z) = attn(s z)/s        scores  scale <W_Q s z_j, W_K s z_k> = beta <W_Q z_j, W_K z_k>,   beta = s^2 scale
//
// with scale = 1/sqrt(d_head) as a rule. Where queries and keys are normed, their length is not s any more and beta is
// the scale alone. What a model has beside its matrices is in `notes`.
//
// This module knows no models: src/bridge fills this in.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "dynamics/settings.hpp"

namespace flyball::dynamics {

struct TrainedWeights {
    std::string model;  // as a user names it
    std::size_t dim = 0;
    std::size_t heads = 0;
    std::size_t width = 0;  // of a head
    std::size_t blocks = 0;
    double beta = 1;
    double dt = 1;
    attention::Kind kind = attention::Kind::softmax;
    bool causal = false;     // the model's own mask; a run has the mask of its settings
    bool centred = false;    // LayerNorm: particles live where the sum of the channels is 0
    std::size_t window = 0;  // the shortest: so many tokens at most; 0: any number
    std::function<attention::Weights<double>(std::size_t block)> weights;
    std::function<std::string()> checksum;  // of the files that they come from
    std::vector<std::string> notes;         // what of the model is not in a run: one sentence each

    // Runs that are longer than the model go through it again.
    attention::Weights<double> at(std::size_t draw) const { return weights(draw % blocks); }
};

// What was not said follows from the model: dimension, heads, beta, kind of attention, and, where neither layers nor a
// time were, a layer for each block, of the model's dt.
struct Said {
    bool dim = false;
    bool heads = false;
    bool beta = false;
    bool attention = false;
    bool span = false;  // layers or time
    bool dt = false;
};
void use_trained(std::shared_ptr<const TrainedWeights> trained, const Said& said, Settings& settings);

// What a reader of a run must know of its weights, one sentence each; nothing where they are not a model's.
std::vector<std::string> trained_notes(const Settings& settings);

// Error(usage) where settings say something else than the weights that they have.
void check_trained(const Settings& settings);

// The start of particles in the space that LayerNorm leaves: that of dim - 1 dimensions, turned so that the sum of the
// channels is 0. All inner products stay what they are. Rows of a file lose the mean of their channels instead.
std::vector<double> centred_start(const Settings& settings);

}  // namespace flyball::dynamics
