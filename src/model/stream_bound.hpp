// What an equation promises about the length of the stream x, whatever the weights of the sub-layers are.
//
//     bounded        |x_l| stays below a number that the gains of norms fix       norm(x + dt*f(x))
//     linear         |x_l| <= |x_0| + sum of such numbers                         x + dt*norm(f(norm(x)))
//     exponential    a block may multiply |x| by a fixed factor above 1           1.1*x + norm(f(x))
//     none           larger weights give longer streams without limit             x + dt*f(norm(x))
//
// Read off the code of each block: a norm is bounded by its gains, a sub-layer by nothing, a sum by its terms. The
// model has the bound of its weakest block. Source: "Stability of Transformers under Layer Normalization" (arXiv
// 2510.09904), sections on Pre-LN, Post-LN and Peri-LN.
#pragma once

#include <cstddef>
#include <vector>

#include "model/block_code.hpp"
#include "model/model.hpp"

namespace flyball::model {

enum class StreamBound { bounded, linear, exponential, none };
const char* name(StreamBound bound) noexcept;

// |stream s after the block| <= sum_r shares[s][r] * |stream r before it| + constants[s], whatever the weights are; the
// constant is infinite where a sub-layer's output gets there without a norm. A norm counts as 1.
struct StreamReach {
    std::vector<std::vector<double>> shares;  // [streams][streams]
    std::vector<double> constants;
};
StreamReach stream_reach(const BlockCode& block);

// `tokens` is the n of the equation.
StreamBound stream_bound(const Model<float>& model, std::size_t tokens);

}  // namespace flyball::model
