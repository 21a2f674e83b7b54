// Where Theorem 3.1 needs more than it says, and its corollary: the line, step sizes of nGPT, few tokens.
#include <fmt/format.h>

#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/dynamics_sync.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

using dynamics::StartKind;

namespace {

Measurement one_dimension(const Context& context) {
    std::size_t moved = 0;
    std::size_t mixed = 0;
    double plane = 1;
    for (std::size_t i = 0; i < paper_schemes().size(); ++i) {
        const std::string& name = paper_schemes()[i];
        const scheme::Program program = scheme::find_scheme(name).program;
        dynamics::Settings s;
        s.tokens = 6;
        s.dim = 1;
        s.systems = context.size<std::size_t>(20, 200);
        s.time = 100;
        s.samples = 2;
        s.seed = context.seed;
        std::vector<double> before;
        run_particles(context, s, program, [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
            const std::vector<double> left = one_minus_cosines(particles.theta(), s.systems, 1);
            if (sample.t == 0) {
                before = left;
                return;
            }
            for (std::size_t m = 0; m < s.systems; ++m) {
                mixed += before[m] > 0.1 ? 1 : 0;
                moved += before[m] > 0.1 && std::abs(before[m] - left[m]) > 1e-9 ? 1 : 0;
            }
        });
        if (name == "post-ln" || name == "ngpt") {
            plane = measure::smaller(plane, count_together(context, program, StartKind::uniform, {6, 2, 1}, 200,
                                                           context.size<std::size_t>(40, 400))
                                                .share());
        }
        context.at(static_cast<double>(i + 1) / 6);
    }
    Measurement result;
    result.predicted = "all starts synchronise";
    result.measured = fmt::format("{} of {} mixed starts move on the line; a share of {} synchronises in the plane",
                                  moved, mixed, plane);
    result.tolerance = "1e-9 in the cosine, 0.005 in the shares";
    const double on_line = static_cast<double>(moved) / static_cast<double>(mixed);
    const double expected_on_line = context.predict("share that moves on the line", 0);
    const double expected_in_plane = context.predict("share together in the plane", 1);
    result.verdict = verdict_of(
        on_line == 1, std::abs(on_line - expected_on_line) < 0.005 && std::abs(plane - expected_in_plane) < 0.005);
    result.note =
        "on the line a token is +1 or -1 times its length, attention has no part across it, and signs never "
        "change; six schemes";
    return result;
}

Measurement ngpt_integral(const Context& context) {
    const Setup setup{16, 3, 1};
    const std::size_t systems = context.size<std::size_t>(40, 400);
    const auto share = [&](const char* name, double T) {
        return count_together(context, scheme::find_scheme(name).program, StartKind::uniform, setup, T, systems)
            .share();
    };
    const double constant = share("ngpt", 200);
    context.at(0.3);
    const double harmonic = share("ngpt:alpha=1/(1+t)", 1e12);
    context.at(0.6);
    const double summable = share("ngpt:alpha=exp(-t)", 200);
    Measurement result;
    result.predicted = "a share of 1 for every alpha";
    result.measured = fmt::format("alpha = 1: {}; 1/(1+t): {}; exp(-t): {}", constant, harmonic, summable);
    const double infinite_integral = context.predict("share where the integral is infinite", 1);
    const double finite_integral = context.predict("share where it is finite", 0);
    const auto agree = [](double measured, double predicted) { return std::abs(measured - predicted) < 0.02; };
    const bool infinite = agree(constant, infinite_integral) && agree(harmonic, infinite_integral);
    result.tolerance = 0.02;
    result.verdict = verdict_of(infinite && summable == 1, infinite && agree(summable, finite_integral));
    result.note = fmt::format(
        "{} uniform starts, n = 16, d = 3, beta = 1; with alpha = exp(-t) a run has one unit of "
        "its own time in all",
        systems);
    return result;
}

Measurement corollary(const Context& context) {
    const std::size_t systems = context.size<std::size_t>(60, 400);
    std::size_t all = 0;
    std::size_t good = 0;
    std::string note;
    const std::vector<Setup> cases = {{2, 3, 0.7}, {4, 2, 1.4}, {8, 4, 2.1}};  // n <= e^beta in each
    for (std::size_t i = 0; i < cases.size(); ++i) {
        for (const char* name : {"pre-ln", "peri-ln"}) {
            context.at(static_cast<double>(i) / 3);
            const Counted counted = count_together(context, scheme::find_scheme(name).program, StartKind::gaussian,
                                                   cases[i], 1e60, systems);
            all += counted.systems;
            good += counted.together;
        }
        note += fmt::format("{}n = {} at beta = {}", i == 0 ? "" : ", ", cases[i].tokens, cases[i].beta);
    }
    Measurement result;
    const double share = static_cast<double>(good) / static_cast<double>(all);
    const double predicted = context.predict("share", 1);
    result.predicted = predicted;
    result.measured = share;
    result.tolerance = "less than one start";
    result.verdict = verdict_of(std::abs(share - predicted) < 0.5 / static_cast<double>(all));
    result.note = fmt::format("Gaussian starts, {}; {} of {} together at t = 1e60", note, good, all);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_sync_edges_claims() {
    return {{"dynamics-sync-one-dimension",
             "Synchronisation from almost every start needs no condition on the dimension.", "Theorem 3.1",
             Verdict::holds_corrected, "d >= 2 is needed: on the line every state is stationary", one_dimension},
            {"dynamics-sync-ngpt-alpha", "nGPT synchronises whatever its step sizes alpha are.", "Theorem 3.1",
             Verdict::holds_corrected, "the integral of alpha must be infinite", ngpt_integral},
            {"dynamics-sync-few-tokens", "Pre-LN and Peri-LN always synchronise when there are at most e^beta tokens.",
             "Corollary of Theorem 3.1", Verdict::holds, "", corollary}};
}

}  // namespace flyball::claims
