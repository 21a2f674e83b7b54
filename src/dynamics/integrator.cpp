#include "dynamics/integrator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dynamics/method.hpp"

namespace flyball::dynamics {

namespace {

// Attention in float is right to about 1e-7; below these a method would follow its rounding in ever smaller steps.
constexpr double least_float_rtol = 1e-6;
constexpr double least_float_atol = 1e-8;

}  // namespace

// At t, and a few numbers further on: a method stops some numbers short of where the velocity ends, since a step as
// short as it takes next no longer moves t. A pole has no value at one number alone, an end at all that follow.
Progressed stuck_at(Motion& motion, double t, const std::vector<double>& y) {
    constexpr int next_times = 8;
    std::vector<double> slope(y.size());
    const auto exists = [&] {
        motion.velocity(t, y.data(), slope.data());
        return std::all_of(slope.begin(), slope.end(), [](double v) { return std::isfinite(v); });
    };
    if (!exists()) {
        return Progressed::not_finite;
    }
    for (int i = 0; i < next_times; ++i) {
        t = std::nextafter(t, HUGE_VAL);
    }
    const bool then = exists();
    t = std::nextafter(t, HUGE_VAL);
    return then || exists() ? Progressed::step_underflow : Progressed::not_finite;
}

bool gets_nowhere(StepState& state, double end) {
    constexpr double hardly_more = 1.01;  // steps like exp(-t) gain ln 2 with every doubling, up to rounding
    if (!std::has_single_bit(state.steps)) {
        return false;
    }
    auto& at = state.doublings;
    at = {state.t, at[0], at[1], at[2]};
    const double gain = at[0] - at[1];
    const double before = at[1] - at[2];
    if (state.steps < patience || gain > hardly_more * before || before > hardly_more * (at[2] - at[3])) {
        return false;
    }
    return static_cast<double>(state.steps) * (std::exp2((end - state.t) / gain) - 1) > most_steps;
}

Tolerances tolerances_of(const Control& control) {
    const bool single = control.precision == Precision::f32;
    return {std::max(control.rtol, single ? least_float_rtol : 0),
            std::max(control.atol, single ? least_float_atol : 0)};
}

std::unique_ptr<Integrator> make_integrator(const Problem& problem, const Control& control) {
    const Tolerances tolerances = tolerances_of(control);
    const MethodRow& method = row_for(problem, control);
    if (method.table == nullptr) {
        return method.make(tolerances);
    }
    return method.has_equal_steps() ? std::make_unique<RungeKutta>(method.table(), control.step)
                                    : std::make_unique<RungeKutta>(method.table(), tolerances);
}

}  // namespace flyball::dynamics
