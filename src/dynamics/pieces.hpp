// Where the velocity of a run jumps: switches of its equation and, with fresh weights, whole times. No step crosses
// one.
#pragma once

#include <vector>

#include "dynamics/problem.hpp"

namespace flyball::dynamics {

// Times inside (0, T) at which a comparison of the equation flips, to the last bit.
std::vector<double> switch_times(const Problem& problem);

struct Piece {
    double begin = 0;
    double end = 0;
};

// Pieces are found when they are needed: a run to T = 1e15 with fresh weights has as many.
class Pieces {
  public:
    explicit Pieces(const Problem& problem)
        : switches_(switch_times(problem)), fresh_(problem.fresh), end_(problem.final_time()) {}

    // The piece that begins at or before t, for 0 <= t < T.
    Piece at(double t) const;

  private:
    std::vector<double> switches_;
    bool fresh_;
    double end_;
};

}  // namespace flyball::dynamics
