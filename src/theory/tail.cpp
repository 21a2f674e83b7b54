// Walks a solution to its end and fits the power of t that the end of log lambda follows.
#include "theory/tail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flyball::theory {

namespace {

constexpr int per_decade = 4;
constexpr int most_steps = 20000;

Sample sample_of(Track& track, const Point& point, bool on_grid) {
    return {track.t(),
            -point.log_one_minus_gamma,
            point.log_rate,
            point.log_velocity,
            track.log_speed_factor(point),
            point.gamma,
            point.log_rate == -HUGE_VAL || !std::signbit(point.velocity),
            on_grid};
}

// Slope at the end and misfit over the tail of a function of log t.
template <class Get>
void fit_power(const std::vector<Sample>& tail, const Get& get, double& slope, double& log_c, double& drift) {
    const Sample& last = tail.back();
    const double decade_before = std::max(last.t / 10, std::sqrt(tail.front().t) * std::sqrt(last.t));
    const Sample& before = sample_at(tail, decade_before);
    slope = (get(last) - get(before)) / std::log(last.t / before.t);
    log_c = get(last) - slope * std::log(last.t);
    drift = 0;
    for (const Sample& sample : tail) {
        const double misfit = std::abs(get(sample) - log_c - slope * std::log(sample.t));
        drift = misfit <= drift ? drift : misfit;  // keeps NaN
    }
}

}  // namespace

namespace {

// Samples at every accepted step and at t = 10^(k/4), k = -12 .. 400, where steps end: the grid that limits.hpp needs.
Walk raw_walk(const scheme::Program& program, const Settings& settings, double deep) {
    Track track(program, settings, most_steps);
    Walk result;
    const auto keep = [&](bool on_grid) {
        const Point point = track.point();
        if (!std::isfinite(point.radius) || std::isnan(point.log_one_minus_gamma)) {
            result.stopped = fmt::format("the readout has no digits left at t = {:.4g}", track.t());
            return false;
        }
        if (point.log_one_minus_gamma == -HUGE_VAL) {
            result.underflow = result.samples.empty() || result.samples.back().u < 1e4;
            result.stopped =
                result.underflow ? "" : fmt::format("1-gamma is beyond all numbers at t = {:.4g}", track.t());
            return false;
        }
        result.samples.push_back(sample_of(track, point, on_grid));
        result.has_digits = track.has_digits(point) && !track.rests_for_want_of_numbers(point);
        if (track.rescaled() && result.samples.back().u > deep) {
            result.underflow = true;
            return false;
        }
        return true;
    };
    // A readout such as x - x0 is nothing at the start, and something from then on.
    if (!std::isnan(track.point().log_one_minus_gamma) && !keep(false)) {
        return result;
    }
    result.noise = track.noise();
    for (int k = -3 * per_decade; k <= 100 * per_decade; ++k) {
        const double t = k == 100 * per_decade ? last_time : std::pow(10.0, static_cast<double>(k) / per_decade);
        while (track.t() < t) {
            result.noise = std::max(result.noise, track.noise());
            result.shaken = track.shaken();
            if (!track.step(t)) {
                result.stopped = fmt::format("{} at t = {:.4g}", track.stopped(), track.t());
                result.extinct = track.extinct();
                result.unfinished = track.unfinished();
                return result;
            }
            if (!keep(track.t() == t)) {
                return result;
            }
        }
    }
    return result;
}

// Where the digits of the velocity are lost, u itself still has its own: its differences over the grid serve.
std::vector<Sample> mended(const std::vector<Sample>& samples) {
    const auto lost = [](const Sample& sample) { return std::isnan(sample.log_rate); };
    if (std::none_of(samples.begin(), samples.end(), lost)) {
        return samples;
    }
    std::vector<Sample> result;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(result),
                 [&](const Sample& sample) { return sample.on_grid || !lost(sample); });
    for (std::size_t i = 0; i < result.size(); ++i) {
        Sample& sample = result[i];
        const Sample& before = result[i > 0 ? i - 1 : i];
        const Sample& after = result[i + 1 < result.size() ? i + 1 : i];
        if (lost(sample) && after.t > before.t) {
            const double growth = (after.u - before.u) / std::log(after.t / before.t);
            sample.forward = growth >= 0;
            const double rate = std::log(std::abs(growth)) - std::log(sample.t);
            sample.log_s = std::log(2.0) - rate;  // near consensus, where alone it is asked for
            sample.log_rate = rate;
            sample.log_velocity = rate - sample.u;
        }
    }
    return result;
}

}  // namespace

Walk walk(const scheme::Program& program, const Settings& settings, double deep) {
    Walk result = raw_walk(program, settings, deep);
    result.samples = mended(result.samples);
    return result;
}

std::vector<Sample> sampled_back_from(const scheme::Program& program, const Settings& settings, double begin,
                                      double end) {
    constexpr double ratio = 8;  // a decade
    const int count = static_cast<int>(std::floor(ratio * std::log10(end / begin)));
    Track track(program, settings, most_steps);
    std::vector<Sample> samples;
    for (int k = count; k >= 0; --k) {
        if (!track.go_to(end * std::pow(10.0, -k / ratio))) {
            break;
        }
        samples.push_back(sample_of(track, track.point(), true));
    }
    return mended(samples);
}

std::vector<Sample> sampled_evenly(const scheme::Program& program, const Settings& settings, double begin, double end,
                                   double step) {
    Track track(program, settings, 2 * most_steps);
    std::vector<Sample> samples;
    for (double t = std::max(begin, 0.0); t <= end && track.go_to(t); t += step) {
        samples.push_back(sample_of(track, track.point(), false));
    }
    return samples;
}

const Sample& sample_at(const std::vector<Sample>& samples, double t) {
    const auto after = std::upper_bound(samples.begin(), samples.end(), t,
                                        [](double value, const Sample& sample) { return value < sample.t; });
    return after == samples.begin() ? samples.front() : *(after - 1);
}

double arrival(const Walk& walk) {
    for (const Sample& sample : walk.samples) {
        if (sample.u > -std::log(near_consensus)) {
            return sample.t;
        }
    }
    return 0;
}

// lambda = c t^slope by two samples at the end, a decade or half the tail apart; how far the tail is from that line;
// whether the slope has come to rest.
Tail tail_of(const Walk& walk) {
    const std::vector<Sample>& all = walk.samples;
    const Sample& last = all.back();
    // The last third of log t, or what lies clearly after the arrival near consensus.
    const double begin =
        last.t > 10 ? std::min(std::max(std::pow(last.t, 2.0 / 3), 1e3 * arrival(walk)), last.t / 10) : last.t / 2;
    Tail tail;
    for (const Sample& sample : all) {
        // Where 1 - gamma underflowed the law may be recent: half of the way that u came.
        if (walk.underflow ? sample.u >= last.u / 2 : sample.t >= begin) {
            tail.samples.push_back(sample);
        }
    }
    if (tail.samples.size() >= 3) {
        fit_power(
            tail.samples, [](const Sample& s) { return s.log_rate; }, tail.slope, tail.log_c, tail.drift);
        const Sample& middle =
            sample_at(tail.samples, std::max(last.t / 10, std::sqrt(tail.samples.front().t) * std::sqrt(last.t)));
        const Sample& early = sample_at(tail.samples, std::max(middle.t / 10, tail.samples.front().t));
        const double slope_before =
            early.t < middle.t ? (middle.log_rate - early.log_rate) / std::log(middle.t / early.t) : tail.slope;
        tail.slope_error = std::abs(tail.slope - slope_before);
        // Slopes in the last two quarters, in log t. A logarithm leaves 1/log t^2 in them, 2e-5 at t = 1e100.
        const double log_begin = std::log(tail.samples.front().t);
        const auto slope_between = [&](double from, double to) {
            const auto at = [&](double share) -> const Sample& {
                return sample_at(tail.samples, std::exp(log_begin + share * (std::log(last.t) - log_begin)));
            };
            const Sample& first = at(from);
            const Sample& second = to == 1 ? last : at(to);
            return (second.log_rate - first.log_rate) / std::log(second.t / first.t);
        };
        tail.steady = std::abs(slope_between(0.75, 1) - slope_between(0.5, 0.75)) <= 1e-8;
        double ignored = 0;
        fit_power(
            tail.samples, [](const Sample& s) { return s.log_s; }, tail.s_growth, ignored, tail.s_drift);
    } else {
        tail.drift = HUGE_VAL;
    }
    return tail;
}

}  // namespace flyball::theory
