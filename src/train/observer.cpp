#include "train/observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "measure/extremes.hpp"
#include "measure/moments.hpp"

namespace flyball::train {

namespace {

// Of whose attention the weights are looked at: as many sequences as a thousand rows of a layer take, at least one.
std::size_t sequences_looked_at(const model::Model<float>& model, const model::Batch& batch) {
    constexpr std::size_t rows = 1024;
    return std::max<std::size_t>(1, rows / (batch.tokens * model.architecture().heads));
}

void set_moments(const measure::Moments& moments, LayerRecord& record) {
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
    : model_(model), watch_(model, batch, sequences_looked_at(model, batch)) {}

LayerRecord Observer::embedding() const {
    LayerRecord record;
    set_moments(watch_.embedding().moments, record);
    record.gradient = watch_.embedding().gradient;
    return record;
}

// Gradients went back times `weight`: divided by it they are those of the loss of the batch.
std::vector<LayerRecord> Observer::records(double weight) const {
    std::vector<LayerRecord> result;
    for (const model::BlockMeasures& block : watch_.blocks()) {
        LayerRecord& layer = result.emplace_back();
        set_moments(block.moments, layer);
        layer.gradient = block.gradient / weight;
        layer.attention_norm = block.attention.norm;
        layer.attention_ratio = block.attention.ratio;
        layer.ffn_norm = block.ffn.norm;
        layer.ffn_ratio = block.ffn.ratio;
        double entropy = 0;
        layer.largest_logit = block.heads.front().largest_score;
        for (const model::HeadMeasures& head : block.heads) {
            entropy += head.entropy;
            layer.largest_logit = measure::larger(layer.largest_logit, head.largest_score);
        }
        layer.entropy = entropy / static_cast<double>(block.heads.size());
        layer.angle = block.angle;
        layer.angle_predicted = block.angle_predicted;
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

}  // namespace flyball::train
