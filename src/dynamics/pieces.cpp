#include "dynamics/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "scheme/moments.hpp"
#include "scheme/switches.hpp"

namespace flyball::dynamics {

namespace {

scheme::Moments moments_of(const Problem& problem) {
    const double T = problem.final_time();
    const auto at = [&](double t) { return scheme::Environment::ode(t, T, problem.tokens, problem.dim); };
    scheme::Moments moments = scheme::find_moments(problem.program, at, scheme::switch_probes(T));
    std::erase_if(moments.switches, [T](double t) { return t >= T; });
    return moments;
}

}  // namespace

Pieces::Pieces(const Problem& problem) : fresh_(problem.fresh), end_(problem.final_time()) {
    const scheme::Moments moments = moments_of(problem);
    std::merge(moments.switches.begin(), moments.switches.end(), moments.stops.begin(), moments.stops.end(),
               std::back_inserter(ends_));
    unresolved_ = moments.unresolved.value_or(HUGE_VAL);
}

Piece Pieces::at(double t) const {
    Piece piece{0, end_};
    const auto after = std::upper_bound(ends_.begin(), ends_.end(), t);
    if (after != ends_.end()) {
        piece.end = *after;
    }
    if (after != ends_.begin()) {
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
    return moments_of(problem).switches;
}

}  // namespace flyball::dynamics
