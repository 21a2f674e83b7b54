// Where particles start. Rows are [systems, tokens, dim]; each system has random numbers of its own.
#pragma once

#include <vector>

#include "dynamics/settings.hpp"

namespace flyball::dynamics {

//     symmetric   r0 times orthonormal rows (the first n basis vectors)
//     uniform     r0 times independent uniform points of the sphere
//     gaussian    N(0, I), r0 ignored
//     cone:DELTA  r0 times points around a random axis, every pair with cosine >= 1 - DELTA
//     equiangular:RHO  r0 times vectors of which every pair has the cosine RHO; the same in every system
//     a file      its rows as they are, with their own lengths (start_file.hpp)
std::vector<double> start_rows(const Settings& settings);

// Of n unit vectors with cosines rho, the squared length of their sum over n: 1 + (n-1) rho. 0, where it is 0 but for
// the rounding of rho: they are then the corners of a regular simplex around the origin. Below 0 there are none.
double share_of_mean(std::size_t tokens, double rho);

}  // namespace flyball::dynamics
