#include "theory/track.hpp"

#include <algorithm>

namespace flyball::theory {

namespace {

constexpr double tolerance = 2e-14;
constexpr double implicit_tolerance = 1e-12;  // its table loses three digits more to rounding
// An explicit method that takes this many steps while t doubles is held back by something that has long relaxed.
constexpr int patience = 200;

}  // namespace

Track::Track(const scheme::Program& program, const Settings& settings)
    : flow_((check(program, settings), program), settings),
      integrator_(
          {[this](double t, const Numbers& y, Numbers& slope) { return flow_.slope(origin_ + t, y, slope); },
           [this](const Numbers& before, const Numbers& after, Numbers& size) { flow_.sizes(before, after, size); }},
          tolerance) {
    stopped_ = flow_.problem();
}

bool Track::step(double end) {
    if (!stopped_.empty() || !(t() < end)) {
        return false;
    }
    const double stop = std::min(end, flow_.switches()[next_switch_]);
    Numbers y = flow_.numbers();
    if (integrator_.step(offset_, y, stop - origin_) == Extrapolation::Outcome::underflow) {
        if (offset_ > 0) {
            origin_ += offset_;
            offset_ = 0;
            return step(end);
        }
        stopped_ = flow_.problem().empty() ? "the steps become too small" : flow_.problem();
        return false;
    }
    if (offset_ == stop - origin_) {
        origin_ = stop;
        offset_ = 0;
    }
    if (!flow_.settle(t(), y)) {
        stopped_ = flow_.problem();
        return false;
    }
    if (t() == flow_.switches()[next_switch_]) {
        ++next_switch_;
        flow_.enter(t(), flow_.switches()[next_switch_]);
        stopped_ = flow_.problem();
        integrator_.next_step = std::min(integrator_.next_step, 1e-3 * t());
        doubled_at_ = 0;
    }
    if (t() >= 2 * doubled_at_) {
        doubled_at_ = t();
        steps_since_ = 0;
    } else if (++steps_since_ > patience && !integrator_.implicit) {
        integrator_.implicit = true;
        integrator_.tolerance = implicit_tolerance;
    }
    return true;
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
    stopped_.clear();
    const auto& switches = flow_.switches();
    next_switch_ = static_cast<std::size_t>(std::upper_bound(switches.begin(), switches.end(), t()) - switches.begin());
}

}  // namespace flyball::theory
