// The methods that solve ODE runs, one row each: names, help, integrators, forecasts, memory and tests walk the list. A
// new method is a member of `Method` (settings.hpp) and a row here.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dynamics/integrator.hpp"
#include "dynamics/rk_table.hpp"
#include "dynamics/runge_kutta.hpp"
#include "dynamics/settings.hpp"

namespace flyball::dynamics {

struct MethodRow {
    Method method;
    const char* name;  // as --method and files have it
    const char* help;  // behind the name, in brackets; empty: the name says it
    // One of the two: an explicit Runge-Kutta method, or a class of its own, that may remember the steps before the
    // last.
    const RkTable& (*table)();
    std::unique_ptr<Integrator> (*make)(const Tolerances&);
    double copies;  // of the state that it keeps, restart points included

    // Steps are --dt long, since nothing says how wrong they are; otherwise the tolerances choose them.
    bool has_equal_steps() const { return table != nullptr && !table().adaptive(); }
};

std::span<const MethodRow> method_rows();
const MethodRow& row_of(Method method);
// The method that a run has, an ODE that is: the only place that knows what `automatic` stands for.
const MethodRow& row_for(const Problem& problem, const Control& control);
const MethodRow& row_for(const Settings& settings);
// The table of every method that has one, each once: what the tests of orders walk.
std::vector<const RkTable*> rk_tables();

// "auto (erk), erk, bdf (stiff equations), euler or rk4", and the same of those with equal or with chosen steps, as
// "euler and rk4".
std::string method_help();
std::string methods_with_equal_steps();
std::string methods_with_chosen_steps();

}  // namespace flyball::dynamics
