// What an inspection finds: the depth report of a model on a text.
//
// Symbols: x_l is the stream after block l, [tokens, dim]; blocks count from 0, as in the names of tensors. Means are
// over tokens, and over the sequences of the batch. `layer_fields()` is the one list of a block's numbers: JSON, tables
// and figures walk it. What was not measured is NaN, never 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/growth.hpp"
#include "model/block_watch.hpp"
#include "model/stream_bound.hpp"

namespace flyball::inspect {

using model::not_measured;

struct LayerReport {
    // Of the stream: x after the block, or the embedding.
    double norm = not_measured;         // mean length of a token's vector
    double norm_low = not_measured;     // 5 % of tokens are shorter
    double norm_median = not_measured;  //
    double norm_high = not_measured;    // 5 % are longer
    double mean_abs = not_measured;     // measure/moments.hpp
    double entry_variance = not_measured;
    double data_variance = not_measured;      // NaN for one sequence
    double cosine = not_measured;             // mean over pairs of tokens of one sequence
    double effective_rank = not_measured;     // measure/rows.hpp, of one sequence's tokens
    double collapse_residual = not_measured;  // 0 when all tokens of a sequence are one vector
    double largest = not_measured;            // largest absolute value of an entry
    double median_abs = not_measured;         // median absolute value of an entry
    double gradient = not_measured;           // length of the gradient of the mean loss with respect to this stream
    // Of the block.
    double attention_norm = not_measured;  // what attention adds to the stream, as the equation adds it
    double attention_ratio = not_measured;
    double attention_cosine = not_measured;
    double ffn_norm = not_measured;
    double ffn_ratio = not_measured;
    double ffn_cosine = not_measured;
    double angular_distance = not_measured;   // mean angle between x before and after the block, over pi
    double angular_predicted = not_measured;  // model/predicted_angle.hpp, over pi
    double angular_ratio = not_measured;      // measured over predicted
    double influence = not_measured;          // 1 - mean cosine of x before and after
    double entropy = not_measured;            // of attention's weights, mean over heads, in nats
    double sink = not_measured;               // weight of the first token, mean over heads
    double sink_heads = not_measured;         // share of heads that give it more than 30 %
    double largest_logit = not_measured;      // largest score of any head, before the softmax
    double gain_mean = not_measured;          // mean absolute gain of the block's norms
    double gain_largest = not_measured;
    double drop = not_measured;            // loss without the block, minus the loss
    double lens_loss = not_measured;       // loss if the model ended here
    double lens_agreement = not_measured;  // share of tokens whose most likely next token is the model's own
};

struct LayerField {
    const char* name;   // in files
    const char* title;  // on the axis of a figure
    double LayerReport::*value;
};
const std::vector<LayerField>& layer_fields();
// The first of them: those that the embedding has too.
const std::vector<LayerField>& stream_fields();

// An entry that dwarfs the others: above 100 in size and a thousand times the median (Sun et al., arXiv 2402.17762).
struct MassiveActivation {
    std::size_t layer = 0;
    std::size_t sequence = 0;
    std::size_t token = 0;  // its position in the sequence
    std::size_t channel = 0;
    double value = 0;
};

// The gains of one norm.
struct GainReport {
    std::size_t layer = 0;
    std::string norm;  // the tensor
    double mean = 0;   // of absolute values
    double deviation = 0;
    double largest = 0;
};

struct Report {
    std::size_t sequences = 0;
    std::size_t tokens = 0;  // of each sequence
    std::size_t dim = 0;
    std::vector<std::int32_t> ids;  // [sequences, tokens]; none where rows were given
    double loss = not_measured;
    LayerReport embedding;  // stream_fields() alone
    std::vector<LayerReport> layers;
    std::vector<std::vector<model::HeadMeasures>> heads;  // [layers][heads]
    std::vector<MassiveActivation> massive;               // at most three a block, largest first
    std::vector<GainReport> gains;
    // By block: the most likely next token after the last one; nothing where logits are not numbers.
    std::vector<std::optional<std::int32_t>> lens_top;
    std::optional<std::int32_t> final_top;  // the model's own
    measure::Growth growth;                 // of the median length over depth
    model::StreamBound bound = model::StreamBound::none;
    std::size_t first_not_finite = 0;  // the block after which the stream is not finite; the number of blocks when none
};

}  // namespace flyball::inspect
