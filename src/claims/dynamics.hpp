// The group of "Normalization in Attention Dynamics": its themes, one file and one function each.
#pragma once

#include <vector>

#include "claims/claim.hpp"
#include "claims/groups.hpp"

namespace flyball::claims {

Group dynamics_group();

std::vector<Claim> dynamics_table_claims();         // Table 2: what each scheme's equation means
std::vector<Claim> dynamics_sync_claims();          // Theorem 3.1: clusters
std::vector<Claim> dynamics_sync_edges_claims();    // where it needs more than it says
std::vector<Claim> dynamics_energy_claims();        // the energy behind it
std::vector<Claim> dynamics_symmetric_claims();     // Theorem 4.1: the reduced law, initial velocity
std::vector<Claim> dynamics_terminal_claims();      // Theorem 4.1: terminal velocity
std::vector<Claim> dynamics_start_claims();         // Theorem 4.2: random starts, temperature
std::vector<Claim> dynamics_cone_claims();          // Theorem 4.3: near consensus
std::vector<Claim> dynamics_cone_opening_claims();  // how narrow the cone has to be
std::vector<Claim> dynamics_random_claims();        // random weights
std::vector<Claim> dynamics_growth_claims();        // norm growth under random weights
std::vector<Claim> dynamics_curves_claims();        // the theory curves
std::vector<Claim> dynamics_headline_claims();      // Peri-LN at both ends
std::vector<Claim> dynamics_clock_claims();        // causal masks, LN-Scaling, time changes: what the paper leaves open
std::vector<Claim> dynamics_findings_claims();     // the curve and constant of Pre-LN and Peri-LN
std::vector<Claim> dynamics_output_norm_claims();  // Output-LN, with and without normed queries and keys
std::vector<Claim> dynamics_sublayers_claims();    // heads, FFN
std::vector<Claim> dynamics_trained_claims();      // what survives trained weights

}  // namespace flyball::claims
