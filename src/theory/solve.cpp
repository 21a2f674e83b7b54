#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/number.hpp"
#include "theory/theory.hpp"
#include "theory/track.hpp"

namespace flyball::theory {

double initial_velocity(const scheme::Program& program, const Settings& settings) {
    return Track(program, settings).point().velocity;
}

// One walk through the times in rising order, whatever order they were asked in.
std::vector<Point> solve(const scheme::Program& program, const Settings& settings, const std::vector<double>& times) {
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t k) { return times[i] < times[k]; });
    for (const double t : times) {
        if (!(t >= 0 && t <= last_time)) {
            throw Error(ErrorKind::usage, "theory.solve", fmt::format("the time {}", format_double(t)),
                        "times from 0 to 1e100");
        }
    }
    Track track(program, settings);
    std::vector<Point> points(times.size());
    for (const std::size_t i : order) {
        if (track.go_to(times[i])) {
            points[i] = track.point();
        } else {  // the numbers have left the range of double
            points[i] = {times[i], NAN, NAN, NAN, NAN, NAN, NAN};
        }
    }
    return points;
}

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
    for (;;) {
        const Track::Mark before = track.mark();
        if (!track.step(last_time)) {
            return std::nullopt;
        }
        if (!there(track.point())) {
            continue;
        }
        // The step just taken crosses: halve it, always from its start, so that every try is one short integration.
        double low = before.origin + before.offset;
        double high = track.t();
        while (high - low > 4e-16 * high) {
            const double middle = low + (high - low) / 2;
            if (!(middle > low && middle < high)) {
                break;
            }
            track.return_to(before);
            if (!track.go_to(middle)) {
                return std::nullopt;
            }
            (there(track.point()) ? high : low) = middle;
        }
        return high;
    }
}

}  // namespace flyball::theory
