// The group of "Stability of Transformers under Layer Normalization": its themes, one file and one function each.
#pragma once

#include <vector>

#include "claims/claim.hpp"
#include "claims/groups.hpp"

namespace flyball::claims {

Group stability_group();

std::vector<Claim> stability_forward_claims();   // Lemma 1 and how long a stream can become
std::vector<Claim> stability_start_claims();     // growth, gradients and rotation at the start, by depth
std::vector<Claim> stability_backward_claims();  // block Jacobians and gradients of W_out

}  // namespace flyball::claims
