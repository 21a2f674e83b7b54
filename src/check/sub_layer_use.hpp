// What an equation does with its sub-layers, read off the code of every block.
//
//     sub-layer-learns-nothing   malformed   what it gives is used, and no gradient comes back: every use is detached
//     branch-ignores-stream      caution     a sub-layer never sees what the blocks before it have said
//     sub-layer-not-called       note        attention or the feed-forward network has no place in the equation
//
// An equation that calls no sub-layer at all is no equation: the parser refuses it.
#pragma once

#include <vector>

#include "check/finding.hpp"
#include "check/settings.hpp"
#include "scheme/program.hpp"

namespace flyball::check {

std::vector<Finding> sub_layer_use(const scheme::Program& program, const Settings& settings);

}  // namespace flyball::check
