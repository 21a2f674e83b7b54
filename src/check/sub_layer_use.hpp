// What an equation does with its sub-layers, read off the code of every block.
//
//     no-sub-layer            nothing is called: there is nothing to learn malformed sub-layer-learns-nothing  what it
//     gives is used, and no gradient comes back: every use is detached        malformed branch-ignores-stream   a
//     sub-layer never sees what the blocks before it have said                          caution sub-layer-not-called
//     attention or the feed-forward network has no place in the equation                     note
#pragma once

#include <vector>

#include "check/finding.hpp"
#include "check/settings.hpp"
#include "scheme/program.hpp"

namespace flyball::check {

std::vector<Finding> sub_layer_use(const scheme::Program& program, const Settings& settings);

}  // namespace flyball::check
