#include "dynamics/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
    std::vector<double> times;
    if (at(0).empty()) {
        return times;
    }
    constexpr int probes = 4096;  // two switches closer than T/4096 would be seen as none or one
    for (int i = 0; i < probes; ++i) {
        double low = T * i / probes;
        double high = T * (i + 1) / probes;
        if (at(low) == at(high)) {
            continue;
        }
        const std::vector<bool> before = at(low);
        while (std::nextafter(low, high) < high) {
            const double middle = low + (high - low) / 2;
            (at(middle) == before ? low : high) = middle;
        }
        // depth <= tau holds at the switch itself, depth < tau does not: the switch is the last point before.
        const double point = low;
        if (point > 0 && point < T) {
            times.push_back(point);
        }
    }
    return times;
}

}  // namespace flyball::dynamics
