// Runs that cannot go on: `nan` where there is no velocity, `step-underflow` where there is one and no step is short
// enough for it; with every method.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "core/error.hpp"
#include "dynamics/method.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::stuck_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// y' = slope(t, y), two numbers that do not know of each other: the second one stays where it is.
class Line : public Motion {
  public:
    explicit Line(std::function<double(double t, double y)> slope) : slope_(std::move(slope)) {}
    std::size_t numbers() const override { return 2; }
    void project(double, double*) override {}
    void velocity(double t, const double* y, double* slope) override {
        slope[0] = slope_(t, y[0]);
        slope[1] = 0;
    }

  private:
    std::function<double(double t, double y)> slope_;
};

struct End {
    Progressed progressed = Progressed::stepped;
    double t = 0;
    std::vector<double> y;
};

// From y = 1 at `begin` to 2.
End run_line(const MethodRow& row, double begin, const std::function<double(double t, double y)>& slope) {
    Problem problem;
    problem.time = 2;
    Control control;
    control.method = row.method;
    control.rtol = 1e-6;
    control.atol = 1e-8;
    control.step = 0.01;
    const auto integrator = make_integrator(problem, control);
    Line line(slope);
    StepState state;
    state.t = begin;
    End end{Progressed::stepped, begin, {1, 1}};
    while (end.progressed == Progressed::stepped && state.t < 2) {
        const std::vector<double> before = end.y;
        end.progressed = integrator->step(line, state, end.y, 2);
        if (end.progressed != Progressed::stepped) {
            EXPECT_EQ(end.y, before) << row.name << ": a step that fails leaves y as it was";
        }
    }
    end.t = state.t;
    return end;
}

TEST(Stuck, WithoutAVelocityIsNotFinite) {
    for (const MethodRow& row : method_rows()) {
        // From t = 1 on there is none, and it is finite, zero, infinite or large before.
        for (const auto& slope :
             {std::function<double(double, double)>([](double t, double) { return t > 1 ? std::nan("") : 1.0; }),
              {[](double t, double) { return std::sqrt(1 - t); }},
              {[](double t, double) { return std::pow(1 - t, 1.5); }},
              {[](double t, double y) { return t > 1 ? infinity : -y; }},
              {[](double t, double y) { return t > 1 ? -infinity : 50 * std::cos(40 * t) * y; }}}) {
            const End end = run_line(row, 0, slope);
            EXPECT_EQ(end.progressed, Progressed::not_finite) << row.name;
            EXPECT_NEAR(end.t, 1, row.has_equal_steps() ? 0.021 : 1e-5) << row.name;
        }
    }
}

TEST(Stuck, WithoutAVelocityAtTheStartIsNotFinite) {
    for (const MethodRow& row : method_rows()) {
        for (const double begin : {0.0, 0.5}) {
            for (const double nothing : {std::nan(""), infinity, -infinity}) {
                const End end =
                    run_line(row, begin, [&](double t, double y) { return t <= begin + 1e-300 ? nothing : y; });
                EXPECT_EQ(end.progressed, Progressed::not_finite) << row.name << " " << nothing;
                EXPECT_EQ(end.t, begin) << row.name;
                const End never = run_line(row, begin, [&](double, double) { return nothing; });
                EXPECT_EQ(never.progressed, Progressed::not_finite) << row.name << " " << nothing;
            }
        }
    }
}

// y' = y^2 is 1/(1 - t), y' = y/(t - 1)^2 is exp(t/(1 - t)): every velocity but that at t = 1 itself is finite.
TEST(Stuck, AtAPoleIsAStepThatIsTooShort) {
    for (const MethodRow& row : method_rows()) {
        if (row.has_equal_steps()) {
            continue;  // steps over it
        }
        const End square = run_line(row, 0, [](double, double y) { return y * y; });
        EXPECT_EQ(square.progressed, Progressed::step_underflow) << row.name;
        EXPECT_NEAR(square.t, 1, 1e-4) << row.name;
        const End pole = run_line(row, 0, [](double t, double) { return std::pow(std::fabs(t - 1), -1.5); });
        EXPECT_EQ(pole.progressed, Progressed::step_underflow) << row.name;
        EXPECT_NEAR(pole.t, 1, 1e-6) << row.name;
    }
}

// Equal steps go on until the numbers themselves are too large.
TEST(Stuck, EqualStepsEndWhereNumbersOverflow) {
    for (const MethodRow& row : method_rows()) {
        if (row.has_equal_steps()) {
            EXPECT_EQ(run_line(row, 0, [](double, double y) { return y * y; }).progressed, Progressed::not_finite);
        }
    }
}

Settings few(Method method) {
    Settings settings;
    settings.tokens = 4;
    settings.dim = 3;
    settings.time = 10;
    settings.samples = 21;
    settings.method = method;
    settings.rtol = 1e-6;
    settings.atol = 1e-8;
    return settings;
}

// A root of what time has made negative: no velocity from there on. What was there before is kept.
TEST(Outcomes, AnEquationWhoseVelocityEndsIsNan) {
    for (const MethodRow& row : method_rows()) {
        for (const auto& [text, last] : {std::pair{"norm(x + dt*sqrt(9.6-t)*f(x))", 9.6},
                                         {"x + dt*f(norm(x))*(9.6-t)^1.5 | norm(x)", 9.6},
                                         {"norm(x + dt*sqrt((t-6.2)*(t-7))*f(x))", 6.2},
                                         {"x = norm(sqrt(9.6-t)*x + dt*f(x))", 9.6}}) {
            const Record record = run(few(row.method), scheme::Program::parse(text));
            EXPECT_EQ(record.outcome, Outcome::nan) << row.name << " " << text;
            ASSERT_FALSE(record.samples.empty());
            EXPECT_LE(record.samples.back().t, last + 0.4) << row.name << " " << text;  // the sample that has no speed
            EXPECT_GE(record.samples.back().t, last - 0.5) << row.name << " " << text;
            for (std::size_t i = 0; i + 1 < record.samples.size(); ++i) {
                EXPECT_TRUE(std::isfinite(record.samples[i].speed)) << row.name << " " << text;
            }
        }
    }
}

// Not where it was looked at last, but where it ended.
TEST(Outcomes, SayWhenTheRunEnded) {
    Settings settings = few(Method::erk);
    settings.samples = 5;
    const Record nan = run(settings, scheme::Program::parse("norm(x + dt*f(x)*log(9.6-t))"));
    EXPECT_EQ(nan.outcome, Outcome::nan);
    EXPECT_EQ(nan.samples.back().t, 7.5);
    EXPECT_NEAR(nan.ended, 9.6, 1e-6);
    const Record done = run(settings, scheme::find_scheme("post-ln").program);
    EXPECT_EQ(done.ended, 10);
    settings.until = parse_until("cosine>0.5");
    const Record until = run(settings, scheme::find_scheme("post-ln").program);
    EXPECT_EQ(until.ended, until.samples.back().t);
    settings.until.reset();
    settings.layers = 10;
    settings.samples = 11;
    EXPECT_EQ(run(settings, scheme::Program::parse("norm(x + dt*sqrt(4.5-t)*f(x))")).ended, 6);
}

// Layers meet it in their numbers.
TEST(Outcomes, LayersWhoseFactorEndsAreNan) {
    Settings settings = few(Method::automatic);
    settings.layers = 10;
    settings.samples = 11;
    const Record record = run(settings, scheme::Program::parse("norm(x + dt*sqrt(4.5-t)*f(x))"));
    EXPECT_EQ(record.outcome, Outcome::nan);
    EXPECT_EQ(record.samples.back().t, 6);  // layer 6 is at t = 5
}

TEST(Outcomes, AnEquationWithAPoleIsAStepThatIsTooShort) {
    for (const MethodRow& row : method_rows()) {
        if (!row.has_equal_steps()) {
            Settings settings = few(row.method);
            const Record record = run(settings, scheme::Program::parse("x + dt*f(norm(x))/(t-6.8)^2 | norm(x)"));
            EXPECT_EQ(record.outcome, Outcome::step_underflow) << row.name;
            EXPECT_EQ(record.samples.back().t, 6.5) << row.name;
        }
    }
}

// t after so many steps, as they are to go on: does any of the first `most` doublings end the run?
std::size_t steps_until_given_up(double end, std::size_t most, const std::function<double(double)>& t_after) {
    StepState state;
    for (std::size_t k = 0; k <= most; ++k) {
        state.steps = std::size_t{1} << k;
        state.t = t_after(static_cast<double>(state.steps));
        StepState between = state;
        between.steps += k < 2 ? 0 : 1;
        if (gets_nowhere(state, end)) {
            EXPECT_FALSE(k >= 2 && gets_nowhere(between, end)) << "asked at doublings alone";
            return state.steps;
        }
    }
    return 0;
}

// Towards a pole (t - 5)^-p, p > 1, N steps lead to a distance of N^(-1/(p-1)), and nobody sees the end of it.
TEST(Stuck, WhereDoublingTheStepsLeadsLessFarEachTime) {
    EXPECT_EQ(steps_until_given_up(10, 40, [](double n) { return 5 - std::pow(n, -0.5); }), 1U << 18);
    EXPECT_EQ(steps_until_given_up(10, 40, [](double n) { return 5 - 1 / n; }), 1U << 18);
    EXPECT_EQ(steps_until_given_up(100, 40, [](double n) { return std::log(n); }), 1U << 18);
    EXPECT_EQ(steps_until_given_up(10, 40, [](double) { return 5.0; }), 1U << 18) << "not at all";
    // Where what is left is near, or where it goes on, however slowly: lengths of steps that stay, fall like 1/t, grow.
    EXPECT_EQ(steps_until_given_up(5 - 1e-4, 26, [](double n) { return 5 - std::pow(n, -0.5); }), 0U);
    EXPECT_EQ(steps_until_given_up(1e100, 40, [](double n) { return 1e-6 * n; }), 0U);
    EXPECT_EQ(steps_until_given_up(1e100, 40, [](double n) { return std::sqrt(n); }), 0U);
    EXPECT_EQ(steps_until_given_up(1e100, 40, [](double n) { return std::exp(n / 1e4); }), 0U);
    EXPECT_EQ(steps_until_given_up(1e9, 40, [](double n) { return n < 2e5 ? 5 - 1 / n : n; }), 0U)
        << "one that falls for a while";
}

TEST(Outcomes, ARunThatGetsNowhereIsAStepThatIsTooShort) {
    Settings settings = few(Method::erk);
    settings.tokens = settings.dim = 2;
    std::atomic<bool> stop{false};  // whoever goes on here goes on for hours
    Control control = control_of(settings);
    control.stop = &stop;
    Watch watch = watch_of(settings);
    std::size_t steps = 0;
    watch.progress = [&](double) { stop = ++steps > 2 * patience; };
    const Record record = run(settings, scheme::Program::parse("norm(x + dt*f(x)/(t-5.001)^3)"), control, watch);
    EXPECT_EQ(record.outcome, Outcome::step_underflow);
    EXPECT_EQ(record.steps, 1U << 18);
    EXPECT_NEAR(record.ended, 5.001, 0.01);
}

// Between two switches, where no fixed time is looked at, an equation may have no limit either.
TEST(Limits, AreLookedAtBetweenAllSwitchesWithTheRunsOwnSizes) {
    Settings settings = few(Method::automatic);
    EXPECT_THROW(run(settings, scheme::Program::parse("x + (depth < 0.6 ? dt : depth < 0.7 ? 1 : dt)*f(norm(x))")),
                 Error);
    const auto many = scheme::Program::parse("n > 8 ? x + f(norm(x)) : x + dt*f(norm(x))");
    EXPECT_EQ(run(settings, many).outcome, Outcome::done);
    settings.tokens = 9;
    EXPECT_THROW(run(settings, many), Error);
    const auto wide = scheme::Program::parse("d > 3 ? x + f(norm(x)) : x + dt*f(norm(x))");
    EXPECT_EQ(run(settings, wide).outcome, Outcome::done);
    settings.dim = 4;
    EXPECT_THROW(run(settings, wide), Error);
}

// Under Post-LN tokens of one direction turn alike, and tokens that have all met do not turn: also where attention
// repels from some time on.
TEST(FusedTokens, StayOneWhereAttentionTurnsRound) {
    Settings settings = few(Method::automatic);
    settings.time = 1e5;
    settings.rtol = 1e-10;
    settings.atol = 1e-12;
    const Record record = run(settings, scheme::Program::parse("norm(x + dt*f(x)*(t < 1000 ? 1 : -1))"));
    EXPECT_EQ(record.outcome, Outcome::done);
    ASSERT_FALSE(record.fused.empty()) << "nothing was tested";
    EXPECT_EQ(record.fused.back().tokens.size(), settings.tokens);
    for (const Fusing& fusing : record.fused) {
        EXPECT_FALSE(fusing.apart) << "at t = " << fusing.t;
    }
    EXPECT_NEAR(record.samples.back().cosine, 1, 1e-12);
}

// After t = 10 nothing asks f: tokens that have become one direction stay where they are, or go their own ways.
TEST(FusedTokens, StayWhereNothingPullsThem) {
    Settings settings = few(Method::automatic);
    settings.time = 1e5;
    settings.rtol = 1e-10;
    settings.atol = 1e-12;
    for (const char* text : {"norm(x + dt*f(x)*max(0, 1000-t))", "norm(t < 1000 ? x + dt*f(x) : x)"}) {
        const Record record = run(settings, scheme::Program::parse(text));
        EXPECT_EQ(record.outcome, Outcome::done) << text;
        ASSERT_FALSE(record.fused.empty()) << text << ": nothing was tested";
        EXPECT_EQ(record.samples.back().speed, 0) << text;
    }
}

}  // namespace
}  // namespace flyball::dynamics::stuck_test
