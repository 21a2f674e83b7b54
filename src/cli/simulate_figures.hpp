// The figures of a simulation.
#pragma once

#include "claims/style.hpp"
#include "cli/simulate_output.hpp"

namespace flyball::cli {

report::LineFigure cosine_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs);
report::LineFigure radius_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs);
report::LineFigure speed_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs);
report::SphereFigure sphere_figure(const dynamics::Settings& settings, const Simulated& run);

using claims::style_of;  // how a run's lines look

}  // namespace flyball::cli
