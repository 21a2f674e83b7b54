// The block as interacting particles: what "Normalization in Attention Dynamics" predicts for it.
//
// n orthonormal tokens (--tokens), beta = 1, identity weights. theta' = P A/s: `speed_factor` is s at the start, that of a
// block that turns tokens as fast as Post-LN being 1. Small layers may be what an author wants (s grows late in
// Pre-LN); a block that hardly turns anything from the beginning wastes its first layers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "check/finding.hpp"
#include "check/settings.hpp"
#include "scheme/catalogue.hpp"
#include "theory/prediction.hpp"

namespace flyball::check {

struct Motion {
    std::size_t tokens = 0;       // n
    std::string problem;          // why there is no such prediction; empty: there is one
    double initial_velocity = 0;  // gamma'(0)
    double post_velocity = 0;     // that of Post-LN
    double speed_factor = 1;      // gamma'(0) of Post-LN over that; below 0: tokens are driven apart
    theory::Law law;

    Json document() const;
    std::string sentence() const;
};

// As many tokens as the model has; the L and d of the equation are its blocks and its channels.
Motion motion_of(const scheme::Scheme& scheme, const Settings& of_model);
std::vector<Finding> findings_of(const Motion& motion, const scheme::Program& program);

}  // namespace flyball::check
