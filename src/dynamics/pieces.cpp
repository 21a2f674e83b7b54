#include "dynamics/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scheme/switches.hpp"

namespace flyball::dynamics {

Piece Pieces::at(double t) const {
    Piece piece{0, end_};
    const auto after = std::upper_bound(switches_.begin(), switches_.end(), t);
    if (after != switches_.end()) {
        piece.end = *after;
    }
    if (after != switches_.begin()) {
        piece.begin = *(after - 1);
    }
    if (fresh_) {
        piece.begin = std::max(piece.begin, std::floor(t));
        // Above 2^53 there is no t + 1: the next number will do, so that a run always goes on.
        const double next = std::max(std::floor(t) + 1, std::nextafter(t, std::numeric_limits<double>::infinity()));
        piece.end = std::min(piece.end, next);
    }
    return piece;
}

std::vector<double> switch_times(const Problem& problem) {
    const double T = problem.final_time();
    const auto at = [&](double t) {
        return problem.program.comparisons(scheme::Environment::ode(t, T, problem.tokens, problem.dim));
    };
    std::vector<double> times = scheme::find_switches(at, scheme::switch_probes(T));
    times.erase(std::remove_if(times.begin(), times.end(), [T](double t) { return t >= T; }), times.end());
    return times;
}

}  // namespace flyball::dynamics
