// One batch through a model as it is at some moment of its training: what claims about growth, gradients and rotation
// over depth read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace flyball::claims {

// By sub-layer: attention and FFN of the first block, of the second, ..; means are over all tokens of the batch.
struct Depths {
    std::vector<double> sigma;     // rms of the stream, x_0 first; after attention it is x + what attention adds
    std::vector<double> branch;    // rms of what the sub-layer gives, before norms and Dt
    std::vector<double> added;     // rms of what the equation adds: after norms and times Dt
    std::vector<double> turned;    // by how much it turns a token, in radians
    std::vector<double> gradient;  // by block, x_0 first: length of the loss's gradient with respect to the stream
};

// ids, targets: [sequences, tokens]. `ffn_reads_stream`: under Post-LN the stream between attention and FFN is what the
// FFN is given, normed; under Pre-LN and Peri-LN it is x + what attention adds.
Depths depths_of(const model::Model<float>& model, std::size_t sequences, const std::vector<std::int32_t>& ids,
                 const std::vector<std::int32_t>& targets, bool ffn_reads_stream = false);

// A model of the catalogue as training starts it (train/initial.hpp), looked at with drawn tokens.
struct StartSizes {
    std::size_t layers = 12;
    std::size_t dim = 64;
    double dt = 1;
    std::string init = {};
    std::size_t tokens = 64;  // of a sequence; 256 in all
    std::uint64_t seed = 1;
};
Depths start_depths(const std::string& scheme, const StartSizes& sizes);

}  // namespace flyball::claims
