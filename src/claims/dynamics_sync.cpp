// Theorem 3.1 and its corollary: who synchronises, from where; and the energy that makes it so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/experiment.hpp"
#include "claims/groups.hpp"
#include "claims/paper.hpp"
#include "claims/system.hpp"

namespace flyball::claims {

namespace {

using dynamics::StartKind;

struct Setup {
    std::size_t tokens;
    std::size_t dim;
    double beta;
};
const std::vector<Setup> setups = {{16, 3, 1}, {24, 2, 1}, {12, 6, 2}};

struct Counted {
    std::size_t together = 0;
    std::size_t excused = 0;  // not together, with a token whose growth <theta, A> has all but stopped
    std::size_t systems = 0;

    double share() const { return static_cast<double>(together) / static_cast<double>(systems); }
};

constexpr double together_level = 1e-3;
constexpr double stopped_growth = 1e-2;

// How many of `systems` random starts have a mean cosine above 1 - 1e-3 at time T.
Counted count_together(const Context& context, const scheme::Program& program, StartKind start, const Setup& setup,
                       double T, std::size_t systems) {
    dynamics::Settings s;
    s.tokens = setup.tokens;
    s.dim = setup.dim;
    s.beta = setup.beta;
    s.start = start;
    s.systems = systems;
    s.time = T;
    s.samples = 31;  // stations on the way: a first step to 1e60 at once would fail
    s.log_time = true;
    s.seed = context.seed;
    s.rtol = 1e-6;
    s.atol = 1e-9;
    Counted counted;
    counted.systems = systems;
    run_particles(context, s, program, [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
        if (sample.t < T) {
            return;
        }
        const std::vector<double> left = one_minus_cosines(particles.theta(), systems, setup.dim);
        for (std::size_t m = 0; m < systems; ++m) {
            if (left[m] < together_level) {
                ++counted.together;
                continue;
            }
            const std::size_t each = setup.tokens * setup.dim;
            const auto begin = particles.theta().begin() + static_cast<std::ptrdiff_t>(m * each);
            const std::vector<double> theta(begin, begin + static_cast<std::ptrdiff_t>(each));
            const PlainAttention attention = plain_attention(theta, setup.dim, setup.beta);
            double growth = HUGE_VAL;
            for (std::size_t j = 0; j < setup.tokens; ++j) {
                growth = std::min(growth, dot(&theta[j * setup.dim], &attention.value[j * setup.dim], setup.dim));
            }
            counted.excused += growth < stopped_growth ? 1 : 0;
        }
    });
    return counted;
}

struct SyncCase {
    const char* scheme;  // with parameters
    bool grows;          // the stream grows: Gaussian start, and an exception that the theorem allows
    double T;
};

// Growing streams have log t for a clock, sqrt-scaling 2 sqrt t.
const std::vector<SyncCase> sync_cases = {
    {"post-ln", false, 200}, {"pre-ln", true, 1e12}, {"mix-ln:tau=1e-12", true, 1e12},
    {"peri-ln", true, 1e12}, {"ngpt", false, 200},   {"sqrt-scaling", false, 1e4}};

Measurement synchronises(const SyncCase& which, const Context& context) {
    const scheme::Program program = scheme::find_scheme(which.scheme).program;
    const std::size_t systems = context.size<std::size_t>(40, 400);
    std::size_t all = 0;
    std::size_t good = 0;
    std::size_t excused = 0;
    std::string note;
    for (std::size_t i = 0; i < setups.size(); ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(setups.size());
        const Counted counted =
            count_together(context.part(share, share + 1.0 / static_cast<double>(setups.size())), program,
                           which.grows ? StartKind::gaussian : StartKind::uniform, setups[i], which.T, systems);
        all += counted.systems;
        good += counted.together;
        excused += which.grows ? counted.excused : 0;
        note += fmt::format("{}n = {}, d = {}, beta = {}: {} of {}", i == 0 ? "" : "; ", setups[i].tokens,
                            setups[i].dim, setups[i].beta, counted.together, counted.systems);
    }
    Measurement result;
    result.predicted = 1.0;
    result.measured = static_cast<double>(good) / static_cast<double>(all);
    result.tolerance = 0.0;
    result.verdict = verdict_of(good + excused == all);
    result.note = fmt::format(
        "share of random starts with mean cosine above 0.999 at t = {:.0e} ({}); all of {} puts the chance above "
        "{:.3f} with 95 % confidence{}",
        which.T, note, all, all_succeeded_bound(all),
        which.grows ? fmt::format("; {} starts needed the exception", excused) : "");
    return result;
}

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
            plane = std::min(plane, count_together(context, program, StartKind::uniform, {6, 2, 1}, 200,
                                                   context.size<std::size_t>(40, 400))
                                        .share());
        }
        context.at(static_cast<double>(i + 1) / 6);
    }
    Measurement result;
    result.predicted = "all starts synchronise";
    result.measured = fmt::format("{} of {} mixed starts move on the line; a share of {} synchronises in the plane",
                                  moved, mixed, plane);
    result.tolerance = "1e-9 in the cosine";
    result.verdict = verdict_of(mixed > 0 && moved == mixed, mixed > 0 && moved == 0 && plane == 1);
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
    result.tolerance = "none: all or nothing";
    result.verdict =
        verdict_of(constant == 1 && harmonic == 1 && summable == 1, constant == 1 && harmonic == 1 && summable < 0.05);
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
    result.predicted = 1.0;
    result.measured = static_cast<double>(good) / static_cast<double>(all);
    result.tolerance = 0.0;
    result.verdict = verdict_of(good == all);
    result.note = fmt::format("Gaussian starts, {}; {} of {} together at t = 1e60", note, good, all);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_sync_claims() {
    std::vector<Claim> claims;
    for (const SyncCase& which : sync_cases) {
        const scheme::CatalogueEntry& entry = *scheme::find_scheme(which.scheme).entry;
        Claim claim;
        claim.id = fmt::format("dynamics-sync-{}", entry.name);
        claim.statement =
            which.grows ? fmt::format(
                              "Under {} almost every Gaussian start ends with all tokens in one direction, unless "
                              "some token stops growing.",
                              entry.title)
                        : fmt::format("Under {} almost every uniform start ends with all tokens in one direction.",
                                      entry.title);
        claim.source = "Theorem 3.1";
        claim.experiment = [which](const Context& context) { return synchronises(which, context); };
        claims.push_back(std::move(claim));
    }
    claims.push_back({"dynamics-sync-one-dimension",
                      "Synchronisation from almost every start needs no condition on the dimension.", "Theorem 3.1",
                      Verdict::holds_corrected, "d >= 2 is needed: on the line every state is stationary",
                      one_dimension});
    claims.push_back({"dynamics-sync-ngpt-alpha", "nGPT synchronises whatever its step sizes alpha are.", "Theorem 3.1",
                      Verdict::holds_corrected, "the integral of alpha must be infinite", ngpt_integral});
    claims.push_back({"dynamics-sync-few-tokens",
                      "Pre-LN and Peri-LN always synchronise when there are at most e^beta tokens.",
                      "Corollary of Theorem 3.1", Verdict::holds, "", corollary});
    return claims;
}

}  // namespace flyball::claims
