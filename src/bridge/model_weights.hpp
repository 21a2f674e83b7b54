// The attention of a checkpoint as weights of particles: what lies between the papers.
//
// Query, key, value and output matrices of each block are taken as they are, with as many heads as the model has
// (grouped keys and values repeated), norms on queries, keys and values, and the temperature of unit directions
// (dynamics/trained_weights.hpp). LayerNorm subtracts the mean of the channels: the matrices are projected so that they
// neither see nor make one. Positions, biases and the feed-forward network are left out, and the weights say so.
// Refused, in a sentence that says why: soft caps, norms that bend each channel, blocks without a norm or with norms of
// different lengths, LayerNorm on queries and keys.
#pragma once

#include <memory>
#include <string>

#include "dynamics/trained_weights.hpp"
#include "model/model.hpp"

namespace flyball::bridge {

// `gains`: queries, keys and values take the gains of the norm in front of attention; Error(usage) where the model's
// equation has none there. `name` is what messages and results call the model. `weights` keep the model; `checksum` is
// left to whoever knows where it came from.
dynamics::TrainedWeights model_weights(std::shared_ptr<const model::Model<float>> model, const std::string& name,
                                       bool gains);

// The same of a folder, an id in the local cache or builtin:NAME.
std::shared_ptr<const dynamics::TrainedWeights> read_model_weights(const std::string& name, bool gains);

}  // namespace flyball::bridge
