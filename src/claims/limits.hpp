// The group of "Limitations of Normalization in Attention Mechanism": its themes, one file and one function each.
#pragma once

#include <vector>

#include "claims/claim.hpp"
#include "claims/groups.hpp"

namespace flyball::claims {

Group limits_group();

std::vector<Claim> limits_weights_claims();      // Lemma 1 and Corollary 1: how large a weight can be
std::vector<Claim> limits_distance_claims();     // Theorem 1, Corollary 2
std::vector<Claim> limits_separation_claims();   // Theorem 2
std::vector<Claim> limits_sensitivity_claims();  // Lemma 2, Corollary 3
std::vector<Claim> limits_model_claims();        // what the paper measures on one model
std::vector<Claim> limits_placement_claims();    // what depends on the placement of the norm

}  // namespace flyball::claims
