// Where the velocity of a run jumps: switches of its equation and, with fresh weights, whole times; and stops around
// what changes quickly in it (scheme/moments.hpp). No step crosses one.
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
    explicit Pieces(const Problem& problem);

    // The piece that begins at or before t, for 0 <= t < T.
    Piece at(double t) const;

    // The equation changes too quickly there: no run can go on. Infinite as a rule.
    double unresolved() const { return unresolved_; }

  private:
    std::vector<double> ends_;
    bool fresh_;
    double end_;
    double unresolved_;
};

}  // namespace flyball::dynamics
