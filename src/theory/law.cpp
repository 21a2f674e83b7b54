// The terminal law, read off the solution: whether it stops, swings, ends, or follows a law of growth.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "theory/growth.hpp"

namespace flyball::theory {

namespace {

constexpr const char* not_reached = "the law is not reached by t = 1e100; the limit given is gamma there";

Law frozen(double u, double gamma, std::string note) {
    Law law;
    law.kind = LawKind::frozen;
    law.limit = std::abs(u) > 0.5 ? -std::expm1(-u) : gamma;
    law.log_one_minus_limit = -u;
    law.note = std::move(note);
    return law;
}

// `doubt`: how far the limit may be wrong. One that is zero for all that is known is given as zero, and then there is
// nothing that an error could be relative to.
void set_limit_error(Law& law, double doubt) {
    constexpr double smallest = 1e-290;  // rates below it have lost their digits
    if (std::abs(*law.limit) <= doubt || std::abs(*law.limit) < smallest) {
        law.limit = 0;
        law.log_one_minus_limit = 0;
    } else {
        law.error = doubt / std::abs(*law.limit);
    }
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

// Times at which gamma' changes its sign, which it does on a straight line.
std::vector<double> turns_of(const std::vector<Sample>& samples) {
    std::vector<double> turns;
    for (std::size_t i = 1; i < samples.size(); ++i) {
        const Sample& before = samples[i - 1];
        const Sample& after = samples[i];
        if (after.forward != before.forward) {
            const double ratio = std::exp(after.log_velocity - before.log_velocity);
            turns.push_back(before.t + (after.t - before.t) * (std::isfinite(ratio) ? 1 / (1 + ratio) : 1));
        }
    }
    return turns;
}

// Turns come in pairs, tokens passing each other and tokens farthest apart, and the gaps alternate: whole pairs.
double period_of(const std::vector<double>& turns) {
    const std::size_t begin = (turns.size() - 1) % 2;
    return 2 * (turns.back() - turns[begin]) / static_cast<double>(turns.size() - 1 - begin);
}

// How often gamma' turns. Steps are about as long as swings, so the first and the last few of the tail are looked at
// once more, closely: only gaps that agree, near by and from first to last, are a period. Nothing where t is so large
// that looks so close are one number.
std::optional<std::string> when_it_turns(const scheme::Program& program, const Settings& settings,
                                         const std::vector<double>& turns) {
    constexpr std::size_t few = 12;
    constexpr double looks = 16;  // at a swing
    constexpr double alike = 0.1;
    const std::size_t count = std::min(turns.size(), few);
    double shortest = HUGE_VAL;
    double longest = 0;
    double period = period_of(turns);
    double begin = 0;
    for (const auto& some : {std::vector(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(count)),
                             std::vector(turns.end() - static_cast<std::ptrdiff_t>(count), turns.end())}) {
        begin = std::max(begin, some.front());
        const double step = period_of(some) / looks;
        if (!(step > 4 * (std::nextafter(some.back(), HUGE_VAL) - some.back()))) {
            return std::nullopt;
        }
        const std::vector<double> found =
            turns_of(sampled_evenly(program, settings, begin - step, some.back() + step, step));
        for (std::size_t i = 2; i < found.size(); ++i) {
            shortest = std::min(shortest, found[i] - found[i - 2]);
            longest = std::max(longest, found[i] - found[i - 2]);
        }
        if (found.size() > 2) {
            period = period_of(found);
        }
    }
    return longest - shortest <= alike * longest
               ? fmt::format("twice in about every {:.4g}", period)
               : fmt::format("at unequal gaps, twice within {:.4g} at the least and {:.4g} at the most", shortest,
                             longest);
}

// gamma' changes its sign for ever: 1 - gamma touches zero again and again, or gamma swings about a limit.
bool swings(const Tail& tail) {
    return turns_of(tail.samples).size() >= 4;
}

std::optional<std::string> swinging(const scheme::Program& program, const Settings& settings, const Walk& walk,
                                    const Tail& tail) {
    if (!swings(tail)) {
        return std::nullopt;
    }
    const std::vector<double> turns = turns_of(tail.samples);
    const Sample& first = tail.samples.front();
    const Sample& last = tail.samples.back();
    // The mean slope of u, by least squares: single samples may lie on a spike.
    double mean_t = 0;
    double mean_u = 0;
    for (const Sample& sample : tail.samples) {
        mean_t += sample.t / static_cast<double>(tail.samples.size());
        mean_u += sample.u / static_cast<double>(tail.samples.size());
    }
    double above = 0;
    double below = 0;
    for (const Sample& sample : tail.samples) {
        above += (sample.t - mean_t) * (sample.u - mean_u);
        below += (sample.t - mean_t) * (sample.t - mean_t);
    }
    const auto [low, high] = std::minmax_element(tail.samples.begin(), tail.samples.end(),
                                                 [](const Sample& x, const Sample& y) { return x.gamma < y.gamma; });
    const std::optional<std::string> period = when_it_turns(program, settings, turns);
    const std::string when = period.value_or("faster than numbers tell times apart");
    const std::string rate = period ? fmt::format(" like exp(-{:.4g} t)", above / below) : "";
    const std::string how = last.u > first.u + 10
                                ? fmt::format("on the whole 1-gamma falls{}", rate)
                                : fmt::format("gamma swings between {:.4g} and {:.4g}", low->gamma, high->gamma);
    return fmt::format("gamma' changes its sign again and again, {} near t = {:.4g}: {}{}", when, turns.back(), how,
                       walk.stopped.empty() ? "" : "; " + walk.stopped);
}

// Nothing has moved any more while t grew tenfold, to the end.
bool rests(const Walk& walk) {
    const double since = walk.samples.back().t / 10;
    return walk.to_the_end() && std::all_of(walk.samples.begin(), walk.samples.end(), [since](const Sample& sample) {
               return sample.t < since || sample.log_rate == -HUGE_VAL;
           });
}

// gamma has a limit below 1, or what is left of its way is too slow to see. Nothing when it still moves. Where lambda
// falls like t^(p-1) with p < 0, the rest of the way of u is finite and known: the integral from t on is t lambda/(-p).
std::optional<Law> stopping(const scheme::Program& program, const Settings& settings, const Walk& walk,
                            const Tail& tail) {
    const Sample& last = walk.samples.back();
    const double width = tail.samples.empty() || rests(walk) ? 0 : last.u - tail.samples.front().u;
    // A velocity that moves nothing is rounding.
    if (!tail.samples.empty() && !walk.underflow && std::abs(width) <= 1e-9 * std::max(1.0, last.u) &&
        (last.log_rate == -HUGE_VAL || std::exp(last.log_rate) * last.t > 2 * std::abs(width) ||
         last.log_rate + std::log(last.t) < -20)) {
        const bool still_moves = walk.to_the_end() && std::isfinite(last.log_rate) && tail.slope > -1 - 1e-6 &&
                                 tail.drift < fit && std::exp(last.log_rate) * last.t < 2 * std::abs(width);
        Law law = frozen(last.u, last.gamma, still_moves ? not_reached : walk.stopped);
        law.reached = walk.has_digits && !still_moves;
        if (!walk.has_digits) {
            law.limit = law.log_one_minus_limit = 0;
            law.note = "the limit is 0 for all that numbers can say: gamma moves more slowly than the smallest of them";
        } else if (!still_moves) {
            set_limit_error(law,
                            std::exp(-last.u) * std::max(std::abs(width), 1e-13 * std::min(1.0, std::abs(last.u))));
        }
        return law;
    }
    const double p = tail.slope + 1;
    const double precision = walk.to_the_end() ? 1e-6 : 1e-3;
    if (tail.drift <= fit && p < -precision && tail.steady) {  // the rest of the way is finite
        const double sign = last.forward ? 1 : -1;
        const double rest = sign * std::exp(last.log_rate + std::log(last.t)) / -p;
        Law law = frozen(last.u + rest, last.gamma + sign * std::exp(last.log_velocity + std::log(last.t)) / -p,
                         walk.stopped);
        // The same from u alone, by Aitken's formula over the tail.
        const Sample& first = tail.samples.front();
        const Sample& middle = sample_at(tail.samples, std::sqrt(first.t) * std::sqrt(last.t));
        const double d1 = middle.u - first.u;
        const double d2 = last.u - middle.u;
        const double other_rest = d2 / d1 > 0 && d2 / d1 < 1 ? d2 * d2 / (d1 - d2) : 0;
        set_limit_error(law, std::exp(-last.u) * std::abs(rest - other_rest));
        return law;
    }
    if (!walk.to_the_end() && last.u < -std::log(near_consensus) && last.t > 100) {
        const std::vector<Sample> grid = sampled_back_from(program, settings, std::max(1.0, last.t / 1e4), last.t);
        if (const auto limit = limit_of_power(grid, walk.noise)) {
            Law law = frozen(limit->value, -std::expm1(-limit->value), walk.stopped);
            set_limit_error(law, std::exp(-limit->value) * limit->error);
            return law;
        }
    }
    if (last.u < -std::log(near_consensus) && walk.to_the_end()) {
        Law law = frozen(last.u, last.gamma, fmt::format("{}; {}", not_reached, slopes_note(walk, tail)));
        law.reached = false;
        return law;
    }
    return std::nullopt;
}

// From the surest sign to the subtlest: an end, a stop, a swing, a law of growth, and none of them.
Law classify(const scheme::Program& program, const Settings& settings, const Walk& walk, const Tail& tail) {
    const Sample& last = walk.samples.back();
    Law law;
    if (walk.extinct) {
        law.kind = LawKind::extinct;
        law.time = walk.extinct->time;
        law.limit = last.gamma;
        law.note = fmt::format(
            "{} reaches zero at t = {:.10g}, and with it the solution ends; the limit given is gamma "
            "there",
            walk.extinct->stream, walk.extinct->time);
        return law;
    }
    if (walk.unfinished) {  // no law of what is seen so far holds
        law.note = walk.stopped;
        return law;
    }
    if (const auto stops = stopping(program, settings, walk, tail)) {
        return *stops;
    }
    if (const auto note = swinging(program, settings, walk, tail)) {
        law.note = *note;
        return law;
    }
    if (last.u >= -std::log(near_consensus) && last.forward && tail.drift <= fit) {
        if (walk.to_the_end() && tail.steady) {
            return far_law(walk, tail);
        }
        // A solution that ended early is walked along once more, with more samples near its end.
        const auto grid_from = [&](double begin) {
            std::vector<Sample> grid;
            std::copy_if(walk.samples.begin(), walk.samples.end(), std::back_inserter(grid),
                         [&](const Sample& s) { return s.on_grid && s.t >= begin; });
            return grid;
        };
        std::optional<Law> found;
        if (last.t > early) {
            found = near_law(grid_from(arrival(walk)), grid_from(tail.samples.front().t), walk.noise);
        } else {
            const double begin = std::max({arrival(walk), last.t / 1e3, 1e-3});
            const std::vector<Sample> grid = sampled_back_from(program, settings, begin, last.t);
            found = near_law(grid, grid, 1e-12);
        }
        // Corrections that have died leave nothing to sum, only noise: then the law is read at the end.
        if (!found && last.t > early && tail.steady) {
            found = far_law(walk, tail);
        }
        if (found) {
            return *found;
        }
    }
    law.note = slopes_note(walk, tail);
    return law;
}

// Near consensus (1 - gamma)' = -2 (1 - gamma)/s, so s ~ t^(1-p) for a stretched law (p = 1: s constant) and s ~ t for
// a power: the same law, read from the velocities instead of the solution.
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
        case LawKind::extinct:
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
        case LawKind::extinct:
            return "extinct";
        case LawKind::other:
            break;
    }
    return "other";
}

namespace {

// Rates that nearly coincide show late: a law that looks odd, or like none, is looked at once more.
bool odd(const Law& law) {
    return law.kind == LawKind::other || (law.power && !law.note.empty() && law.kind != LawKind::frozen) ||
           (law.power && *law.power != *law.p - 1 && !is_simple(*law.power));
}

}  // namespace

// Walk, classify, and where the result looks odd and numbers allow it, walk deeper once: laws whose two rates nearly
// coincide show which is slower only then.
Law terminal_law(const scheme::Program& program, const Settings& settings) {
    constexpr double deep = 1600;
    constexpr double deeper = 12000;
    Walk walked = walk(program, settings, deep);
    if (walked.samples.size() < 3) {
        Law law;
        law.note = walked.stopped.empty() ? "the solution ends at its start" : walked.stopped;
        return law;
    }
    Tail tail = tail_of(walked);
    // Where nothing disturbs a law steps grow with t, and an end that comes early is reached in a few of them.
    constexpr std::size_t few = 9;
    const double end = walked.samples.back().t;
    if (tail.samples.size() < few && !walked.to_the_end() && !walked.extinct && end <= early) {
        std::vector<Sample> closer = sampled_back_from(program, settings, std::max(end / 1e3, 1e-3), end);
        if (closer.size() > walked.samples.size() / 2) {
            walked.samples = std::move(closer);
            tail = tail_of(walked);
        }
    }
    Law law = classify(program, settings, walked, tail);
    if (walked.samples.back().u > deep && walked.underflow && odd(law) && !swings(tail)) {
        walked = walk(program, settings, deeper);
        tail = tail_of(walked);
        law = classify(program, settings, walked, tail);
    }
    const bool ends = law.kind == LawKind::frozen || law.kind == LawKind::extinct || law.kind == LawKind::other;
    if (!ends && !walked.stopped.empty()) {
        law.note += (law.note.empty() ? "seen as far as numbers go: " : "; ") + walked.stopped;
    }
    cross_check(law, walked, tail);
    if (law.error && *law.error < walked.shaken) {
        law.error = walked.shaken;
    }
    return law;
}

}  // namespace flyball::theory
