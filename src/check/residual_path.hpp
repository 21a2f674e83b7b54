// How the old x reaches the new one when no sub-layer is looked through.
//
//     x + f(norm(x))          plain       as it is, beside what is added
//     norm(x + f(x))          normed      the norm comes last
//     norm(x) + f(norm(x))    rescaled    normed, then added to
//     f(norm(x))              none        only a sub-layer has seen it
//
// Read off the statements of each run (attention's, the feed-forward network's) block by block, with the conditions
// and coefficients that the block has. Whether there is a way at all is tried with sub-layers that are held fast
// (trial.hpp): terms may cancel.
#pragma once

#include <vector>

#include "check/finding.hpp"
#include "check/settings.hpp"
#include "scheme/program.hpp"

namespace flyball::check {

// no-residual-path (malformed) and norm-in-stream (caution), each at most once.
std::vector<Finding> residual_path(const scheme::Program& program, const Settings& settings);

}  // namespace flyball::check
