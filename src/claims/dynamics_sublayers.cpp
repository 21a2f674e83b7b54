// What the paper leaves open, part three: several heads, and an FFN beside attention.
#include <fmt/format.h>

#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"
#include "theory/theory.hpp"

namespace flyball::claims {

namespace {

// Identity heads of inverse temperatures beta_h and weight 1/H at gamma = 0: gamma'(0) = (2/s) mean 1/Z_h.
Measurement heads(const Context& context) {
    constexpr double tolerance = 1e-9;
    const std::vector<double> betas = {0.5, 2, 6, 9};
    double worst = 0;
    double shown_predicted = 0;
    double shown = 0;
    for (const std::size_t tokens : {std::size_t{4}, context.size<std::size_t>(16, 64)}) {
        const auto n = static_cast<double>(tokens);
        double own = 0;    // weight of a token on itself
        double other = 0;  // and on each other one
        for (const double beta : betas) {
            const double Z = std::exp(beta) + n - 1;
            own += std::exp(beta) / Z / static_cast<double>(betas.size());
            other += 1 / Z / static_cast<double>(betas.size());
        }
        const double length = std::sqrt(own * own + (n - 1) * other * other);
        for (const auto& [name, stated] : {std::pair{"post-ln", 2 * other}, {"peri-ln", 2 * other / length}}) {
            const double predicted = context.predict("velocity", stated, {n});
            const scheme::Program program = scheme::find_scheme(name).program;
            attention::Settings settings;
            settings.head_betas = betas;
            const std::vector<double> turn =
                dynamics::velocities(particles_at(program, orthonormal_rows(tokens, 1), tokens, table_T, settings))
                    .turn;
            const double particles = turn[1] + turn[tokens];
            const double reduced = theory::initial_velocity(program, {n, betas, 1, table_T, std::nullopt});
            worst = measure::larger(
                worst, measure::larger(std::abs(particles / predicted - 1), std::abs(reduced / predicted - 1)));
            shown_predicted = predicted;
            shown = particles;
        }
    }
    const theory::Law law =
        theory::terminal_law(scheme::find_scheme("post-ln").program, {16, betas, 1, table_T, std::nullopt});
    const bool same_end = law.kind == theory::LawKind::exponential && std::abs(*law.rate - 2) < 0.02;
    const theory::Law power =
        theory::terminal_law(scheme::find_scheme("peri-ln").program, {16, betas, 1, table_T, std::nullopt});
    const bool same_power = power.kind == theory::LawKind::power && std::abs(*power.exponent + 3) < 0.03;
    Measurement result;
    result.predicted = shown_predicted;
    result.measured = shown;
    result.tolerance = fmt::format("{} of it", tolerance);
    result.verdict = verdict_of(worst < tolerance && same_end && same_power);
    result.note = fmt::format(
        "shown: gamma'(0) of Peri-LN with heads of beta = 0.5, 2, 6 and 9 at n = {}; particles and reduced law of "
        "Post-LN and Peri-LN differ from the formula by at most {:.1e}; in the end Post-LN {} and Peri-LN {} as with "
        "one head",
        context.size(16, 64), worst, theory::name(law.kind), theory::name(power.kind));
    return result;
}

dynamics::Record with_ffn(const Context& context, const char* scheme, bool ffn, double time, std::uint64_t seed) {
    dynamics::Settings s;
    s.tokens = 12;
    s.dim = 16;
    s.ffn_width = ffn ? 64 : 0;
    s.time = time;
    s.samples = 41;
    s.log_time = true;
    s.rtol = 1e-7;
    s.atol = 1e-10;
    s.seed = seed;
    return run_particles(context, s, scheme::find_scheme(scheme).program);
}

// Without an FFN speed and spread go to 0 together, so the slope of log speed over log sqrt(Var) is 1. With one the
// whole cluster moves on at a speed of its own; it may come to rest by itself, slowly, so the slope is small but not 0.
double speed_slope(const dynamics::Record& record) {
    std::vector<double> spread;
    std::vector<double> speed;
    for (const dynamics::Sample& sample : record.samples) {
        if (sample.t >= 5) {
            spread.push_back(0.5 * std::log(sample.variance));
            speed.push_back(std::log(sample.speed));
        }
    }
    return fit_line(spread, speed).slope;
}

Measurement ffn_keeps_moving(const Context& context) {
    const double bound = context.predict("slope that an FFN stays below", 0.5);
    const double expected_without = context.predict("slope without", 1);
    double variance = 0;
    double smallest_ratio = HUGE_VAL;
    std::vector<double> with;
    Comparison without = Comparison::absolute(0.02);
    const std::size_t seeds = context.size<std::size_t>(6, 30);
    constexpr double time = 15;
    for (const char* name : {"post-ln", "ngpt"}) {
        for (std::size_t seed = 0; seed < seeds; ++seed) {
            const std::uint64_t which = context.seed * 53 + seed;
            const dynamics::Record moving = with_ffn(context, name, true, time, which);
            with.push_back(speed_slope(moving));
            without.see(speed_slope(with_ffn(context, name, false, time, which)), expected_without);
            const dynamics::Sample& last = moving.samples.back();
            variance = measure::larger(variance, last.variance);
            smallest_ratio = measure::smaller(smallest_ratio, last.speed / std::sqrt(last.variance));
        }
    }
    const Mean slope = mean_of(with);
    const double steepest = measure::largest_in(with);
    Measurement result;
    result.predicted = fmt::format("slope below {} with an FFN, {} without", bound, expected_without);
    result.measured = fmt::format("at most {:.2f} with, {:.3f} without", steepest, without.measured());
    result.tolerance = "every draw with, 0.02 without; Var < 1e-6";
    result.verdict = verdict_of(variance < 1e-6 && steepest < bound && without.agrees());
    result.note = fmt::format(
        "slope of log speed over log sqrt(Var) from t = 5 to {} under Post-LN and nGPT; mean {:.2f} +- {:.2f} over {} "
        "random FFNs of "
        "width "
        "64, tied over depth; n = 12, d = 16, beta = 1; at the end the "
        "variance "
        "is below {:.0e} and the speed at least {:.2g} sqrt(Var)",
        time, slope.value, slope.error, seeds, variance, smallest_ratio);
    return result;
}

// Exponents of single draws scatter, so the claim is about means over draws with their intervals.
Measurement ffn_exponent(const Context& context) {
    std::string note;
    double steepest = -HUGE_VAL;
    double with_worst = -HUGE_VAL;
    const double stated = context.predict("exponent without", -2);
    const double bound = context.predict("exponent that an FFN stays above", -2);
    Comparison without = Comparison::absolute(0.02);
    const std::size_t seeds = context.size<std::size_t>(5, 20);
    const double time = context.size(1e3, 1e4);
    for (const char* name : {"pre-ln", "peri-ln"}) {
        for (const bool ffn : {false, true}) {
            std::vector<double> slopes;
            for (std::size_t seed = 0; seed < seeds; ++seed) {
                std::vector<double> clock;
                std::vector<double> value;
                for (const dynamics::Sample& sample :
                     with_ffn(context, name, ffn, time, context.seed * 53 + seed).samples) {
                    if (sample.t >= time / 10) {
                        clock.push_back(std::log(sample.t));
                        value.push_back(std::log(sample.variance));
                    }
                }
                slopes.push_back(fit_line(clock, value).slope);
            }
            const Mean mean = mean_of(slopes);
            note += fmt::format("{}{}{} {:.2f} +- {:.2f}", note.empty() ? "" : ", ", name, ffn ? " with" : " without",
                                mean.value, mean.error);
            if (ffn) {
                with_worst = measure::larger(with_worst, mean.value);
                steepest = steepest == -HUGE_VAL ? mean.value - mean.error
                                                 : measure::smaller(steepest, mean.value - mean.error);
            } else {
                without.see(mean.value, stated);
            }
        }
    }
    Measurement result;
    result.predicted = fmt::format("above {} with an FFN, {} without", bound, stated);
    result.measured = fmt::format("{:.2f} with an FFN, {:.2f} without", with_worst, without.measured());
    result.tolerance = "95 % intervals above it by 0.1; without 0.02";
    result.verdict = verdict_of(steepest > bound + 0.1 && with_worst < -0.5 && without.agrees());
    result.note = fmt::format(
        "exponent of Var over t in the last decade to t = {:g}, mean over {} random FFNs with its 95 % interval: {}",
        time, seeds, note);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_sublayers_claims() {
    return {
        {"dynamics-heads",
         "With heads of different temperature the initial speed is the mean of the speeds that each head would give, "
         "so "
         "that the head with the smallest beta dominates it; the terminal law stays as it is.",
         "finding", Verdict::holds, "", heads},
        {"dynamics-ffn-direction",
         "With an FFN tokens still come together under Post-LN and nGPT, but go on moving together: their speed no "
         "longer "
         "vanishes with their distance.",
         "finding", Verdict::holds, "some draws come to rest much later, others not within any time we looked at",
         ffn_keeps_moving},
        {"dynamics-ffn-exponent",
         "An FFN slows consensus under Pre-LN and Peri-LN: the variance decays with an exponent above -2.", "finding",
         Verdict::holds, "the branch adds to the stream's growth and spreads tokens at the same time", ffn_exponent},
    };
}

}  // namespace flyball::claims
