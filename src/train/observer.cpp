#include "train/observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "measure/moments.hpp"

namespace flyball::train {

namespace {

// Of whose attention the weights are looked at: as many sequences as a thousand rows of a layer take, at least one.
std::size_t sequences_looked_at(const model::Model<float>& model, const model::Batch& batch) {
    constexpr std::size_t rows = 1024;
    return std::max<std::size_t>(1, rows / (batch.tokens * model.architecture().heads));
}

void set_moments(const model::TapView<float>& view, const model::Batch& batch, std::size_t dim, LayerRecord& record) {
    const measure::Moments moments = measure::moments(view.data, batch.sequences, batch.tokens, dim);
    record.norm = moments.norm;
    record.mean_abs = moments.mean_abs;
    record.entry_variance = moments.entry_variance;
    record.data_variance = moments.data_variance;
}

// A matrix by its place in the block, whatever its family calls it.
struct NamedMatrix {
    const char* name;
    int parameter;
};
std::vector<NamedMatrix> matrices_of(const model::BlockLayout& block) {
    constexpr std::array<const char*, 3> apart = {"query", "key", "value"};
    constexpr std::array<const char*, 2> gated = {"ffn_gate", "ffn_up"};
    std::vector<NamedMatrix> result;
    for (std::size_t i = 0; i < block.qkv.size(); ++i) {
        result.push_back({block.qkv.size() == 1 ? "qkv" : apart[i], block.qkv[i].weight});
    }
    result.push_back({"output", block.output.weight});
    for (std::size_t i = 0; i < block.ffn_in.size(); ++i) {
        result.push_back({block.ffn_in.size() == 1 ? "ffn_in" : gated[i], block.ffn_in[i].weight});
    }
    result.push_back({"ffn_out", block.ffn_out.weight});
    return result;
}

}  // namespace

Observer::Observer(const model::Model<float>& model, model::Batch batch)
    : model_(model),
      batch_(batch),
      looked_at_(sequences_looked_at(model, batch)),
      layers_(model.architecture().layers),
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
        layers_[view.layer].gradient = measure::frobenius(view.data, view.rows * dim);
    });
    taps_.add("embed.grad",
              [this, dim](const View& view) { embedding_.gradient = measure::frobenius(view.data, view.rows * dim); });
}

void Observer::see_embedding(const View& view) {
    const std::size_t dim = model_.architecture().dim;
    LayerRecord nothing_yet;
    nothing_yet.attention_norm = nothing_yet.ffn_norm = 0;  // see_added() sums them
    std::fill(layers_.begin(), layers_.end(), nothing_yet);
    std::fill(heads_.begin(), heads_.end(), HeadSums{});
    std::fill(lengths_.begin(), lengths_.end(), model::BlockLengths{});
    embedding_ = {};
    set_moments(view, batch_, dim, embedding_);
    before_.assign(view.data, view.data + view.rows * dim);
    for (model::BlockLengths& lengths : lengths_) {
        lengths.embedding = embedding_.norm;
    }
    lengths_[0].streams.assign(model_.program().stream_count(), embedding_.norm);
}

// Streams come in order, x first.
void Observer::see_stream(const View& view) {
    const std::size_t dim = model_.architecture().dim;
    if (view.stream == model_.program().stream_name(0)) {
        LayerRecord& layer = layers_[view.layer];
        set_moments(view, batch_, dim, layer);
        layer.angle = measure::mean_angle(before_.data(), view.data, view.rows, dim);
        before_.assign(view.data, view.data + view.rows * dim);
    }
    if (view.layer + 1 < lengths_.size()) {
        lengths_[view.layer + 1].streams.push_back(measure::mean_length(view.data, view.rows, dim));
    }
}

void Observer::see_branch(const View& view) {
    const std::size_t which = view.site == model::Site::attn_out ? 0 : 1;
    lengths_[view.layer].sub_layers[which].push_back(
        measure::mean_length(view.data, view.rows, model_.architecture().dim));
}

// Several sums of one sub-layer into x count as orthogonal.
void Observer::see_added(const View& view) {
    LayerRecord& layer = layers_[view.layer];
    double& norm = view.site == model::Site::attn_added ? layer.attention_norm : layer.ffn_norm;
    norm = std::hypot(norm, measure::mean_length(view.data, view.rows, model_.architecture().dim));
}

void Observer::see_pattern(const View& view) {
    if (view.sequence >= looked_at_) {
        return;
    }
    HeadSums& sums = heads_[view.layer * model_.architecture().heads + view.head];
    for (std::size_t i = 0; i < view.rows; ++i) {
        const float* const row = view.row(i);
        double entropy = 0;
        for (std::size_t k = 0; k < view.columns; ++k) {
            const auto p = static_cast<double>(row[k]);
            entropy -= p > 0 ? p * std::log(p) : 0;
        }
        sums.entropy += entropy;
    }
    sums.rows += static_cast<double>(view.rows);
}

void Observer::see_scores(const View& view) {
    if (view.sequence >= looked_at_) {
        return;
    }
    HeadSums& sums = heads_[view.layer * model_.architecture().heads + view.head];
    for (std::size_t i = 0; i < view.rows; ++i) {
        const float* const row = view.row(i);
        sums.largest = std::max(sums.largest, static_cast<double>(*std::max_element(row, row + view.columns)));
    }
}

double Observer::stream_before(std::size_t layer) const {
    return layer == 0 ? embedding_.norm : layers_[layer - 1].norm;
}

std::vector<LayerRecord> Observer::records(double weight) const {
    const std::size_t heads = model_.architecture().heads;
    std::vector<LayerRecord> result = layers_;
    for (std::size_t l = 0; l < result.size(); ++l) {
        LayerRecord& layer = result[l];
        layer.gradient /= weight;
        layer.attention_ratio = layer.attention_norm / stream_before(l);
        layer.ffn_ratio = layer.ffn_norm / stream_before(l);
        double entropy = 0;
        double rows = 0;
        layer.largest_logit = heads_[l * heads].largest;
        for (std::size_t h = 0; h < heads; ++h) {
            const HeadSums& sums = heads_[l * heads + h];
            entropy += sums.entropy;
            rows += sums.rows;
            layer.largest_logit = std::max(layer.largest_logit, sums.largest);
        }
        layer.entropy = entropy / rows;
        layer.angle_predicted = model::predicted_angle(model_, l, batch_.tokens, lengths_[l]);
        layer.angle_ratio = layer.angle / layer.angle_predicted;
    }
    return result;
}

void Observer::add_matrices(const std::vector<ParameterStep>& steps, std::vector<LayerRecord>& records) const {
    for (std::size_t l = 0; l < records.size(); ++l) {
        for (const NamedMatrix& matrix : matrices_of(model_.layout().blocks[l])) {
            const ParameterStep& step = steps[static_cast<std::size_t>(matrix.parameter)];
            records[l].matrices.push_back({matrix.name, step.gradient, step.update / step.weight});
        }
    }
}

std::size_t Observer::first_not_finite() const {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
        if (!std::isfinite(layers_[l].norm)) {
            return l;
        }
    }
    return layers_.size();
}

}  // namespace flyball::train
