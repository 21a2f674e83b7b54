// SUNDIALS' adaptive explicit Runge-Kutta behind our Integrator. Its headers stay in erk.cpp.
#pragma once

#include <memory>

#include "dynamics/integrator.hpp"

namespace flyball::dynamics {

std::unique_ptr<Integrator> make_erk(const Settings& settings);

}  // namespace flyball::dynamics
