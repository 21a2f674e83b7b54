// From samples of a solution to gamma' ~ C t^a exp(-rate t^p), by limits of sequences (limits.hpp).
#include "theory/growth.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace flyball::theory {

namespace {

constexpr double simple_parts[] = {1, 12, 1000};

double nearest(double value, double parts) {
    return std::round(value * parts) / parts;
}

}  // namespace

double simple_number(double value, double error) {
    for (const double parts : simple_parts) {
        // Only where so few of them lie so close that it is no accident.
        if (10 * error * parts <= 0.05 && std::abs(value - nearest(value, parts)) <= 10 * error) {
            return nearest(value, parts);
        }
    }
    return value;
}

bool is_simple(double value) {
    return std::any_of(std::begin(simple_parts), std::end(simple_parts),
                       [&](double parts) { return std::abs(value - nearest(value, parts)) <= 1e-12; });
}

namespace {

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

// a from kappa: exactly what it would be without kappa, or a simple number, where that is as likely.
double power_of(const Growth& growth) {
    const double plain = growth.p - 1;
    const double a = plain - growth.kappa.value;
    const double doubt = std::max(10 * growth.kappa.error, 1e-7);
    if (!growth.resolved || !(growth.kappa.error < fit) || std::abs(growth.kappa.value) <= doubt) {
        return plain;
    }
    return simple_number(a, doubt / 10);
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

}  // namespace

std::optional<Estimate> limit_of_power(const std::vector<Sample>& grid, double noise) {
    const std::vector<Term> terms = terms_of(
        grid, 0, [](const Sample& s) { return s.u; }, [&](const Sample& s) { return noise * std::abs(s.u); });
    const std::vector<Term> powers = local_powers(terms);
    const Estimate p = limit_of(powers);
    constexpr double slowest = 0.1;  // what hardly dies is not told from a logarithm
    if (powers.size() < 9 || !(p.value < -slowest && p.error < 0.1) || !settles(powers, 1e-5)) {
        return std::nullopt;
    }
    const Estimate limit = limit_with(terms, -p.value);
    return limit.error <= 1e-3 ? std::optional(limit) : std::nullopt;
}

// p is the slope of log(t lambda) at the end. For p = 0 the law is a power and kappa is t lambda itself; otherwise
// alpha comes from the last sample, and kappa and log C are limits of sequences over all samples since consensus came
// near, taken where what is left of corrections and the rounding of alpha t^p, which grows, balance.
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

// In this order, each from what the one before leaves, all in units of the last t lambda:
//
//     p       ratios of differences of t lambda (local_powers), free of kappa
//     kappa   t lambda without its power t^p
//     alpha   (t lambda - kappa)/t^p
//     log C   log gamma' - a log t without its power t^p
//
// A p below zero, or corrections that die fast, mean that there is no growing part: a power law.
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
    const Estimate p = limit_of_series(powers, std::clamp(std::abs(rough.value), 0.1, 1.0), rough.value < 0 ? 1 : 2);
    // A correction that dies like a good power need not be known well itself; one that hardly dies is not told from a
    // logarithm.
    const bool dies = rough.value < -0.4 && rough.error < 0.1;
    constexpr double slowest = 0.03;
    if (!dies &&
        (!(p.error <= 1e-3) || !settles(powers, grid.back().t > early ? 1e-9 : 1e-5) || std::abs(p.value) < slowest)) {
        return std::nullopt;
    }
    const std::vector<Term> growth_terms = growth_of(grid, noise);
    const double log_unit = grid.back().log_rate + std::log(grid.back().t);
    const double unit = std::exp(log_unit);  // may be infinite
    const auto set_constant_with = [&](Law& law, double a, double a_error, double power, double delta) {
        const std::vector<Term> terms = terms_of(
            grid, 0, [&](const Sample& s) { return s.log_velocity - a * std::log(s.t); },
            [&](const Sample& s) { return noise * std::abs(s.log_velocity); });
        Estimate constant = limit_with(power == 0 ? terms : without_power(terms, power), delta);
        constant.error += a_error * std::abs(std::log(grid.back().t));
        set_constant(law, constant);
    };
    if (dies || p.value < 0) {  // t lambda = kappa + what dies
        const double delta = dies ? -rough.value : -p.value;
        const double whole = std::abs(delta - 1) < 0.1 ? 1 : delta;
        const Estimate kappa = limit_with(growth_terms, whole);
        if (!(kappa.error < fit * kappa.value)) {
            return std::nullopt;
        }
        Law law;
        law.kind = LawKind::power;
        law.exponent = simple_number(-1 - kappa.value * unit, kappa.error * unit);
        set_constant_with(law, *law.exponent, is_simple(*law.exponent) ? 0 : kappa.error * unit, 0, whole);
        return law;
    }
    Growth growth;
    const double tolerance = std::max(p.error, 1e-7);
    growth.p = std::abs(p.value - 1) <= 10 * tolerance ? 1
               : tolerance < 1e-5                      ? simple_number(p.value, p.error)
                                                       : p.value;
    const double delta = std::min(growth.p, 1.0);
    // kappa is a number of order one beside alpha t^p of any size: its sequence is not in units of the last t lambda, in which
    // the errors of steps alone, 4e-13 each, would be larger than it is.
    std::vector<Term> rests = without_power(growth_terms, growth.p);
    if (std::isfinite(unit)) {
        for (Term& rest : rests) {
            rest.value *= unit;
            rest.rounding *= unit;
        }
        growth.kappa = limit_with(rests, delta);
        growth.resolved = std::any_of(rests.begin(), rests.end(), [](const Term& s) { return s.rounding < fit; });
    } else {
        growth.resolved = false;
    }
    // alpha = (t lambda - kappa)/t^p
    std::vector<Term> alphas;
    for (const Term& term : growth_terms) {
        const double rest = growth.resolved && growth.kappa.error < fit ? growth.kappa.value / unit : 0;
        alphas.push_back({term.t, std::log(term.value - rest) - growth.p * std::log(term.t), noise, true});
    }
    const Estimate alpha = limit_with(alphas, delta);
    if (!(alpha.error <= fit)) {
        return std::nullopt;
    }
    growth.log_alpha = alpha.value + log_unit;
    Law law = growing_law(growth);
    if (law.note.empty()) {
        const bool exact = *law.power == growth.p - 1 || is_simple(*law.power);
        set_constant_with(law, *law.power, exact ? 0 : growth.kappa.error, growth.p, delta);
    }
    return law;
}

}  // namespace flyball::theory
