// The terminal law, read off the solution.
//
// With u = -log(1 - gamma) and lambda = u' = gamma'/(1 - gamma), every law is a power of t:
//     lambda ~ c t^(p-1)      p = 1 exponential, other p > 0 stretched, p = 0 power (exponent -1-c), p < 0 frozen
// The solution is followed to t = 1e100, where corrections that fall like any power of t have died, so p and c are read
// at its end. A law counts when c t^(p-1) holds to 1 % over the last third of log t. The constant needs u itself, whose
// rounding grows with u, and is taken where rounding and corrections balance, with Aitken's extrapolation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "theory/tail.hpp"

namespace flyball::theory {

namespace {

constexpr double fit = 0.01;  // what counts as a law

constexpr const char* not_reached = "the law is not reached by t = 1e100; the limit given is gamma there";

struct Estimate {
    double value = 0;
    double error = HUGE_VAL;
};

// The limit of d(t) as t grows, where rounding(t) grows too. Corrections like t^-delta become a geometric series on
// times in equal ratios, which Aitken's formula sums; a law too young for that is taken as it is.
template <class Get, class Rounding>
Estimate limit_of(const std::vector<Sample>& samples, double from, const Get& get, const Rounding& rounding) {
    Estimate best;
    std::vector<double> steps;
    const auto offer = [&](double value, double earlier, const Sample& sample) {
        // Every step of the integrator adds its own small error.
        const double error = std::abs(value - earlier) + rounding(sample) + 4e-13 * static_cast<double>(steps.size());
        if (error < best.error) {
            best = {value, error};
        }
    };
    std::vector<double> grid;
    std::vector<double> extrapolated;
    constexpr std::size_t apart = 2;  // grid points: a ratio of sqrt(10)
    for (const Sample& sample : samples) {
        if (!(sample.t >= from)) {
            continue;
        }
        constexpr std::size_t few = 8;
        steps.push_back(get(sample));
        if (steps.size() > few) {
            offer(steps.back(), steps[steps.size() - 1 - few], sample);
        }
        if (!sample.on_grid) {
            continue;
        }
        grid.push_back(steps.back());
        if (grid.size() <= 2 * apart) {
            continue;
        }
        const double third = grid.back();
        const double d2 = third - grid[grid.size() - 1 - apart];
        const double d1 = grid[grid.size() - 1 - apart] - grid[grid.size() - 1 - 2 * apart];
        const double ratio = d1 == 0 ? 0 : d2 / d1;
        extrapolated.push_back(ratio > 0 && ratio < 0.95 ? third + d2 * ratio / (1 - ratio) : third);
        if (extrapolated.size() > apart) {
            offer(extrapolated.back(), extrapolated[extrapolated.size() - 1 - apart], sample);
        }
    }
    return best;
}

void set_constant(Law& law, const Estimate& log_constant) {
    if (!(log_constant.error < HUGE_VAL)) {
        law.note = "the law is too short to give its constant";
        return;
    }
    const double relative = std::expm1(log_constant.error);
    if (log_constant.error > fit && log_constant.error > 1e-12 * std::abs(log_constant.value)) {
        law.note = fmt::format(
            "the constant has no limit: the next term of the exponent is not bounded (log constant {:.4g} where it "
            "moves "
            "least)",
            log_constant.value);
        return;
    }
    law.log_constant = log_constant.value;
    const double constant = std::exp(log_constant.value);
    if (std::isfinite(constant)) {
        law.constant = constant;
    }
    if (std::isfinite(relative)) {
        law.error = relative;
    }
}

Law frozen(double u, double gamma, std::string note) {
    Law law;
    law.kind = LawKind::frozen;
    law.limit = std::abs(u) > 0.5 ? -std::expm1(-u) : gamma;
    law.note = std::move(note);
    return law;
}

std::string slopes_note(const Walk& walk, const Tail& tail) {
    const Sample& last = walk.samples.back();
    std::string note = fmt::format("at t = {:.4g}: d log(gamma'/(1-gamma))/d log t = {:.5g}, 1-gamma = exp({:.6g})",
                                   last.t, tail.slope, -last.u);
    const Sample& middle = sample_at(walk.samples, std::sqrt(std::max(last.t, 1.0)));
    if (tail.samples.size() >= 3 && std::isfinite(middle.log_rate) && std::isfinite(last.log_rate)) {
        note += fmt::format("; log(t gamma'/(1-gamma)) = {:.5g}, and {:.5g} at t = {:.4g}",
                            last.log_rate + std::log(last.t), middle.log_rate + std::log(middle.t), middle.t);
    }
    return note + (walk.stopped.empty() ? "" : "; " + walk.stopped);
}

Law classify(const Walk& walk, const Tail& tail) {
    const Sample& last = walk.samples.back();
    const bool to_the_end = !walk.underflow && walk.stopped.empty();
    const double width = tail.samples.empty() ? 0 : last.u - tail.samples.front().u;
    // A velocity that moves nothing is rounding.
    if (!tail.samples.empty() && !walk.underflow && std::abs(width) <= 1e-9 * std::max(1.0, last.u) &&
        (last.log_rate == -HUGE_VAL || std::exp(last.log_rate) * last.t > 2 * std::abs(width) ||
         last.log_rate + std::log(last.t) < -20)) {
        const bool still_moves = to_the_end && std::isfinite(last.log_rate) && tail.slope > -1 - 1e-6 &&
                                 tail.drift < fit && std::exp(last.log_rate) * last.t < 2 * std::abs(width);
        Law law = frozen(last.u, last.gamma, still_moves ? not_reached : walk.stopped);
        law.error = std::exp(-last.u) * std::max(std::abs(width), 1e-13) / std::max(std::abs(*law.limit), 1e-300);
        return law;
    }
    const double p = tail.slope + 1;
    const double precision = to_the_end ? 1e-6 : 1e-3;
    const bool fits = tail.drift <= fit && last.forward;
    if (fits && p < -precision) {  // the rest of the way is finite
        const double rest = std::exp(last.log_rate + std::log(last.t)) / -p;
        Law law = frozen(last.u + rest, last.gamma + std::exp(last.log_velocity + std::log(last.t)) / -p, walk.stopped);
        // The same from u alone, by Aitken's formula over the tail.
        const Sample& first = tail.samples.front();
        const Sample& middle = sample_at(tail.samples, std::sqrt(first.t) * std::sqrt(last.t));
        const double d1 = middle.u - first.u;
        const double d2 = last.u - middle.u;
        const double other_rest = d1 > d2 && d2 > 0 ? d2 * d2 / (d1 - d2) : 0;
        law.error = std::exp(-last.u) * std::abs(rest - other_rest) / std::max(*law.limit, 1e-300);
        return law;
    }
    if (last.u < -std::log(near_consensus)) {
        if (to_the_end) {
            return frozen(last.u, last.gamma, fmt::format("{}; {}", not_reached, slopes_note(walk, tail)));
        }
        Law law;
        law.note = slopes_note(walk, tail);
        return law;
    }
    Law law;
    if (!fits) {
        law.note = slopes_note(walk, tail);
        return law;
    }
    const double begun = arrival(walk);
    constexpr double epsilon = 1e-14;  // of u and of log t: integration and rounding
    if (std::abs(p) <= precision) {
        law.kind = LawKind::power;
        const double m = std::exp(last.log_rate + std::log(last.t));
        law.exponent = -1 - m;
        set_constant(law,
                     limit_of(
                         walk.samples, begun, [&](const Sample& s) { return s.log_velocity + (m + 1) * std::log(s.t); },
                         [&](const Sample& s) { return epsilon * (std::abs(s.log_velocity) + m * std::log(s.t)); }));
        return law;
    }
    const bool exponential = std::abs(p - 1) <= precision;
    const double power = exponential ? 1 : p;
    const double log_rate = exponential ? last.log_rate : tail.log_c - std::log(p);
    law.kind = exponential ? LawKind::exponential : LawKind::stretched;
    law.rate = std::exp(log_rate);
    if (!exponential) {
        law.p = p;
    }
    const auto leading = [&](const Sample& s) { return std::exp(log_rate + power * std::log(s.t)); };
    Estimate offset = limit_of(
        walk.samples, begun, [&](const Sample& s) { return s.u - leading(s); },
        [&](const Sample& s) {
            const double wrong_slope = exponential ? 0 : tail.slope_error * (std::log(last.t / s.t) + 1 / p);
            return (2 * epsilon + wrong_slope) * leading(s);
        });
    set_constant(law, {log_rate + std::log(power) - offset.value, offset.error});
    return law;
}

void cross_check(Law& law, const Walk& walk, const Tail& tail) {
    if (tail.samples.size() < 3 || !std::isfinite(tail.s_growth) || !std::isfinite(walk.samples.back().log_s)) {
        return;
    }
    law.speed_growth = tail.s_growth;
    double expected = NAN;
    switch (law.kind) {
        case LawKind::exponential:
            expected = 0;
            break;
        case LawKind::stretched:
            expected = 1 - *law.p;
            break;
        case LawKind::power:
            expected = 1;
            break;
        case LawKind::frozen:
        case LawKind::other:
            return;
    }
    law.speed_agrees = std::abs(tail.s_growth - expected) <= fit;
    if (!law.speed_agrees) {
        law.note += fmt::format("{}the speed factor s grows like t^{:.4g}, which would mean another law",
                                law.note.empty() ? "" : "; ", tail.s_growth);
    }
}

}  // namespace

const char* name(LawKind kind) {
    switch (kind) {
        case LawKind::exponential:
            return "exponential";
        case LawKind::stretched:
            return "stretched";
        case LawKind::power:
            return "power";
        case LawKind::frozen:
            return "frozen";
        case LawKind::other:
            break;
    }
    return "other";
}

Law terminal_law(const scheme::Program& program, const Settings& settings) {
    const Walk walked = walk(program, settings);
    if (walked.samples.size() < 3) {
        Law law;
        law.note = walked.stopped.empty() ? "the solution ends at its start" : walked.stopped;
        return law;
    }
    const Tail tail = tail_of(walked);
    Law law = classify(walked, tail);
    if (law.kind != LawKind::frozen && law.kind != LawKind::other && !walked.stopped.empty()) {
        law.note += (law.note.empty() ? "seen as far as numbers go: " : "; ") + walked.stopped;
    }
    cross_check(law, walked, tail);
    return law;
}

}  // namespace flyball::theory
