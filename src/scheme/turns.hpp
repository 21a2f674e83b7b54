// Where the outlines of the scalars of an equation change (time_scalars.hpp): the times around which moments.hpp looks
// closely.
#pragma once

#include <functional>
#include <vector>

#include "scheme/time_scalars.hpp"

namespace flyball::scheme {

struct Turns {
    std::vector<double> times;  // rising; the last numbers before each change
    // A scalar that turns more often than its text can account for: that is rounding. It was looked at up to `end`
    // alone; its last few turns before that are after `begin`.
    struct Noisy {
        double begin;
        double end;
    };
    std::vector<Noisy> noisy;
};

// What changes and changes back between two of the rising `probes` is found only where another change is near.
Turns find_turns(const TimeScalars& scalars, const std::function<Environment(double)>& at,
                 const std::vector<double>& probes);

}  // namespace flyball::scheme
