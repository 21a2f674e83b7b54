// By which factor a place of a run is off, block by block, and what the equation has written there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/conformance.hpp"

namespace flyball::check {

// "In the run it is 1.414, 1.732 and 2 times that, which is l^0.5 with blocks counted from 1, where the equation has
// 1/sqrt(t+1) = 0.7071 in block 1." Nothing where no factor explains the place in all of `blocks`.
std::optional<ConformanceFinding> factor_finding(const RunFile& run, const Hypothesis& hypothesis,
                                                 const Reading& reading, Place place,
                                                 const std::vector<std::size_t>& blocks);

}  // namespace flyball::check
