// A whole particle run: a problem (problem.hpp) from its start through layers or time, looked at where the watch says.
//
// The result is a record, whatever happens: divergence, NaN and a vanished radius are outcomes. A run can be stopped
// at any moment and taken up again from its last restart point (checkpoint.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dynamics/forecast.hpp"
#include "dynamics/integrator.hpp"
#include "dynamics/particles.hpp"
#include "dynamics/pieces.hpp"
#include "dynamics/problem.hpp"

namespace flyball::dynamics {

enum class Outcome { done, until, diverged, nan, step_underflow, digits_lost, radius_zero, interrupted };
const char* name(Outcome outcome);

struct Record {
    std::vector<Sample> samples;
    std::vector<Sample> systems;  // [samples, systems]: each by itself; empty for a single one
    Outcome outcome = Outcome::done;
    double ended = 0;  // t where the run ended, which may lie beyond its last sample
    std::string kernel;
    std::size_t steps = 0;
    std::size_t evaluations = 0;
    double seconds = 0;
    std::vector<Fusing> fused;            // tokens that became one direction, in the order of time
    std::optional<double> collapse_time;  // when the mean cosine first exceeds 0.999, of two tokens or more
};

// Where a run can be taken up: a function of the run alone, never of the clock. Every so many steps (forecast.hpp) and
// every switch is one; a sample is none. Whatever is due up to step.t has been looked at.
struct RestartPoint {
    StepState step;
    std::size_t next_sample = 0;
    std::size_t evaluations = 0;
    std::size_t fallbacks = 0;
    std::vector<double> y;  // all streams
    std::vector<Sample> samples;
    std::vector<Sample> systems;  // as in a record
    std::vector<Fusing> fused;
};

struct Watch {
    std::vector<double> times =
        {};                 // when to look, increasing, from 0 to the end at most; none: at the start and the end
    bool log_time = false;  // they are even in log t: what a forecast takes for the steps as well
    std::optional<Until> until = {};                                    // ends the run, with a sample
    double pair_cosine = Measured{}.pair_cosine;                        // the level of the pair fraction
    std::function<void(double done)> progress = {};                     // share of the run, 0..1
    std::function<void(const Sample&, const Particles&)> sampled = {};  // after every sample
    std::function<void(const RestartPoint&)> restart_point = {};        // at every restart point
    // Once, as soon as the cost of the run is known: what is left of it on the threads there are.
    std::function<void(double seconds)> forecast = {};
};

// Throws Error(usage) when an equation without an ODE limit is asked to run in time.
Record run(Problem problem, const Control& control, const Watch& watch = {},
           const std::optional<RestartPoint>& from = std::nullopt);

// `watch` looks where the settings say.
Watch watch_of(const Settings& settings, Watch watch = {});
// The run that settings describe.
Record run(const Settings& settings, const scheme::Program& program, const Watch& watch = {},
           const std::optional<RestartPoint>& from = std::nullopt);
// The same, watched exactly so; the control's stop signal ends it while the start is drawn, too.
Record run(const Settings& settings, const scheme::Program& program, const Control& control, const Watch& watch,
           const std::optional<RestartPoint>& from = std::nullopt);

}  // namespace flyball::dynamics
