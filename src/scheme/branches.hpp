// What each call of a sub-layer adds to the streams, read off a block's code, and codes with a branch scaled or shown.
//
// The branch of a call is its output and whatever is made of that alone: norms of it, multiples of it. It ends in the
// first sum with anything else, and what its terms give there, coefficients included, is the call's contribution:
//
//     x + dt*norm(f(norm(x)))        dt*norm(f(..))        what the stream gains
//     norm(x + dt*f(x))              dt*f(x)               inside the norm
//     (1 - a)*x + a*unit(f(x))       a*unit(f(x))
//     y + dt*o, x + dt*o, o = f(x)   dt*o, twice           one for each sum
//
// A branch that is summed with nothing (x = norm(f(x))) contributes its last value. One that only feeds another call
// has no contribution. Not here: what a branch that was summed before a norm means after it; the norm does not split.
#pragma once

#include <cstddef>
#include <vector>

#include "scheme/code.hpp"

namespace flyball::scheme {

struct Contribution {
    SubLayer sub_layer = SubLayer::attention;
    std::size_t stream = 0;  // the first stream that the sum flows into without another call; x when there is none
    int instruction = -1;    // the combine that sums; -1: the stream itself is the branch
    std::vector<Term> terms;
};

// In the order of calls, then of sums.
std::vector<Contribution> contributions(const Code& code);

// Factors on the contributions of all calls of a sub-layer.
struct BranchFactors {
    double attention = 1;
    double feed_forward = 1;
    bool operator==(const BranchFactors&) const = default;
};
void scale_branches(const BranchFactors& factors, Code& code);

// Appends one output for each contribution (after the streams, in the order of contributions()) and returns them.
std::vector<Contribution> add_outputs(Code& code);

// A block with both done to it; what is shown has one output each behind the streams.
struct BranchedCode {
    Code code;
    std::vector<Contribution> shown;
};
BranchedCode lower_branches(const Program& program, SubLayers sub_layers, const std::vector<bool>& decisions,
                            const BranchFactors& factors, bool shown);

}  // namespace flyball::scheme
