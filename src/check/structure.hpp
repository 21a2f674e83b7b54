// Does every part of an equation act? Read off the text, and tried: a part that is scaled without any effect on what
// the model computes is a part that its author believes in and the model does not have.
//
//     branch-never-taken        one side of a ? : that no block of this depth takes
//     factor-always-one         a factor written with t, T, L or depth that is 1 in every block, at any depth
//     part-never-acts           a term or factor whose change changes nothing: multiplied by zero, or never read
//     scale-removed-by-norm     a factor whose change changes nothing because a norm that follows takes it out
//     parameter-without-effect  a learned parameter (at its start, all others at theirs) or one that is set
//     name-never-read           a local that is computed for nobody
//     no-residual-path          the new x knows the old one through a sub-layer only
//     norm-in-stream            x is normed and then added to: what the layers before have said is rescaled every time
//
// and what sub_layer_use.hpp finds.
//
// "Tried" means: the whole model of `depth` blocks in double precision, norms without eps, on a few rows, with a
// random attention and a random feed-forward network that are neither linear nor homogeneous. Learned parameters have
// values of no special kind then, so that a gate that starts at zero counts as what it will become.
#pragma once

#include <vector>

#include "check/finding.hpp"
#include "check/settings.hpp"
#include "scheme/program.hpp"

namespace flyball::check {

std::vector<Finding> structure(const scheme::Program& program, const Settings& settings);

}  // namespace flyball::check
