// The loss of a text that is longer than a model's window: windows that overlap, every token scored once.
//
//     windows [b, b + length) begin at b = 0, stride, 2 stride, .. until one reaches the end of the text;
//     a window scores the tokens that no window before it has seen
//
// So every token but the first of the text is scored once, and from the second window on with at least length - stride
// tokens before it: the smaller the stride, the closer to a model that sees all that came before, and the more windows.
// With stride = length windows are disjoint, and the first token of each has nothing before it and is not scored.
// This is the sliding window of Hugging Face's page "Perplexity of fixed-length models"; the mean here is over tokens,
// each counting once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/model.hpp"

namespace flyball::model {

struct Strides {
    std::size_t length = 0;   // of a window
    std::size_t stride = 0;   // from 1 to length
    bool allow_long = false;  // windows beyond the model's positions (batch.hpp)
};

// Mean and standard error of what was scored; NaN for none, and an error of NaN for one.
struct MeanLoss {
    std::size_t scored = 0;
    double loss = 0;            // nats a token
    double standard_error = 0;  // of the loss, as if tokens were independent: s / sqrt(scored)
    double perplexity = 0;      // e^loss
};
MeanLoss mean_loss(std::span<const double> losses);  // those that are not NaN

struct TextScore {
    std::vector<double> losses;  // [tokens]: -log p of token i given those before it in its window; NaN: not scored
    std::size_t windows = 0;
    MeanLoss mean;
    bool finite = true;  // whether every loss that was to be scored is
};

// Throws Error(usage) for a stride outside its range, a window of fewer than two tokens, a model without a head or
// without a causal mask. `told` hears after each window how many tokens of the text are done.
TextScore score_by_strides(const Model<float>& model, std::span<const std::int32_t> ids, const Strides& strides,
                           const std::function<void(std::size_t)>& told = {});

}  // namespace flyball::model
