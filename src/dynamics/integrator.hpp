// One piece of an ODE run: from a to b without a switch in between.
//
// erk and bdf choose their steps (adaptive.hpp); euler and rk4 take equal steps of at most --dt. An integrator
// remembers nothing but the step size between calls, and starts anew whenever the count of accepted steps is a multiple
// of `restart_steps`: that is what makes a resumed run end with the same bits.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "dynamics/particles.hpp"

namespace flyball::dynamics {

enum class Progressed { reached, stopped, not_finite, step_underflow };

inline constexpr std::size_t restart_steps = 100;

struct StepState {
    double t = 0;
    double h = 0;           // step to try next; 0: not known yet
    std::size_t steps = 0;  // accepted so far
};

// Called after every accepted step with the state in place; false stops.
using StepHook = std::function<bool(const StepState&)>;

class Integrator {
  public:
    virtual ~Integrator() = default;
    // Moves particles from state.t to `end` exactly.
    virtual Progressed advance(Particles& particles, StepState& state, double end, const StepHook& hook) = 0;
};

std::unique_ptr<Integrator> make_integrator(const Settings& settings);

}  // namespace flyball::dynamics
