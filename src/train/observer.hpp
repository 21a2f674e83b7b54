// Looks at one training step from inside: the record of every layer, from the taps of a forward and a backward pass.
//
// Attention's weights are looked at in the first few sequences of the batch only, which is enough for a mean over
// thousands of rows and keeps a record cheap; everything else is of the whole batch. All sums are in double.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.hpp"
#include "model/pass.hpp"
#include "model/predicted_angle.hpp"
#include "model/taps.hpp"
#include "train/layer_record.hpp"
#include "train/optimiser.hpp"

namespace flyball::train {

class Observer {
  public:
    Observer(const model::Model<float>& model, model::Batch batch);
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    // Give these to forward() and to loss_and_backward(); what they show is kept until the next forward().
    const model::Taps<float>& taps() const { return taps_; }

    // `weight` is that of the loss whose gradient went back. To be asked before the weights change: predicted angles
    // are of the gains that the pass had.
    std::vector<LayerRecord> records(double weight) const;
    // What the optimiser did to each parameter.
    void add_matrices(const std::vector<ParameterStep>& steps, std::vector<LayerRecord>& records) const;
    const LayerRecord& embedding() const { return embedding_; }  // moments and gradient alone

    // The first block after which a number of the stream is not finite; the number of blocks when none is.
    std::size_t first_not_finite() const;

  private:
    using View = model::TapView<float>;
    struct HeadSums {  // written by one thread at a time
        double entropy = 0;
        double rows = 0;
        double largest = -1e300;
    };
    void see_embedding(const View& view);
    void see_stream(const View& view);
    void see_pattern(const View& view);
    void see_scores(const View& view);
    void see_branch(const View& view);
    void see_added(const View& view);
    double stream_before(std::size_t layer) const;

    const model::Model<float>& model_;
    model::Batch batch_;
    std::size_t looked_at_;  // sequences whose attention is looked at
    std::vector<LayerRecord> layers_;
    LayerRecord embedding_;
    std::vector<model::BlockLengths> lengths_;
    std::vector<HeadSums> heads_;  // [layers, heads]
    std::vector<float> before_;    // the stream on entry to the block that is running
    model::Taps<float> taps_;
};

}  // namespace flyball::train
