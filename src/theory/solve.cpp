#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/number.hpp"
#include "scheme/time_scalars.hpp"
#include "theory/theory.hpp"
#include "theory/track.hpp"

namespace flyball::theory {

double initial_velocity(const scheme::Program& program, const Settings& settings) {
    return Track(program, settings).point().velocity;
}

// One walk through the times in rising order, whatever order they were asked in.
std::vector<Point> solve(const scheme::Program& program, const Settings& settings, const std::vector<double>& times,
                         std::string* why_it_ends) {
    for (const double t : times) {
        if (!(t >= 0 && t <= last_time)) {
            throw Error(ErrorKind::usage, "theory.solve", fmt::format("the time {}", format_double(t)),
                        "times from 0 to 1e100");
        }
    }
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t k) { return times[i] < times[k]; });
    Track track(program, settings);
    std::vector<Point> points(times.size());
    for (const std::size_t i : order) {
        if (track.go_to(times[i])) {
            points[i] = track.point();
            if (!track.has_digits(points[i])) {
                points[i] = Point{times[i], NAN, NAN, points[i].radius, NAN, NAN, NAN};
            }
        } else {  // the numbers have left the range of double
            points[i] = {times[i], NAN, NAN, NAN, NAN, NAN, NAN};
            if (why_it_ends != nullptr) {
                *why_it_ends = fmt::format("{} at t = {:.4g}", track.stopped(), track.t());
            }
        }
    }
    return points;
}

namespace {

// When `holds` begins to hold between `low`, where it does not, and `high`, where it does: halves the time between.
// Always from `before`, where a step began, so that every try is one short integration.
template <class Holds>
double first_time(Track& track, const Track::Mark& before, double low, double high, const Holds& holds) {
    while (high - low > 4e-16 * high) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) {
            break;
        }
        track.return_to(before);
        const bool is_late = !track.go_to(middle) || holds(track.point());
        (is_late ? high : low) = middle;
    }
    return high;
}

// The only stream of an equation that t does not change goes one way. (tests/theory tries all others.)
bool may_turn(const scheme::Program& program) {
    return program.stream_count() > 1 || program.reads(scheme::embedding_variable) ||
           !scheme::TimeScalars(program).constant();
}

// Can gamma have been larger between two points than at either, though it goes the same way at both? Then it has come
// less far than their velocities say. `lacking`: 1 - gamma where it is waited for.
bool may_hide_a_top(const Point& from, const Point& to, double lacking) {
    constexpr double negligible = 1e-6;  // of the way that is still to go
    constexpr double monotone = 6;       // twice what a cubic without a turn allows
    const double here = std::exp(from.log_one_minus_gamma);
    const double there = std::exp(to.log_one_minus_gamma);
    const double expected = std::max(std::abs(from.velocity), std::abs(to.velocity)) * (to.t - from.t);
    if (std::signbit(from.velocity) != std::signbit(to.velocity) ||
        !(expected > negligible * (std::min(here, there) - lacking))) {
        return false;
    }
    return monotone * (std::signbit(to.velocity) ? there - here : here - there) < expected;
}

// The points of a step of which `there` may hold at the second and not at the first. Steps are about as long as swings:
// between quarters of one gamma turns at most once, and is at its largest where its velocity changes sign. Where the
// streams rest, a readout that t changes by itself turns within a step that is far too long for it: there quarters are
// looked at as closely.
template <class There>
std::optional<std::pair<double, double>> crossing(Track& track, const Track::Mark& before, const Point& from,
                                                  const Point& to, const There& there, double lacking, int depth = 0) {
    constexpr int parts = 4;
    constexpr int deepest = 5;
    Point last = from;
    for (int part = 1; part <= parts; ++part) {
        Point next = to;
        if (part < parts) {
            track.return_to(before);
            if (!track.go_to(from.t + (to.t - from.t) * part / parts)) {
                return std::nullopt;
            }
            next = track.point();
        }
        if (there(next)) {
            return std::pair(last.t, next.t);
        }
        if (last.velocity > 0 && next.velocity < 0) {
            const auto falls = [](const Point& point) { return point.velocity <= 0; };
            const double top = first_time(track, before, last.t, next.t, falls);
            track.return_to(before);
            if (track.go_to(top) && there(track.point())) {
                return std::pair(last.t, top);
            }
        } else if (depth < deepest && may_hide_a_top(last, next, lacking)) {
            if (const auto found = crossing(track, before, last, next, there, lacking, depth + 1)) {
                return found;
            }
        }
        last = next;
    }
    return std::nullopt;
}

}  // namespace

std::optional<double> time_to_cosine(const scheme::Program& program, const Settings& settings, double cosine) {
    if (!(cosine > -1 && cosine < 1)) {
        throw Error(ErrorKind::usage, "theory.time_to_cosine", setting("cosine", format_double(cosine)),
                    "a number above -1 and below 1");
    }
    Track track(program, settings);
    if (track.point().gamma >= cosine) {
        return 0;
    }
    // Near 1 the distance from 1 has the digits.
    const double goal = std::log1p(-cosine);
    const auto there = [&](const Point& point) {
        return cosine < 0.5 ? point.gamma >= cosine : point.log_one_minus_gamma <= goal;
    };
    const bool turns = may_turn(program);
    for (;;) {
        const Track::Mark before = track.mark();
        const Point from = track.point();
        if (!track.step(last_time)) {
            return std::nullopt;
        }
        const Point to = track.point();
        std::optional<std::pair<double, double>> found;
        if (turns) {
            const Track::Mark after = track.mark();
            found = crossing(track, before, from, to, there, 1 - cosine);
            track.return_to(after);
        } else if (there(to)) {
            found = std::pair(from.t, to.t);
        }
        if (found) {
            return first_time(track, before, found->first, found->second, there);
        }
    }
}

}  // namespace flyball::theory
