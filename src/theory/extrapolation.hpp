// Initial value problems of a few numbers to nearly all digits a double has: extrapolation of a simple step to zero
// size.
//
//     explicit     modified midpoint with 2, 4, 6, .. sub-steps, errors in h^2 (Gragg, Bulirsch, Stoer)
//     implicit     linearly implicit Euler with 1, 2, 3, .. sub-steps, errors in h (Deuflhard), Jacobian by differences
//
// Order and step follow from the work per unit of time. The implicit table is for laws that are slow while a part of
// the state relaxes fast: an explicit method would crawl for ever. No coefficients to mistype, and the order goes
// to 18.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace flyball::theory {

using Numbers = std::vector<double>;

struct Problem {
    // False where the derivative does not exist or is not finite.
    std::function<bool(double t, const Numbers& y, Numbers& slope)> slope;
    // The size that the error of each number is measured against.
    std::function<void(const Numbers& before, const Numbers& after, Numbers& size)> sizes;
};

class Extrapolation {
  public:
    Extrapolation(Problem problem, double tolerance_wanted)
        : tolerance(tolerance_wanted), problem_(std::move(problem)) {}

    enum class Outcome { done, underflow };
    // One accepted step from (t, y), at most to `end` and exactly to it when it is in reach.
    Outcome step(double& t, Numbers& y, double end);

    double tolerance;
    bool implicit = false;
    double next_step = 1e-3;
    std::size_t order = 6;  // row of the table that is aimed at
    double last_step = 0;   // the one that was accepted
    // The implicit table is to try a step as long as this once, if it is longer. Steps as long as something relaxes are
    // the worst for it: short ones follow, long ones leave nothing of it, and control by the errors does not find its
    // way from the ones to the others. Only where all that such a step does not follow is damped: what grows or swings
    // would be lost in it without a trace.
    double leap = 0;

  private:
    bool sub_steps(double t, const Numbers& y, double h, int count, Numbers& increment);
    bool differentiate(double t, const Numbers& y);
    bool only_damped_within(double h) const;
    bool solve_linear(double h, Numbers& right);  // right <- (I - h J)^-1 right

    Problem problem_;
    Numbers slope_;                  // at the start of the step
    std::vector<Numbers> jacobian_;  // [row][column]
};

}  // namespace flyball::theory
