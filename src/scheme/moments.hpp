// The times that no step may cross: where an equation switches, and around everything in it that changes quickly with
// time. The one finder there is; dynamics and theory end their steps at what it gives.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "scheme/program.hpp"

namespace flyball::scheme {

struct Moments {
    // The comparisons flip; what follows is another piece of the equation (switches.hpp).
    std::vector<double> switches;
    // Times, closer and closer together, around each place where a factor changes quickly. Between two of them every
    // factor is as smooth as a polynomial of degree 16, to nine digits: what happens there shows to any step.
    std::vector<double> stops;
    // For each stop, how far rounding of t, and of what the text makes of it, shakes a factor on the way there from the
    // stop before: relative to the factor. Nobody can follow it more closely.
    std::vector<double> noise;
    // The first time around which a factor changes within so few numbers t that no step can follow it, and by so much
    // that it matters: what comes after it is not known.
    std::optional<double> unresolved;
};

// `probes` are rising times that cover what is asked about, from 0 on. `at` tells what the equation is told of a time.
Moments find_moments(const Program& program, const std::function<Environment(double)>& at,
                     const std::vector<double>& probes);

}  // namespace flyball::scheme
