// The five analyses on every head of a model, while a text runs through it.
//
// A pass shows the scores of a head in blocks of rows; each block is turned into weights, into everything about its
// rows (head_sums.hpp), and forgotten. Of a layer there is one Gram matrix of its vectors (of a head, for values).
//
// A causal model sees no difference between a text and the beginning of a longer one, so that one pass serves all
// lengths. Other models, and analyses that count masked keys, take one pass a length, each over the first tokens.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "limits/gram.hpp"
#include "limits/result.hpp"
#include "limits/settings.hpp"
#include "model/input.hpp"

namespace flyball::limits {

struct Watch {
    std::function<void(double share)> progress = {};  // from several threads, one at a time
    const std::atomic<bool>* stop = nullptr;          // flyball::Stopped is thrown when it is set
};

// One result for each of settings.attention, or for the model's own. `lengths` as lengths_for gave them.
std::vector<Result> analyse(const model::Model<float>& model, const model::Input& input, const Settings& settings,
                            const std::vector<std::size_t>& lengths, const Watch& watch = {});

// Bytes beside the model's parameters.
double memory_estimate(const model::Architecture& architecture, std::size_t tokens, const Settings& settings);

// The keys that token t of so many sees in a layer.
Seen seen_by(const model::Architecture& architecture, std::size_t layer, std::size_t t, std::size_t tokens);

// N of the separation ratio: powers of two up to 128, the diagnosis' N and those asked for.
std::vector<std::size_t> separation_counts(const Settings& settings);

}  // namespace flyball::limits
