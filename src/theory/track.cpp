// One step after another along a solution: switches, steps too small for t, stiffness, streams that end.
#include "theory/track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace flyball::theory {

namespace {

constexpr double tolerance = 2e-14;
constexpr double implicit_tolerance = 1e-12;  // its table loses three digits more to rounding
// An explicit method that takes this many steps while t doubles, and what is shown hardly moves, is held back by
// something that has long relaxed.
constexpr int patience = 200;
constexpr int leap_after = 50;
constexpr double leap = 0.1;        // of t
constexpr double much_nearer = 20;  // in log a/b

}  // namespace

Track::Track(const scheme::Program& program, const Settings& settings, int most_steps)
    : flow_((check(program, settings), program), settings),
      most_steps_(most_steps),
      integrator_(
          {[this](double t, const Numbers& y, Numbers& slope) { return flow_.slope(origin_ + t, y, slope); },
           [this](const Numbers& before, const Numbers& after, Numbers& size) { flow_.sizes(before, after, size); }},
          tolerance) {
    stopped_ = flow_.problem();
}

// One accepted step, never across a switch or a stop. When steps stay small while t hardly grows and nothing is seen to move, one
// of two reasons is tried in turn: a short stream that is only noise (make_plain), then stiffness (the implicit table).
bool Track::step(double end) {
    if (!stopped_.empty() || !(t() < end)) {
        return false;
    }
    if (pace_.steps >= most_steps_) {
        stopped_ = fmt::format("still moving after {} steps", most_steps_);
        return false;
    }
    if (t() >= flow_.unresolved()) {
        stopped_ = "a factor of the equation changes too quickly for numbers";
        return false;
    }
    const double stop = std::min({end, flow_.switches()[next_switch_], flow_.stops()[next_stop_]});
    Numbers y = flow_.numbers();
    const double reachable = 10 * flow_.stop_noise()[next_stop_];
    integrator_.tolerance = std::max(integrator_.implicit ? implicit_tolerance : tolerance, reachable);
    shaken_ = std::max(shaken_, reachable);
    const double wanted = integrator_.next_step;
    if (integrator_.step(offset_, y, stop - origin_) == Extrapolation::Outcome::underflow) {
        if (offset_ > 0) {
            origin_ += offset_;
            offset_ = 0;
            return step(end);
        }
        stopped_ = flow_.problem().empty() ? "the steps become too small" : flow_.problem();
        return false;
    }
    // What the caller ended early is a part of a step: how often a solution is asked for changes nothing of it.
    double share = 1;
    if (offset_ == stop - origin_) {
        share = stop == end ? std::min(1.0, integrator_.last_step / wanted) : 1;
        origin_ = stop;
        offset_ = 0;
    }
    pace_.steps += share;
    if (!flow_.settle(t(), y)) {
        stopped_ = flow_.problem();
        return false;
    }
    watch_for_extinction(integrator_.last_step);
    if (extinct_) {
        stopped_ = fmt::format("{} reaches zero", extinct_->stream);
    }
    if (t() == flow_.stops()[next_stop_]) {
        ++next_stop_;
        pace_.steps_since = 0;
    }
    if (t() == flow_.switches()[next_switch_]) {
        ++next_switch_;
        flow_.enter(t(), flow_.switches()[next_switch_]);
        stopped_ = flow_.problem();
        integrator_.next_step = std::min(integrator_.next_step, 1e-3 * t());
        pace_.doubled_at = 0;
    }
    if (t() >= 2 * pace_.doubled_at || flow_.log_nearness() < pace_.nearness_then - much_nearer) {
        pace_.doubled_at = t();
        pace_.nearness_then = flow_.log_nearness();
        pace_.steps_since = 0;
        return true;
    }
    const double since = std::exchange(pace_.steps_since, pace_.steps_since + share);
    const bool may_leap = std::floor(pace_.steps_since / leap_after) > std::floor(since / leap_after);
    if (pace_.steps_since > patience && flow_.make_plain()) {
        integrator_.implicit = false;
        pace_.steps_since = 0;
    } else if (pace_.steps_since > patience && !integrator_.implicit) {
        integrator_.implicit = true;
    } else if (may_leap && pace_.steps_since <= most_steps_ / 5) {
        integrator_.leap = leap * t();
    } else if (pace_.steps_since > most_steps_ / 5) {
        stopped_ = fmt::format("still moving after {:.0f} steps", pace_.steps);
    }
    return true;
}

// Where |x'| stays away from zero while |x| goes to it, the time left, |x|/|x'|, shrinks by the step that was taken.
// Where |x| decays exponentially it stays the same. The integrator, whose variable is log |x|, would take ever smaller
// steps. What is near is so beside the time since steps began from a new origin: t itself may be long gone by.
void Track::watch_for_extinction(double step) {
    const std::optional<Flow::Ending> before = std::exchange(ending_, flow_.ending(t()));
    if (!ending_ || !before || before->stream != ending_->stream || !(ending_->left <= 1e-12 * offset_)) {
        return;
    }
    if (std::abs(before->left - ending_->left - step) <= 0.1 * step) {
        extinct_ = Extinction{ending_->stream, ending_->when};
    }
}

bool Track::go_to(double end) {
    while (t() < end) {
        if (!step(end)) {
            return false;
        }
    }
    return true;
}

void Track::return_to(const Mark& mark) {
    flow_ = mark.flow;
    origin_ = mark.origin;
    offset_ = mark.offset;
    integrator_.next_step = mark.next_step;
    integrator_.order = mark.order;
    integrator_.implicit = mark.implicit;
    pace_ = mark.pace;
    integrator_.leap = 0;
    stopped_ = mark.stopped;
    ending_ = mark.ending;
    extinct_ = mark.extinct;
    const auto first_after = [&](const std::vector<double>& times) {
        return static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t()) - times.begin());
    };
    next_switch_ = first_after(flow_.switches());
    next_stop_ = first_after(flow_.stops());
}

}  // namespace flyball::theory
