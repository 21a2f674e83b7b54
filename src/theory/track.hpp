// The solution as it is walked along: steps of the integrator, switches of the equation, and why it cannot go on.
#pragma once

#include <optional>
#include <string>

#include "theory/flow.hpp"

namespace flyball::theory {

class Track {
  public:
    // `most_steps`: a solution that oscillates for ever would never get to t = 1e100. A fifth of them while t doubles.
    Track(const scheme::Program& program, const Settings& settings, int most_steps = 30000);
    Track(const Track&) = delete;
    Track& operator=(const Track&) = delete;

    double t() const { return origin_ + offset_; }
    Point point() { return flow_.point(t()); }

    bool has_digits(const Point& point) const { return flow_.has_digits(point); }
    bool rests_for_want_of_numbers(const Point& point) const { return flow_.rests_for_want_of_numbers(point); }

    double log_speed_factor(const Point& point) const { return flow_.log_speed_factor(point); }

    // 1 - gamma is carried in units of its own: it would be no number of its own any more.
    bool rescaled() const { return flow_.rescaled(); }

    // Relative error of the numbers, roughly. Several streams keep fewer digits than one.
    double noise() const { return integrator_.implicit || flow_.several() ? 1e-12 : 1e-14; }

    // The worst relative error that a step was allowed because rounding of t shakes the equation; 0 as a rule.
    double shaken() const { return shaken_; }

    // One step, at most to `end`; false when there is none (see stopped()).
    bool step(double end);
    bool go_to(double end);
    const std::string& stopped() const { return stopped_; }
    // Stopped before the equation had done all that it does at definite times.
    bool unfinished() const { return !stopped_.empty() && t() <= flow_.last_change(); }

    // A stream has reached zero at a finite time, and with it the solution ends.
    struct Extinction {
        std::string stream;
        double time;
    };
    const std::optional<Extinction>& extinct() const { return extinct_; }

    // How the steps went lately: from this is decided what kind of step comes next, and when there are too many.
    struct Pace {
        double doubled_at = 0;  // t when the steps below were last counted from 0
        double nearness_then = 0;
        double steps_since = 0;  // a step that the caller ended early counts for the part that it was
        double steps = 0;
    };
    struct Mark {
        Flow flow;
        double origin;
        double offset;
        double next_step;
        std::size_t order;
        bool implicit;
        Pace pace;
        std::string stopped;
        std::optional<Flow::Ending> ending;
        std::optional<Extinction> extinct;
    };
    Mark mark() const {
        return {flow_,    origin_, offset_, integrator_.next_step, integrator_.order, integrator_.implicit, pace_,
                stopped_, ending_, extinct_};
    }
    void return_to(const Mark& mark);

  private:
    Flow flow_;
    double most_steps_;
    Extrapolation integrator_;
    // t = origin + offset. Tokens may rest for t = 1e19 and then move within t = 1: steps that t itself cannot resolve
    // are taken from a new origin.
    double origin_ = 0;
    double offset_ = 0;
    std::size_t next_switch_ = 0;
    std::size_t next_stop_ = 0;
    double shaken_ = 0;
    std::string stopped_;
    Pace pace_;
    void watch_for_extinction(double step);
    std::optional<Flow::Ending> ending_;  // as it looked one step ago
    std::optional<Extinction> extinct_;
};

}  // namespace flyball::theory
