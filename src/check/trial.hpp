// A small model of an equation in double precision, to see whether a change of its text changes what it computes.
//
//     rows   8 tokens of 12 channels, drawn once
//     attn   softmax(<z_i, K z_j>) V z_j                    one head, random K and V
//     ffn    W2 tanh(W1 z + b)
//
// Every block has its own: tokens that ran through one map again and again would come to rest where scales do not
// matter. Both mix what they are given and are not homogeneous, so that nothing but the equation can make a scale
// disappear. norm, unit and rms have no eps and no gains.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "check/settings.hpp"
#include "scheme/program.hpp"

namespace flyball::check {

// What the learned parameters of the equation are.
enum class LearnedAt {
    start,    // what the text says they start at
    generic,  // something of no special kind, different for every parameter and channel
};

// The readout after all blocks, [rows, dim]. `moved`: the learned parameter that is another, channel by channel.
std::vector<double> trial(const scheme::Program& program, const Settings& settings, LearnedAt learned,
                          std::optional<std::size_t> moved = std::nullopt);

// Largest difference over the largest number; infinite where one of them is not finite.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b);

// By block: whether x after it depends on a stream before it when what the sub-layers give is held fast.
std::vector<bool> residual_blocks(const scheme::Program& program, const Settings& settings);

// Whether one of these quantities stands in the expression.
bool mentions(const scheme::Expression& expression, std::initializer_list<scheme::Quantity> quantities);

// The places of all blocks: t, depth, L, ... as a model has them.
std::vector<scheme::Environment> environments(std::size_t depth, const Settings& settings);

}  // namespace flyball::check
