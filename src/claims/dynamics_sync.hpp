// What the claims about synchronisation share: random starts, and how many of them end together.
#pragma once

#include <cstddef>

#include "claims/experiment.hpp"

namespace flyball::claims {

struct Setup {
    std::size_t tokens;
    std::size_t dim;
    double beta;
};

struct Counted {
    std::size_t together = 0;
    std::size_t excused = 0;  // not together, with a token whose growth <theta, A> has all but stopped
    std::size_t systems = 0;

    double share() const { return static_cast<double>(together) / static_cast<double>(systems); }
};

inline constexpr double together_level = 1e-3;

// How many of `systems` random starts have a mean cosine above 1 - 1e-3 at time T.
Counted count_together(const Context& context, const scheme::Program& program, dynamics::StartKind start,
                       const Setup& setup, double T, std::size_t systems);

}  // namespace flyball::claims
