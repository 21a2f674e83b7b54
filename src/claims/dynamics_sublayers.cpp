// What the paper leaves open, part three: several heads, and an FFN beside attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/experiment.hpp"
#include "claims/groups.hpp"
#include "claims/paper.hpp"
#include "claims/system.hpp"
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
        for (const auto& [name, predicted] : {std::pair{"post-ln", 2 * other}, {"peri-ln", 2 * other / length}}) {
            const scheme::Program program = scheme::find_scheme(name).program;
            attention::Settings settings;
            settings.head_betas = betas;
            attention::Weights<double> weights;
            weights.heads = betas.size();
            System system(program, tokens, tokens, table_T, settings, weights);
            std::vector<double> rows(tokens * tokens, 0.0);
            for (std::size_t j = 0; j < tokens; ++j) {
                rows[j * tokens + j] = 1;
            }
            system.start(rows);
            const Motion motion = system.motion(0);
            const double particles = motion.turn[1] + motion.turn[tokens];
            const double reduced = theory::initial_velocity(program, {n, betas, 1, table_T, std::nullopt});
            worst = std::max({worst, std::abs(particles / predicted - 1), std::abs(reduced / predicted - 1)});
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

// Without an FFN speed and spread go to 0 together, as sqrt(Var); with one the whole cluster moves on.
Measurement ffn_keeps_moving(const Context& context) {
    double variance = 0;
    double smallest_with = HUGE_VAL;
    double largest_without = 0;
    const std::size_t seeds = context.size<std::size_t>(6, 30);
    constexpr double time = 15;
    for (const char* name : {"post-ln", "ngpt"}) {
        for (std::size_t seed = 0; seed < seeds; ++seed) {
            const std::uint64_t which = context.seed * 53 + seed;
            const dynamics::Sample with = with_ffn(context, name, true, time, which).samples.back();
            const dynamics::Sample without = with_ffn(context, name, false, time, which).samples.back();
            variance = std::max(variance, with.variance);
            smallest_with = std::min(smallest_with, with.speed / std::sqrt(with.variance));
            largest_without = std::max(largest_without, without.speed / std::sqrt(without.variance));
        }
    }
    Measurement result;
    result.predicted = "speed/sqrt(Var) large with an FFN, near 1 without";
    result.measured = fmt::format("at least {:.3g} with, at most {:.3g} without", smallest_with, largest_without);
    result.tolerance = "above 30, below 1.1; Var < 1e-6";
    result.verdict = verdict_of(variance < 1e-6 && smallest_with > 30 && largest_without < 1.1);
    result.note = fmt::format(
        "Post-LN and nGPT at t = {}, {} random FFNs of width 64, tied over depth, n = 12, d = 16, beta = 1; the "
        "variance is "
        "then below {:.0e}",
        time, seeds, variance);
    return result;
}

Measurement ffn_exponent(const Context& context) {
    std::string note;
    double steepest = -HUGE_VAL;
    double with_worst = -HUGE_VAL;
    double without_worst = -2;
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
                with_worst = std::max(with_worst, mean.value);
                steepest =
                    steepest == -HUGE_VAL ? mean.value - mean.error : std::min(steepest, mean.value - mean.error);
            } else if (!(std::abs(mean.value + 2) < std::abs(without_worst + 2))) {
                without_worst = mean.value;
            }
        }
    }
    Measurement result;
    result.predicted = "above -2, below 0";
    result.measured = fmt::format("{:.2f} with an FFN, {:.2f} without", with_worst, without_worst);
    result.tolerance = "intervals below -1.9 count as -2; without 0.05";
    result.verdict = verdict_of(steepest > -1.9 && with_worst < 0 && std::abs(without_worst + 2) < 0.05);
    result.note = fmt::format(
        "exponent of Var over t in the last decade to t = {:g}, mean over {} random FFNs with its 95 % interval: {}",
        time, seeds, note);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_sublayers_claims() {
    return {
        {"dynamics-heads",
         "Heads of different temperature average their initial speeds, so the hottest head sets the pace, and leave "
         "the terminal law "
         "as it is.",
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
