// By which factor a place of a run is off, block by block, and what the equation has written there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/conformance.hpp"
#include "check/conformance_fit.hpp"

namespace flyball::check {

// An input of a sub-layer: "It is multiplied by 1.414, 1.732 and 2 beside what the equation says, which is l^0.5 with
// blocks counted from 1. The equation has the factor 1/sqrt(t+1) there." Nothing where no factor explains the place in
// all of `blocks`.
std::optional<ConformanceFinding> input_factor(const RunFile& run, const Hypothesis& hypothesis, const Reading& reading,
                                               Place place, const std::vector<std::size_t>& blocks);

// What the sub-layers add to the stream: factors on both, on one of them, or one on each, whichever explains the blocks
// best.
struct BranchFinding {
    BranchShape shape = BranchShape::both;
    std::vector<double> attention;  // by block
    std::vector<double> ffn;
    std::vector<ConformanceFinding> findings;
};
std::optional<BranchFinding> branch_factors(const RunFile& run, const Hypothesis& hypothesis, const Reading& reading,
                                            const std::vector<std::size_t>& blocks);

}  // namespace flyball::check
