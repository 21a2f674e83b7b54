// What is recorded of one block in training. `layer_fields()` is the one list of its quantities: metrics.jsonl,
// TensorBoard's files and figures walk it.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/json.hpp"

namespace flyball::train {

struct MatrixRecord {
    std::string
        name;  // its place in the block: qkv (or query, key, value), output, ffn_in (or ffn_gate, ffn_up), ffn_out
    double gradient = 0;  // length of the loss's gradient
    double update = 0;    // length of the step's change, over that of the matrix
};

// Of the stream x after block `layer`; in the first record of a run, block 0 is the first one. NaN until it is
// measured: a quantity that nobody computes is no 0.
struct LayerRecord {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    double norm = unknown;      // mean length of a row
    double mean_abs = unknown;  // measure/moments.hpp
    double entry_variance = unknown;
    double data_variance = unknown;
    double attention_norm = unknown;   // mean length of what attention adds, as the equation adds it
    double attention_ratio = unknown;  // the same over the mean length of the stream on entry to the block
    double ffn_norm = unknown;
    double ffn_ratio = unknown;
    double gradient = unknown;         // length of the loss's gradient with respect to the stream
    double entropy = unknown;          // mean over rows and heads of -sum p log p of attention, in nats
    double largest_logit = unknown;    // the largest score of any head
    double angle = unknown;            // by which the block turns the stream, mean over rows, in radians
    double angle_predicted = unknown;  // model/predicted_angle.hpp
    double angle_ratio = unknown;      // measured / predicted
    std::vector<MatrixRecord> matrices;
};

struct LayerField {
    const char* name;   // in files
    const char* title;  // on the axis of a figure
    double LayerRecord::*value;
    bool is_logarithmic = false;  // on the axis of a figure
};
const std::vector<LayerField>& layer_fields();

Json to_json(const LayerRecord& record);

}  // namespace flyball::train
