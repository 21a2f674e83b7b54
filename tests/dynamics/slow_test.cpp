// Motion far below rounding, against quadratures, and what tells a reader that digits ran out.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::slow_test {
namespace {

Settings slow_settings(std::size_t tokens, double beta, std::uint64_t seed) {
    Settings settings;
    settings.tokens = tokens;
    settings.dim = 2;
    settings.beta = beta;
    settings.seed = seed;
    settings.time = 1e100;
    settings.log_time = true;
    settings.samples = 201;
    return settings;
}

Record simulate(const Settings& settings, const std::string& scheme) {
    return run(settings, scheme::find_scheme(scheme).program);
}

Record merge(Settings settings, const std::string& scheme) {
    settings.until = parse_until("cosine>0.999");
    return simulate(settings, scheme);
}

// Two directions phi apart on the circle that carry m and k tokens. With e = exp(-beta (1 - cos phi)), a token of the
// first has Z = m + k e (relative to its own weight) and turns by k e sin(phi)/Z towards the second, and so the other
// way round: phi' = -e sin(phi) (k/(m + k e) + m/(k + m e)). The time from phi_0 to phi_1 by Simpson's rule.
double merge_time(double beta, double phi_0, double phi_1, double m, double k) {
    const auto slowness = [&](double phi) {
        const double e = std::exp(-beta * 2 * std::pow(std::sin(phi / 2), 2));
        return 1 / (e * std::sin(phi) * (k / (m + k * e) + m / (k + m * e)));
    };
    const int steps = 200000;
    const double h = (phi_0 - phi_1) / steps;
    double sum = slowness(phi_0) + slowness(phi_1);
    for (int i = 1; i < steps; ++i) {
        sum += (i % 2 == 1 ? 4 : 2) * slowness(phi_1 + i * h);
    }
    return sum * h / 3;
}

// By mpmath from the start of seed 2 (cosine -0.381904984244817): the integral of (1 + exp(beta (1 - cos)))/(2 sin)
// down to cos = 0.999. That is 10^22.16, 10^33.99, 10^45.87 and 10^69.70.
TEST(SlowMotion, TwoTokensMergeWhenTheQuadratureSaysUpTo1e70) {
    for (const auto& [beta, expected] : std::vector<std::pair<double, double>>{
             {40, 1.4544495e22}, {60, 9.827384e33}, {80, 7.4476372e45}, {120, 5.0532136e69}}) {
        for (const Method method : {Method::automatic, Method::bdf}) {
            Settings settings = slow_settings(2, beta, 2);
            settings.method = method;
            const Record record = merge(settings, "post-ln");
            EXPECT_EQ(record.outcome, Outcome::until) << beta;
            EXPECT_NEAR(record.samples.back().t / expected, 1, 1e-5) << beta << " " << name(method);
        }
    }
}

TEST(SlowMotion, AnyStartOfTwoTokensMergesInTime) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Record record = merge(slow_settings(2, 50, seed), "post-ln");
        const double phi_0 = std::acos(record.samples.front().cosine);
        EXPECT_NEAR(record.samples.back().t / merge_time(50, phi_0, std::acos(0.999), 1, 1), 1, 1e-6) << seed;
    }
}

// The same start at beta = 40, each by mpmath from its own phi': unnormalized -e sin; causal -e sin/(1 + e), the first
// token standing still; sqrt-scaling is Post-LN at 2(sqrt(t+1) - 1); nGPT divides by |A|.
TEST(SlowMotion, OtherSchemesMasksAndKindsAreInTimeToo) {
    EXPECT_NEAR(merge(slow_settings(2, 40, 2), "sqrt-scaling").samples.back().t / 5.2885582e43, 1, 1e-5);
    EXPECT_NEAR(merge(slow_settings(2, 40, 2), "ngpt").samples.back().t / 1.4544495e22, 1, 1e-5);
    Settings settings = slow_settings(2, 40, 2);
    settings.attention = "unnormalized";
    EXPECT_NEAR(merge(settings, "post-ln").samples.back().t / 2.9088989e22, 1, 1e-5);
    settings = slow_settings(2, 40, 2);
    settings.causal = true;
    EXPECT_NEAR(merge(settings, "post-ln").samples.back().t / 2.9088989e22, 1, 1e-5);
}

// sin(phi)/(1 + exp(40 (1 - cos phi))) by mpmath.
TEST(SlowMotion, TheSpeedIsRightInShortRunsToo) {
    Settings settings = slow_settings(2, 40, 2);
    settings.time = 100;
    const Record record = simulate(settings, "post-ln");
    EXPECT_NE(record.kernel, "own-frame");
    EXPECT_NEAR(record.samples.front().speed / 9.112097236e-25, 1, 1e-8);
}

// Two of three tokens meet early; their pair and the third then take until 10^27.72. The mean cosine over the three
// pairs is (1 + 2 cos phi)/3 once two have met.
TEST(SlowMotion, APairAndASingleTokenMergeWhenTheQuadratureOfTheFusedPairSays) {
    for (const std::uint64_t seed : {2U, 3U, 6U}) {
        const Record record = simulate(slow_settings(3, 40, seed), "post-ln");
        EXPECT_EQ(record.outcome, Outcome::done);
        ASSERT_EQ(record.fused.size(), 2U) << seed;
        EXPECT_EQ(record.fused[0].tokens.size(), 2U);
        EXPECT_EQ(record.fused[1].tokens, (std::vector<std::size_t>{0, 1, 2}));
        const Sample* plateau = nullptr;  // the first sample after the pair was fused
        for (const Sample& sample : record.samples) {
            if (plateau == nullptr && sample.t > 1.01 * record.fused[0].t) {
                plateau = &sample;
            }
        }
        ASSERT_NE(plateau, nullptr);
        const double phi_0 = std::acos((3 * plateau->cosine - 1) / 2);
        EXPECT_NEAR(record.fused[1].t / (plateau->t + merge_time(40, phi_0, 0.01, 2, 1)), 1, 1e-5) << seed;
        EXPECT_GT(record.samples.back().cosine, 1 - 1e-12);
    }
}

TEST(SlowMotion, ManyTokensAtLargeBetaRunThroughTheirMergesTo1e100) {
    for (const char* kind : {"softmax", "unnormalized"}) {
        for (const std::size_t dim : {2U, 3U}) {
            Settings settings = slow_settings(12, 500, 3);
            settings.dim = dim;
            settings.attention = kind;
            const Record record = simulate(settings, "post-ln");
            EXPECT_EQ(record.outcome, Outcome::done) << kind;
            EXPECT_EQ(record.samples.size(), 201U);
            EXPECT_GE(record.fused.size(), 4U) << kind;
            for (std::size_t i = 1; i < record.samples.size(); ++i) {
                EXPECT_LE(record.samples[i].energy, record.samples[i - 1].energy + 1e-12) << kind << " " << i;
                EXPECT_LE(record.samples[i].clusters, record.samples[i - 1].clusters) << kind << " " << i;
            }
        }
    }
}

// ---- groups ----

struct Frame {
    Settings settings;
    std::unique_ptr<OwnFrame> frame;
    scheme::State<double> state;

    Frame(const std::string& scheme, bool causal, std::vector<double> x) {
        settings.tokens = x.size() / 2;
        settings.dim = 2;
        settings.beta = 3;
        settings.causal = causal;
        settings.time = 1e5;
        const scheme::Program& program = scheme::find_scheme(scheme).program;
        frame = OwnFrame::make(problem_of(settings, program), control_of(settings),
                               [](const double*, double*) { FAIL() << "f sees multiples of x"; });
        state = scheme::State<double>::start(program, settings.tokens, 2, std::move(x));
    }
    // theta' of a token, counter-clockwise.
    double turn(std::size_t token, const std::vector<std::size_t>& leader) const {
        std::vector<Values> slopes;
        frame->velocity(scheme::Environment::ode(0, 1e5, settings.tokens, 2), state, leader, slopes);
        const double* x = state.streams[0].data() + 2 * token;
        const double* v = slopes[0].data() + 2 * token;
        return (x[0] * v[1] - x[1] * v[0]) / (x[0] * x[0] + x[1] * x[1]);
    }
    // The velocity of the length of each token, by itself.
    std::vector<double> growth() const {
        std::vector<std::size_t> leader(settings.tokens);
        std::iota(leader.begin(), leader.end(), std::size_t{0});
        std::vector<Values> slopes;
        frame->velocity(scheme::Environment::ode(0, 1e5, settings.tokens, 2), state, leader, slopes);
        std::vector<double> all;
        for (std::size_t token = 0; token < settings.tokens; ++token) {
            const double* x = state.streams[0].data() + 2 * token;
            const double* v = slopes[0].data() + 2 * token;
            all.push_back((x[0] * v[0] + x[1] * v[1]) / std::hypot(x[0], x[1]));
        }
        return all;
    }
};

// Tokens along e1, e2, -e1 and e2, whose lengths Pre-LN does not set: each grows by <theta, A>. By hand, with e = e^3:
// (e - 1/e)/(e + 1/e + 2) along +-e1 and 2 e/(2 + 2 e) along e2. A length is taken for one that N0 sets when N0 gives
// the same for twice the length; tokens here are twice as long as others, which must not be taken for it. Post-LN sets
// all lengths: none of them moves.
TEST(SlowMotion, EveryLengthGrowsThatTheEquationDoesNotSet) {
    const double e = std::exp(3);
    const double first = (e - 1 / e) / (e + 1 / e + 2);
    const double second = e / (1 + e);
    const std::vector<double> expected = {first, second, first, second};
    for (const std::vector<double>& r : {std::vector<double>{1, 1, 2, 2}, {2, 2, 1, 1}, {1, 2, 4, 8}, {4, 2, 2, 1}}) {
        const std::vector<double> x = {r[0], 0, 0, r[1], -r[2], 0, 0, r[3]};
        const std::vector<double> growth = Frame("pre-ln", false, x).growth();
        for (std::size_t token = 0; token < 4; ++token) {
            EXPECT_NEAR(growth[token], expected[token], 1e-14) << token << " of lengths " << testing::PrintToString(r);
        }
        EXPECT_EQ(Frame("post-ln", false, x).growth(), (std::vector<double>{0, 0, 0, 0}));
    }
}

// Pre-LN, s = r. Tokens 0 and 1 along (1, 0) with r = 1 and 3, token 2 along (0, 1): F = e^0/Z, Z = 2 e^3 + 1. By
// themselves they turn by F/1 and F/3; the mean weighted with s_j Z_j is F (1 + 1)/(1 + 3).
TEST(Groups, MoveByTheMeanWeightedWithSAndZ) {
    const Frame frame("pre-ln", false, {1, 0, 3, 0, 0, 2});
    const double F = 1 / (2 * std::exp(3) + 1);
    EXPECT_NEAR(frame.turn(0, {0, 1, 2}), F, 1e-15);
    EXPECT_NEAR(frame.turn(1, {0, 1, 2}), F / 3, 1e-15);
    EXPECT_NEAR(frame.turn(0, {0, 0, 2}), F / 2, 1e-15);
    EXPECT_NEAR(frame.turn(1, {0, 0, 2}), F / 2, 1e-15);
    EXPECT_NEAR(frame.turn(2, {0, 0, 2}), frame.turn(2, {0, 1, 2}), 1e-15);
}

// Output-LN feeds x itself: with c = |x| the divisors differ, and each length counts once more.
// S_jk = exp(3 c_j c_k cos), l_j = s_j Z_j c_j; forces c_2 e^0/(s_j Z_j) with s_j = r_j |A_j|.
TEST(Groups, CountLengthsWhereAttentionSeesThem) {
    const Frame frame("output-ln", false, {1, 0, 1.5, 0, 0, 2});
    const double Z_0 = std::exp(3) + std::exp(4.5) + 1;
    const double Z_1 = std::exp(4.5) + std::exp(6.75) + 1;
    const double A_0 = std::hypot((std::exp(3) + 1.5 * std::exp(4.5)) / Z_0, 2 / Z_0);
    const double A_1 = std::hypot((std::exp(4.5) + 1.5 * std::exp(6.75)) / Z_1, 2 / Z_1);
    const double l_0 = 1 * A_0 * Z_0 * 1;
    const double l_1 = 1.5 * A_1 * Z_1 * 1.5;
    const double v_0 = 2 / (1 * A_0 * Z_0);
    const double v_1 = 2 / (1.5 * A_1 * Z_1);
    EXPECT_NEAR(frame.turn(0, {0, 1, 2}), v_0, 1e-14);
    EXPECT_NEAR(frame.turn(1, {0, 1, 2}), v_1, 1e-14);
    EXPECT_NEAR(frame.turn(0, {0, 0, 2}), (l_0 * v_0 + l_1 * v_1) / (l_0 + l_1), 1e-14);
}

TEST(Groups, FollowTheirFirstTokenUnderTheMask) {
    const Frame frame("post-ln", true, {0, 1, 1, 0, -1, 0, 1, 0});
    const double alone = frame.turn(1, {0, 1, 2, 3});
    EXPECT_NEAR(alone, 1 / (1 + std::exp(3)), 1e-15);
    EXPECT_NE(frame.turn(3, {0, 1, 2, 3}), alone);
    EXPECT_EQ(frame.turn(1, {0, 1, 2, 1}), alone);
    EXPECT_NEAR(frame.turn(3, {0, 1, 2, 1}), alone, 1e-15);
}

// Under the mask token 2 sees token 1 and token 0 does not: fused with token 0 early, it has to leave it when token 1
// comes near, and all three end together.
TEST(Groups, LetTokensGoThatAreHeldElsewhere) {
    Settings settings = slow_settings(3, 40, 3);
    settings.causal = true;
    settings.time = 1e40;
    const Record record = simulate(settings, "post-ln");
    EXPECT_EQ(record.outcome, Outcome::done);
    ASSERT_EQ(record.fused.size(), 3U);
    EXPECT_EQ(record.fused[0].tokens, (std::vector<std::size_t>{0, 2}));
    EXPECT_TRUE(record.fused[1].apart);
    EXPECT_EQ(record.fused[1].tokens, (std::vector<std::size_t>{2}));
    EXPECT_EQ(record.fused[2].tokens, (std::vector<std::size_t>{0, 1, 2}));
}

// Two tokens 1e-11 apart, tied at rate 1 each: they fuse when they do not separate and a step is as long as 1/rate.
TEST(Groups, TakeOnlyTokensThatAreNearApproachAndRelaxWithinAStep) {
    const auto fuses = [](double gap, double separation, double h) {
        Groups groups(1, 2);
        const Values theta = {1, 0, 1, gap};
        return groups.update(7, h, 1e-10, 2, theta, [&](const std::vector<std::size_t>&, Groups::Moved& moved) {
            moved.alone.rate = {1, 1};
            moved.shared = {0, 0, 0, separation};
            moved.alone.turn = moved.shared;
        });
    };
    EXPECT_TRUE(fuses(1e-11, -1e-11, 1));
    EXPECT_TRUE(fuses(1e-11, 0, 1));
    EXPECT_FALSE(fuses(1e-11, 1e-12, 1));  // an unstable balance
    EXPECT_FALSE(fuses(1e-11, -1e-11, 0.1));
    EXPECT_FALSE(fuses(1e-9, -1e-9, 1));
}

TEST(Groups, AreRestoredFromTheirHistory) {
    Groups groups(2, 4);
    const std::vector<Fusing> history = {{1, 1, {1, 3}, false}, {2, 1, {0, 1, 3}, false}, {3, 1, {0}, true}};
    groups.set_history(history);
    EXPECT_EQ(groups.leaders(), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 5}));
    EXPECT_EQ(unpacked_fusings(packed(history)), history);
    groups.set_history({});
    EXPECT_FALSE(groups.any());
}

TEST(Groups, BelongToRestartPoints) {
    Settings settings = slow_settings(5, 60, 4);
    settings.samples = 30;
    std::vector<RestartPoint> points;
    Watch watch;
    watch.restart_point = [&](const RestartPoint& point) { points.push_back(point); };
    const scheme::Program& program = scheme::find_scheme("post-ln").program;
    const Record whole = run(settings, program, watch);
    ASSERT_GE(points.size(), 3U);
    EXPECT_FALSE(points.back().fused.empty());
    for (const RestartPoint& point : points) {
        const Record resumed = run(settings, program, {}, point);
        EXPECT_EQ(resumed.fused, whole.fused);
        EXPECT_EQ(resumed.steps, whole.steps);
        ASSERT_EQ(resumed.samples.size(), whole.samples.size());
        for (std::size_t i = 0; i < whole.samples.size(); ++i) {
            EXPECT_EQ(std::memcmp(&resumed.samples[i].cosine, &whole.samples[i].cosine, sizeof(double)), 0);
            EXPECT_EQ(std::memcmp(&resumed.samples[i].speed, &whole.samples[i].speed, sizeof(double)), 0);
        }
    }
}

// ---- where digits run out ----

// Two tokens that turn by e^-55 a unit of time. Rounding of a float kernel turns them by 1e-7, of a double one by
// 1e-16: that is noticeable, 1e-4, from t = 1e3 or so on, and from 1e12 or so on. Asked of the particles themselves,
// since a run that does not notice walks on in steps as short as the noise allows, for hours.
TEST(Digits, RunOutWhenTheRoundingOfThePrecisionHasTurnedATokenNoticeably) {
    Settings settings = slow_settings(2, 40, 2);
    settings.kernel = "direct";  // ambient coordinates in double too
    const auto lost = [&](Precision precision, double t) {
        settings.precision = precision;
        Particles particles(problem_of(settings, scheme::find_scheme("post-ln").program), control_of(settings));
        particles.set_segment(0, settings.time);
        return particles.may_lose_digits(t) && particles.digits_lost(t);
    };
    EXPECT_FALSE(lost(Precision::f32, 10));
    EXPECT_TRUE(lost(Precision::f32, 1e5));
    EXPECT_FALSE(lost(Precision::f64, 1e5));
    EXPECT_FALSE(lost(Precision::f64, 1e9));
    EXPECT_TRUE(lost(Precision::f64, 1e14));
}

// Of two systems one is at consensus and the other one is not: at an angle of 2.2 its turn is lost in rounding, at 0.1
// it turns by about 0.04 a unit of time.
TEST(Digits, RunOutInTheSystemsThatAreNotAtConsensus) {
    Settings settings = slow_settings(2, 40, 2);
    settings.kernel = "direct";
    settings.systems = 2;
    const auto lost = [&](double first, double second) {
        Problem problem = problem_of(settings, scheme::find_scheme("post-ln").program);
        problem.start = {1, 0, std::cos(first), std::sin(first), 1, 0, std::cos(second), std::sin(second)};
        Control control = control_of(settings);
        control.method = Method::erk;
        problem.time = 1e3;  // no slow run: in ambient coordinates
        Particles particles(std::move(problem), control);
        particles.set_segment(0, 1e3);
        return particles.digits_lost(1e14);
    };
    EXPECT_FALSE(lost(0, 0));
    EXPECT_TRUE(lost(0, 2.2));
    EXPECT_TRUE(lost(2.2, 0));
    EXPECT_FALSE(lost(0, 0.1));
    EXPECT_FALSE(lost(0.1, 0));
}

TEST(Digits, ThatRanOutAreAnOutcomeAndNotRest) {
    Settings settings = slow_settings(2, 40, 2);
    settings.precision = Precision::f32;
    EXPECT_EQ(simulate(settings, "post-ln").outcome, Outcome::digits_lost);
    settings = slow_settings(2, 40, 2);
    settings.kernel = "direct";
    EXPECT_EQ(simulate(settings, "post-ln").outcome, Outcome::digits_lost);
    // A second stream holds the turn of x beside a part of length 1.
    settings = slow_settings(2, 40, 2);
    settings.method = Method::bdf;
    const auto momentum = scheme::Program::parse("o = f(x); y = y + dt*(o - y); x = norm(x + dt*y)");
    EXPECT_EQ(run(settings, momentum).outcome, Outcome::digits_lost);
}

// The first token lies on an axis: errors in proportion to each number of A would leave its direction alone. The true
// speed is 2e-28, so nothing may move.
TEST(Digits, RunOutForTokensOnAnAxisToo) {
    for (const double turned : {0.0, 0.5, 0.7853981633974483}) {  // also where both numbers of a row are equal
        Settings settings = slow_settings(2, 40, 2);
        settings.precision = Precision::f32;
        settings.time = 1e20;
        settings.log_time = false;
        settings.samples = 5;
        Problem problem = problem_of(settings, scheme::find_scheme("post-ln").program);
        problem.start = {std::cos(turned), std::sin(turned), std::cos(turned + 2.2), std::sin(turned + 2.2)};
        const Record record = run(std::move(problem), control_of(settings), watch_of(settings));
        EXPECT_EQ(record.outcome, Outcome::digits_lost) << turned;
        EXPECT_LT(record.ended, 1e5) << turned;
    }
}

// Both tokens on axes, or both on diagonals of the plane: errors in proportion to each number would only make them longer, and so
// would errors that are all of one size and sign. Two signs and two sizes turn them, whichever way they point.
TEST(Digits, RunOutWhicheverWayTheTokensPoint) {
    const double pi = std::acos(-1.0);
    for (int first = 0; first < 8; ++first) {
        for (const int apart : {2, 4}) {  // eighths of a turn: 90 and 180 degrees
            Settings settings = slow_settings(2, 100, 2);
            settings.kernel = "direct";
            settings.method = Method::erk;
            settings.time = 1e3;  // no slow run: in ambient coordinates
            settings.log_time = false;
            Problem problem = problem_of(settings, scheme::find_scheme("post-ln").program);
            const double one = first * pi / 4;
            const double other = (first + apart) * pi / 4;
            problem.start = {std::cos(one), std::sin(one), std::cos(other), std::sin(other)};
            for (double& x : problem.start) {
                x = std::abs(x) < 1e-9 ? 0 : x;
            }
            Particles particles(std::move(problem), control_of(settings));
            particles.set_segment(0, settings.time);
            EXPECT_TRUE(particles.digits_lost(1e20)) << first << " " << apart;
        }
    }
}

TEST(Digits, AreNotMissedWhereTokensMoveOrHaveMet) {
    Settings settings = slow_settings(8, 1, 2);
    settings.dim = 4;
    settings.precision = Precision::f32;
    settings.rtol = 1e-5;
    settings.atol = 1e-6;
    settings.time = 5000;
    for (const char* scheme : {"post-ln", "pre-ln"}) {
        EXPECT_EQ(simulate(settings, scheme).outcome, Outcome::done) << scheme;
    }
    // Two tokens that are under way, at 1e-4 a unit of time, for as long as rounding in float needs for a turn of 1e-4.
    settings.tokens = settings.dim = 2;
    settings.beta = 6.5;
    const Record record = simulate(settings, "post-ln");
    EXPECT_EQ(record.outcome, Outcome::done);
    EXPECT_GT(record.collapse_time.value_or(0), 500);
}

}  // namespace
}  // namespace flyball::dynamics::slow_test
