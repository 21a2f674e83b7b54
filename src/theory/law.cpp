// The terminal law, read off the solution.
//
// With u = -log(1 - gamma) and lambda = u' = gamma'/(1 - gamma), gamma' ~ C t^a exp(-rate t^p) means
//     t lambda = alpha t^p + kappa + what dies out          alpha = rate p, kappa = p - 1 - a
// and a power law is alpha = 0, exponent -1 - kappa; frozen is both 0. Two ways lead to the numbers.
//   far    Where the solution can be followed to t = 1e100, corrections that fall like any power of t have died: p and
//          alpha are read at the end, kappa and C where corrections and rounding balance.
//   near   Where it ends before (1 - gamma or a length leaves the numbers), corrections like 1/t are still there. On
//          times in equal ratios differences take out kappa, then p takes out alpha, and Aitken's formula sums the
//          rest.
// Both ways ask that the sequence settles: logarithms do not, and are called `other`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "theory/limits.hpp"
#include "theory/tail.hpp"

namespace flyball::theory {

namespace {

constexpr double fit = 0.01;   // what counts as a law
constexpr double early = 1e8;  // an end before: 1/log t^2 is then no small number, and told from 0 with few digits

constexpr const char* not_reached = "the law is not reached by t = 1e100; the limit given is gamma there";

void set_constant(Law& law, const Estimate& log_constant) {
    if (!(log_constant.error <= fit || log_constant.error <= 1e-12 * std::abs(log_constant.value))) {
        law.note = "the law is too short to give its constant";
        return;
    }
    law.log_constant = log_constant.value;
    const double constant = std::exp(log_constant.value);
    if (std::isfinite(constant)) {
        law.constant = constant;
    }
    const double relative = std::expm1(log_constant.error);
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

// gamma' changes its sign for ever: 1 - gamma touches zero again and again, or gamma swings about a limit.
std::optional<std::string> swinging(const Walk& walk, const Tail& tail) {
    std::vector<double> turns;
    for (std::size_t i = 1; i < tail.samples.size(); ++i) {
        if (tail.samples[i].forward != tail.samples[i - 1].forward) {
            turns.push_back(tail.samples[i].t);
        }
    }
    if (turns.size() < 4) {
        return std::nullopt;
    }
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
    const std::string how = last.u > first.u + 10
                                ? fmt::format("on the whole 1-gamma falls like exp(-{:.4g} t)", above / below)
                                : fmt::format("gamma swings between {:.4g} and {:.4g}", low->gamma, high->gamma);
    return fmt::format("gamma' changes its sign again and again, about every {:.4g} near t = {:.4g}: {}{}",
                       (turns.back() - turns.front()) / static_cast<double>(turns.size() - 1), turns.back(), how,
                       walk.stopped.empty() ? "" : "; " + walk.stopped);
}

// t lambda in units of its last value, which may be larger than any number.
std::vector<Term> growth_of(const std::vector<Sample>& grid, double noise) {
    std::vector<Term> terms;
    const double log_unit = grid.back().log_rate + std::log(grid.back().t);
    for (const Sample& sample : grid) {
        const double value = std::exp(sample.log_rate + std::log(sample.t) - log_unit);
        terms.push_back({sample.t, sample.forward ? value : -value, noise * value, true});
    }
    return terms;
}

// Members of the sequence from the time on when consensus was near.
template <class Get, class Rounding>
std::vector<Term> terms_of(const std::vector<Sample>& samples, double from, const Get& get, const Rounding& rounding) {
    std::vector<Term> terms;
    for (const Sample& sample : samples) {
        if (sample.t >= from) {
            terms.push_back({sample.t, get(sample), rounding(sample), sample.on_grid});
        }
    }
    return terms;
}

std::vector<Term> on_grid(const std::vector<Term>& terms) {
    std::vector<Term> result;
    std::copy_if(terms.begin(), terms.end(), std::back_inserter(result), [](const Term& term) { return term.on_grid; });
    return result;
}

// What is known of t lambda = alpha t^p + kappa.
struct Growth {
    double p = 0;
    double log_alpha = -HUGE_VAL;
    Estimate kappa;        // infinite error: no limit, the exponent has another term that grows
    bool resolved = true;  // false: rounding alone hides kappa
};

// a from kappa: exactly what it would be without kappa, or a whole number, where that is as likely.
double power_of(const Growth& growth) {
    const double plain = growth.p - 1;
    const double a = plain - growth.kappa.value;
    const double doubt = std::max(10 * growth.kappa.error, 1e-7);
    if (!growth.resolved || !(growth.kappa.error < fit) || std::abs(growth.kappa.value) <= doubt) {
        return plain;
    }
    return std::abs(a - std::round(a)) <= doubt ? std::round(a) : a;
}

// The law gamma' ~ C t^a exp(-rate t^p) with its name; the constant is still missing.
Law growing_law(const Growth& growth) {
    Law law;
    law.kind = growth.p == 1 ? LawKind::exponential : LawKind::stretched;
    law.p = growth.p;
    law.rate = std::exp(growth.log_alpha) / growth.p;
    law.power = power_of(growth);
    if (growth.resolved && !(growth.kappa.error < fit)) {
        law.note = "the exponent has another term that grows, more slowly than the one given: there is no constant";
    }
    return law;
}

// Exponents are typed as short decimals or fractions: one that is met to within the error is meant.
double simple_number(double value, double error) {
    for (const double parts : {1.0, 12.0, 1000.0}) {
        const double simple = std::round(value * parts) / parts;
        if (std::abs(value - simple) <= 10 * error) {
            return simple;
        }
    }
    return value;
}

// At the end of a solution that was followed to t = 1e100.
Law far_law(const Walk& walk, const Tail& tail) {
    const Sample& last = walk.samples.back();
    const double begun = arrival(walk);
    const double p = tail.slope + 1;
    if (std::abs(p) <= 1e-6) {
        Law law;
        law.kind = LawKind::power;
        const double m = std::exp(last.log_rate + std::log(last.t));
        law.exponent = -1 - m;
        set_constant(
            law, limit_of(terms_of(
                     walk.samples, begun, [&](const Sample& s) { return s.log_velocity + (m + 1) * std::log(s.t); },
                     [&](const Sample& s) { return walk.noise * (std::abs(s.log_velocity) + m * std::log(s.t)); })));
        return law;
    }
    Growth growth;
    growth.p = std::abs(p - 1) <= 1e-6 ? 1 : simple_number(p, std::max(tail.slope_error, walk.noise));
    growth.log_alpha = last.log_rate + (1 - growth.p) * std::log(last.t);
    // alpha t^p, and how far it may be wrong: p was read at the end.
    const auto leading = [&](const Sample& s) { return std::exp(growth.log_alpha + growth.p * std::log(s.t)); };
    const auto doubt = [&](const Sample& s) {
        const double wrong_slope = growth.p == p ? tail.slope_error * (std::log(last.t / s.t) + 1 / growth.p) : 0;
        return (2 * walk.noise + wrong_slope) * leading(s);
    };
    const std::vector<Term> kappas = terms_of(
        walk.samples, begun,
        [&](const Sample& s) { return (s.forward ? 1 : -1) * std::exp(s.log_rate + std::log(s.t)) - leading(s); },
        doubt);
    growth.kappa = limit_of(kappas);
    growth.resolved = std::any_of(kappas.begin(), kappas.end(), [](const Term& term) { return term.rounding < fit; });
    Law law = growing_law(growth);
    if (!law.note.empty()) {
        return law;
    }
    const double a = *law.power;
    const double a_error = a == growth.p - 1 ? 0 : growth.kappa.error;
    const std::vector<Term> constants = terms_of(
        walk.samples, begun,
        [&](const Sample& s) { return leading(s) / growth.p + s.log_velocity - a * std::log(s.t); },
        [&](const Sample& s) { return doubt(s) / growth.p + a_error * std::abs(std::log(s.t)); });
    // Gains like (1+t)^(p-1) leave a series in t^(p-1), and in 1/t.
    Estimate constant = limit_of(constants);
    for (const double delta : {std::abs(1 - growth.p), growth.p, 1.0}) {
        const Estimate other = limit_of_series(on_grid(constants), delta);
        constant = delta > 0 && other.error < constant.error ? other : constant;
    }
    set_constant(law, constant);
    return law;
}

// The limit of a sequence on a grid whose corrections are a series in t^-delta, or in a power that it shows itself.
Estimate limit_with(const std::vector<Term>& terms, double delta) {
    Estimate best = limit_of_series(terms, delta);
    const std::vector<Term> powers = local_powers(terms);
    const Estimate shown = limit_of(powers);
    if (shown.error < 0.02 && settles(powers, 1e-9) && shown.value < -0.03) {
        const Estimate other = limit_of_series(terms, -shown.value);
        best = other.error < best.error ? other : best;
    }
    return best;
}

// From equal ratios of t near an end that came early, or where corrections have not died by t = 1e100. p is sought in
// `late`, the rest in all of the `grid`: where t^p is large, rounding hides kappa and the constant.
std::optional<Law> near_law(const std::vector<Sample>& grid, const std::vector<Sample>& late, double noise) {
    constexpr std::size_t fewest = 9;
    const auto moves = [](const Sample& s) { return std::isfinite(s.log_rate); };
    if (late.size() < fewest || !std::all_of(grid.begin(), grid.end(), moves) ||
        !std::all_of(late.begin(), late.end(), moves)) {
        return std::nullopt;
    }
    const std::vector<Term> powers = local_powers(growth_of(late, noise));
    // Corrections of t lambda that fall like t^-delta disturb its power by t^(-p-delta).
    const Estimate rough = limit_of(powers);
    const Estimate p = limit_of_series(powers, std::clamp(rough.value, 0.1, 1.0), 2);
    constexpr double slowest = 0.03;  // a correction that dies more slowly is not told from a logarithm
    if (!(p.error <= 1e-3) || !settles(powers, grid.back().t > early ? 1e-9 : 1e-5) || std::abs(p.value) < slowest) {
        return std::nullopt;
    }
    const std::vector<Term> growth_terms = growth_of(grid, noise);
    const double unit = std::exp(grid.back().log_rate + std::log(grid.back().t));
    const auto set_constant_with = [&](Law& law, double a, double a_error, double power, double delta) {
        const std::vector<Term> terms = terms_of(
            grid, 0, [&](const Sample& s) { return s.log_velocity - a * std::log(s.t); },
            [&](const Sample& s) { return noise * std::abs(s.log_velocity); });
        Estimate constant = limit_with(power == 0 ? terms : without_power(terms, power), delta);
        constant.error += a_error * std::abs(std::log(grid.back().t));
        set_constant(law, constant);
    };
    if (p.value < 0) {  // t lambda = kappa + what dies like t^p
        const Estimate kappa = limit_with(growth_terms, -p.value);
        if (!(kappa.error < fit * kappa.value)) {
            return std::nullopt;
        }
        Law law;
        law.kind = LawKind::power;
        law.exponent = -1 - kappa.value * unit;
        set_constant_with(law, *law.exponent, kappa.error * unit, 0, -p.value);
        return law;
    }
    Growth growth;
    const double tolerance = std::max(p.error, 1e-7);
    growth.p = std::abs(p.value - 1) <= 10 * tolerance ? 1
               : tolerance < 1e-5                      ? simple_number(p.value, p.error)
                                                       : p.value;
    const double delta = std::min(growth.p, 1.0);
    const std::vector<Term> rests = without_power(growth_terms, growth.p);
    const Estimate kappa = limit_with(rests, delta);
    growth.kappa = {kappa.value * unit, kappa.error * unit};
    growth.resolved = std::any_of(rests.begin(), rests.end(), [&](const Term& s) { return s.rounding * unit < fit; });
    // alpha = (t lambda - kappa)/t^p
    std::vector<Term> alphas;
    for (const Term& term : growth_terms) {
        const double rest = growth.kappa.error < fit ? kappa.value : 0;
        alphas.push_back({term.t, std::log(term.value - rest) - growth.p * std::log(term.t), noise, true});
    }
    const Estimate alpha = limit_with(alphas, delta);
    if (!(alpha.error <= fit)) {
        return std::nullopt;
    }
    growth.log_alpha = alpha.value + std::log(unit);
    Law law = growing_law(growth);
    if (law.note.empty()) {
        const bool exact = *law.power == growth.p - 1 || *law.power == std::round(*law.power);
        set_constant_with(law, *law.power, exact ? 0 : growth.kappa.error, growth.p, delta);
    }
    return law;
}

// gamma has a limit below 1, or what is left of its way is too slow to see. Nothing when it still moves.
std::optional<Law> stopping(const Walk& walk, const Tail& tail) {
    const Sample& last = walk.samples.back();
    const double width = tail.samples.empty() ? 0 : last.u - tail.samples.front().u;
    // A velocity that moves nothing is rounding.
    if (!tail.samples.empty() && !walk.underflow && std::abs(width) <= 1e-9 * std::max(1.0, last.u) &&
        (last.log_rate == -HUGE_VAL || std::exp(last.log_rate) * last.t > 2 * std::abs(width) ||
         last.log_rate + std::log(last.t) < -20)) {
        const bool still_moves = walk.to_the_end() && std::isfinite(last.log_rate) && tail.slope > -1 - 1e-6 &&
                                 tail.drift < fit && std::exp(last.log_rate) * last.t < 2 * std::abs(width);
        Law law = frozen(last.u, last.gamma, still_moves ? not_reached : walk.stopped);
        law.error = std::exp(-last.u) * std::max(std::abs(width), 1e-13) / std::max(std::abs(*law.limit), 1e-300);
        return law;
    }
    const double p = tail.slope + 1;
    const double precision = walk.to_the_end() ? 1e-6 : 1e-3;
    if (tail.drift <= fit && last.forward && p < -precision && tail.steady) {  // the rest of the way is finite
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
    if (last.u < -std::log(near_consensus) && walk.to_the_end()) {
        return frozen(last.u, last.gamma, fmt::format("{}; {}", not_reached, slopes_note(walk, tail)));
    }
    return std::nullopt;
}

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
    if (const auto stops = stopping(walk, tail)) {
        return *stops;
    }
    if (const auto note = swinging(walk, tail)) {
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
        if (found) {
            return *found;
        }
    }
    law.note = slopes_note(walk, tail);
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

Law terminal_law(const scheme::Program& program, const Settings& settings) {
    const Walk walked = walk(program, settings);
    if (walked.samples.size() < 3) {
        Law law;
        law.note = walked.stopped.empty() ? "the solution ends at its start" : walked.stopped;
        return law;
    }
    const Tail tail = tail_of(walked);
    Law law = classify(program, settings, walked, tail);
    const bool ends = law.kind == LawKind::frozen || law.kind == LawKind::extinct || law.kind == LawKind::other;
    if (!ends && !walked.stopped.empty()) {
        law.note += (law.note.empty() ? "seen as far as numbers go: " : "; ") + walked.stopped;
    }
    cross_check(law, walked, tail);
    return law;
}

}  // namespace flyball::theory
