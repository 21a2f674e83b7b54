// The preflight of a block: everything that is known about it before anyone pays for a training run.
//
//     structure     does every part of the text act                         structure.hpp
//     motion        the block as interacting particles                      motion.hpp
//     beginning     streams and gradients of fresh models over depth        beginning.hpp
//     runs          a short training run at two depths                      short_runs.hpp
//
// Pre-LN and Peri-LN go the same way as yardsticks, with the starts that their sources prescribe.
#pragma once

#include <optional>

#include "check/beginning.hpp"
#include "check/motion.hpp"
#include "check/short_runs.hpp"

namespace flyball::check {

struct BlockReport {
    Candidate block;
    std::vector<Finding> findings;  // gravest first
    Verdict verdict = Verdict::stable;
    Motion motion;
    Beginning beginning;
    std::vector<ShortRun> runs;          // at the depths of trained_depths, shallow first
    std::optional<double> suggested_dt;  // none where the equation has no dt

    // What the stream does over depth at the start: bounded, sqrt, linear or exponential.
    std::string growth() const;
};

struct PreflightReport {
    std::vector<BlockReport> blocks;
    std::vector<BlockReport> yardsticks;  // their beginning and runs alone
};

struct PreflightWatch {
    const std::atomic<bool>* stop = nullptr;
    std::function<void(double share)> progress = {};
};

// Throws Error for settings that make no sense; Stopped when told to stop.
PreflightReport preflight(const std::vector<scheme::Scheme>& blocks, const Settings& settings,
                          const PreflightWatch& watch);

}  // namespace flyball::check
