// What a run costs, from the committed cost table of the attention kernels: never from the clock, so that everything
// that follows from it is a function of the run alone.
//
// Good to a factor of two or so on the machines the table was measured for; nothing but sentences for people and the
// distance between restart points depends on it.
#pragma once

#include <cstddef>
#include <optional>

#include "dynamics/integrator.hpp"
#include "dynamics/method.hpp"
#include "dynamics/problem.hpp"

namespace flyball::dynamics {

class Cost {
  public:
    Cost(const Problem& problem, const Control& control);

    // On one thread: one evaluation of the velocity or one layer, and one look at a sample.
    double evaluation_seconds() const { return evaluation_seconds_; }
    double sample_seconds() const { return sample_seconds_; }

    // Accepted steps, or layers, from one restart point to the next: about ten seconds of work, or 100 steps;
    // always these where the method remembers steps.
    std::size_t restart_every() const;

    // What is left of the run on one thread. Nothing while a method that chooses its steps has not taken enough of them
    // to tell; `evaluations` are those of attention so far. Steps to come are as long as the next one, or, with
    // `log_time`, longer and longer, as samples that are even in log t are apart.
    std::optional<double> seconds_left(const StepState& state, std::size_t evaluations, std::size_t samples_left,
                                       bool log_time) const;

  private:
    double evaluations_per_step() const;

    std::optional<std::size_t> layers_;
    double time_;
    double step_;              // of a method with equal steps
    bool fresh_;               // weights change at whole times
    const MethodRow& method_;  // where there are no layers
    double calls_ = 1;         // of attention in one evaluation
    double evaluation_seconds_ = 0;
    double sample_seconds_ = 0;
};

}  // namespace flyball::dynamics
