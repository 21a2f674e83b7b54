// The reduced law against scalar equations integrated elsewhere, closed forms, and extremes of the settings.
#include <fmt/format.h>

#include "core/error.hpp"
#include "support.hpp"
#include "theory/prediction.hpp"
#include "theory/track.hpp"

namespace flyball::theory::test {
namespace {

TEST(ReducedLaw, EqualsTheScalarEquationsOfNineSchemes) {
    int compared = 0;
    for (const Json& entry : golden()) {
        const Settings settings = with(entry["tokens"], entry["beta"], entry["r0"]);
        for (const auto& [name, rows] : entry["curves"].items()) {
            std::vector<double> times;
            for (const Json& row : rows) {
                times.push_back(row["t"]);
            }
            const std::vector<Point> points = solve(named(name), settings, times);
            for (std::size_t i = 0; i < points.size(); ++i) {
                const Json& row = rows[i];
                const std::string what = fmt::format("{} n {} t {}", name, settings.tokens, times[i]);
                EXPECT_NEAR(points[i].log_one_minus_gamma, row["log_one_minus_gamma"].get<double>(),
                            2e-11 * std::max(1.0, -row["log_one_minus_gamma"].get<double>()))
                    << what;
                EXPECT_NEAR(points[i].radius / row["radius"].get<double>(), 1, 2e-11) << what;
                EXPECT_NEAR(points[i].log_velocity, row["log_velocity"].get<double>(),
                            2e-11 * std::max(1.0, std::abs(row["log_velocity"].get<double>())))
                    << what;
                EXPECT_NEAR(points[i].gamma, -std::expm1(row["log_one_minus_gamma"].get<double>()), 1e-12) << what;
                ++compared;
            }
        }
    }
    EXPECT_EQ(compared, 6 * 9 * 4);
}

TEST(InitialVelocity, IsTheFormulaOfTheTable) {
    // 2/(e^beta+n-1) and 2/sqrt(e^{2 beta}+n-1), over r0 where the length is kept.
    for (const double n : {2.0, 32.0, 1e6}) {
        for (const double beta : {0.0, 1.0, 5.0, 100.0, 700.0}) {
            const double weight = 2 / (std::exp(beta) + n - 1);
            const double unit = beta > 300 ? 2 * std::exp(-beta) : 2 / std::sqrt(std::exp(2 * beta) + n - 1);
            const double tolerance = 1e-13 + 1e-15 * beta;  // an ulp of a length is 2 beta ulps of a weight
            const auto ratio = [&](const char* name, double expected) {
                return initial_velocity(named(name), with(n, beta, 3)) / expected;
            };
            EXPECT_NEAR(ratio("post-ln", weight), 1, tolerance) << n << ' ' << beta;
            EXPECT_NEAR(ratio("sqrt-scaling", weight), 1, tolerance);
            EXPECT_NEAR(ratio("mix-ln", weight), 1, tolerance);
            EXPECT_NEAR(ratio("pre-ln", weight / 3), 1, tolerance);
            EXPECT_NEAR(ratio("ngpt", unit), 1, tolerance);
            EXPECT_NEAR(ratio("peri-ln", unit / 3), 1, tolerance);
            EXPECT_NEAR(ratio("deepnorm", weight / std::pow(20, 0.25)), 1, tolerance);
        }
    }
    EXPECT_EQ(initial_velocity(named("rezero"), with(32, 1)), 0);
}

TEST(ReducedLaw, PreLnAtBetaZeroKeepsOneMinusGammaTimesRadiusSquared) {
    for (const Point& point : solve(named("pre-ln"), with(1000, 0, 2), {0.5, 3, 1e3, 1e30, 1e100})) {
        EXPECT_NEAR(point.log_one_minus_gamma + 2 * std::log(point.radius), std::log(4.0), 1e-10) << point.t;
    }
}

TEST(ReducedLaw, TimeChangesAreExact) {
    // sqrt-scaling is Post-LN at u = 2(sqrt(t+1)-1); nGPT with alpha is nGPT at u = int alpha.
    const Settings settings = with(48, 2.5);
    for (const double t : {0.3, 4.0, 60.0, 1e4}) {
        EXPECT_NEAR(at(named("sqrt-scaling"), settings, t).log_one_minus_gamma /
                        at(named("post-ln"), settings, 2 * (std::sqrt(t + 1) - 1)).log_one_minus_gamma,
                    1, 1e-11);
        EXPECT_NEAR(at(named("ngpt:alpha=1/(1+t)"), settings, t).log_one_minus_gamma /
                        at(named("ngpt"), settings, std::log1p(t)).log_one_minus_gamma,
                    1, 1e-11);
        EXPECT_NEAR(at(named("ngpt:alpha=exp(-t)"), settings, t).log_one_minus_gamma /
                        at(named("ngpt"), settings, -std::expm1(-t)).log_one_minus_gamma,
                    1, 1e-11);
    }
}

TEST(ReducedLaw, MixLnIsPostLnUpToTheSwitchAndPreLnAfterIt) {
    Settings settings = with(32, 1);
    settings.T = 8;
    const scheme::Program mix = named("mix-ln:tau=0.5");
    EXPECT_EQ(at(mix, settings, 3.9).gamma, at(named("post-ln"), settings, 3.9).gamma);
    const Point before = at(mix, settings, 4);
    const Point after = at(mix, settings, 4 + 1e-9);
    EXPECT_EQ(before.radius, 1);
    const double along = (1 + 31 * before.gamma * std::exp(before.gamma - 1)) / (1 + 31 * std::exp(before.gamma - 1));
    EXPECT_NEAR((after.radius - 1) / 1e-9, along, 1e-6);
    // The same continued by hand: 1 - gamma and r of Pre-LN from the switch on obey r^2 (1-gamma)/K -> a constant.
    const Point late = at(mix, settings, 1e8);
    const Point later = at(mix, settings, 1e9);
    EXPECT_NEAR(late.log_one_minus_gamma + 2 * std::log(late.radius),
                later.log_one_minus_gamma + 2 * std::log(later.radius), 1e-10);
}

// Under Post-LN gamma depends on the integral of the factor alone. That of the pulse max(0, 1 - (t - 30)^2), which rests until t = 29 and
// which a long step would pass over, is 2/3 up to its top and 4/3 in all.
TEST(ReducedLaw, NoStepPassesOverACornerOfMinOrMax) {
    Settings settings = with(8, 1);
    settings.T = 40;
    const std::vector<Point> post = solve(named("post-ln"), settings, {2.0 / 3, 4.0 / 3});
    const scheme::Program pulse = equation("norm(x + dt*f(x)*max(0, 1-(t-30)^2))");
    const std::vector<Point> points = solve(pulse, settings, {10, 30, 40});
    EXPECT_EQ(points[0].gamma, 0);
    EXPECT_NEAR(points[1].gamma, post[0].gamma, 1e-12);
    EXPECT_NEAR(points[2].gamma, post[1].gamma, 1e-12);
    EXPECT_NEAR(*terminal_law(pulse, settings).limit, post[1].gamma, 1e-12);

    const scheme::Program falling = equation("norm(x + dt*max(g, 1 - t/5)*f(x)) where ~g = 0.25");
    // The integral up to t = 20: of 1 - t/5 up to 3.75, then of 0.25.
    const double clock = 3.75 - 3.75 * 3.75 / 10 + 0.25 * (20 - 3.75);
    EXPECT_NEAR(solve(falling, settings, {20})[0].log_one_minus_gamma,
                solve(named("post-ln"), settings, {clock})[0].log_one_minus_gamma, 1e-11);
}

// Again the integral of the factor decides. None of these is anything but zero, to all digits, at the times where steps
// would end without it.
TEST(ReducedLaw, NoStepPassesOverAPulse) {
    const Settings settings = with(8, 1);
    const double pi = std::acos(-1.0);
    struct Pulse {
        const char* text;
        double clock;
        double digits;  // numbers near 300 lie 6e-14 apart, which shakes narrow pulses
    };
    const std::vector<Pulse> pulses = {
        {"norm(x + dt*f(x)*exp(-(t-300)^2*4))", std::sqrt(pi) / 2, 1e-11},
        {"norm(x + dt*f(x)*exp(-(t-300)^2*1e10)*1e5)", std::sqrt(pi), 1e-6},
        {"norm(x + dt*f(x)*exp(-(depth-30)^2*1e6)*100)", std::sqrt(pi), 1e-9},  // T is 10
        {"norm(x + dt*g*f(x)) where ~g = exp(-(t^2-600*t+90000)*4)", std::sqrt(pi) / 2, 1e-8},
        {"norm(x + dt*f(x)*0.001/((t-300)^2+1e-6))", pi / 2 + std::atan(3e5), 1e-9},
        {"norm(x + dt*f(x)/(1+exp(2000*(300-t)))/(1+exp(2000*(t-301))))", 1, 1e-9},
        {"norm(x + dt*f(x)*((t-300)^2 < 0.01 ? 5 : 0))", 1, 1e-11},
        {"norm(x + dt*f(x)*(t > 300 ? (t < 300.1 ? 10 : 0) : 0))", 1, 1e-11},
        {"(t-300)^2 < 0.25 ? norm(x + dt*f(x)) : norm(x + 0*dt*f(x))", 1, 1e-11},
    };
    for (const Pulse& pulse : pulses) {
        const double right = at(named("post-ln"), settings, pulse.clock).gamma;
        EXPECT_NEAR(at(equation(pulse.text), settings, 1e10).gamma, right, pulse.digits) << pulse.text;
        const Law law = terminal_law(equation(pulse.text), settings);
        EXPECT_EQ(law.kind, LawKind::frozen) << pulse.text;
        EXPECT_NEAR(law.limit.value(), right, pulse.digits) << pulse.text;
        EXPECT_LE(std::abs(law.limit.value() - right), std::max(1e-11, 10 * right * law.error.value())) << pulse.text;
    }
    // Half of it at its top.
    EXPECT_NEAR(at(equation(pulses[0].text), settings, 300).gamma,
                at(named("post-ln"), settings, std::sqrt(pi) / 4).gamma, 1e-11);
}

// Sixty in one equation. Post-LN of 4 tokens at u = 60*100*sqrt(pi/1e4), and at u = 60*sqrt(pi)/2 - sqrt(pi)/4*erfc(2) (the
// first of the wide ones begins before t = 0), by DOP853 of another program.
TEST(ReducedLaw, NoStepPassesOverAnyOfSixtyPulses) {
    const auto sum = [](int gap, const std::string& width) {
        std::string text = "0";
        for (int i = 0; i < 60; ++i) {
            text += fmt::format(" + exp(-(t-{})^2*{})", gap * i + 1, width);
        }
        return text;
    };
    const scheme::Program narrow = equation("norm(x + dt*f(x)*100*(" + sum(3, "1e4") + "))");
    EXPECT_NEAR(at(narrow, with(4, 1), 185).log_one_minus_gamma, -210.661162003, 1e-5);
    EXPECT_NEAR(terminal_law(narrow, with(4, 1)).log_one_minus_limit.value(), -210.661162003, 1e-5);
    const scheme::Program wide = equation("norm(x + dt*f(x)*(" + sum(30, "4") + "))");
    EXPECT_NEAR(at(wide, with(4, 1), 1900).log_one_minus_gamma, -104.309785414, 1e-5);
}

// Behind a pole there is no solution; where the equation has no value at one number alone there is one.
TEST(ReducedLaw, EndsAtAPoleAndPassesAGapOfOneNumber) {
    for (const char* pole : {"norm(x + dt*f(x)/log(t+0.3))", "norm(x - dt*f(x)/log((t+1)/1.7))"}) {
        EXPECT_TRUE(std::isnan(at(equation(pole), with(4, 1), 5).gamma)) << pole;
        EXPECT_NE(terminal_law(equation(pole), with(4, 1)).note.find("too quickly for numbers at t = 0.7"),
                  std::string::npos)
            << terminal_law(equation(pole), with(4, 1)).note;
    }
    EXPECT_NEAR(at(equation("norm(x + dt*f(x)*((t-5.3)/(t-5.3)))"), with(4, 1), 11).log_one_minus_gamma,
                at(named("post-ln"), with(4, 1), 11).log_one_minus_gamma, 1e-10);
}

// A gap in what moves tokens: 1 - exp(-4 (t-30)^2) lacks sqrt(pi)/2 of the clock.
TEST(ReducedLaw, NoStepPassesOverAGap) {
    EXPECT_NEAR(at(equation("norm(x + dt*f(x)*(1-exp(-(t-30)^2*4)))"), with(8, 1), 60).log_one_minus_gamma,
                at(named("post-ln"), with(8, 1), 60 - std::sqrt(std::acos(-1.0)) / 2).log_one_minus_gamma, 1e-10);
}

// Tokens have met long before; the readout takes the embedding in at t = 300 or from t = 600 on. x + x0 with x at
// consensus, s/sqrt(n), has <.,.> = 1 + 2/sqrt(n) between tokens and one more within.
TEST(ReducedLaw, AReadoutMayChangeLate) {
    const double n = 8;
    const double between = 1 + 2 / std::sqrt(n);
    const scheme::Program pulse = equation("norm(x + dt*f(x)) | x + exp(-(t-300)^2*4)*x0");
    EXPECT_NEAR(at(pulse, with(n, 1), 300).gamma, between / (between + 1), 1e-12);
    EXPECT_NEAR(at(pulse, with(n, 1), 350).gamma, 1, 1e-12);
    for (const char* late :
         {"norm(x + dt*f(x)) | x + x0/(1+exp(600-t))", "norm(x + dt*f(x)) | x + x0*t^8/(t^8+1e20)"}) {
        EXPECT_NEAR(at(equation(late), with(n, 1), 1e4).gamma, between / (between + 1), 1e-9) << late;
        EXPECT_NEAR(terminal_law(equation(late), with(n, 1)).limit.value(), between / (between + 1), 1e-9) << late;
    }
}

// Between two neighbouring numbers t this pulse has an integral of 2e5: nobody knows what comes after it.
TEST(ReducedLaw, DoesNotGoOnAfterAPulseThatIsTooNarrowForNumbers) {
    const scheme::Program pulse = equation("norm(x + dt*f(x)*1e20*exp(-(t-300)^2*1e29))");
    const std::vector<Point> points = solve(pulse, with(8, 1), {299, 301});
    EXPECT_EQ(points[0].gamma, 0);
    EXPECT_TRUE(std::isnan(points[1].gamma));
    const Law law = terminal_law(pulse, with(8, 1));
    EXPECT_NE(law.note.find("changes too quickly for numbers at t = 300"), std::string::npos) << law.note;
    EXPECT_EQ(law.kind, LawKind::other);
}

// The time from which nobody can go on is itself still reached, and not a step is taken from there.
TEST(Track, EndsWhereAFactorChangesTooQuicklyForNumbers) {
    for (const char* text : {"norm(x + dt*f(x)*1e20*exp(-(t-300)^2*1e29))", "norm(x + dt*f(x)/log(t+0.3))",
                             "norm(x - dt*f(x)/log((t+1)/1.7))"}) {
        const double last = Flow(equation(text), with(8, 1)).unresolved();
        ASSERT_LT(last, 301) << text;
        Track track(equation(text), with(8, 1));
        ASSERT_TRUE(track.go_to(last)) << text << ": " << track.stopped();
        ASSERT_EQ(track.t(), last) << text;
        EXPECT_FALSE(track.step(400)) << text;
        EXPECT_EQ(track.t(), last) << text;
        EXPECT_EQ(track.stopped(), "a factor of the equation changes too quickly for numbers") << text;
    }
}

TEST(ReducedLaw, AStreamNormalisedInsideMovesAsLayersDo) {
    // norm(x) + dt f(norm(x)): the limit is Post-LN, not the derivative of the text.
    const Settings settings = with(12, 1);
    for (const double t : {0.5, 3.0}) {
        EXPECT_NEAR(at(equation("norm(x) + dt*f(norm(x))"), settings, t).gamma, at(named("post-ln"), settings, t).gamma,
                    1e-13);
    }
}

TEST(ReducedLaw, TheNumberOfTokensMayStandInTheEquation) {
    const Settings settings = with(50, 1.5);
    EXPECT_NEAR(at(equation("norm(x + dt*f(x)*n/50)"), settings, 2).gamma, at(named("post-ln"), settings, 2).gamma,
                1e-13);
    EXPECT_NEAR(at(equation("norm(x + dt*f(x)*n/25)"), settings, 2).gamma, at(named("post-ln"), settings, 4).gamma,
                1e-12);
}

TEST(ReducedLaw, HeadsAreAveraged) {
    Settings settings = with(32, 0);
    settings.betas = {1, 4};
    // p = mean e^b/Z, qq = mean e^{b gamma}/Z; at the start gamma' = 2 qq, for Peri-LN over |A|.
    const auto z = [](double beta) { return std::exp(beta) + 31; };
    const double qq = (1 / z(1) + 1 / z(4)) / 2;
    const double p = (std::exp(1.0) / z(1) + std::exp(4.0) / z(4)) / 2;
    EXPECT_NEAR(initial_velocity(named("post-ln"), settings), 2 * qq, 1e-15);
    EXPECT_NEAR(initial_velocity(named("peri-ln"), settings), 2 * qq / std::sqrt(p * p + 31 * qq * qq), 1e-15);
    settings.betas = {2, 2, 2};
    EXPECT_NEAR(at(named("peri-ln"), settings, 2).gamma, at(named("peri-ln"), with(32, 2), 2).gamma, 1e-13);
}

TEST(ReducedLaw, KeepsItsDigitsAtTheExtremes) {
    // 1 - gamma = C e^{-2t}/2 far beyond the range of doubles, and gamma = 2t/(e^beta + n - 1) far below 1e-16.
    const double log_c = 4.3269602092576;  // golden: n = 32, beta = 1
    for (const double t : {20.0, 300.0, 1e5, 1e100}) {
        const double expected = log_c - std::log(2.0) - 2 * t;
        EXPECT_NEAR(at(named("post-ln"), with(32, 1), t).log_one_minus_gamma / expected, 1, 1e-11) << t;
    }
    for (const double t : {1.0, 1e50, 1e100}) {
        EXPECT_NEAR(at(named("post-ln"), with(1e6, 700), t).gamma / (2 * t * std::exp(-700.0)), 1, 1e-12) << t;
    }
    // Pre-LN with e^beta >> n rests for 1e75 and then ends as K says.
    const Point end = at(named("pre-ln"), with(32, 9), 1e100);
    EXPECT_NEAR(end.log_one_minus_gamma + 2 * std::log(end.radius), log_consensus_constant(32, 9), 1e-7);
}

TEST(ReducedLaw, AMotionAfterALongRestIsResolved) {
    // Post-LN at n = 2, beta = 100: gamma' = 2e^{-100(1-gamma)}.., so t(0.5) = int_0^{0.5} .., dominated by its start.
    // t = int (e^{100(1-g)} + 1)/(2(1-g)(1+g)) dg, by its asymptotic series: e^100/2 * (1/100 + 2/100^3 + 24/100^5..).
    const double expected = std::exp(100.0) / 2 * (1e-2 + 2e-6 + 2.4e-9 + 7.2e-12);
    const auto half = time_to_cosine(named("post-ln"), with(2, 100), 0.5);
    ASSERT_TRUE(half);
    EXPECT_NEAR(*half / expected, 1, 1e-9);
    // A thousandth later it is all over: log(1-gamma) falls like -2t.
    EXPECT_LT(at(named("post-ln"), with(2, 100), *half * 1.001).log_one_minus_gamma, -1e38);
}

// Halving a step comes back to its start some fifty times: what it took counts for none of the later ones.
TEST(Track, StepsThatAreTakenBackCountForNothing) {
    Track track(named("post-ln"), with(32, 1), 40);
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(track.step(100));
    }
    const Track::Mark mark = track.mark();
    const double next = (track.step(100), track.t());
    for (int i = 0; i < 200; ++i) {
        track.return_to(mark);
        ASSERT_TRUE(track.step(100)) << i << track.stopped();
        ASSERT_EQ(track.t(), next) << i;
    }
}

TEST(TimeToCosine, IsWhereTheSolutionHasIt) {
    for (const char* name : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "residual"}) {
        for (const double cosine : {0.01, 0.5, 0.9, 0.999}) {
            const auto t = time_to_cosine(named(name), with(32, 1), cosine);
            ASSERT_TRUE(t) << name;
            EXPECT_NEAR(at(named(name), with(32, 1), *t).gamma, cosine, 1e-11) << name;
        }
    }
    EXPECT_EQ(time_to_cosine(named("output-ln"), with(32, 1), 0.999), std::nullopt);
    EXPECT_EQ(time_to_cosine(named("post-ln"), with(32, 1), -0.5), 0);
    EXPECT_EQ(time_to_cosine(named("post-ln"), with(32, 1), 0), 0) << "where the tokens start";
    EXPECT_THROW(time_to_cosine(named("post-ln"), with(32, 1), 1), Error);
}

TEST(ReducedLaw, TwoStreamsShowTheirReadout) {
    // ResiDual: x clusters exponentially, x + norm(y) does not (1-gamma of x at t = 10 is 8e-8).
    const Settings settings = with(32, 1);
    const std::string body = "o = f(x); x = norm(x + dt*o); y = y + dt*o | ";
    EXPECT_NEAR(at(equation(body + "x"), settings, 10).log_one_minus_gamma, std::log(8e-8), 0.03);
    // The readout is a e + b s of the two streams: its cosine from those of its parts.
    const auto part = [&](const std::string& readout) {
        const Point p = at(equation(body + readout), settings, 3);
        // unit vectors: a = sqrt(1-gamma), b from |x| = 1
        const double a = std::exp(p.log_one_minus_gamma / 2);
        const double b = (std::sqrt(a * a + 32 * (1 - a * a)) - a) / 32;
        return std::pair{a, b};
    };
    const auto [ax, bx] = part("x");
    const auto [ay, by] = part("norm(y)");
    const double a = ax + ay;
    const double b = bx + by;
    const Point shown = at(equation(body + "x + norm(y)"), settings, 3);
    EXPECT_NEAR(shown.gamma, 1 - a * a / (a * a + 2 * a * b + 32 * b * b), 1e-11);
    // gamma' of a sum of streams is the derivative of gamma.
    const double h = 1e-4;
    const scheme::Program both = named("residual");
    const double difference = (at(both, settings, 3 + h).gamma - at(both, settings, 3 - h).gamma) / (2 * h);
    EXPECT_NEAR(at(both, settings, 3).velocity / difference, 1, 1e-7);
}

TEST(ReducedLaw, ReadoutsMayDependOnTime) {
    const scheme::Program program = equation("o = f(x); x = norm(x + dt*o); y = y + dt*o/2 | x + exp(-t)*y");
    const double h = 1e-4;
    for (const double t : {0.5, 4.0}) {
        const double difference =
            (at(program, with(9, 1), t + h).gamma - at(program, with(9, 1), t - h).gamma) / (2 * h);
        EXPECT_NEAR(at(program, with(9, 1), t).velocity / difference, 1, 1e-6) << t;
    }
}

TEST(ReducedLaw, TokensMayRepelEachOther) {
    // The least cosine n equal vectors can have is -1/(n-1).
    const Point end = at(equation("norm(x - dt*f(x))"), with(32, 1), 1e6);
    EXPECT_NEAR(end.gamma, -1.0 / 31, 1e-12);
    EXPECT_LT(at(equation("norm(x - dt*f(x))"), with(32, 1), 0.1).velocity, 0);
}

TEST(ReducedLaw, BeyondTheRangeOfNumbersIsNotANumber) {
    const std::vector<Point> points = solve(equation("x + dt*f(x)"), with(32, 1), {100, 1e4});
    EXPECT_TRUE(std::isfinite(points[0].radius));
    EXPECT_TRUE(std::isnan(points[1].gamma));
}

TEST(Settings, ThatMakeNoSenseAreRefused) {
    const scheme::Program program = named("post-ln");
    const auto refused = [&](const Settings& settings) {
        EXPECT_THROW(initial_velocity(program, settings), Error);
        EXPECT_THROW(terminal_law(program, settings), Error);
    };
    for (const double n : {0.0, 1.0, -3.0, 2.5, 1e16, double(NAN)}) {
        refused(with(n, 1));
    }
    for (const double beta : {HUGE_VAL, -HUGE_VAL, double(NAN), -1.5, -1e-300}) {
        refused(with(32, beta));
    }
    for (const double r0 : {0.0, -1.0, HUGE_VAL, double(NAN)}) {
        refused(with(32, 1, r0));
    }
    Settings settings;
    settings.betas.clear();
    refused(settings);
    settings.betas = {1, -1};
    refused(settings);
    settings = {};
    settings.T = 0;
    refused(settings);
    settings = {};
    settings.dim = 31;
    refused(settings);
    EXPECT_THROW(solve(program, {}, {-1}), Error);
    EXPECT_THROW(solve(program, {}, {HUGE_VAL}), Error);
    EXPECT_THROW(solve(program, {}, {3, NAN, 1, NAN, 2}), Error) << "before anybody sorts them";
    for (const char* text : {"x + f(x)", "x + dt*tanh(f(x))", "x + dt*f(ln(x))"}) {
        EXPECT_THROW(initial_velocity(equation(text), {}), Error) << text;
    }
}

// Under the name that it was given: one beta is --beta, several are --heads-beta.
TEST(Settings, ABetaThatMakesNoSenseIsCalledByItsName) {
    const auto refusal = [](const std::vector<double>& betas) -> std::string {
        Settings settings;
        settings.betas = betas;
        try {
            check(named("post-ln"), settings);
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was refused";
    };
    EXPECT_NE(refusal({-1.5}).find("beta = -1.5"), std::string::npos) << refusal({-1.5});
    EXPECT_EQ(refusal({-1.5}).find("heads"), std::string::npos) << refusal({-1.5});
    EXPECT_NE(refusal({1, -1.5}).find("heads-beta = -1.5"), std::string::npos) << refusal({1, -1.5});
    EXPECT_NE(refusal({}).find("no beta"), std::string::npos) << refusal({});
}

TEST(ConsensusConstant, IsTheIntegral) {
    for (const Json& entry : golden()) {
        const double expected = entry["log_k"];
        EXPECT_NEAR(log_consensus_constant(entry["tokens"], entry["beta"]), expected,
                    1e-12 * std::max(1.0, std::abs(expected)));
    }
    EXPECT_TRUE(std::isfinite(log_consensus_constant(1e6, 700)));
    // By mpmath.quad, where exp(beta) is far beyond what double can add to 1.
    EXPECT_NEAR(log_consensus_constant(16, 50) / 8.45019280688931634e19, 1, 1e-12);
    EXPECT_NEAR(log_consensus_constant(8, 200) / 3.51164959457740499e84, 1, 1e-12);
}

// d in an equation is the dimension, not the number of tokens: sqrt(64)/4 = 2.
TEST(Solve, TheDimensionOfAnEquationIsTheOneThatIsSet) {
    Settings settings = with(16, 1);
    settings.dim = 64;
    const double by_d = at(equation("norm(x + dt*f(x)*sqrt(d)/4)"), settings, 0.5).gamma;
    EXPECT_NEAR(by_d, at(equation("norm(x + 2*dt*f(x))"), settings, 0.5).gamma, 1e-12);
    settings.dim.reset();  // as many as tokens
    EXPECT_NEAR(at(equation("norm(x + dt*f(x)*sqrt(d)/4)"), settings, 0.5).gamma,
                at(equation("norm(x + dt*f(x))"), settings, 0.5).gamma, 1e-12);
    settings.dim = 16;  // and may be set to that
    EXPECT_NEAR(at(equation("norm(x + dt*f(x)*sqrt(d)/4)"), settings, 0.5).gamma,
                at(equation("norm(x + dt*f(x))"), settings, 0.5).gamma, 1e-12);
}

// When an equation switches is looked for once and kept, for this number of dimensions alone. (Of one equation after another:
// what is kept is that of the last.)
TEST(Solve, SwitchesFollowTheDimension) {
    const scheme::Program by_d = equation("norm(x + (t < d/32 ? 1 : 2)*dt*f(x))");
    Settings settings = with(16, 1);
    std::vector<double> found;
    for (const double dim : {16.0, 64.0, 16.0}) {
        settings.dim = dim;
        found.push_back(at(by_d, settings, 3).log_one_minus_gamma);
    }
    const double soon = at(equation("norm(x + (t < 0.5 ? 1 : 2)*dt*f(x))"), settings, 3).log_one_minus_gamma;
    const double late = at(equation("norm(x + (t < 2 ? 1 : 2)*dt*f(x))"), settings, 3).log_one_minus_gamma;
    EXPECT_NEAR(found[0], soon, 1e-12);
    EXPECT_NEAR(found[1], late, 1e-12);
    EXPECT_NEAR(found[2], soon, 1e-12);
    // Nobody sees a pulse of a fiftieth who does not know when it comes; at its end gamma is that of Post-LN at t = 1.
    const scheme::Program pulse = equation("norm(x + dt*f(x)*((t-d)^2 < 0.0001 ? 50 : 0))");
    for (const double dim : {16.0, 64.0, 32.0}) {
        settings.dim = dim;
        EXPECT_NEAR(at(pulse, settings, 100).gamma, at(named("post-ln"), settings, 1).gamma, 1e-10) << dim;
    }
}

// x0 is the start itself, of length r0.
TEST(Solve, TheEmbeddingHasTheLengthOfTheStart) {
    const Settings settings = with(8, 1, 3);
    EXPECT_NEAR(at(equation("x + dt*f(norm(x)) + dt*0.5*x0 | norm(x)"), settings, 1).gamma,
                at(equation("x + dt*f(norm(x)) + dt*0.5*3*unit(x0) | norm(x)"), settings, 1).gamma, 1e-12);
}

TEST(PredictionDocument, EveryRunHasItsOwnBeta) {
    std::vector<Prediction> runs;
    for (const double beta : {1.0, 4.0}) {
        runs.push_back(predict(scheme::find_scheme("post-ln"), with(8, beta), {0, 1}, {0.5}));
    }
    const Json rows = document(runs, {0.5})["runs"];
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0]["beta"], 1.0);
    EXPECT_EQ(rows[1]["beta"], 4.0);
    // By mpmath.quad.
    EXPECT_NEAR(rows[0]["log_consensus_constant"].get<double>(), 0.4273242974908409, 1e-12);
    EXPECT_NEAR(rows[1]["log_consensus_constant"].get<double>(), 7.745078521045016, 1e-11);
    // C = 2 n K: log 16 more.
    EXPECT_NEAR(rows[0]["terminal"]["log_constant"].get<double>(), 3.1999130197306218, 1e-7);
    EXPECT_NEAR(rows[0]["terminal"]["constant"].get<double>(), 24.530396, 1e-4);
    // 2/(e^beta + n - 1)
    EXPECT_NEAR(rows[0]["initial_velocity"].get<double>(), 2 / (std::exp(1) + 7), 1e-12);
    EXPECT_NEAR(rows[1]["initial_velocity"].get<double>(), 2 / (std::exp(4) + 7), 1e-12);
}

}  // namespace
}  // namespace flyball::theory::test
