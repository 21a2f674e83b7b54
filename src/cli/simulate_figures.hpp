// The figures of a simulation.
#pragma once

#include "cli/simulate_output.hpp"

namespace flyball::cli {

report::LineFigure cosine_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs);
report::LineFigure radius_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs);
report::LineFigure speed_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs);
report::SphereFigure sphere_figure(const dynamics::Settings& settings, const Simulated& run);

// How a run's lines look: as the catalogue says; an equation of one's own gets the next colour of the figure library.
report::Style style_of(const scheme::Scheme& scheme);

}  // namespace flyball::cli
