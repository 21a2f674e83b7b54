// A run taken up from any of its restart points ends as if nothing had happened, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dynamics/method.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::resume_test {
namespace {

struct Case {
    const char* scheme;
    bool fresh = false;
    const char* until = nullptr;
    std::size_t ffn = 0;
};

struct Seen {  // a record, and what was there to be seen at every sample
    Record record;
    std::vector<std::vector<double>> x;
    std::vector<std::vector<double>> theta;
};

Seen simulate(const Settings& settings, const Case& what, const std::optional<RestartPoint>& from,
              std::vector<RestartPoint>* points) {
    Seen seen;
    Watch watch;
    watch.sampled = [&](const Sample&, const Particles& particles) {
        seen.x.push_back(particles.x());
        seen.theta.push_back(particles.theta());
    };
    if (points != nullptr) {
        watch.restart_point = [points](const RestartPoint& point) { points->push_back(point); };
    }
    seen.record = run(settings, scheme::find_scheme(what.scheme).program, watch, from);
    return seen;
}

bool same_bits(double a, double b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

void expect_same(const Seen& resumed, const Seen& whole, const RestartPoint& point, const std::string& name) {
    const Record& a = resumed.record;
    const Record& b = whole.record;
    EXPECT_EQ(a.outcome, b.outcome) << name;
    EXPECT_EQ(a.steps, b.steps) << name;
    EXPECT_EQ(a.evaluations, b.evaluations) << name;
    EXPECT_EQ(a.collapse_time, b.collapse_time) << name;
    ASSERT_EQ(a.samples.size(), b.samples.size()) << name;
    for (std::size_t i = 0; i < a.samples.size(); ++i) {
        const Sample& p = a.samples[i];
        const Sample& q = b.samples[i];
        for (const SampleField& field : sample_fields()) {
            EXPECT_TRUE(same_bits(field(p), field(q))) << name << ", sample " << i << " at t = " << p.t << ": "
                                                       << field.name << " " << field(p) << " and " << field(q);
        }
    }
    ASSERT_EQ(a.systems.size(), b.systems.size()) << name;
    for (std::size_t i = 0; i < a.systems.size(); ++i) {
        for (const SampleField& field : sample_fields()) {
            EXPECT_TRUE(same_bits(field(a.systems[i]), field(b.systems[i]))) << name << ", system " << field.name;
        }
    }
    ASSERT_EQ(resumed.x.size() + point.next_sample, whole.x.size()) << name;
    for (std::size_t i = 0; i < resumed.x.size(); ++i) {
        EXPECT_EQ(resumed.x[i], whole.x[point.next_sample + i]) << name << ", state of sample " << i;
        EXPECT_EQ(resumed.theta[i], whole.theta[point.next_sample + i]) << name << ", state of sample " << i;
    }
}

// Samples at whole times, where weights are drawn anew, and between; Mix-LN switches at t = 2, which is a sample too.
Settings resumable(const std::string& how) {
    Settings settings;
    settings.tokens = 10;
    settings.dim = 4;
    settings.beta = 3;
    settings.seed = 5;
    settings.time = 8;
    settings.samples = 33;
    settings.dt = 0.02;
    settings.rtol = 1e-12;
    settings.atol = 1e-14;
    if (how == "layers") {
        settings.layers = 400;
    } else {
        settings.method = parse_method(how);
    }
    if (row_of(settings.method).table == nullptr) {  // of low order: the bits are as good with larger tolerances
        settings.rtol = 1e-7;
        settings.atol = 1e-9;
    }
    return settings;
}

// Every method, and layers. The method that a run chooses by itself is one of the others.
std::vector<std::string> ways_of_running() {
    std::vector<std::string> ways = {"layers"};
    for (const MethodRow& row : method_rows()) {
        if (row.method != Method::automatic) {
            ways.emplace_back(row.name);
        }
    }
    return ways;
}

class Resume : public testing::TestWithParam<std::string> {};

TEST_P(Resume, EveryRestartPointLeadsToTheSameBits) {
    const Case cases[] = {
        {"pre-ln", true},
        {"mix-ln"},
        {"mix-ln", true, nullptr, 6},
        {"post-ln", false, "cosine>0.35"},
        {"peri-ln", true, "speed<0.3"},
        {"sqrt-scaling"},
        {"residual"},
    };
    std::size_t offered = 0;
    for (const Case& what : cases) {
        Settings settings = resumable(GetParam());
        settings.fresh = what.fresh;
        settings.weights = what.fresh ? WeightKind::gaussian : WeightKind::identity;
        settings.ffn_width = what.ffn;
        if (what.until != nullptr) {
            settings.until = parse_until(what.until);
        }
        std::vector<RestartPoint> points;
        const Seen whole = simulate(settings, what, std::nullopt, &points);
        EXPECT_EQ(whole.record.outcome, what.until == nullptr ? Outcome::done : Outcome::until) << what.scheme;
        offered += points.size();
        for (const RestartPoint& point : points) {
            const std::string name = GetParam() + " " + what.scheme + (what.fresh ? " fresh" : "") +
                                     " taken up at t = " + std::to_string(point.step.t);
            expect_same(simulate(settings, what, point, nullptr), whole, point, name);
        }
    }
    EXPECT_GE(offered, 15U);
}

INSTANTIATE_TEST_SUITE_P(Methods, Resume, testing::ValuesIn(ways_of_running()),
                         [](const auto& how) { return how.param; });

// Many steps in one piece: restart points between switches too.
Settings many_steps() {
    Settings settings = resumable("erk");
    settings.time = 60;
    settings.rtol = 1e-14;
    settings.atol = 1e-16;
    return settings;
}

TEST(RestartPoints, BetweenSwitchesLeadToTheSameBits) {
    std::vector<RestartPoint> points;
    const Seen whole = simulate(many_steps(), {"mix-ln"}, std::nullopt, &points);
    EXPECT_GE(points.size(), 2U);
    for (const RestartPoint& point : points) {
        expect_same(simulate(many_steps(), {"mix-ln"}, point, nullptr), whole, point, std::to_string(point.step.t));
    }
}

TEST(RestartPoints, KeepTheValuesOfEverySystem) {
    for (const std::string& how : ways_of_running()) {
        Settings settings = resumable(how);
        settings.systems = 3;
        std::vector<RestartPoint> points;
        const Seen whole = simulate(settings, {"mix-ln"}, std::nullopt, &points);
        EXPECT_EQ(whole.record.systems.size(), 3 * whole.record.samples.size());
        ASSERT_FALSE(points.empty()) << how;
        EXPECT_GT(points.back().systems.size(), 3U) << "nothing was tested";
        expect_same(simulate(settings, {"mix-ln"}, points.back(), nullptr), whole, points.back(), how);
    }
}

TEST(RestartPoints, DoNotDependOnTheSamples) {
    const auto times_of = [](std::size_t samples) {
        Settings settings = many_steps();
        settings.samples = samples;
        std::vector<RestartPoint> points;
        simulate(settings, {"mix-ln"}, std::nullopt, &points);
        std::vector<double> times;
        for (const RestartPoint& point : points) {
            times.push_back(point.step.t);
        }
        return times;
    };
    const std::vector<double> few = times_of(2);
    EXPECT_EQ(few, times_of(77));
    EXPECT_NE(std::find_if(few.begin(), few.end(), [](double t) { return std::abs(t - 15) < 1e-12; }), few.end())
        << "the switch of Mix-LN at a quarter of the time";
}

TEST(Pieces, AreFoundOneByOne) {
    Settings settings;
    settings.weights = WeightKind::gaussian;
    settings.fresh = true;
    settings.time = 1e15;
    const Pieces pieces(problem_of(settings, scheme::find_scheme("mix-ln").program));
    EXPECT_EQ(pieces.at(0).begin, 0);
    EXPECT_EQ(pieces.at(0).end, 1);
    EXPECT_EQ(pieces.at(0.5).end, 1);
    EXPECT_EQ(pieces.at(1).begin, 1);
    EXPECT_EQ(pieces.at(1).end, 2);
    const Piece late = pieces.at(2.5e14 - 0.25);  // the switch at a quarter of the time is a whole time here
    EXPECT_EQ(late.begin, 2.5e14 - 1);
    EXPECT_NEAR(late.end, 2.5e14, 0.1);
    EXPECT_EQ(pieces.at(1e15 - 0.5).end, 1e15);
    settings.time = 1e17;  // where t + 1 is t
    const Pieces far(problem_of(settings, scheme::find_scheme("pre-ln").program));
    EXPECT_GT(far.at(5e16).end, 5e16);
}

}  // namespace
}  // namespace flyball::dynamics::resume_test
