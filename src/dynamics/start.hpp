// Where particles start. Rows are [systems, tokens, dim]; each system has random numbers of its own.
#pragma once

#include <vector>

#include "dynamics/settings.hpp"

namespace flyball::dynamics {

//     symmetric   r0 times orthonormal rows (the first n basis vectors)
//     uniform     r0 times independent uniform points of the sphere
//     gaussian    N(0, I), r0 ignored
//     cone:DELTA  r0 times points around a random axis, every pair with cosine >= 1 - DELTA
std::vector<double> start_rows(const Settings& settings);

}  // namespace flyball::dynamics
