// Looks at one training step from inside: the record of every layer, from the taps of a forward and a backward pass.
//
// Attention's weights are looked at in the first few sequences of the batch only, which is enough for a mean over
// thousands of rows and keeps a record cheap; everything else is of the whole batch (model/block_watch.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "model/block_watch.hpp"
#include "train/layer_record.hpp"
#include "train/optimiser.hpp"

namespace flyball::train {

class Observer {
  public:
    Observer(const model::Model<float>& model, model::Batch batch);

    // Give these to forward() and to loss_and_backward(); what they show is kept until the next forward().
    const model::Taps<float>& taps() const { return watch_.taps(); }

    // `weight` is that of the loss whose gradient went back. To be asked before the weights change: predicted angles
    // are of the gains that the pass had.
    std::vector<LayerRecord> records(double weight) const;
    // What the optimiser did to each parameter.
    void add_matrices(const std::vector<ParameterStep>& steps, std::vector<LayerRecord>& records) const;
    LayerRecord embedding() const;  // moments and gradient alone

    // The first block after which a number of the stream is not finite; the number of blocks when none is.
    std::size_t first_not_finite() const { return watch_.first_not_finite(); }

  private:
    const model::Model<float>& model_;
    model::BlockWatch watch_;
};

}  // namespace flyball::train
