// Runs with the schemes they are of, and the JSON document of them: what `simulate --json` prints and result.json
// holds.
#pragma once

#include <optional>
#include <vector>

#include "core/json.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics {

struct SchemeRun {
    scheme::Scheme scheme;
    Record record;
};

// Below this 1 - cosine is the solver's tolerance and says nothing about the motion: angles between tokens that are
// below thirty tolerances (with attention in float a hundred) are errors of its own making, and 1 - cosine goes with
// their square. The tolerance of a direction is rtol, or that of d numbers, sqrt(d) atol, where it is larger. None
// where no tolerance is used (layers, equal steps) or where every run follows motion of any size (follows_slow_motion).
std::optional<double> one_minus_cosine_resolution(const Settings& settings, const std::vector<SchemeRun>& runs);

Json document(const Settings& settings, const std::vector<SchemeRun>& runs);

}  // namespace flyball::dynamics
