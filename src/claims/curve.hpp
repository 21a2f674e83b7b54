// The curve of 1 - gamma over the length r that symmetric tokens trace while both are moved by the same output.
#pragma once

#include <functional>
#include <vector>

#include "claims/claim.hpp"

namespace flyball::claims {

// 1 - gamma at increasing log radii, from 1 at r = 1. beta_of(r) is the inverse temperature that attention sees.
std::vector<double> distance_over_radius(const Context& context, double n,
                                         const std::function<double(double r)>& beta_of,
                                         const std::vector<double>& log_radii);

}  // namespace flyball::claims
