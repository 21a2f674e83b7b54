// Theorem 4.1, second half: how the velocity of the cosine ends.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "theory/theory.hpp"

namespace flyball::claims {

namespace {

// Equiangular tokens that all turn towards their mean at speed |theta'|:
//     gamma' = 2 |theta'| sqrt((1 + (n-1) gamma)(1 - gamma)/(n-1))          geometry alone, whatever the scheme
double gamma_velocity(const dynamics::Sample& sample, double n) {
    const double one_minus = sample.variance * n / (n - 1);
    return 2 * sample.speed * std::sqrt((n - (n - 1) * one_minus) * one_minus / (n - 1));
}

// log gamma' is a straight line with this slope over `clock`, after the prefactor is divided out.
struct TerminalCase {
    const char* id;
    const char* scheme;
    const char* particles;  // the same, with the parameters a run of length T wants
    const char* law;
    double slope;
    double (*clock)(double t);
    double (*log_prefactor)(double t);
    double T;
    theory::LawKind kind;
};

double identity(double t) {
    return t;
}
double none(double) {
    return 0;
}
double log_clock(double t) {
    return std::log(t);
}
double root_clock(double t) {
    return std::sqrt(t + 1);
}
double inverse_root(double t) {
    return -0.5 * std::log(t + 1);
}

using theory::LawKind;
const std::vector<TerminalCase> terminal_cases = {
    {"post-ln", "post-ln", "post-ln", "C exp(-2 t)", -2, identity, none, 14, LawKind::exponential},
    {"pre-ln", "pre-ln", "pre-ln", "C/t^3", -3, log_clock, none, 1e5, LawKind::power},
    {"mix-ln", "mix-ln", "mix-ln:tau=2e-5", "C/t^3", -3, log_clock, none, 1e5, LawKind::power},
    {"peri-ln", "peri-ln", "peri-ln", "C/t^3", -3, log_clock, none, 1e5, LawKind::power},
    {"ngpt", "ngpt", "ngpt", "C alpha exp(-2 int alpha), with alpha = 1: C exp(-2 t)", -2, identity, none, 14,
     LawKind::exponential},
    {"ngpt-harmonic", "ngpt:alpha=1/(1+t)", "ngpt:alpha=1/(1+t)",
     "C alpha exp(-2 int alpha), with alpha = 1/(1+t): C/t^3", -3, log_clock, none, 1e5, LawKind::power},
    {"sqrt-scaling", "sqrt-scaling", "sqrt-scaling", "C exp(-4 sqrt t)/sqrt t", -4, root_clock, inverse_root, 45,
     LawKind::stretched},
};

// The slope that the reduced law ends with, in the units of the case; NaN when it is another law.
double reduced_slope(const TerminalCase& which, const theory::Law& law) {
    if (law.kind != which.kind) {
        return std::nan("");
    }
    switch (law.kind) {
        case LawKind::exponential:
            return -*law.rate;
        case LawKind::stretched:
            return std::abs(*law.p - 0.5) < 0.001 ? -*law.rate : std::nan("");
        case LawKind::power:
            return *law.exponent;
        case LawKind::frozen:
        case LawKind::extinct:
        case LawKind::other:
            break;
    }
    return std::nan("");
}

// A law is a straight line once time is read on its clock and its prefactor is divided out. The fit is over the last
// third of the clock, or a factor of 20 in t, where corrections are below the tolerance.
Measurement terminal(const TerminalCase& which, const Context& context) {
    constexpr double tolerance = 0.002;
    const double slope = context.predict("slope", which.slope);
    Comparison particles = Comparison::relative(tolerance);
    Comparison reduced = Comparison::relative(tolerance);
    Line line;
    const std::vector<std::pair<std::size_t, double>> sizes =
        context.quick ? std::vector<std::pair<std::size_t, double>>{{8, 1}}
                      : std::vector<std::pair<std::size_t, double>>{{8, 1}, {4, 0.5}, {32, 2}};
    for (const auto& [n, beta] : sizes) {
        dynamics::Settings s;
        s.tokens = n;
        s.dim = n;
        s.beta = beta;
        s.start = dynamics::StartKind::symmetric;
        s.time = which.T;
        s.samples = 121;
        s.log_time = which.clock == log_clock;
        s.rtol = 1e-11;
        s.atol = 1e-14;
        const dynamics::Record record = run_particles(context, s, scheme::find_scheme(which.particles).program);
        std::vector<double> clock;
        std::vector<double> value;
        const double end = which.clock(which.T);
        const double begin = which.clock == log_clock ? end - std::log(20) : end - 0.35 * (end - which.clock(0));
        for (const dynamics::Sample& sample : record.samples) {
            if (sample.t > 0 && which.clock(sample.t) >= begin) {
                clock.push_back(which.clock(sample.t));
                value.push_back(std::log(gamma_velocity(sample, static_cast<double>(n))) -
                                context.predict("log prefactor", which.log_prefactor(sample.t), {sample.t}));
            }
        }
        line = fit_line(clock, value);
        particles.see(line.slope, slope);
        const theory::Law law = theory::terminal_law(scheme::find_scheme(which.scheme).program,
                                                     {static_cast<double>(n), {beta}, 1, 10, std::nullopt});
        reduced.see(reduced_slope(which, law), slope);
    }
    Measurement result;
    result.predicted = slope;
    result.measured = particles.measured();
    result.tolerance = fmt::format("{} of it", tolerance);
    result.verdict = verdict_of(particles.agrees() && reduced.agrees());
    result.note = fmt::format(
        "slope of log gamma' over {} at the end of particle runs to t = {:g} (95 % interval of the last fit +- "
        "{:.1g}); the "
        "reduced law gives {} and the same number to {:.1g}",
        which.clock == log_clock  ? "log t"
        : which.clock == identity ? "t"
                                  : "sqrt(t+1), after 1/sqrt(t+1) is divided out",
        which.T, line.slope_error, theory::name(which.kind), reduced.off());
    return result;
}

// alpha = exp(-t): the whole run is one unit of nGPT's own time, so gamma stops where alpha = 1 is at t = 1.
Measurement summable(const Context& context) {
    constexpr double tolerance = 1e-4;
    const double n = 8;
    const double beta = 1;
    const PaperRow constant_alpha = {"ngpt", "s = |A|", [](const TokenState& x) { return x.length; },
                                     [](const TokenState&) { return 0.0; }};
    const double own_time = context.predict("integral of alpha", 1);
    const double predicted = solve_row(constant_alpha, n, beta, 1, {own_time}).front().gamma;
    const scheme::Program program = scheme::find_scheme("ngpt:alpha=exp(-t)").program;
    dynamics::Settings s;
    s.tokens = 8;
    s.dim = 8;
    s.start = dynamics::StartKind::symmetric;
    s.time = 40;
    const double particles = run_particles(context, s, program).samples.back().cosine;
    const theory::Law law = theory::terminal_law(program, {n, {beta}, 1, 10, std::nullopt});
    Measurement result;
    result.predicted = predicted;
    result.measured = particles;
    result.tolerance = tolerance;
    result.verdict = verdict_of(std::abs(particles - predicted) < tolerance && law.kind == LawKind::frozen &&
                                law.limit && std::abs(*law.limit - predicted) < tolerance);
    result.note = fmt::format("the cosine at which gamma stops, n = 8, beta = 1; the reduced law says {}{}",
                              theory::name(law.kind), law.limit ? fmt::format(" at {:.6f}", *law.limit) : "");
    return result;
}

}  // namespace

std::vector<Claim> dynamics_terminal_claims() {
    std::vector<Claim> claims;
    for (const TerminalCase& which : terminal_cases) {
        const scheme::CatalogueEntry& entry = *scheme::find_scheme(which.scheme).entry;
        Claim claim;
        claim.id = fmt::format("dynamics-terminal-{}", which.id);
        claim.statement = fmt::format("From orthonormal tokens the velocity of the cosine ends as {} under {}.",
                                      which.law, entry.title);
        claim.source = "Theorem 4.1";
        claim.experiment = [which](const Context& context) { return terminal(which, context); };
        claims.push_back(std::move(claim));
    }
    claims.push_back({"dynamics-terminal-ngpt-summable",
                      "Under nGPT with alpha = exp(-t), whose integral is finite, the cosine stops below 1.",
                      "Theorem 4.1", Verdict::holds, "", summable});
    return claims;
}

}  // namespace flyball::claims
