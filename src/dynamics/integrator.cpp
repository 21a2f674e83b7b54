#include "dynamics/integrator.hpp"

#include <algorithm>

#include "dynamics/bdf.hpp"
#include "dynamics/own_frame.hpp"
#include "dynamics/runge_kutta.hpp"

namespace flyball::dynamics {

namespace {

// Attention in float is right to about 1e-7; below these a method would follow its rounding in ever smaller steps.
constexpr double least_float_rtol = 1e-6;
constexpr double least_float_atol = 1e-8;

}  // namespace

std::unique_ptr<Integrator> make_integrator(const Settings& settings) {
    const bool single = settings.precision == Precision::f32;
    const Tolerances tolerances{std::max(settings.rtol, single ? least_float_rtol : 0),
                                std::max(settings.atol, single ? least_float_atol : 0)};
    switch (settings.method) {
        case Method::euler:
            return std::make_unique<RungeKutta>(euler_table(), settings.step());
        case Method::rk4:
            return std::make_unique<RungeKutta>(rk4_table(), settings.step());
        case Method::bdf:
            return make_bdf(tolerances);
        case Method::automatic:
            // Under the mask tokens that have met are held apart by those that only one of them sees, at rate 1 and
            // over any time.
            if (settings.causal && settings.time > slow_time) {
                return make_bdf(tolerances);
            }
            break;
        case Method::erk:
            break;
    }
    return std::make_unique<RungeKutta>(dop853_table(), tolerances);
}

}  // namespace flyball::dynamics
