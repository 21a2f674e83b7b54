// What every block of a model does to the stream x while a batch runs through it: lengths and moments, what each branch
// adds, how far the block turns the stream and how far its equation says it should, what its heads attend to, and on
// the way back the gradient.
//
// Give taps() to forward() and to loss_and_backward(); what they show is kept until the next forward(). Attention is
// looked at in the first few sequences only, as many as the constructor is told. All sums are in double.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "measure/moments.hpp"
#include "model/model.hpp"
#include "model/pass.hpp"
#include "model/predicted_angle.hpp"
#include "model/taps.hpp"

namespace flyball::model {

// NaN until it is measured: a quantity that nobody computes is no 0.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// Of one head, over the rows that were looked at.
struct HeadMeasures {
    double entropy = not_measured;        // mean of -sum p log p, in nats
    double largest_score = not_measured;  // before they become weights
    double first_weight = not_measured;   // mean weight of the sequence's first token
};

struct BranchMeasures {
    double norm = not_measured;    // mean length of a row of what the equation adds, in all
    double ratio = not_measured;   // the same over the mean length of the stream on entry to the block
    double cosine = not_measured;  // mean over rows, of the same with the stream on entry to the block
};

struct BlockMeasures {
    measure::Moments moments = {not_measured, not_measured, not_measured, not_measured};
    BranchMeasures attention;
    BranchMeasures ffn;
    double angle = not_measured;            // by which the block turns x, mean over rows, in radians
    double angle_predicted = not_measured;  // predicted_angle.hpp
    double influence = not_measured;        // mean over rows of 1 - cosine of x before and after the block
    double gradient = not_measured;         // length of the gradient with respect to x after the block
    std::vector<HeadMeasures> heads;
};

class BlockWatch {
  public:
    // `looked_at`: of how many sequences the attention is looked at.
    BlockWatch(const Model<float>& model, Batch batch, std::size_t looked_at);
    BlockWatch(const BlockWatch&) = delete;
    BlockWatch& operator=(const BlockWatch&) = delete;

    Taps<float>& taps() { return taps_; }  // others may add their own
    const Taps<float>& taps() const { return taps_; }

    // To be asked before the weights change: predicted angles are of the gains that the pass had.
    std::vector<BlockMeasures> blocks() const;
    const BlockMeasures& embedding() const { return embedding_; }  // moments and gradient alone

    // The first block after which a number of the stream is not finite; the number of blocks when none is.
    std::size_t first_not_finite() const;

  private:
    using View = TapView<float>;
    struct HeadSums {  // written by one thread at a time
        double entropy = 0;
        double first_weight = 0;
        double rows = 0;
        double largest = -std::numeric_limits<double>::infinity();
    };
    void see_embedding(const View& view);
    void see_stream(const View& view);
    void see_pattern(const View& view);
    void see_scores(const View& view);
    void see_branch(const View& view);
    void see_added(const View& view);

    const Model<float>& model_;
    Batch batch_;
    std::size_t looked_at_;
    std::vector<BlockMeasures> blocks_;
    BlockMeasures embedding_;
    std::vector<BlockLengths> lengths_;
    std::vector<HeadSums> heads_;              // [layers, heads]
    std::vector<float> before_;                // the stream on entry to the block that is running
    std::array<std::vector<float>, 2> added_;  // what attention and FFN of that block have added to x so far
    Taps<float> taps_;
};

}  // namespace flyball::model
