// Runs against what is known exactly: the reduced law of a symmetric start, changes of clock, monotone energy,
// exponents.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "dynamics/method.hpp"
#include "dynamics/run.hpp"
#include "sanitized.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics {
namespace {

Record simulate(const Settings& settings, const std::string& scheme) {
    return run(settings, scheme::find_scheme(scheme).program);
}

// ---- the symmetric start: gamma' = G/(s Z), typed from the paper, by classical Runge-Kutta ------------------------

struct Reduced {
    double gamma = 0;
    double r = 1;
};

struct Law {  // s and r' of a row of the paper's table; `late` after the switch of Mix-LN
    const char* scheme;
    std::function<double(double t, double r, double A, bool late)> s;
    std::function<double(double dot, double A, bool late)> dr;
};

const std::vector<Law>& paper_laws() {
    static const std::vector<Law> laws = {
        {"post-ln", [](double, double, double, bool) { return 1.0; }, [](double, double, bool) { return 0.0; }},
        {"pre-ln", [](double, double r, double, bool) { return r; }, [](double dot, double, bool) { return dot; }},
        {"mix-ln", [](double, double r, double, bool late) { return late ? r : 1.0; },
         [](double dot, double, bool late) { return late ? dot : 0.0; }},
        {"peri-ln", [](double, double r, double A, bool) { return r * A; },
         [](double dot, double A, bool) { return dot / A; }},
        {"ngpt", [](double, double, double A, bool) { return A; }, [](double, double, bool) { return 0.0; }},
        {"sqrt-scaling", [](double t, double, double, bool) { return std::sqrt(t + 1); },
         [](double, double, bool) { return 0.0; }},
    };
    return laws;
}

// From t = begin to end in equal steps, none across a switch.
Reduced reduced_piece(const Law& law, double n, double beta, Reduced x, double begin, double end, bool late) {
    const auto slope = [&](double t, const Reduced& at) {
        const double q = std::exp(beta * (at.gamma - 1));  // e^beta factored out
        const double Z = 1 + (n - 1) * q;
        const double dot = (1 + (n - 1) * at.gamma * q) / Z;
        const double A = std::sqrt(1 + 2 * (n - 1) * at.gamma * q + (n - 1) * (1 + (n - 2) * at.gamma) * q * q) / Z;
        const double G = 2 * q * (1 - at.gamma) * (1 + (n - 1) * at.gamma);
        return Reduced{G / (law.s(t, at.r, A, late) * Z), law.dr(dot, A, late)};
    };
    const auto add = [](const Reduced& a, double c, const Reduced& b) {
        return Reduced{a.gamma + c * b.gamma, a.r + c * b.r};
    };
    const int steps = 10000;
    const double h = (end - begin) / steps;
    for (int i = 0; i < steps; ++i) {
        const double t = begin + h * i;
        const Reduced k1 = slope(t, x);
        const Reduced k2 = slope(t + h / 2, add(x, h / 2, k1));
        const Reduced k3 = slope(t + h / 2, add(x, h / 2, k2));
        const Reduced k4 = slope(t + h, add(x, h, k3));
        x = add(add(add(add(x, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
    }
    return x;
}

Reduced reduced_at(const Law& law, double n, double beta, double switch_time, double end, Reduced start = {}) {
    const Reduced early = reduced_piece(law, n, beta, start, 0, std::min(end, switch_time), false);
    return end <= switch_time ? early : reduced_piece(law, n, beta, early, switch_time, end, true);
}

// Dimensions equal tokens; Mix-LN switches at a quarter of the time.
void expect_the_reduced_law(std::size_t n, double beta, double T, double rtol, double tolerance) {
    Settings settings;
    settings.tokens = settings.dim = n;
    settings.beta = beta;
    settings.start = StartKind::symmetric;
    settings.time = T;
    settings.samples = 13;
    settings.rtol = rtol;
    settings.atol = rtol / 100;
    for (const Law& law : paper_laws()) {
        const Record record = simulate(settings, law.scheme);
        ASSERT_EQ(record.outcome, Outcome::done);
        ASSERT_EQ(record.samples.size(), 13U);
        for (const Sample& sample : record.samples) {
            const Reduced expected =
                sample.t == 0 ? Reduced{} : reduced_at(law, static_cast<double>(n), beta, T / 4, sample.t);
            EXPECT_NEAR(sample.cosine, expected.gamma, tolerance) << law.scheme << " t " << sample.t;
            EXPECT_NEAR(sample.radius, expected.r, 10 * tolerance) << law.scheme << " t " << sample.t;
        }
        EXPECT_GT(record.samples.back().cosine, 0.1) << law.scheme << " hardly moved: nothing was tested";
    }
}

TEST(SymmetricStart, FollowsThePapersReducedLawForItsSixSchemes) {
    expect_the_reduced_law(24, 2, 10, 1e-10, 1e-8);
}

TEST(SymmetricStart, FollowsItAtTheSizeOfThePapersFigure) {
    if (sanitized) {
        GTEST_SKIP() << "numbers of this size are for builds without sanitizers";
    }
    expect_the_reduced_law(256, 5, 90, 1e-7, 1e-6);
}

// The same law from any equal angles: gamma(0) = rho, which the run says as --start equiangular:RHO. Also from below 0,
// where tokens are farther apart than orthogonal, and from where they all but agree.
TEST(EquiangularStart, FollowsThePapersReducedLawFromItsOwnCosine) {
    for (const double rho : {-0.12, -0.02, 0.3, 0.9, 0.9999}) {
        Settings settings;
        settings.tokens = settings.dim = 8;
        settings.beta = 2;
        settings.start = StartKind::equiangular;
        settings.start_cosine = rho;
        settings.r0 = 1.5;
        settings.time = 4;
        settings.samples = 5;
        for (const Law& law : paper_laws()) {
            const Record record = simulate(settings, law.scheme);
            ASSERT_EQ(record.outcome, Outcome::done);
            const bool on_sphere = record.samples.front().radius < 1.25;
            EXPECT_NEAR(record.samples.front().radius, on_sphere ? 1 : 1.5, 1e-14) << law.scheme;
            for (const Sample& sample : record.samples) {
                const Reduced start{rho, record.samples.front().radius};
                const Reduced expected = sample.t == 0 ? start : reduced_at(law, 8, 2, 1, sample.t, start);
                EXPECT_NEAR(sample.one_minus_cosine, 1 - expected.gamma, 1e-6 * (1 - expected.gamma))
                    << law.scheme << " from " << rho << ", t " << sample.t;
                EXPECT_NEAR(sample.cosine_hi - sample.cosine_lo, 0, 1e-12);
                EXPECT_NEAR(sample.radius, expected.r, 1e-7) << law.scheme << " from " << rho << ", t " << sample.t;
            }
        }
    }
}

// ---- changes of clock ---------------------------------------------------------------------------------------------

Settings random_start() {
    Settings settings;
    settings.tokens = 12;
    settings.dim = 5;
    settings.beta = 3;
    settings.samples = 2;
    settings.seed = 5;
    return settings;
}

TEST(Clock, SqrtScalingIsPostLnAtTwoSqrtOfTPlusOneMinusTwo) {
    for (const double t : {0.5, 3.0, 12.0}) {
        Settings settings = random_start();
        settings.time = t;
        const Record slow = simulate(settings, "sqrt-scaling");
        settings.time = 2 * (std::sqrt(t + 1) - 1);
        const Record fast = simulate(settings, "post-ln");
        EXPECT_NEAR(slow.samples.back().cosine, fast.samples.back().cosine, 1e-9);
        EXPECT_NEAR(slow.samples.back().variance, fast.samples.back().variance, 1e-9);
        EXPECT_NEAR(slow.samples.back().energy, fast.samples.back().energy, 1e-9);
    }
}

TEST(Clock, NgptWithAlphaIsNgptAtTheIntegralOfAlpha) {
    Settings settings = random_start();
    settings.time = 6;
    const Record slow = simulate(settings, "ngpt:alpha=1/(1+t)");
    settings.time = std::log(7.0);
    const Record fast = simulate(settings, "ngpt");
    EXPECT_NEAR(slow.samples.back().cosine, fast.samples.back().cosine, 1e-9);
}

TEST(Clock, PreLnAndPeriLnTraceOneCurveOfCosineAndRadius) {
    Settings settings = random_start();
    settings.tokens = settings.dim = 16;
    settings.start = StartKind::symmetric;
    settings.time = 4;
    settings.samples = 9;
    const Record pre = simulate(settings, "pre-ln");
    for (const Sample& sample : pre.samples) {
        Settings until = settings;
        until.time = 50;
        until.until = Until{"radius", true, sample.radius};
        if (sample.t > 0) {
            const Record peri = simulate(until, "peri-ln");
            ASSERT_EQ(peri.outcome, Outcome::until);
            EXPECT_NEAR(peri.samples.back().radius, sample.radius, 1e-8);
            EXPECT_NEAR(peri.samples.back().cosine, sample.cosine, 1e-7);
        }
    }
}

// ---- laws of motion -----------------------------------------------------------------------------------------------

TEST(Energy, NeverIncreasesForThePapersSixSchemes) {
    Settings settings = random_start();
    settings.tokens = 20;
    settings.time = 15;
    settings.samples = 60;
    for (const char* scheme : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"}) {
        const Record record = simulate(settings, scheme);
        for (std::size_t i = 1; i < record.samples.size(); ++i) {
            EXPECT_LE(record.samples[i].energy, record.samples[i - 1].energy + 1e-12) << scheme << " sample " << i;
        }
    }
}

TEST(Causal, ExponentsHalve) {
    // Linearised about consensus the slowest token decays at 1 - 1/2: variance goes like exp(-t), not exp(-2t).
    Settings settings = random_start();
    settings.tokens = 6;
    settings.beta = 1;
    settings.start = StartKind::cone;
    settings.cone_delta = 0.01;
    settings.time = 40;
    settings.samples = 41;
    const auto rate = [&](bool causal) {
        settings.causal = causal;
        const Record record = simulate(settings, "post-ln");
        return causal ? std::log(record.samples[26].variance / record.samples[36].variance) / 10
                      : std::log(record.samples[6].variance / record.samples[10].variance) / 4;
    };
    EXPECT_NEAR(rate(false), 2.0, 0.02);
    EXPECT_NEAR(rate(true), 1.0, 0.02);
}

TEST(Radius, GrowsLikeTWhenWeightsAreTiedAndLikeSqrtTWhenFresh) {
    Settings settings;
    settings.tokens = 24;
    settings.dim = 48;
    settings.weights = WeightKind::orthogonal;
    settings.layers = 256;
    settings.dt = 1;
    settings.samples = 257;
    settings.systems = 2;
    const auto exponent = [&](bool fresh) {
        settings.fresh = fresh;
        const Record record = simulate(settings, "peri-ln");
        return std::log(record.samples[256].radius / record.samples[32].radius) / std::log(8.0);
    };
    // Error budget: 48 tokens of two systems; the exponent of a random walk over three octaves scatters by about 0.05.
    EXPECT_NEAR(exponent(true), 0.5, 0.12);
    EXPECT_GT(exponent(false), 0.8);
}

// ---- layers -------------------------------------------------------------------------------------------------------

TEST(Layers, ConvergeToTheOde) {
    Settings settings = random_start();
    settings.time = 2;
    const double exact = simulate(settings, "peri-ln").samples.back().cosine;
    const auto error = [&](std::size_t layers) {
        Settings discrete = settings;
        discrete.layers = layers;
        discrete.dt = 2.0 / static_cast<double>(layers);
        return std::abs(simulate(discrete, "peri-ln").samples.back().cosine - exact);
    };
    EXPECT_NEAR(error(200) / error(400), 2.0, 0.1);
    EXPECT_LT(error(400), 1e-2);
}

TEST(Methods, HaveTheirOrder) {
    Settings settings = random_start();
    settings.time = 2;
    const double exact = simulate(settings, "mix-ln").samples.back().cosine;
    const auto error = [&](Method method, double dt) {
        Settings other = settings;
        other.method = method;
        other.dt = dt;
        return std::abs(simulate(other, "mix-ln").samples.back().cosine - exact);
    };
    for (const MethodRow& row : method_rows()) {
        if (row.has_equal_steps()) {
            const int order = row.table().order;
            const double dt = order < 3 ? 0.02 : 0.1;
            EXPECT_NEAR(std::log2(error(row.method, dt) / error(row.method, dt / 2)), order, 0.125 * order) << row.name;
        }
    }
}

TEST(Methods, BdfAgreesWithErk) {
    Settings settings = random_start();
    settings.time = 8;
    settings.samples = 5;
    const Record explicit_run = simulate(settings, "mix-ln");
    settings.method = Method::bdf;
    settings.rtol = 1e-9;
    settings.atol = 1e-11;
    const Record implicit_run = simulate(settings, "mix-ln");
    ASSERT_EQ(implicit_run.outcome, Outcome::done);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(implicit_run.samples[i].cosine, explicit_run.samples[i].cosine, 1e-6) << i;
        EXPECT_NEAR(implicit_run.samples[i].radius, explicit_run.samples[i].radius, 1e-6) << i;
    }
    // On the sphere to rounding while Post-LN runs, by projection and not by luck.
    EXPECT_NEAR(implicit_run.samples[1].radius_max, 1, 1e-14);
}

TEST(Methods, BdfNeedsFewStepsWhereTheEquationIsStiff) {
    // y relaxes to 0 at the rate 2000, far faster than anything else moves.
    const auto stiff = scheme::Program::parse("x = norm(x + dt*f(x)); y = y - 2000*dt*y | x");
    Settings settings = random_start();
    settings.time = 5;
    settings.rtol = 1e-6;
    settings.atol = 1e-9;
    const Record explicit_run = run(settings, stiff);
    settings.method = Method::bdf;
    const Record implicit_run = run(settings, stiff);
    ASSERT_EQ(implicit_run.outcome, Outcome::done);
    EXPECT_NEAR(implicit_run.samples.back().cosine, explicit_run.samples.back().cosine, 1e-4);
    EXPECT_LT(implicit_run.steps, explicit_run.steps / 5);
}

TEST(Until, StopsAtTheEventItself) {
    Settings settings = random_start();
    settings.time = 100;
    settings.until = parse_until("cosine>0.9");
    const Record record = simulate(settings, "post-ln");
    EXPECT_EQ(record.outcome, Outcome::until);
    EXPECT_NEAR(record.samples.back().cosine, 0.9, 1e-8);
    settings.until.reset();
    settings.time = record.samples.back().t;
    EXPECT_NEAR(simulate(settings, "post-ln").samples.back().cosine, 0.9, 1e-8);
}

TEST(Switches, AreFoundToTheLastBit) {
    Settings settings;
    settings.time = 10;
    const auto times = switch_times(problem_of(settings, scheme::find_scheme("mix-ln:tau=0.3").program));
    ASSERT_EQ(times.size(), 1U);
    EXPECT_NEAR(times[0], 3.0, 1e-14);
    EXPECT_TRUE(switch_times(problem_of(settings, scheme::find_scheme("pre-ln").program)).empty());
    const auto scalar = scheme::Program::parse("x + dt*(t < 2 ? 1 : 3)*f(norm(x))");
    EXPECT_EQ(switch_times(problem_of(settings, scalar)).size(), 1U);
}

// Post-LN depends on the integral of its factor alone: sqrt(pi)/2 of a pulse that steps of a run at rest would pass over.
TEST(Switches, NoStepPassesOverAPulse) {
    Settings settings;
    settings.tokens = 8;
    settings.dim = 4;
    settings.samples = 2;
    settings.time = std::sqrt(std::acos(-1.0)) / 2;
    const double right = simulate(settings, "post-ln").samples.back().cosine;
    settings.time = 1000;
    const Record record = run(problem_of(settings, scheme::Program::parse("norm(x + dt*f(x)*exp(-(t-300)^2*4))")),
                              control_of(settings), watch_of(settings));
    EXPECT_EQ(record.outcome, Outcome::done);
    EXPECT_NEAR(record.samples.back().cosine, right, 1e-6);
    // One that lies between two numbers t, with an integral of 2e5, ends the run.
    const Record narrow =
        run(problem_of(settings, scheme::Program::parse("norm(x + dt*f(x)*1e20*exp(-(t-300)^2*1e29))")),
            control_of(settings), watch_of(settings));
    EXPECT_EQ(narrow.outcome, Outcome::step_underflow);
    EXPECT_LE(narrow.samples.back().t, 300);
}

// Sixty pulses, cosine of Post-LN at u = 60*sqrt(pi/1e4) by DOP853 of another program; poles; and 0/0 at one number.
TEST(Switches, NoStepPassesOverAnyOfSixtyPulsesOrOverAPole) {
    Settings settings;
    settings.tokens = 4;
    settings.dim = 4;
    settings.samples = 2;
    settings.start = StartKind::symmetric;
    settings.time = 185;
    std::string sum = "0";
    for (int i = 0; i < 60; ++i) {
        sum += fmt::format(" + exp(-(t-{})^2*1e4)", 3 * i + 1);
    }
    const auto run_of = [&](const std::string& equation) {
        return run(problem_of(settings, scheme::Program::parse(equation)), control_of(settings), watch_of(settings));
    };
    const Record pulses = run_of("norm(x + dt*f(x)*(" + sum + "))");
    EXPECT_EQ(pulses.outcome, Outcome::done);
    EXPECT_NEAR(pulses.samples.back().cosine, 0.5136623780, 1e-6);

    settings.time = 9.59;
    for (const Method method : {Method::erk, Method::bdf}) {
        settings.method = method;
        for (const char* pole : {"norm(x - dt*f(x)/log((t+1)/4.37))", "norm(x + dt*f(x)/log(9.6-t))",
                                 "norm(x + dt*f(x)/log(t+0.3))", "norm(x + dt*f(x)*(1/(8.6-t)))"}) {
            EXPECT_EQ(run_of(pole).outcome, Outcome::step_underflow) << pole;
        }
        EXPECT_EQ(run_of("norm(x + dt*f(x)*((t-5)/(t-5)))").outcome, Outcome::done);
    }
}

// ---- robustness ---------------------------------------------------------------------------------------------------

TEST(Outcomes, DivergenceIsAResult) {
    Settings settings = random_start();
    settings.layers = 400;
    settings.dt = 1;
    settings.samples = 401;
    const Record record = run(settings, scheme::Program::parse("10*x + f(x)"));
    EXPECT_EQ(record.outcome, Outcome::diverged);
    EXPECT_LT(record.samples.size(), 401U);
    const Record zero = run(settings, scheme::Program::parse("0.5*x + 0*f(x)"));
    EXPECT_EQ(zero.outcome, Outcome::radius_zero);
    // Where: beyond 1e100, which is 8^110.7, and below 1e-12, which is 2^-39.9. The start is a sample too.
    const Record eight = run(settings, scheme::Program::parse("8*x + 0*f(x)"));
    EXPECT_EQ(eight.outcome, Outcome::diverged);
    EXPECT_EQ(eight.samples.size(), 112U);
    EXPECT_EQ(zero.samples.size(), 41U);
}

// 1e200, infinity, NaN: no radius is known then, and neither the least nor the largest of them.
TEST(Outcomes, TokensThatAreNoNumbersHaveNoLeastAndNoLargestRadius) {
    Settings settings = random_start();
    settings.layers = 5;
    settings.dt = 1;
    settings.samples = 2;
    settings.systems = 2;
    const Record record = run(settings, scheme::Program::parse("1e200*x + f(norm(x))"));
    EXPECT_EQ(record.outcome, Outcome::nan);
    ASSERT_EQ(record.samples.size(), 2U);
    const Sample& last = record.samples.back();
    EXPECT_TRUE(std::isnan(last.radius) && std::isnan(last.radius_min) && std::isnan(last.radius_max))
        << last.radius << " " << last.radius_min << " " << last.radius_max;
}

TEST(Outcomes, AnEquationWithoutALimitIsRefusedInTimeAndRunsInLayers) {
    Settings settings = random_start();
    const auto program = scheme::Program::parse("norm(x + f(x))");
    try {
        run(settings, program);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("use layers = L instead of time"), std::string::npos) << error.what();
    }
    settings.layers = 5;
    EXPECT_EQ(run(settings, program).outcome, Outcome::done);
}

TEST(Settings, WrongOnesAreRefusedWithASentence) {
    const auto refused = [](const std::function<void(Settings&)>& spoil) {
        Settings settings;
        spoil(settings);
        EXPECT_THROW(check(settings), Error);
    };
    refused([](Settings& s) { s.tokens = 0; });
    refused([](Settings& s) { s.dim = 0; });
    refused([](Settings& s) { s.beta = HUGE_VAL; });
    refused([](Settings& s) { s.beta = -1; });
    refused([](Settings& s) { s.beta = std::nan(""); });
    refused([](Settings& s) { s.r0 = 0; });
    refused([](Settings& s) { s.time = -1; });
    refused([](Settings& s) { s.samples = 1; });
    refused([](Settings& s) { s.layers = 0; });
    refused([](Settings& s) {
        s.start = StartKind::symmetric;
        s.tokens = 40;
    });
    for (const double rho : {-0.15, 1.0, 2.0, HUGE_VAL, std::nan("")}) {  // of 8 tokens: from -1/7
        refused([rho](Settings& s) {
            s.tokens = 8;
            s.start = StartKind::equiangular;
            s.start_cosine = rho;
        });
    }
    refused([](Settings& s) {
        s.start = StartKind::equiangular;
        s.tokens = 33;
    });
    refused([](Settings& s) { s.start = StartKind::file; });
    refused([](Settings& s) { s.start_frame = 0; });
    refused([](Settings& s) { s.pair_cosine = 1; });
    refused([](Settings& s) { s.pair_cosine = -1.01; });
    refused([](Settings& s) { s.pair_cosine = std::nan(""); });
    refused([](Settings& s) {
        s.weights = WeightKind::gaussian;
        s.heads = 5;
    });
    refused([](Settings& s) { s.fresh = true; });
    refused([](Settings& s) { s.tokens = std::size_t{1} << 60U; });
    EXPECT_THROW(parse_until("cosine"), Error);
    EXPECT_THROW(parse_until("cosin>1"), Error);
    EXPECT_THROW(parse_until("cosine>x"), Error);
    EXPECT_THROW(parse_method("rk5"), Error);
    Settings settings;
    EXPECT_THROW(parse_start("cone", settings), Error);
    EXPECT_THROW(parse_start("symetric", settings), Error);
    EXPECT_THROW(parse_weights("kaiming:x", settings), Error);
}

// ---- determinism and resuming -------------------------------------------------------------------------------------

TEST(Determinism, SystemsAreIndependentOfEachOther) {
    Settings settings = random_start();
    settings.layers = 10;
    const Record alone = simulate(settings, "post-ln");
    settings.systems = 3;
    std::vector<double> first;
    Watch watch;
    watch.sampled = [&](const Sample&, const Particles& particles) {
        first.assign(particles.theta().begin(), particles.theta().begin() + 60);
    };
    run(settings, scheme::find_scheme("post-ln").program, watch);
    std::vector<double> only;
    watch.sampled = [&](const Sample&, const Particles& particles) { only = particles.theta(); };
    settings.systems = 1;
    run(settings, scheme::find_scheme("post-ln").program, watch);
    for (std::size_t i = 0; i < 60; ++i) {
        EXPECT_NEAR(first[i], only[i], 1e-13);
    }
    EXPECT_EQ(alone.outcome, Outcome::done);
}

}  // namespace
}  // namespace flyball::dynamics
