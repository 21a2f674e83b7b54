// How far a block should turn the stream, from its equation and its gains: a prediction to hold beside what is
// measured.
//
//     angle of block l = sum over its contributions c to x of arctan(|c| / |what it is added to|)
//
// Every vector is only a length here. Contributions count as orthogonal to what they are added to and to each other, so
// that the length of a sum is the root of the sum of squares. A norm's length follows from its gains alone, whatever it
// is given:
//
//     |gain * u + bias|^2 = (|u|^2/d) sum gain^2 + sum bias^2       |u|^2 = d for LayerNorm and RMSNorm, 1 for unit
//
// so Peri-LN's branches and Post-LN's stream need no measurement. DyT and Derf, which fix no length, are averaged over
// normal numbers of the length they are given. What no norm fixes is measured: the stream on entry and what a sub-layer
// gives. The angle itself is never used.
//
// Source of the idea: tan(angle) ~ dt s_i/sigma_i for sub-layer i, with s_i, sigma_i the rms of branch and stream.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "model/model.hpp"

namespace flyball::model {

// Mean lengths of rows, measured in a forward pass.
struct BlockLengths {
    std::vector<double> streams;                    // on entry, by stream
    std::array<std::vector<double>, 2> sub_layers;  // what each call of attention, of the FFN gave, in order
    double embedding = 0;                           // of x0
};

// In radians. `tokens` is the n of the equation.
double predicted_angle(const Model<float>& model, std::size_t layer, std::size_t tokens, const BlockLengths& lengths);

}  // namespace flyball::model
