// What each tap adds to the measures of its block; sums of heads become means when they are asked for.
#include "model/block_watch.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "measure/extremes.hpp"

namespace flyball::model {

BlockWatch::BlockWatch(const Model<float>& model, Batch batch, std::size_t looked_at)
    : model_(model),
      batch_(batch),
      looked_at_(looked_at),
      blocks_(model.architecture().layers),
      lengths_(model.architecture().layers),
      heads_(model.architecture().layers * model.architecture().heads) {
    const std::size_t dim = model.architecture().dim;
    taps_.add("embed", [this](const View& view) { see_embedding(view); });
    taps_.add("blocks.*.resid.*", [this](const View& view) { see_stream(view); });
    taps_.add("blocks.*.attn.out", [this](const View& view) { see_branch(view); });
    taps_.add("blocks.*.ffn.out", [this](const View& view) { see_branch(view); });
    taps_.add("blocks.*.attn.added", [this](const View& view) { see_added(view); });
    taps_.add("blocks.*.ffn.added", [this](const View& view) { see_added(view); });
    taps_.add("blocks.*.attn.pattern", [this](const View& view) { see_pattern(view); });
    taps_.add("blocks.*.attn.scores", [this](const View& view) { see_scores(view); });
    taps_.add("blocks.*.grad", [this, dim](const View& view) {
        blocks_[view.layer].gradient = measure::frobenius(view.data, view.rows * dim);
    });
    taps_.add("embed.grad",
              [this, dim](const View& view) { embedding_.gradient = measure::frobenius(view.data, view.rows * dim); });
}

void BlockWatch::see_embedding(const View& view) {
    const std::size_t dim = model_.architecture().dim;
    BlockMeasures nothing_yet;
    nothing_yet.attention.norm = nothing_yet.ffn.norm = 0;  // of a block that adds nothing
    std::fill(blocks_.begin(), blocks_.end(), nothing_yet);
    std::fill(heads_.begin(), heads_.end(), HeadSums{});
    std::fill(lengths_.begin(), lengths_.end(), BlockLengths{});
    embedding_ = {};
    embedding_.moments = measure::moments(view.data, batch_.sequences, batch_.tokens, dim);
    before_.assign(view.data, view.data + view.rows * dim);
    for (BlockLengths& lengths : lengths_) {
        lengths.embedding = embedding_.moments.norm;
    }
    lengths_[0].streams.assign(model_.program().stream_count(), embedding_.moments.norm);
}

// Streams come in order, x first.
void BlockWatch::see_stream(const View& view) {
    const std::size_t dim = model_.architecture().dim;
    if (view.stream == model_.program().stream_name(0)) {
        BlockMeasures& block = blocks_[view.layer];
        block.moments = measure::moments(view.data, batch_.sequences, batch_.tokens, dim);
        const measure::Turn turn = measure::mean_turn(before_.data(), view.data, view.rows, dim);
        block.angle = turn.angle;
        block.influence = turn.one_minus_cosine;
        before_.assign(view.data, view.data + view.rows * dim);
    }
    if (view.layer + 1 < lengths_.size()) {
        lengths_[view.layer + 1].streams.push_back(measure::mean_length(view.data, view.rows, dim));
    }
}

void BlockWatch::see_branch(const View& view) {
    const std::size_t which = view.site == Site::attn_out ? 0 : 1;
    lengths_[view.layer].sub_layers[which].push_back(
        measure::mean_length(view.data, view.rows, model_.architecture().dim));
}

// A sub-layer may be added to x more than once: what is measured is the sum of all that its block has added so far.
void BlockWatch::see_added(const View& view) {
    const std::size_t dim = model_.architecture().dim;
    BlockMeasures& block = blocks_[view.layer];
    BranchMeasures& branch = view.site == Site::attn_added ? block.attention : block.ffn;
    std::vector<float>& sum = added_[view.site == Site::attn_added ? 0 : 1];
    if (std::isnan(branch.cosine)) {  // the first of this block
        sum.assign(view.data, view.data + view.rows * dim);
    } else {
        std::transform(sum.begin(), sum.end(), view.data, sum.begin(), std::plus<>());
    }
    branch.norm = measure::mean_length(sum.data(), view.rows, dim);
    branch.cosine = 1 - measure::mean_turn(before_.data(), sum.data(), view.rows, dim).one_minus_cosine;
}

void BlockWatch::see_pattern(const View& view) {
    if (view.sequence >= looked_at_) {
        return;
    }
    HeadSums& sums = heads_[view.layer * model_.architecture().heads + view.head];
    for (std::size_t i = 0; i < view.rows; ++i) {
        const float* const row = view.row(i);
        double entropy = 0;
        for (std::size_t k = 0; k < view.columns; ++k) {
            const auto p = static_cast<double>(row[k]);
            entropy -= p <= 0 ? 0 : p * std::log(p);  // a NaN is no 0
        }
        sums.entropy += entropy;
        sums.first_weight += view.first_column == 0 && view.columns > 0 ? static_cast<double>(row[0]) : 0;
    }
    sums.rows += static_cast<double>(view.rows);
}

void BlockWatch::see_scores(const View& view) {
    if (view.sequence >= looked_at_) {
        return;
    }
    HeadSums& sums = heads_[view.layer * model_.architecture().heads + view.head];
    for (std::size_t i = 0; i < view.rows; ++i) {
        const float* const row = view.row(i);
        for (std::size_t k = 0; k < view.columns; ++k) {
            sums.largest = measure::larger(sums.largest, static_cast<double>(row[k]));
        }
    }
}

std::vector<BlockMeasures> BlockWatch::blocks() const {
    const std::size_t heads = model_.architecture().heads;
    std::vector<BlockMeasures> result = blocks_;
    for (std::size_t l = 0; l < result.size(); ++l) {
        BlockMeasures& block = result[l];
        const double entry = l == 0 ? embedding_.moments.norm : blocks_[l - 1].moments.norm;
        block.attention.ratio = block.attention.norm / entry;
        block.ffn.ratio = block.ffn.norm / entry;
        block.angle_predicted = predicted_angle(model_, l, batch_.tokens, lengths_[l]);
        for (std::size_t h = 0; h < heads; ++h) {
            const HeadSums& sums = heads_[l * heads + h];
            block.heads.push_back(
                {sums.entropy / sums.rows, sums.rows > 0 ? sums.largest : not_measured, sums.first_weight / sums.rows});
        }
    }
    return result;
}

std::size_t BlockWatch::first_not_finite() const {
    const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                    [](const BlockMeasures& block) { return !std::isfinite(block.moments.norm); });
    return static_cast<std::size_t>(found - blocks_.begin());
}

}  // namespace flyball::model
