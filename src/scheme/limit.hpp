// Does an equation have an ODE limit?
//
// It has one iff the sub-layer is multiplied by something that vanishes with dt and N0 = S(., 0) is idempotent. The
// first is decided from the coefficients (plan.hpp), the second by applying N0 twice to probe rows. Both may depend on
// t (Mix-LN switches), so several times are looked at, one between any two switches among them, and on n and d.
#pragma once

#include <optional>
#include <string>

#include "scheme/code.hpp"

namespace flyball::scheme {

// A run of some length, for equations that are looked at without one.
inline Environment some_run() {
    return Environment::ode(0, 10, 5, 7);
}

// Why there is no limit, as a sentence without its full stop, or nothing. T, n and d are those of `run`.
std::optional<std::string> limit_problem(const Program& program, SubLayers sub_layers,
                                         const Environment& run = some_run());

// Why there is no reduced law, or nothing: the same for the plane. A program without a limit has no law either.
std::optional<std::string> reduced_law_problem(const Program& program, const Environment& run = some_run());

}  // namespace flyball::scheme
