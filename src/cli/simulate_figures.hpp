// The figures of a simulation, and what the figures of all commands share.
#pragma once

#include "claims/style.hpp"
#include "dynamics/document.hpp"
#include "dynamics/trajectory.hpp"
#include "report/figure.hpp"

namespace flyball::cli {

using Runs = std::vector<dynamics::SchemeRun>;

report::LineFigure cosine_figure(const dynamics::Settings& settings, const Runs& runs);
report::LineFigure radius_figure(const dynamics::Settings& settings, const Runs& runs);
report::LineFigure speed_figure(const dynamics::Settings& settings, const Runs& runs);

// The first system of run i at some of its samples, and the name of the file.
report::SphereFigure sphere_figure(const dynamics::Settings& settings, const Runs& runs, std::size_t i,
                                   const std::vector<dynamics::TrajectorySample>& frames);
std::string sphere_name(const Runs& runs, std::size_t i);

using claims::style_of;  // how a run's lines look

}  // namespace flyball::cli
