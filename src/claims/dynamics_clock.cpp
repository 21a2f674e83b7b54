// What the paper leaves open, part one: clocks. Causal masks halve exponents, LN-Scaling as released has another law,
// and two schemes are others read at another time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"
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

// Linearised about consensus the matrix is triangular: token j sees itself with the weight 1/j, so its distance from
// the first decays like exp(-(1 - 1/j) int dt/s), and 1 - cos like the square of that. Token 2 is the slowest.
double mode_rate(double j) {
    return -(1 - 1 / j);
}

struct CausalCase {
    const char* scheme;
    const char* law;
    double clock_rate;  // 2 int dt/s over the clock: the slope of log(1 - cos) is this times the rate of the mode
    double T;
    double (*clock)(double t);
};

const std::vector<CausalCase> causal_cases = {
    {"post-ln", "exp(-t)", 2, 25, plain_time},    {"pre-ln", "1/t", 2, 1e5, log_time},
    {"mix-ln:tau=2e-5", "1/t", 2, 1e5, log_time}, {"peri-ln", "1/t", 2, 1e5, log_time},
    {"ngpt", "exp(-t)", 2, 25, plain_time},       {"sqrt-scaling", "exp(-2 sqrt t)", 4, 120, root},
};

dynamics::Settings causal_settings(const CausalCase& which, const Context& context, std::size_t seed) {
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
    return s;
}

// Where fits begin: the last part of the clock.
double late(const CausalCase& which) {
    const double end = which.clock(which.T);
    return which.clock == log_time ? end - std::log(20) : end - 0.3 * (end - which.clock(0));
}

// log(1 - cos) of the first token and another one.
double log_distance(const std::vector<double>& theta, std::size_t dim, std::size_t other) {
    return std::log(measure::squared_distance(theta.data(), theta.data() + other * dim, dim) / 2);
}

// The slope of log(1 - cos) of the first two tokens. (Of others a slow mode is left over for a long time.)
Line random_start_slope(const CausalCase& which, const Context& context, std::size_t seed) {
    const dynamics::Settings s = causal_settings(which, context, seed);
    std::vector<double> clock;
    std::vector<double> value;
    run_particles(context, s, scheme::find_scheme(which.scheme).program,
                  [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
                      if (sample.t == 0 || which.clock(sample.t) < late(which)) {
                          return;
                      }
                      clock.push_back(which.clock(sample.t));
                      value.push_back(log_distance(particles.theta(), s.dim, 1));
                  });
    return fit_line(clock, value);
}

// The mode of token j alone: the tokens before it agree, and stay where they are.
Line mode_slope(const CausalCase& which, const Context& context, std::size_t j) {
    constexpr std::size_t dim = 3;
    attention::Settings settings;
    settings.mask = attention::Mask::causal;
    std::vector<double> rows;
    for (std::size_t k = 1; k <= j; ++k) {
        rows.insert(rows.end(), {std::cos(k == j ? 0.3 : 0), std::sin(k == j ? 0.3 : 0), 0});
    }
    std::vector<double> clock;
    std::vector<double> value;
    run_particles(context, particles_at(scheme::find_scheme(which.scheme).program, rows, dim, which.T, settings),
                  log_spaced(which.T / 20, which.T, 30),
                  [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
                      if (which.clock(sample.t) >= late(which)) {
                          clock.push_back(which.clock(sample.t));
                          value.push_back(log_distance(particles.theta(), dim, j - 1));
                      }
                  });
    return fit_line(clock, value);
}

// Two looks at one spectrum: runs from random starts, where after a while only the slowest mode (token 2) is left, and
// starts in which the mode of token j is the only one there is.
Measurement causal(const CausalCase& which, const Context& context) {
    Comparison slope = Comparison::relative(0.005);
    double error = 0;
    const auto predicted = [&](double j) {
        return which.clock_rate * context.predict("rate of token j", mode_rate(j), {j});
    };
    for (std::size_t seed = 0; seed < context.size<std::size_t>(2, 10); ++seed) {
        const Line line = random_start_slope(which, context, seed);
        slope.see(line.slope, predicted(2));
        error = measure::larger(error, line.slope_error);
    }
    std::string modes;
    for (const std::size_t j : {2U, 3U, 4U, 6U}) {
        context.at(static_cast<double>(j) / 6);
        const Line line = mode_slope(which, context, j);
        slope.see(line.slope, predicted(static_cast<double>(j)));
        modes += fmt::format("{}{:.4f} for token {}", modes.empty() ? "" : ", ", line.slope, j);
    }
    Measurement result;
    result.predicted = slope.predicted();
    result.measured = slope.measured();
    result.tolerance = fmt::format("{} of it", slope.tolerance());
    result.verdict = verdict_of(slope.agrees());
    result.note = fmt::format(
        "slope of log(1 - cos) over {}, shown where it is farthest off: of the first two tokens "
        "at the end of runs from random starts, n = d = 6, beta = 1, to t = {:g} (95 % interval +- {:.1g}); of "
        "token j when those before it agree, predicted {:g} (1 - 1/j): {}",
        which.clock == log_time     ? "log t"
        : which.clock == plain_time ? "t"
                                    : "sqrt(t+1)",
        which.T, error, -which.clock_rate, modes);
    return result;
}

// The released form feeds attention norm(x)/sqrt(t+1): r ~ 2 sqrt t, s = r sqrt(t+1) ~ 2 t, so gamma' ~ C/t^2.
Measurement ln_scaling(const char* name, const Context& context) {
    constexpr double tolerance = 0.003;  // 1/(t+1)^0.505 instead of the root would end as t^-1.99
    const double predicted = context.predict("exponent", -2);
    const double n = 8;
    dynamics::Settings s;
    s.tokens = 8;
    s.dim = 8;
    s.start = dynamics::StartKind::symmetric;
    s.time = context.size(1e8, 1e9);  // the exponent comes near like 1/sqrt t
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
    const bool power = law.kind == theory::LawKind::power && std::abs(*law.exponent - predicted) < 1e-3;
    Measurement result;
    result.predicted = predicted;
    result.measured = line.slope - 1;  // gamma' has one power less than 1 - gamma
    result.tolerance = tolerance;
    result.verdict = verdict_of(std::abs(line.slope - 1 - predicted) < tolerance && power);
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
        largest = measure::larger(largest, std::abs(a[i] - b[i]));
    }
    return largest;
}

struct ClockCase {
    const char* scheme;
    const char* other;
    double (*other_time)(double t);
};

// Identical paths, not only identical ends: every coordinate is compared, at four times.
Measurement same_at_another_time(const std::vector<ClockCase>& cases, const Context& context) {
    constexpr double tolerance = 1e-7;
    double worst = 0;
    for (const ClockCase& which : cases) {
        for (const double t : {0.5, 3.0, 12.0, 40.0}) {
            context.at(t / 50);
            worst = measure::larger(
                worst,
                largest_difference(end_of(context, which.scheme, t),
                                   end_of(context, which.other, context.predict("time", which.other_time(t), {t}))));
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
        claim.statement = fmt::format(
            "A causal mask halves the exponent: under {} the first two tokens approach each other like {}, the "
            "tokens after them faster.",
            entry.title, which.law);
        claim.source = "finding";
        claim.note =
            "near consensus token j gives the weight 1/j to each of the j tokens that it sees, itself among them; so "
            "it "
            "approaches the others at the rate (1 - 1/j)/s, which is smallest, 1/(2 s), for token 2";
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
    claims.push_back({"dynamics-clock-sqrt-scaling",
                      "At time t sqrt-scaling is where Post-LN is at the time 2 (sqrt(t+1) - 1).", "finding",
                      Verdict::holds, "so where Post-LN needs a depth L it needs about L^2/4", sqrt_clock});
    claims.push_back({"dynamics-clock-ngpt",
                      "nGPT with step sizes alpha is nGPT with alpha = 1 read at the integral of alpha.", "finding",
                      Verdict::holds, "", ngpt_clock});
    return claims;
}

}  // namespace flyball::claims
