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

// The first system of every run at some of its samples, all seen from one side, on the circle when d = 2; of one of the
// runs; at no more than so many times; and the name of a run's file.
using Frames = std::vector<dynamics::TrajectorySample>;
report::SphereFigure sphere_figure(const dynamics::Settings& settings, const Runs& runs,
                                   const std::vector<Frames>& frames);
report::SphereFigure of_run(const report::SphereFigure& all, std::size_t i);
report::SphereFigure with_frames(const report::SphereFigure& all, std::size_t most);
std::string sphere_name(const dynamics::Settings& settings, const Runs& runs, std::size_t i);

using claims::style_of;  // how a run's lines look

}  // namespace flyball::cli
