// How tokens move at a given state: the equation's velocity in polar coordinates, without a run.
#pragma once

#include <vector>

#include "dynamics/problem.hpp"

namespace flyball::dynamics {

// x = r theta, of every token; rows are [systems*tokens, dim].
struct Velocities {
    std::vector<double> x;       // where they are measured: the problem's start, projected to the equation's manifold
    std::vector<double> theta;   // x/r
    std::vector<double> r;       // [systems*tokens]
    std::vector<double> turn;    // theta'
    std::vector<double> growth;  // r', [systems*tokens]
};

// At t, for 0 <= t < T, with problem.start as the state there. Of a stream's own; lengths above zero.
Velocities velocities(const Problem& problem, double t = 0);

}  // namespace flyball::dynamics
