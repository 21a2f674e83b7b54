// A few seconds of training at one or two depths, beside yardsticks that see the same text from the same random numbers.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "check/settings.hpp"
#include "scheme/catalogue.hpp"
#include "train/corpus.hpp"
#include "train/trainer.hpp"

namespace flyball::check {

struct ShortRun {
    std::string scheme;  // its label
    std::size_t depth = 0;
    train::Outcome outcome = train::Outcome::done;
    std::vector<double> losses;  // one a step
    double first = 0;            // loss before any step
    double last = 0;             // mean of the last tenth

    bool failed() const { return outcome != train::Outcome::done; }
    double gain() const { return first - last; }
};

// The depths that blocks are trained at: a quarter, but 2 or more, and the whole, but 24 at most. One where they are
// the same.
std::vector<std::size_t> trained_depths(const Settings& settings);

// A block with the start it is given.
struct Candidate {
    scheme::Scheme scheme;
    Settings settings;
};

// Every block at every depth, in that order. All candidates have the same depth and seed.
std::vector<ShortRun> short_runs(const std::vector<Candidate>& candidates,
                                 const std::function<void(double share)>& progress, const std::atomic<bool>* stop);

}  // namespace flyball::check
