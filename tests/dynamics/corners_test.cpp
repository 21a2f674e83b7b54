// What few runs meet: one token alone, one that vanishes among others, draws of later times, kernels that fall back,
// readouts that are no unit vectors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>

#include "dynamics/document.hpp"
#include "dynamics/observables.hpp"
#include "dynamics/run.hpp"
#include "dynamics/velocities.hpp"
#include "dynamics/weights.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::corners_test {
namespace {

Settings few() {
    Settings settings;
    settings.tokens = 5;
    settings.dim = 3;
    settings.samples = 2;
    settings.time = 1;
    return settings;
}

const scheme::Program& of(const char* name) {
    static scheme::Program program;
    program = scheme::find_scheme(name).program;
    return program;
}

std::vector<double> end_of(const Settings& settings, const char* name) {
    std::vector<double> x;
    Watch watch;
    watch.sampled = [&](const Sample&, const Particles& particles) { x = particles.x(); };
    run(settings, of(name), watch);
    return x;
}

// All radii are 1 at the start, where the circle has its kernel; they differ from then on.
TEST(Kernels, SayInHowManyEvaluationsOfAllTheyFellBack) {
    Settings settings = few();
    settings.tokens = 600;
    settings.dim = 2;
    settings.time = 0.2;
    settings.kernel = "circle";
    const Record record = run(settings, of("output-ln"));
    std::size_t fallen = 0;
    std::size_t all = 0;
    ASSERT_EQ(std::sscanf(record.kernel.c_str(), "circle (direct sums in %zu of %zu evaluations)", &fallen, &all), 2)
        << record.kernel;
    EXPECT_EQ(all, record.evaluations);
    EXPECT_GT(fallen, 0U);
    EXPECT_LT(fallen, all);
}

// Each system has attention of its own. Fourier sums want tokens of one length, which those of one system have not.
TEST(Kernels, SayThatTheyFellBackWhicheverSystemItWasFor) {
    Settings settings = few();
    settings.dim = 2;
    settings.systems = 3;
    settings.layers = 1;
    settings.kernel = "circle";
    for (std::size_t odd = 0; odd < 4; ++odd) {
        Problem problem = problem_of(settings, scheme::Program::parse("x + dt*f(x)"));
        problem.attention.per_system = true;
        const std::size_t numbers = settings.tokens * settings.dim;
        for (std::size_t i = 0; odd < settings.systems && i < settings.dim; ++i) {
            problem.start[odd * numbers + i] *= 2;
        }
        EXPECT_EQ(run(problem, control_of(settings), watch_of(settings)).kernel,
                  odd < settings.systems ? "circle (direct sums in 1 of 1 evaluations)" : "circle")
            << "system " << odd;
    }
}

TEST(Events, MayWaitForNegativeCosines) {
    EXPECT_EQ(parse_until("cosine>-0.5").level, -0.5);
    EXPECT_EQ(parse_until("cosine<-0.25").level, -0.25);
}

TEST(Observables, OneTokenAloneAgreesWithItself) {
    const Sample sample = measure({1, 1, 2, 1}, 0, {1, 0}, {3, 0}, {0}).all;
    EXPECT_EQ(sample.pair_fraction, 1);
    EXPECT_EQ(sample.cosine, 1);
}

TEST(Observables, OneTokenAloneDoesNotCollapse) {
    Settings settings = few();
    settings.tokens = 1;
    const Record record = run(settings, scheme::find_scheme("post-ln").program);
    EXPECT_EQ(record.samples.front().cosine, 1);
    EXPECT_EQ(record.samples.front().clusters, 1);
    EXPECT_FALSE(record.collapse_time);
    settings.tokens = 2;
    settings.start = StartKind::equiangular;
    settings.start_cosine = 0.9999;
    EXPECT_EQ(run(settings, scheme::find_scheme("post-ln").program).collapse_time, 0);
}

// Weights of the first unit of time are the first draw, in time as in layers.
TEST(FreshWeights, OfTheFirstUnitOfTimeAreTheFirstDraw) {
    Settings settings = few();
    settings.weights = WeightKind::gaussian;
    const std::vector<double> tied = end_of(settings, "pre-ln");
    settings.fresh = true;
    EXPECT_EQ(end_of(settings, "pre-ln"), tied);
}

TEST(FeedForward, SharesNoMatrixBetweenDraws) {
    Settings settings = few();
    settings.ffn_width = settings.dim;  // both have one scale
    std::set<double> firsts;
    for (std::size_t draw = 0; draw < 5; ++draw) {
        const FeedForward ffn = draw_feed_forward(settings, 0, draw);
        firsts.insert(ffn.first[0]);
        firsts.insert(ffn.second[0]);
    }
    EXPECT_EQ(firsts.size(), 10U);
}

// Two systems from the same rows part because each has its own matrices, whether or not they are drawn anew.
TEST(Systems, HaveMatricesOfTheirOwn) {
    for (const bool ffn : {false, true}) {
        Settings settings = few();
        settings.systems = 2;
        settings.start = StartKind::symmetric;  // the same in every system
        settings.dim = settings.tokens;
        settings.ffn_width = ffn ? 4 : 0;
        settings.weights = ffn ? WeightKind::identity : WeightKind::gaussian;
        const std::vector<double> x = end_of(settings, "pre-ln");
        const auto half = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
        EXPECT_NE(std::vector<double>(x.begin(), half), std::vector<double>(half, x.end())) << ffn;
    }
}

// Whoever looks at particles gets x, whichever streams there are beside it and wherever the equation writes them.
TEST(Particles, HaveTheXOfTheEquationAmongSeveralStreams) {
    for (const char* text : {"x = 2*x + 0*f(x); y = 3*y | x + y", "y = 3*y + 0*f(x); x = 2*x | x + y",
                             "y = 3*y; z = 5*z + 0*f(x); x = 2*x | x + y + z"}) {
        Settings settings = few();
        settings.layers = 3;
        settings.dt = 1;
        settings.samples = 4;
        const Problem problem = problem_of(settings, scheme::Program::parse(text));
        Watch watch = watch_of(settings);
        double factor = 1;
        watch.sampled = [&](const Sample&, const Particles& particles) {
            std::vector<double> expected = problem.start;
            for (double& number : expected) {
                number *= factor;
            }
            EXPECT_EQ(particles.x(), expected) << text << " after a factor of " << factor;
            factor *= 2;
        };
        run(problem, control_of(settings), watch);
        EXPECT_EQ(factor, 16) << text;
    }
}

// As docs/simulate.md lists them: what `outcome` in a table, in JSON and in the record of a folder says.
TEST(Outcomes, HaveTheNamesOfTheManual) {
    for (const auto& [outcome, said] : {std::pair<Outcome, std::string>{Outcome::done, "done"},
                                        {Outcome::until, "until"},
                                        {Outcome::diverged, "diverged"},
                                        {Outcome::nan, "nan"},
                                        {Outcome::step_underflow, "step-underflow"},
                                        {Outcome::digits_lost, "digits-lost"},
                                        {Outcome::radius_zero, "radius-zero"},
                                        {Outcome::interrupted, "interrupted"}}) {
        EXPECT_EQ(name(outcome), said);
    }
}

TEST(Outcomes, OneTokenWithoutALengthIsEnough) {
    Settings settings = few();
    settings.tokens = settings.dim = 2;
    Problem problem = problem_of(settings, of("pre-ln"));
    problem.start = {1, 0, 0, 1e-13};
    EXPECT_EQ(run(problem, control_of(settings)).outcome, Outcome::radius_zero);
}

// Post-LN ignores r0, and so does a Gaussian start: tokens of length 1 have a direction whatever r0 is.
TEST(Outcomes, ALengthOfOneIsNoneThatVanishes) {
    Settings settings = few();
    settings.r0 = 1e13;
    settings.time = 1;
    EXPECT_EQ(run(settings, of("post-ln")).outcome, Outcome::done);
    settings.start = StartKind::gaussian;
    EXPECT_EQ(run(settings, of("pre-ln")).outcome, Outcome::done);
    settings.start = StartKind::uniform;
    settings.layers = 2;
    EXPECT_EQ(run(settings, of("post-ln")).outcome, Outcome::done);
}

// The direction of a readout turns as fast whatever its length is: late, where the speed is taken in frames, too.
TEST(Speeds, DoNotDependOnTheLengthOfTheReadout) {
    Settings settings = few();
    settings.r0 = 3;
    settings.time = 400;
    settings.samples = 5;
    const Record unit = run(settings, scheme::Program::parse("x + dt*f(norm(x)) | norm(x)"));
    const Record whole = run(settings, scheme::Program::parse("x + dt*f(norm(x))"));
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(whole.samples[i].speed / unit.samples[i].speed, 1, 1e-9) << i;
    }
    EXPECT_LT(unit.samples.back().speed, 1e-3) << "no frame was asked";
}

TEST(Frames, KnowNothingOfAFeedForwardNetwork) {
    Settings settings = few();
    settings.time = 1e5;
    EXPECT_TRUE(Particles(problem_of(settings, of("pre-ln")), control_of(settings)).slow());
    settings.ffn_width = 4;
    EXPECT_FALSE(Particles(problem_of(settings, of("pre-ln")), control_of(settings)).slow());
}

TEST(Record, TheCollapseIsTheFirstSampleOfMany) {
    Settings settings = few();
    settings.time = 40;
    settings.samples = 41;
    const Record record = run(settings, of("post-ln"));
    std::size_t first = 0;
    while (record.samples.at(first).cosine <= 0.999) {
        ++first;
    }
    ASSERT_LT(first, 38U);
    EXPECT_EQ(record.collapse_time, record.samples[first].t);
}

// Pre-LN until t = 2, then Post-LN, whose stream has length 1: two orthonormal tokens with beta = 0, which both move
// towards their mean. Pre-LN keeps |x1 - x2| = 2 D; with |x| = D cosh u, D (ln tanh(u/2) + cosh u) grows as t does.
// Post-LN goes on with the cosine tanh(t - 2 + artanh(cosine at 2)). Numbers by bisection in Python; Runge-Kutta in
// numpy agrees.
TEST(Pieces, BeginOnTheManifoldOfTheirEquation) {
    Settings settings = few();
    settings.tokens = settings.dim = 2;
    settings.start = StartKind::symmetric;
    settings.beta = 0;
    settings.time = 4;
    settings.samples = 9;
    const Record record =
        run(settings, scheme::Program::parse("depth <= 0.5 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)"));
    ASSERT_EQ(record.samples.size(), 9U);
    EXPECT_NEAR(record.samples[4].radius, 2.57598355504749, 1e-8);
    EXPECT_NEAR(record.samples[4].cosine, 0.84929980036359, 1e-9);
    EXPECT_NEAR(record.samples[5].radius, 1, 1e-12);
    EXPECT_NEAR(record.samples[5].cosine, 0.94178782884990, 1e-9);
    EXPECT_NEAR(record.samples[8].cosine, 0.99701935090600, 1e-9);
}

TEST(Velocities, AreThoseOnTheManifold) {
    Settings settings = few();
    settings.tokens = settings.dim = 2;
    Problem problem = problem_of(settings, of("post-ln"));
    problem.start = {3, 0, 0, 0.5};
    const Velocities found = velocities(problem);
    EXPECT_EQ(found.r, (std::vector<double>{1, 1}));
    // Two orthonormal tokens, beta = 1: each turns to the other by its weight, 1/(1 + e).
    EXPECT_NEAR(found.turn[1], 1 / (1 + std::exp(1.0)), 1e-15);
    EXPECT_NEAR(found.turn[2], 1 / (1 + std::exp(1.0)), 1e-15);
}

TEST(Document, HasTheValuesOfSystemsOnRequestAlone) {
    Settings settings = few();
    settings.systems = 2;
    const SchemeRun finished{scheme::find_scheme("post-ln"), run(settings, of("post-ln"))};
    EXPECT_FALSE(document(settings, {finished})["runs"][0].contains("systems"));
    settings.per_system = true;
    EXPECT_TRUE(document(settings, {finished})["runs"][0].contains("systems"));
}

// The speed at the start is that of a layer on trial, which nobody else sees.
TEST(Layers, TheFirstSampleShowsTheStart) {
    Settings settings = few();
    settings.layers = 3;
    std::vector<double> x;
    std::vector<double> theta;
    Watch watch;
    watch.sampled = [&](const Sample& sample, const Particles& particles) {
        if (sample.t == 0) {
            x = particles.x();
            theta = particles.theta();
        }
    };
    run(settings, of("pre-ln"), watch);
    ASSERT_EQ(x.size(), theta.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(theta[i], x[i], 1e-15);  // of length 1
    }
}

}  // namespace
}  // namespace flyball::dynamics::corners_test
