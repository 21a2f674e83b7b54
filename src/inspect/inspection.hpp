// The depth report of a model: one pass over a batch of sequences that measures every block, and where asked for one
// more with each block left out and one through the lens.
//
// Diagnostics and their sources: moments (arXiv 2510.09904), angular distance (Gromov et al., arXiv 2403.17887; here
// the mean over all tokens), block influence (ShortGPT, arXiv 2403.03853), massive activations (arXiv 2402.17762),
// attention sinks (arXiv 2410.10781), effective rank (Roy and Vetterli 2007), rank collapse (arXiv 2103.03404), the
// lens (nostalgebraist 2020). docs/inspect.md has the formulas.
//
// A contribution is what the equation adds to the stream: for Peri-LN after the output norm, for Granite after its
// multiplier. Reading a sub-layer's own output instead is the usual mistake of such reports.
#pragma once

#include <atomic>
#include <functional>

#include "inspect/report.hpp"
#include "inspect/settings.hpp"
#include "model/input.hpp"
#include "model/model.hpp"

namespace flyball::inspect {

struct Watch {
    std::function<void(double share)> progress = {};
    const std::atomic<bool>* stop = nullptr;  // flyball::Stopped is thrown when it is set
};

// Error(input) for sequences of fewer than two tokens.
void check_batch(const model::Batch& batch);

// The input has the tokens of all sequences, one after another; check_batch() holds for the batch. A model
// without a head has no loss, no gradient, no drop and no lens: all NaN.
Report inspect(const model::Model<float>& model, model::Batch batch, const model::Input& input,
               const Settings& settings, const Watch& watch = {});

// Bytes beside the model's parameters.
double memory_estimate(const model::Model<float>& model, const model::Batch& batch, const Settings& settings);

}  // namespace flyball::inspect
