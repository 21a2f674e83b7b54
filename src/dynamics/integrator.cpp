#include "dynamics/integrator.hpp"

#include "dynamics/bdf.hpp"
#include "dynamics/runge_kutta.hpp"

namespace flyball::dynamics {

std::unique_ptr<Integrator> make_integrator(const Settings& settings) {
    const Tolerances tolerances{settings.rtol, settings.atol};
    switch (settings.method) {
        case Method::euler:
            return std::make_unique<RungeKutta>(euler_table(), settings.dt);
        case Method::rk4:
            return std::make_unique<RungeKutta>(rk4_table(), settings.dt);
        case Method::bdf:
            return make_bdf(tolerances);
        case Method::automatic:
        case Method::erk:
            break;
    }
    return std::make_unique<RungeKutta>(dop853_table(), tolerances);
}

}  // namespace flyball::dynamics
