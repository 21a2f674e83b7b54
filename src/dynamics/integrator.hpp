// One step of an ODE run, and the solution inside it.
//
//     y' = v(t, y)      on the manifold of the equation, the image of N0
//
// An integrator asks for v anywhere near the manifold and gets v(t, N0(y)). That keeps the order p of any method: N0 is
// smooth and is the identity on the manifold, so the extended field is smooth, and v is tangent to the manifold, so a
// solution that starts there stays there and is the one we want. A step is then wrong by O(h^(p+1)), and so is its
// projection, because N0(y) - y* = N0(y) - N0(y*) for the exact y*. What f sees is on the manifold in every stage: unit
// vectors stay unit vectors, which the fast kernels need.
//
// Between steps an integrator remembers what forget() forgets, and nothing else but StepState. A run calls it at its
// restart points, whether or not they are written: that is what makes a resumed run end with the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "dynamics/problem.hpp"

namespace flyball::dynamics {

// What is integrated. y: all streams one after the other, `numbers` of them.
class Motion {
  public:
    virtual ~Motion() = default;
    virtual std::size_t numbers() const = 0;
    virtual void project(double t, double* y) = 0;                        // y <- N0(y)
    virtual void velocity(double t, const double* y, double* slope) = 0;  // slope <- v(t, N0(y))
};

struct StepState {
    double t = 0;
    double h = 0;              // step to try next; 0: not known yet
    std::size_t steps = 0;     // accepted so far
    std::size_t standing = 0;  // of these the last, in which t + h was t: two tokens that meet at t = 1e22 take a few
    // t after the latest power of two of steps, and after the halves of that: how far doublings of the work have led.
    std::array<double, 4> doublings{};
};

// Where t + h is t, a step is still taken when it is as long as tokens need to move, at rate 1: then t is so large that
// it cannot be seen. Shorter ones are a step size that runs to zero, and many of them a run that does not get on.
inline constexpr double least_standing = 1e-6;
inline constexpr std::size_t most_standing = 10000;

// Towards a pole such as 1/(t - 5)^3 steps shrink for hours before one is too short for t. To be asked after each step:
// true when two doublings of the work each led no farther than the one before, so that (end - t)/gain more of them are
// to come at least, and these would be more than `most_steps`. Never before `patience` steps.
inline constexpr std::size_t patience = std::size_t{1} << 18;
inline constexpr double most_steps = 1e8;  // 1e9 evaluations of the method of order 8
bool gets_nowhere(StepState& state, double end);

// not_finite: there is no velocity to go on with. step_underflow: there is one, and no step is short enough for it.
enum class Progressed { stepped, not_finite, step_underflow };

// Which of the two it is for a method that chooses its steps, where none leads on from y at t. What such a method tried
// last says little: it may have met a single number at which a pole has no value, or, where t + h is t, nothing new.
Progressed stuck_at(Motion& motion, double t, const std::vector<double>& y);

class Integrator {
  public:
    virtual ~Integrator() = default;

    // Whether steps have to end at samples, because the method knows too little of the solution inside a step.
    virtual bool ends_at_samples() const = 0;

    // One accepted step of y from state.t, up to `end` at most; there exactly when it arrives. y stays on the manifold.
    // When it fails, state and y are as before.
    virtual Progressed step(Motion& motion, StepState& state, std::vector<double>& y, double end) = 0;

    // The solution at t inside the last step, which led to y, on the manifold; y and out are different vectors.
    virtual void inside(Motion& motion, double t, const std::vector<double>& y, std::vector<double>& out) = 0;

    // Whoever changes y, the piece or the equation between steps has to call it.
    virtual void forget() = 0;
};

// What a run of chosen steps keeps to: what was asked for, or what attention in float allows.
struct Tolerances;
Tolerances tolerances_of(const Control& control);
std::unique_ptr<Integrator> make_integrator(const Problem& problem, const Control& control);

}  // namespace flyball::dynamics
