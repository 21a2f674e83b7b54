// SUNDIALS' adaptive methods behind our Integrator; its headers stay in adaptive.cpp.
//
//     erk   explicit Runge-Kutta, Fehlberg's pair of orders 7 and 8: what attention dynamics wants, smooth and not
//     stiff bdf   backward differentiation of orders 1 to 5, Newton with matrix-free GMRES: for stiff equations
//
// Both project the state to the scheme's manifold after every accepted step.
#pragma once

#include <memory>

#include "dynamics/integrator.hpp"

namespace flyball::dynamics {

std::unique_ptr<Integrator> make_erk(const Settings& settings);
std::unique_ptr<Integrator> make_bdf(const Settings& settings);

}  // namespace flyball::dynamics
