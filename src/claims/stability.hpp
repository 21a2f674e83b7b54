// The group of "Stability of Transformers under Layer Normalization": its themes, one file and one function each.
#pragma once

#include <vector>

#include "claims/claim.hpp"
#include "claims/groups.hpp"

namespace flyball::claims {

Group stability_group();

std::vector<Claim> stability_forward_claims();           // Lemma 1 and how long a stream can become
std::vector<Claim> stability_pre_claims();               // how long a stream can become under Pre-LN
std::vector<Claim> stability_start_claims();             // growth, gradients and rotation at the start, by depth
std::vector<Claim> stability_jacobian_claims();          // of one sub-layer
std::vector<Claim> stability_w_out_claims();             // gradients of W_out
std::vector<Claim> stability_trained_step_claims();      // a residual step below 1
std::vector<Claim> stability_trained_depth_claims();     // bounds, turns and removed blocks
std::vector<Claim> stability_trained_flow_claims();      // gradients in training, by depth
std::vector<Claim> stability_trained_backward_claims();  // gradients beside their bounds
std::vector<Claim> stability_trained_decay_claims();     // weight decay, new text, noise

}  // namespace flyball::claims
