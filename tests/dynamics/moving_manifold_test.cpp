// Equations that set a length which depends on t, and readouts that depend on t by themselves. Expected numbers come
// from layers with dt -> 0 (second order extrapolation) and from an integration of the full vectors in other software.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "dynamics/checkpoint.hpp"
#include "dynamics/particles.hpp"
#include "dynamics/run.hpp"
#include "dynamics/velocities.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::moving_manifold_test {
namespace {

Settings symmetric(std::size_t tokens, double time, std::size_t samples) {
    Settings settings;
    settings.tokens = settings.dim = tokens;
    settings.start = StartKind::symmetric;
    settings.beta = 1;
    settings.time = time;
    settings.samples = samples;
    return settings;
}

Record run_text(const Settings& settings, const std::string& text) {
    return run(settings, scheme::Program::parse(text));
}

struct Known {
    const char* text;
    std::size_t tokens;
    double time;
    std::vector<double> cosines;  // of even samples after the start
};

// From DOP853 at 1e-13 on gamma' of each equation, and the same to the digits shown by extrapolated layers.
const std::vector<Known>& known() {
    static const std::vector<Known> all = {
        {"norm(x + dt*f(x))/sqrt(t+1)", 5, 6, {0.88572197, 0.99768461, 0.99995751}},
        {"a*norm(x + dt*f(norm(x))) where a = 1+t", 6, 5, {0.782262}},
        {"a*norm(x + dt*f(norm(x))) where ~a = 1+t", 6, 5, {0.782262}},
        {"a*norm(x + dt*f(norm(x))) | x + x0 where a = 1+t", 6, 5, {0.686800}},
    };
    return all;
}

TEST(MovingManifold, IsFollowedByEveryMethod) {
    for (const Known& one : known()) {
        for (const Method method : {Method::erk, Method::bdf, Method::rk4}) {
            Settings settings = symmetric(one.tokens, one.time, one.cosines.size() + 1);
            settings.method = method;
            settings.dt = 0.01;
            const Record record = run_text(settings, one.text);
            ASSERT_EQ(record.outcome, Outcome::done) << one.text;
            for (std::size_t i = 0; i < one.cosines.size(); ++i) {
                EXPECT_NEAR(record.samples[i + 1].cosine, one.cosines[i], 1e-6) << one.text << " " << i;
            }
            EXPECT_LT(record.steps, method == Method::rk4 ? 2000U : 600U) << one.text;  // bdf did not end
        }
    }
    // depth = t/T moves as well.
    EXPECT_NEAR(run_text(symmetric(6, 10, 3), "norm(x + dt*f(x))*(1+depth)").samples[1].cosine, 0.9994899, 1e-6);
}

// Steps, samples inside them and the tolerance all see the length of their own t.
TEST(MovingManifold, DoesNotDependOnSamplesOrTolerances) {
    const std::string text = "norm(x + dt*f(x))/sqrt(t+1)";
    const Record few = run_text(symmetric(5, 6, 2), text);
    const Record many = run_text(symmetric(5, 6, 61), text);
    EXPECT_NEAR(many.samples[20].cosine, 0.88572197, 1e-8);
    EXPECT_NEAR(few.samples.back().cosine, many.samples.back().cosine, 1e-10);
    for (const Sample& sample : many.samples) {
        EXPECT_NEAR(sample.radius, 1 / std::sqrt(sample.t + 1), 1e-12);
    }
    Settings rough = symmetric(5, 6, 61);
    rough.rtol = 1e-5;
    rough.atol = 1e-7;
    EXPECT_NEAR(run_text(rough, text).samples[20].cosine, 0.88572197, 1e-4);
}

// Several streams: what N0 gives one of them with time or from another one is counted once. Layers are the arbiter.
TEST(MovingManifold, OfSeveralStreamsIsTheLimitOfLayers) {
    for (const char* text : {"y = y + dt*f(norm(y)); x = norm(y + t*x0) + 0*x",
                             "y = norm(y + dt*f(x))*(1+t); x = norm(x + dt*f(norm(y))) | x + y",
                             "x = norm(x + dt*f(x))*(1+t); y = y + x - norm(x)*(1+t) + dt*norm(x) | x + y*0.3",
                             "t < 2 ? norm(x + dt*f(x))*(1+t) : x + dt*f(norm(x))"}) {
        Settings settings;
        settings.tokens = 5;
        settings.dim = 4;
        settings.seed = 3;
        settings.beta = 2;
        settings.samples = 2;
        settings.time = 4;
        const Record limit = run_text(settings, text);
        ASSERT_EQ(limit.outcome, Outcome::done) << text;
        std::vector<double> cosines;
        for (const std::size_t layers : {2000U, 4000U, 8000U}) {
            Settings thin = settings;
            thin.layers = layers;
            thin.dt = 4.0 / static_cast<double>(layers);
            cosines.push_back(run_text(thin, text).samples.back().cosine);
        }
        const double first = 2 * cosines[1] - cosines[0];
        const double second = 2 * cosines[2] - cosines[1];
        EXPECT_NEAR(limit.samples.back().cosine, (4 * second - first) / 3, 1e-9) << text;
    }
}

// norm(x + dt*f(norm(x)))/sqrt(t+1) turns by f over its length: it is Post-LN at u = (2/3) ((t+1)^1.5 - 1). Two tokens
// at beta = 20 merge, in their own frames, when u is near 10^10.45, which is at t = (1.5 u + 1)^(2/3) - 1.
TEST(MovingManifold, IsFollowedInTheTokensOwnFramesToo) {
    Settings settings;
    settings.tokens = settings.dim = 2;
    settings.beta = 20;
    settings.seed = 2;
    settings.time = 1e100;
    settings.log_time = true;
    settings.until = parse_until("cosine>0.999");
    const Record post = run(settings, scheme::find_scheme("post-ln").program);
    const Record moving = run_text(settings, "norm(x + dt*f(norm(x)))/sqrt(t+1)");
    ASSERT_EQ(moving.outcome, Outcome::until);
    EXPECT_EQ(moving.kernel, "own-frame");
    const double u = post.samples.back().t;
    EXPECT_NEAR(std::log10(u), 10.45, 0.01);
    EXPECT_NEAR(moving.samples.back().t / (std::pow(1.5 * u + 1, 2.0 / 3) - 1), 1, 1e-8);
    EXPECT_NEAR(moving.samples.back().radius * std::sqrt(moving.samples.back().t + 1), 1, 1e-12);
}

TEST(MovingManifold, OfFusedTokensIsTheirCommonDirection) {
    Settings settings = symmetric(5, 2e4, 3);
    const Record record = run_text(settings, "norm(x + dt*f(x))/sqrt(t+1)");
    EXPECT_EQ(record.outcome, Outcome::done);
    ASSERT_FALSE(record.fused.empty());
    EXPECT_NEAR(record.samples.back().radius_min, 1 / std::sqrt(2e4 + 1), 1e-15);
    EXPECT_NEAR(record.samples.back().radius_max, 1 / std::sqrt(2e4 + 1), 1e-15);
    EXPECT_EQ(record.samples.back().speed, 0);
}

TEST(MovingManifold, IsInTheVelocityAtAGivenState) {
    const Velocities seen =
        velocities(problem_of(symmetric(5, 6, 2), scheme::Program::parse("norm(x + dt*f(x))*(1+t)^2")), 3);
    for (const double growth : seen.growth) {
        EXPECT_NEAR(growth, 8, 1e-12);  // of (1+t)^2
    }
}

TEST(MovingManifold, IsTakenUpWithTheSameBits) {
    Settings settings = symmetric(5, 600, 7);
    const auto program = scheme::Program::parse("norm(x + dt*f(x))/sqrt(t+1)");
    std::optional<RestartPoint> point;
    Watch watch;
    watch.restart_point = [&](const RestartPoint& seen) { point = seen; };
    const Record whole = run(settings, program, watch);
    ASSERT_TRUE(point) << "no restart point: nothing was tested";
    EXPECT_EQ(run(settings, program, {}, point).samples, whole.samples);
}

// Coefficients that have no slope at t = 0, or none that counts.
TEST(MovingManifold, KnowsWhatTimeDoesNotMove) {
    const Settings settings = symmetric(4, 2, 3);
    // A factor of f is no part of N0. Post-LN at u = (2/3) t^1.5.
    const Record root = run_text(settings, "norm(x + dt*f(x)*sqrt(t))");
    ASSERT_EQ(root.outcome, Outcome::done);
    Settings other = symmetric(4, 2.0 / 3 * std::pow(2.0, 1.5), 2);
    EXPECT_NEAR(root.samples.back().cosine, run_text(other, "norm(x + dt*f(x))").samples.back().cosine, 1e-7);
    EXPECT_EQ(run_text(settings, "norm(x + dt^(1+t)*f(x)*0 + dt*f(x)*t^t)").outcome, Outcome::done);
    // The norm takes away what the root makes of the length.
    const Record hidden = run_text(settings, "norm((1+sqrt(t))*x + dt*(1+sqrt(t))*f(x))");
    ASSERT_EQ(hidden.outcome, Outcome::done);
    EXPECT_NEAR(hidden.samples.back().cosine, run_text(settings, "norm(x + dt*f(x))").samples.back().cosine, 1e-8);
}

// ---- speeds ----

std::vector<double> right_angle() {
    return {1, 0, 0, 1};
}

Record of_right_angle(const std::string& text, std::size_t samples) {
    Settings settings = symmetric(2, 2, samples);
    Problem problem = problem_of(settings, scheme::Program::parse(text));
    problem.start = right_angle();
    return run(std::move(problem), control_of(settings), watch_of(settings));
}

// By difference quotients of the angle, half of which each of two tokens turns by.
TEST(Speeds, CountWhatTheReadoutDoesByItself) {
    const Record first = of_right_angle("norm(x+dt*f(x)) | x*(1+t)+x0", 3);
    EXPECT_NEAR(first.samples[1].speed, 0.251044, 1e-6);
    EXPECT_NEAR(first.samples[2].speed, 0.185000, 2e-5);
    const Record second = of_right_angle("x + dt*f(norm(x)) | x*t + x0", 3);
    EXPECT_NEAR(second.samples[1].speed, 0.194726, 1e-6);
    // (1 - gamma)' from the run's own samples on both sides
    for (const char* text : {"norm(x+dt*f(x)) | x*(1+depth)+x0", "norm(x+dt*f(x)) | a*x+x0 where ~a = exp(t)",
                             "y = y + dt*f(x); x = norm(x + dt*f(x))*(1+t) | x + y"}) {
        const Record fine = of_right_angle(text, 2001);
        const auto angle = [&](std::size_t i) { return std::acos(fine.samples[i].cosine); };
        const double h = fine.samples[1].t;
        EXPECT_NEAR(fine.samples[1000].speed, std::fabs(angle(1001) - angle(999)) / (4 * h), 1e-6) << text;
    }
}

// Late, when x no longer turns and the readout does: in the tokens' own frames.
TEST(Speeds, CountItInTheTokensOwnFramesToo) {
    Settings settings = symmetric(2, 40, 3);
    Problem problem = problem_of(settings, scheme::Program::parse("norm(x+dt*f(x)) | x*(1+t)+x0"));
    problem.start = {1, 0, 0, 1};
    const Record record = run(std::move(problem), control_of(settings), watch_of(settings));
    // x is the common direction m then, at half a right angle from x0: the readout is (t+1) m + x0, whose angle from m
    // is atan(s/(t+1+c)) with c = s = sqrt(1/2), which changes by s/((t+1+c)^2 + s^2).
    const double c = std::sqrt(0.5);
    const Sample& last = record.samples.back();
    EXPECT_NEAR(last.speed, c / ((41 + c) * (41 + c) + c * c), 1e-12);
    settings.time = 2e4;  // and where the run itself is in the frame
    settings.samples = 2;
    Problem slow = problem_of(settings, scheme::Program::parse("norm(x+dt*f(x)) | x*(1+t)+x0"));
    slow.start = {1, 0, 0, 1};
    const Record late = run(std::move(slow), control_of(settings), watch_of(settings));
    EXPECT_EQ(late.kernel, "own-frame");
    EXPECT_NEAR(late.samples.back().speed * 2e4 * 2e4, c / ((1 + (1 + c) / 2e4) * (1 + (1 + c) / 2e4)), 1e-6);
}

// A readout that begins infinitely fast has no speed there, which does not end the run.
TEST(Speeds, MayBeInfiniteAtOneTime) {
    const Record record = of_right_angle("norm(x+dt*f(x)) | x*sqrt(t)+x0", 3);
    EXPECT_EQ(record.outcome, Outcome::done);
    EXPECT_TRUE(std::isinf(record.samples[0].speed));
    EXPECT_TRUE(std::isfinite(record.samples[1].speed));
}

}  // namespace
}  // namespace flyball::dynamics::moving_manifold_test
