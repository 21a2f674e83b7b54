// What the paper leaves open, part one: clocks. Causal masks halve exponents, LN-Scaling as released has another law,
// and two schemes are others read at another time.
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

double plain_time(double t) {
    return t;
}
double log_time(double t) {
    return std::log(t);
}
double root(double t) {
    return std::sqrt(t + 1);
}

// log(1 - cos(theta_1, theta_2)) over the scheme's clock: half of what all pairs do without a mask.
struct CausalCase {
    const char* scheme;
    const char* law;
    double slope;
    double T;
    double (*clock)(double t);
};

const std::vector<CausalCase> causal_cases = {
    {"post-ln", "exp(-t)", -1, 25, plain_time},    {"pre-ln", "1/t", -1, 1e5, log_time},
    {"mix-ln:tau=2e-5", "1/t", -1, 1e5, log_time}, {"peri-ln", "1/t", -1, 1e5, log_time},
    {"ngpt", "exp(-t)", -1, 25, plain_time},       {"sqrt-scaling", "exp(-2 sqrt t)", -2, 120, root},
};

Measurement causal(const CausalCase& which, const Context& context) {
    constexpr double tolerance = 0.01;
    double farthest = which.slope;
    double error = 0;
    for (std::size_t seed = 0; seed < context.size<std::size_t>(2, 10); ++seed) {
        dynamics::Settings s;
        s.tokens = 6;
        s.dim = 6;
        s.causal = true;
        s.time = which.T;
        s.samples = 101;
        s.log_time = which.clock == log_time;
        s.seed = context.seed * 17 + seed;
        s.rtol = 1e-11;
        s.atol = 1e-14;
        std::vector<double> clock;
        std::vector<double> value;
        const double end = which.clock(which.T);
        const double begin = which.clock == log_time ? end - std::log(20) : end - 0.3 * (end - which.clock(0));
        run_particles(context, s, scheme::find_scheme(which.scheme).program,
                      [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
                          if (sample.t == 0 || which.clock(sample.t) < begin) {
                              return;
                          }
                          const double* theta = particles.theta().data();
                          double squares = 0;
                          for (std::size_t c = 0; c < s.dim; ++c) {
                              squares += std::pow(theta[c] - theta[s.dim + c], 2);
                          }
                          clock.push_back(which.clock(sample.t));
                          value.push_back(std::log(squares / 2));
                      });
        const Line line = fit_line(clock, value);
        error = std::max(error, line.slope_error);
        if (!(std::abs(line.slope - which.slope) < std::abs(farthest - which.slope))) {
            farthest = line.slope;
        }
    }
    Measurement result;
    result.predicted = which.slope;
    result.measured = farthest;
    result.tolerance = tolerance;
    result.verdict = verdict_of(std::abs(farthest - which.slope) < tolerance * std::abs(which.slope));
    result.note = fmt::format(
        "slope of log(1 - cos) of the first two tokens over {} at the end of runs from random starts, n = d = "
        "6, beta = 1, to t = {:g}; 95 % interval +- {:.1g}",
        which.clock == log_time     ? "log t"
        : which.clock == plain_time ? "t"
                                    : "sqrt(t+1)",
        which.T, error);
    return result;
}

// The released form feeds attention norm(x)/sqrt(t+1): r ~ 2 sqrt t, s = r sqrt(t+1) ~ 2 t, so gamma' ~ C/t^2.
Measurement ln_scaling(const char* name, const Context& context) {
    constexpr double tolerance = 0.02;
    const double n = 8;
    dynamics::Settings s;
    s.tokens = 8;
    s.dim = 8;
    s.start = dynamics::StartKind::symmetric;
    s.time = context.size(1e6, 1e7);
    s.samples = 101;
    s.log_time = true;
    const scheme::Program program = scheme::find_scheme(name).program;
    const dynamics::Record record = run_particles(context, s, program);
    std::vector<double> clock;
    std::vector<double> value;
    for (const dynamics::Sample& sample : record.samples) {
        if (sample.t >= s.time / 20) {
            clock.push_back(std::log(sample.t));
            value.push_back(std::log(sample.variance));
        }
    }
    const Line line = fit_line(clock, value);
    const theory::Law law = theory::terminal_law(program, {n, {1}, 1, 10, std::nullopt});
    const bool power = law.kind == theory::LawKind::power && std::abs(*law.exponent + 2) < tolerance;
    Measurement result;
    result.predicted = -2.0;
    result.measured = line.slope - 1;  // gamma' has one power less than 1 - gamma
    result.tolerance = tolerance;
    result.verdict = verdict_of(std::abs(line.slope + 1) < tolerance && power);
    result.note = fmt::format(
        "exponent of gamma' from particles (95 % interval +- {:.1g}) to t = {:g}; the reduced law says {}{}",
        line.slope_error, s.time, theory::name(law.kind), law.exponent ? fmt::format(" {:.4f}", *law.exponent) : "");
    return result;
}

// The directions of a run at its end.
std::vector<double> end_of(const Context& context, const char* scheme, double time) {
    dynamics::Settings s;
    s.tokens = context.size<std::size_t>(16, 64);
    s.dim = 3;
    s.beta = 3;
    s.time = time;
    s.samples = 2;
    s.seed = context.seed;
    std::vector<double> theta;
    run_particles(context, s, scheme::find_scheme(scheme).program,
                  [&](const dynamics::Sample&, const dynamics::Particles& particles) { theta = particles.theta(); });
    return theta;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = a.empty() || a.size() != b.size() ? HUGE_VAL : 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

struct ClockCase {
    const char* scheme;
    const char* other;
    double (*other_time)(double t);
};

Measurement same_at_another_time(const std::vector<ClockCase>& cases, const Context& context) {
    constexpr double tolerance = 1e-7;
    double worst = 0;
    for (const ClockCase& which : cases) {
        for (const double t : {0.5, 3.0, 12.0, 40.0}) {
            context.at(t / 50);
            worst = std::max(worst, largest_difference(end_of(context, which.scheme, t),
                                                       end_of(context, which.other, which.other_time(t))));
        }
    }
    Measurement result;
    result.predicted = 0.0;
    result.measured = worst;
    result.tolerance = tolerance;
    result.verdict = verdict_of(worst < tolerance);
    result.note =
        "largest difference of any coordinate of any token at t = 0.5, 3, 12 and 40 from the same random start, d = 3, "
        "beta = 3";
    return result;
}

Measurement sqrt_clock(const Context& context) {
    return same_at_another_time({{"sqrt-scaling", "post-ln", [](double t) { return 2 * (std::sqrt(t + 1) - 1); }}},
                                context);
}

Measurement ngpt_clock(const Context& context) {
    return same_at_another_time({{"ngpt:alpha=1/(1+t)", "ngpt", [](double t) { return std::log1p(t); }},
                                 {"ngpt:alpha=exp(-t)", "ngpt", [](double t) { return -std::expm1(-t); }}},
                                context);
}

}  // namespace

std::vector<Claim> dynamics_clock_claims() {
    std::vector<Claim> claims;
    for (const CausalCase& which : causal_cases) {
        const scheme::CatalogueEntry& entry = *scheme::find_scheme(which.scheme).entry;
        Claim claim;
        claim.id = fmt::format("dynamics-causal-{}", entry.name);
        claim.statement =
            fmt::format("A causal mask halves the exponent: under {} the first two tokens approach each other like {}.",
                        entry.title, which.law);
        claim.source = "finding";
        claim.note = "the second token sees itself half, so it turns at half the rate; later tokens are faster";
        claim.experiment = [which](const Context& context) { return causal(which, context); };
        claims.push_back(std::move(claim));
    }
    claims.push_back(
        {"dynamics-ln-scaling",
         "LN-Scaling as released, which divides the input of the sub-layer by sqrt(depth), ends as C/t^2, a power, "
         "and not as the stretched exponential of the paper's sixth row.",
         "finding", Verdict::holds, "the sixth row is sqrt-scaling, another scheme",
         [](const Context& context) { return ln_scaling("ln-scaling", context); }});
    claims.push_back({"dynamics-ln-scaling-output", "LN-Scaling with the factor moved to the output ends as C/t^2 too.",
                      "finding", Verdict::holds, "",
                      [](const Context& context) { return ln_scaling("ln-scaling-output", context); }});
    claims.push_back({"dynamics-clock-sqrt-scaling", "sqrt-scaling is Post-LN read at the time 2 (sqrt(t+1) - 1).",
                      "finding", Verdict::holds, "so it needs the square of the depth for what Post-LN does",
                      sqrt_clock});
    claims.push_back({"dynamics-clock-ngpt",
                      "nGPT with step sizes alpha is nGPT with alpha = 1 read at the integral of alpha.", "finding",
                      Verdict::holds, "", ngpt_clock});
    return claims;
}

}  // namespace flyball::claims
