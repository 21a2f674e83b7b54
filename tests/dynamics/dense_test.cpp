// Samples are looked at inside steps: they cost no steps, and are as right as the ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/parallel.hpp"
#include "dynamics/method.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::dense_test {
namespace {

Record simulate(const Settings& settings, const std::string& scheme, const Watch& watch = {}) {
    return run(settings, scheme::find_scheme(scheme).program, watch);
}

Settings small() {
    Settings settings;
    settings.tokens = 16;
    settings.dim = 8;
    settings.beta = 5;
    settings.time = 20;
    settings.seed = 3;
    return settings;
}

TEST(Samples, CostNoSteps) {
    for (const char* scheme : {"post-ln", "pre-ln", "mix-ln", "sqrt-scaling"}) {
        for (const Method method : {Method::automatic, Method::bdf}) {
            Settings settings = small();
            settings.method = method;
            settings.samples = 2;
            const Record few = simulate(settings, scheme);
            settings.samples = 401;
            const Record many = simulate(settings, scheme);
            ASSERT_EQ(many.samples.size(), 401U);
            EXPECT_EQ(many.steps, few.steps) << scheme;
            EXPECT_LE(static_cast<double>(many.evaluations), 1.3 * static_cast<double>(few.evaluations) + 401)
                << scheme;
            // The end is the same to the last bit: looking does not touch.
            EXPECT_EQ(many.samples.back().cosine, few.samples.back().cosine) << scheme;
            EXPECT_EQ(many.samples.back().speed, few.samples.back().speed) << scheme;
        }
    }
}

// Late samples have a speed below 1e-3, which is taken in the tokens' own frames, and for nothing else.
TEST(Samples, OfSlowMotionCostOneEvaluationEach) {
    for (const char* equation :
         {"norm(x + dt*f(x))", "x + dt*f(norm(x)) | norm(x)", "norm(x + dt*f(norm(x + 0.01*x0)))"}) {
        for (const std::size_t systems : {1U, 3U}) {
            for (const Method method : {Method::automatic, Method::bdf}) {
                const auto program = scheme::Program::parse(equation);
                Settings settings = small();
                settings.beta = 1;
                settings.time = 100;
                settings.systems = systems;
                settings.method = method;
                settings.rtol = 1e-7;
                settings.atol = 1e-9;
                settings.samples = 2;
                const Record few = run(settings, program);
                settings.samples = 1001;
                const Record many = run(settings, program);
                const auto slow = std::count_if(many.samples.begin(), many.samples.end(),
                                                [](const Sample& sample) { return sample.speed < 1e-3; });
                EXPECT_GT(static_cast<double>(slow), 0.35 * static_cast<double>(few.evaluations)) << equation;
                EXPECT_LE(static_cast<double>(many.evaluations), 1.3 * static_cast<double>(few.evaluations) + 1001)
                    << equation << ", " << systems << " systems, " << name(method);
                EXPECT_EQ(many.samples.back().speed, few.samples.back().speed) << equation;
            }
        }
    }
}

// One system rests from the start, the other one moves at a speed above 1e-3 throughout.
TEST(Samples, OfASystemAtRestCostOneEvaluationEachBesideOneThatMoves) {
    Settings settings;
    settings.tokens = settings.dim = 2;
    settings.systems = 2;
    settings.beta = 2;
    settings.time = 2;
    const auto evaluations = [&](std::size_t samples) {
        settings.samples = samples;
        Problem problem = problem_of(settings, scheme::find_scheme("post-ln").program);
        problem.start = {1, 0, 1, 0, 1, 0, std::cos(1.5), std::sin(1.5)};
        const Record record = run(problem, control_of(settings), watch_of(settings));
        EXPECT_LT(record.systems.front().speed, 1e-15);
        EXPECT_GT(record.systems.back().speed, 4e-3);
        return static_cast<double>(record.evaluations);
    };
    EXPECT_LE(evaluations(401), 1.3 * evaluations(2) + 401);
}

// Two tokens at an angle of 1.8, beta = 6, begin at a speed of 6e-4 and meet at 0.2: what was seen before a sample says
// where its speed is looked for first, not what it is.
TEST(Samples, HaveTheSameSpeedWhateverWasSeenBefore) {
    Settings settings;
    settings.tokens = settings.dim = 2;
    settings.beta = 6;
    settings.time = 400;
    const auto speed_at = [&](const std::vector<double>& times) {
        Problem problem = problem_of(settings, scheme::find_scheme("post-ln").program);
        problem.start = {1, 0, std::cos(1.8), std::sin(1.8)};
        Watch watch;
        watch.times = times;
        return run(problem, control_of(settings), watch).samples.back().speed;
    };
    EXPECT_LT(speed_at({0}), 1e-3);
    double fastest = 0;
    for (double t = 2; t < 400; t += 7) {
        const double alone = speed_at({t});
        fastest = std::max(fastest, alone);
        EXPECT_EQ(speed_at({0, t}), alone) << t;
        EXPECT_EQ(speed_at({0, t - 1, t}), alone) << t;
    }
    EXPECT_GT(fastest, 2e-3) << "no speed has crossed the line";
}

// Two tokens on the circle at the angle a: a' = -sin(a) 2 q/(1 + q), q = exp(beta (cos a - 1)), for Post-LN, because
// each moves by the weight of the other times sin a. The time from a to b is a quadrature; Simpson's rule gives it to
// 1e-13.
double time_between(double from, double to, double beta) {
    const auto slowness = [beta](double a) {
        const double q = std::exp(beta * (std::cos(a) - 1));
        return (1 + q) / (2 * q * std::sin(a));
    };
    constexpr int panels = 4000;
    const double h = (from - to) / panels;
    double sum = slowness(from) + slowness(to);
    for (int i = 1; i < panels; ++i) {
        sum += (i % 2 == 1 ? 4 : 2) * slowness(to + h * i);
    }
    return sum * h / 3;
}

TEST(Samples, InsideStepsAreWithinTheTolerance) {
    for (const Method method : {Method::automatic, Method::bdf}) {
        Settings settings;
        settings.tokens = 2;
        settings.dim = 2;
        settings.beta = 2;
        settings.time = 6;
        settings.samples = 301;
        settings.seed = 4;
        settings.method = method;
        if (method == Method::bdf) {
            settings.rtol = 1e-8;
            settings.atol = 1e-10;
        }
        const Record record = simulate(settings, "post-ln");
        EXPECT_LT(record.steps, method == Method::bdf ? 600U : 40U) << "samples lie inside steps";
        const double start = std::acos(record.samples.front().cosine);
        for (std::size_t i = 1; i < record.samples.size(); ++i) {
            const Sample& sample = record.samples[i];
            const double angle = std::acos(sample.cosine);
            // Error of the angle: that of the time at which it is reached, times the speed; each token has half of a'.
            const double late = time_between(start, angle, 2) - sample.t;
            const double allowed = 10 * settings.rtol;
            EXPECT_LT(std::abs(late * 2 * sample.speed), allowed) << "t = " << sample.t;
            EXPECT_NEAR(sample.radius_max, 1, 1e-15) << "on the manifold inside steps too";
            EXPECT_NEAR(sample.radius_min, 1, 1e-15);
            const double q = std::exp(2 * (sample.cosine - 1));
            EXPECT_NEAR(sample.speed, std::sin(angle) * q / (1 + q), 1e-9);
        }
    }
}

TEST(Pieces, BeginOnTheManifoldOfTheirEquation) {
    // Pre-LN grows its radii, Post-LN has none: at the switch they become 1, and the directions stay.
    const auto program = scheme::Program::parse("depth <= 0.5 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)");
    Settings settings = small();
    settings.time = 4;
    settings.samples = 9;
    settings.r0 = 3;
    const Record record = run(settings, program);
    ASSERT_EQ(record.outcome, Outcome::done);
    EXPECT_NEAR(record.samples[0].radius, 3, 1e-14);
    EXPECT_GT(record.samples[4].radius, 3.5);  // at the switch, which ends its piece
    for (std::size_t i = 5; i < 9; ++i) {
        EXPECT_NEAR(record.samples[i].radius_max, 1, 1e-15);
    }
    // From radii of 4 and more the same directions would turn four times more slowly.
    settings.r0 = 1;
    const Record post = simulate(settings, "post-ln");
    EXPECT_GT(record.samples[5].speed, 0.2 * post.samples[1].speed);
    settings.r0 = 7;
    const Record projected = simulate(settings, "post-ln");
    EXPECT_NEAR(projected.samples[0].radius, 1, 1e-15);
    EXPECT_NEAR(projected.samples.back().cosine, post.samples.back().cosine, 1e-9);
}

TEST(Samples, InFloatTakeAsManyStepsAsTheirRoundingIsWorth) {
    Settings settings = small();
    settings.time = 5;
    const Record exact = simulate(settings, "peri-ln");
    settings.precision = Precision::f32;
    const Record rough = simulate(settings, "peri-ln");
    EXPECT_LT(rough.steps, 2 * exact.steps);
    for (std::size_t i = 0; i < exact.samples.size(); ++i) {
        EXPECT_NEAR(rough.samples[i].cosine, exact.samples[i].cosine, 1e-5);
    }
}

TEST(Samples, FollowTheClockOverManyDecades) {
    // sqrt-scaling at t is Post-LN at 2 (sqrt(t + 1) - 1), also where the end is far beyond the start.
    Settings settings = small();
    settings.beta = 1;
    settings.time = 1e16;
    settings.log_time = true;
    settings.samples = 30;
    settings.until = parse_until("cosine>0.9");
    const Record slow = simulate(settings, "sqrt-scaling");
    ASSERT_EQ(slow.outcome, Outcome::until);
    settings.time = 1e8;
    const Record fast = simulate(settings, "post-ln");
    ASSERT_EQ(fast.outcome, Outcome::until);
    EXPECT_NEAR(2 * (std::sqrt(slow.samples.back().t + 1) - 1), fast.samples.back().t, 1e-7);
}

TEST(Until, IsFoundInsideAStepByEveryMethod) {
    Settings settings;
    settings.tokens = 2;
    settings.dim = 2;
    settings.beta = 2;
    settings.time = 20;
    settings.start = StartKind::symmetric;
    settings.dt = 0.05;
    settings.until = parse_until("cosine>0.9");
    for (const MethodRow& row : method_rows()) {
        const double of_steps = row.has_equal_steps() ? std::pow(0.05, row.table().order) : 0;
        settings.method = row.method;
        settings.samples = 2;
        const Record record = simulate(settings, "post-ln");
        ASSERT_EQ(record.outcome, Outcome::until) << row.name;
        const double start = std::acos(record.samples.front().cosine);
        EXPECT_NEAR(record.samples.back().t, time_between(start, std::acos(0.9), 2), 2e-7 + of_steps / 2) << row.name;
        if (row.method == Method::erk) {
            EXPECT_NEAR(record.samples.back().t, time_between(start, std::acos(0.9), 2), 3e-9);
        }
        // Samples before the event are kept, and none after it.
        settings.samples = 41;
        const Record sampled = simulate(settings, "post-ln");
        EXPECT_NEAR(sampled.samples.back().t, record.samples.back().t, 1e-9 + of_steps) << row.name;
        const auto before = static_cast<std::size_t>(std::floor(sampled.samples.back().t / 0.5));
        EXPECT_EQ(sampled.samples.size(), before + 2);
        for (std::size_t i = 1; i < sampled.samples.size(); ++i) {
            EXPECT_GT(sampled.samples[i].t, sampled.samples[i - 1].t);
        }
    }
}

// ---- the circle ---------------------------------------------------------------------------------------------------

TEST(CircleRuns, KeepTheirKernelInEveryStage) {
    Settings settings;
    settings.tokens = 3000;
    settings.dim = 2;
    settings.time = 1;
    settings.samples = 2;
    for (const char* scheme : {"post-ln", "pre-ln", "ngpt", "ln-scaling", "sqrt-scaling"}) {
        EXPECT_EQ(simulate(settings, scheme).kernel, "circle") << scheme;
    }
    settings.method = Method::bdf;
    settings.rtol = 1e-6;
    EXPECT_EQ(simulate(settings, "post-ln").kernel, "circle");
}

TEST(CircleRuns, SayWhenTheyFellBack) {
    Settings settings;
    settings.tokens = 600;
    settings.dim = 2;
    settings.time = 0.5;
    settings.samples = 2;
    settings.kernel = "circle";
    const Record record = simulate(settings, "output-ln");  // f sees radii that differ
    EXPECT_EQ(record.kernel.rfind("circle (direct sums in ", 0), 0U) << record.kernel;
    settings.kernel = "direct";
    EXPECT_NEAR(simulate(settings, "output-ln").samples.back().cosine, record.samples.back().cosine, 1e-12);
}

// ---- stopping and forecasts ---------------------------------------------------------------------------------------

TEST(Stopping, DoesNotWaitForAnEvaluation) {
    for (const char* kernel : {"reference", "direct", "fused", "general", "blas", "layers"}) {
        Settings settings;
        settings.tokens = std::string(kernel) == "reference" ? 60'000 : 250'000;
        settings.dim = 3;
        settings.kernel = kernel;
        settings.samples = 2;
        if (settings.kernel == "layers") {
            settings.kernel = "auto";
            settings.layers = 10;
        }
        std::atomic<bool> stop{false};
        bool offered = false;
        bool looked = false;
        Control control = control_of(settings);
        control.stop = &stop;
        Watch watch = watch_of(settings);
        watch.restart_point = [&](const RestartPoint&) { offered = true; };
        watch.sampled = [&](const Sample&, const Particles&) { looked = true; };
        std::thread timer([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            stop = true;
        });
        const Record record = run(problem_of(settings, scheme::find_scheme("post-ln").program), control, watch);
        timer.join();
        EXPECT_EQ(record.outcome, Outcome::interrupted) << kernel;
        EXPECT_FALSE(offered || looked) << kernel << ": nothing half done is shown";
        EXPECT_TRUE(record.samples.empty());
        // One evaluation takes 10 s and more on two threads; stopping less than one, were this machine ours alone.
        EXPECT_LT(record.seconds, 5) << kernel;
    }
}

// Orthogonal weights of 3000 dimensions take a minute to draw, before the first step.
TEST(Stopping, DoesNotWaitForWeightsToBeDrawn) {
    Settings settings = small();
    settings.weights = WeightKind::orthogonal;
    settings.systems = 8;
    Problem problem = problem_of(settings, scheme::find_scheme("post-ln").program);
    std::size_t drawn = 0;
    problem.attention.weights = [&drawn, draw = problem.attention.weights](std::size_t system, std::size_t number) {
        ++drawn;
        return draw(system, number);
    };
    const std::atomic<bool> stop{true};
    Control control = control_of(settings);
    control.stop = &stop;
    RestartPoint from;
    from.samples.resize(3);
    from.systems.resize(24);
    const Record record = run(problem, control, watch_of(settings), from);
    EXPECT_EQ(drawn, 1U) << "of the first of eight systems";
    EXPECT_EQ(record.outcome, Outcome::interrupted);
    EXPECT_EQ(record.samples.size(), 3U) << "what is there is not lost";
    EXPECT_EQ(record.systems.size(), 24U);
}

TEST(Stopping, PassesThroughCvode) {
    Settings settings = small();
    settings.method = Method::bdf;
    settings.time = 1000;
    std::atomic<bool> stop{false};
    Control control = control_of(settings);
    control.stop = &stop;
    Watch watch = watch_of(settings);
    watch.progress = [&](double) { stop = true; };  // seen before the next step, or inside it
    EXPECT_EQ(run(problem_of(settings, scheme::find_scheme("post-ln").program), control, watch).outcome,
              Outcome::interrupted);
}

// Without a start of that size, which costs do not depend on.
Cost cost_of(const Settings& settings) {
    Settings few = settings;
    few.tokens = few.dim = 2;
    Problem problem = problem_of(few, scheme::find_scheme("post-ln").program);
    problem.tokens = settings.tokens;
    problem.dim = settings.dim;
    return {problem, control_of(settings)};
}

TEST(Forecasts, ComeFromTheCostTable) {
    const auto forecast = [](const Settings& settings) {
        return cost_of(settings).seconds_left({}, 0, settings.samples, false);
    };
    // n^2 d pairs at 0.07 ns: 1e5 tokens in 128 dimensions take about 1.6 minutes a layer on one thread.
    Settings settings;
    settings.tokens = 100'000;
    settings.dim = 128;
    settings.layers = 100;
    settings.samples = 2;
    ASSERT_TRUE(forecast(settings).has_value());
    EXPECT_GT(*forecast(settings), 100 * 45.0);
    EXPECT_LT(*forecast(settings), 100 * 240.0);
    settings.layers.reset();
    EXPECT_FALSE(forecast(settings).has_value()) << "a method that chooses its steps cannot tell before the first";
    settings.method = Method::rk4;
    settings.dt = 0.1;
    settings.time = 10;
    EXPECT_GT(*forecast(settings), 400 * 45.0);
    EXPECT_LT(*forecast(settings), 400 * 240.0 + 1000);
    StepState half;  // of a run that is taken up in its middle
    half.t = 5;
    EXPECT_NEAR(*cost_of(settings).seconds_left(half, 0, settings.samples, false) / *forecast(settings), 0.5, 0.02);
}

// No step crosses a whole time where weights change there: 1e6 of them are at least 1e6 steps, however long the next
// one would like to be, and however little is known of a run beyond t = 1e4 otherwise.
TEST(Forecasts, OfFreshWeightsCountTheWholeTimes) {
    Settings settings = small();
    settings.time = 1e6;
    const StepState after{8, 250, 8};  // eight steps of one
    EXPECT_FALSE(cost_of(settings).seconds_left(after, 100, 0, false).has_value());
    settings.weights = WeightKind::gaussian;
    settings.fresh = true;
    for (const bool log_time : {false, true}) {
        const Cost cost = cost_of(settings);
        const auto seconds = cost.seconds_left(after, 100, 0, log_time);
        ASSERT_TRUE(seconds.has_value());
        // 100 evaluations in eight steps: as many in those to come.
        EXPECT_NEAR(*seconds / (999992 * 12.5 * cost.evaluation_seconds()), 1, 1e-9);
    }
}

TEST(Forecasts, AreGivenOnceAndShrinkWithWhatIsDone) {
    for (const MethodRow& row : method_rows()) {
        Settings settings = small();
        settings.method = row.method;
        std::size_t count = 0;
        Watch watch;
        watch.forecast = [&](double seconds) {
            ++count;
            EXPECT_GT(seconds, 0);
            EXPECT_LT(seconds, 60);
        };
        simulate(settings, "post-ln", watch);
        EXPECT_EQ(count, 1U) << row.name;
    }
    Settings settings = small();
    settings.layers = 100;
    const Cost cost = cost_of(settings);
    EXPECT_NEAR(*cost.seconds_left({5, 0, 50}, 0, 0, false) / *cost.seconds_left({0, 0, 0}, 0, 0, false), 0.5, 1e-12);
}

TEST(RestartPoints, ComeOftenWhereStepsAreLong) {
    Settings settings = small();
    const auto every = [&] { return cost_of(settings).restart_every(); };
    EXPECT_EQ(every(), 100U);
    settings.tokens = 100'000;
    settings.dim = 128;
    EXPECT_EQ(every(), 1U);
    settings.method = Method::bdf;
    EXPECT_EQ(every(), 100U);
    settings.method = Method::automatic;  // which is bdf in long runs with the mask: to forget is to go back to order 1
    settings.causal = true;
    settings.time = 1e4;
    EXPECT_EQ(every(), 1U);
    settings.time = 1e5;
    EXPECT_EQ(every(), 100U);
    settings.causal = false;
    EXPECT_EQ(every(), 1U);
    settings.layers = 1000;
    settings.tokens = 20'000;  // about 4 s a layer on one thread
    EXPECT_GE(every(), 1U);
    EXPECT_LT(every(), 20U);
}

TEST(Memory, OfSamplesIsCounted) {
    Settings settings = small();
    const double without = memory_estimate(settings, 1);
    settings.samples = 1'000'000'000'000;
    EXPECT_GT(memory_estimate(settings, 1) - without, 1e14);
    settings.layers = 10;  // there are only eleven
    EXPECT_LT(memory_estimate(settings, 1), without);
    EXPECT_EQ(sample_times(settings).size(), 11U);
    settings.log_time = true;
    EXPECT_EQ(sample_times(settings).size(), 11U);
    EXPECT_DOUBLE_EQ(sample_times(settings)[3], 3 * settings.step());
}

}  // namespace
}  // namespace flyball::dynamics::dense_test
