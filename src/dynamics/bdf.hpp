// Backward differentiation of orders 1 to 5 for stiff equations, Newton with matrix-free GMRES: SUNDIALS' CVODE behind
// our Integrator; its headers stay in bdf.cpp.
#pragma once

#include <memory>

#include "dynamics/integrator.hpp"
#include "dynamics/runge_kutta.hpp"

namespace flyball::dynamics {

std::unique_ptr<Integrator> make_bdf(const Tolerances& tolerances);

}  // namespace flyball::dynamics
