// What lies between the steps of a solution, how often it is asked for, and where numbers end.
#include <fmt/format.h>

#include <numeric>

#include "scheme/own_equation.hpp"
#include "support.hpp"
#include "theory/flow.hpp"
#include "theory/prediction.hpp"
#include "theory/tail.hpp"

namespace flyball::theory::test {
namespace {

// Of orthonormal x0 and theta of cosine gamma the readout theta + 0.1 t x0 rises and falls; SciPy's DOP853 on the tokens themselves has
// 0.81 first at 3.93869, and the largest at t = 4.236: 0.812756.
TEST(TimeToCosine, IsFoundWhereGammaReachesItInsideAStepAlone) {
    const scheme::Program program = equation("norm(x + dt*f(x)) | x + 0.1*x0*t");
    const auto near_the_top = time_to_cosine(program, with(32, 1), 0.81);
    ASSERT_TRUE(near_the_top);
    EXPECT_NEAR(*near_the_top, 3.93869, 1e-5);
    const auto at_the_top = time_to_cosine(program, with(32, 1), 0.81275);
    ASSERT_TRUE(at_the_top);
    EXPECT_NEAR(*at_the_top, 4.22, 0.02);
    EXPECT_NEAR(at(program, with(32, 1), *at_the_top).gamma, 0.81275, 1e-12);
    EXPECT_EQ(time_to_cosine(program, with(32, 1), 0.81276), std::nullopt);
}

// Of two streams; gamma passes 1 and comes back.
TEST(TimeToCosine, IsFoundOnTheWayToATurn) {
    const scheme::Program program = equation("norm(x + dt*(f(x) - 0.5*f(x0)))");
    const auto found = time_to_cosine(program, with(5, 1.3), 0.999);
    ASSERT_TRUE(found);
    EXPECT_LT(*found, 3.8);
    EXPECT_NEAR(at(program, with(5, 1.3), *found).gamma, 0.999, 1e-11);
    EXPECT_LT(at(program, with(5, 1.3), *found - 1e-6).gamma, 0.999);
    EXPECT_GT(at(program, with(5, 1.3), 3.8).gamma, 0.99996);
    EXPECT_LT(at(program, with(5, 1.3), 6).gamma, 0.97);
}

// beta = 0: Post-LN in the clock u = t - t^2/10, which turns back at t = 5, has 1-gamma = n/(exp(2u)+n-1). The last of
// these cosines is exceeded for less than a hundredth of a unit of time, inside a step.
TEST(TimeToCosine, IsFoundWhereTimeAloneTurnsAStream) {
    const scheme::Program program = equation("norm(x + dt*f(x)*(1 - t/5))");
    constexpr double n = 4;
    for (const double clock : {1.0, 2.4, 2.4999, 2.499999}) {
        const double cosine = 1 - n / (std::exp(2 * clock) + n - 1);
        const auto found = time_to_cosine(program, with(n, 0), cosine);
        ASSERT_TRUE(found) << clock;
        EXPECT_NEAR(*found, 5 * (1 - std::sqrt(1 - 0.4 * clock)), 1e-7) << clock;
    }
    EXPECT_EQ(time_to_cosine(program, with(n, 0), 1 - n / (std::exp(5.0001) + n - 1)), std::nullopt);
}

// Tokens rest from t = 1 on, at the gamma of beta = 0 and u = 1 (above), and steps grow as they like. Of tokens
// a e + b s, a^2 + 2 a b + n b^2 = 1, the readout with g x0 has 1-gamma = (a+g)^2/((a+g)^2 + 2 (a+g) b + n b^2): g
// falls from above, gamma rises to 1 where a + g is zero, falls to -1/3 and rises again.
TEST(TimeToCosine, IsFoundWhereAReadoutSwingsWhileTokensRest) {
    constexpr double n = 4;
    constexpr double cosine = 0.55;
    const double a = std::sqrt(n / (std::exp(2) + n - 1));
    const double b = (std::sqrt(a * a + n * (1 - a * a)) - a) / n;
    // cosine (a+g)^2 = (1-cosine) (2 (a+g) b + n b^2)
    const double half = (1 - cosine) * b / cosine;
    const double g = half + std::sqrt(half * half + half * n * b) - a;
    for (const int width : {2, 10}) {
        for (const int zero : {10, 15, 20, 30, 45, 70, 100, 1500, 3000}) {
            const std::string text =
                fmt::format("norm(x + dt*f(x)*(t < 1 ? 1 : 0)) | x + x0*{}*(1 - t/{})", width, zero);
            const auto found = time_to_cosine(equation(text), with(n, 0), cosine);
            ASSERT_TRUE(found) << text;
            EXPECT_NEAR(*found / (zero * (1 - g / width)), 1, 1e-10) << text;
        }
    }
}

// |y| = 1 - t/2. There is no solution after t = 2, and none is looked for.
TEST(TimeToCosine, IsNotLookedForWhereAStreamHasEnded) {
    const scheme::Program program = equation("y = y - dt*unit(y)/2; x = norm(x + dt*f(x)) | x + y");
    const double last = terminal_law(program, with(32, 1)).limit.value();
    const auto before = time_to_cosine(program, with(32, 1), last - 0.05);
    ASSERT_TRUE(before);
    EXPECT_LT(*before, 2);
    EXPECT_EQ(time_to_cosine(program, with(32, 1), last + 0.05), std::nullopt);
}

TEST(Solve, IsTheSameHoweverOftenItIsAskedFor) {
    for (const char* text : {"x + dt*f(norm(x)) | norm(x)", "norm(x + dt*f(x))",
                             "o = f(x); x = norm(x + dt*o); y = y + dt*o*exp(-t) | x + norm(y)"}) {
        std::vector<double> times(20001);
        std::iota(times.begin(), times.end(), 0);
        for (double& t : times) {
            t *= 10.0 / 20000;
        }
        std::string why;
        const std::vector<Point> many = solve(equation(text), with(32, 1), times, &why);
        EXPECT_EQ(why, "") << text;
        const std::vector<Point> few = solve(equation(text), with(32, 1), {2.5, 5, 10});
        for (std::size_t i = 0; i < few.size(); ++i) {
            EXPECT_NEAR(many[std::size_t{5000} << i].gamma, few[i].gamma, 1e-11) << text;
            EXPECT_NEAR(many[std::size_t{5000} << i].log_one_minus_gamma, few[i].log_one_minus_gamma, 2e-10) << text;
        }
    }
}

// Two rates that differ by eight orders, and swings that come ever faster.
TEST(Solve, SaysWhyItsPointsEnd) {
    const scheme::Scheme swinging =
        scheme::scheme_of_equation("y = y + dt*(4*(1+t)*(f(x) - x) - y); x = norm(x + dt*y)");
    const Prediction found = predict(swinging, with(8, 1.5), {0, 1, 1000}, {});
    EXPECT_TRUE(std::isfinite(found.points[1].gamma));
    EXPECT_TRUE(std::isnan(found.points[2].gamma));
    EXPECT_NE(found.law.note.find("; the curve ends: still moving after"), std::string::npos) << found.law.note;
    EXPECT_EQ(predict(swinging, with(8, 1.5), {0, 1}, {}).law.note.find("the curve ends"), std::string::npos);
}

// The directions move as those of Post-LN whatever their length: 1-gamma ~ n K e^(-2t), until the length is no number at t = 552.
TEST(TerminalLaw, OfALengthThatShrinksExponentiallyIsThatOfItsDirections) {
    for (const char* text : {"norm(x)*exp(-t) + dt*exp(-t)*f(norm(x)) | x", "norm(x)*2^(-t) + dt*2^(-t)*f(norm(x)) | x",
                             "norm(x)*exp(-0.1*t) + dt*exp(-0.1*t)*f(norm(x)) | x"}) {
        const Law law = terminal_law(equation(text), with(8, 1));
        ASSERT_EQ(law.kind, LawKind::exponential) << text << ": " << law.note;
        EXPECT_NEAR(law.rate.value(), 2, 1e-9) << text;
        EXPECT_EQ(law.power.value(), 0);
        EXPECT_NEAR(law.log_constant.value(), std::log(2 * 8) + log_consensus_constant(8, 1), 2e-9) << text;
    }
}

// gamma = 2 e^-300 t as long as it is small.
TEST(TerminalLaw, ThatIsNotReachedGivesGammaThereHoweverSmall) {
    const Law law = terminal_law(named("post-ln"), with(32, 300));
    ASSERT_EQ(law.kind, LawKind::frozen);
    EXPECT_NEAR(law.limit.value() / (2e100 * std::exp(-300.0)), 1, 1e-9);
    EXPECT_FALSE(law.error.has_value());
    EXPECT_NE(law.note.find("not reached"), std::string::npos);
}

// gamma' = 2 e^-600/(1+t) is below the smallest number from t = 2.4e47 on. What is lost there makes gamma one per cent
// too small soon after.
TEST(Solve, HasNoDigitsWhereGammaMovesMoreSlowlyThanNumbersCanSay) {
    const Settings sharp = with(32, 600);
    for (const double t : {1e5, 1e20, 1e40}) {
        EXPECT_NEAR(at(named("pre-ln"), sharp, t).gamma / (2 * std::exp(-600.0) * std::log1p(t)), 1, 1e-8) << t;
    }
    for (const double t : {1e48, 1e50, 1e55, 1e80}) {
        const Point point = at(named("pre-ln"), sharp, t);
        EXPECT_TRUE(std::isnan(point.gamma)) << t;
        EXPECT_TRUE(std::isnan(point.velocity) && std::isnan(point.log_one_minus_gamma)) << t;
        EXPECT_NEAR(point.radius / (1 + t), 1, 1e-9) << "each token sees itself alone, so that r' = 1";
    }
    const Law law = terminal_law(named("pre-ln"), sharp);
    ASSERT_EQ(law.kind, LawKind::frozen);
    EXPECT_EQ(law.limit.value(), 0);
    EXPECT_FALSE(law.error.has_value());
    EXPECT_NE(law.note.find("more slowly than the smallest"), std::string::npos) << law.note;
}

// y is (a, b) = r (1, rho)/sqrt(1 + 2 rho + n rho^2), here r (1, 1/4)/sqrt 2. Short beside x and beside what it has
// been, it is carried as a and b themselves, and as rho and log r again when it is no longer short.
TEST(Flow, CarriesAShortStreamAsItsVectorUntilItIsLongAgain) {
    Flow flow(equation("y = y + dt*(f(x) - x - y); x = norm(x + dt*y)"), with(8, 1.5));
    Numbers state = flow.numbers();
    ASSERT_EQ(state.size(), 4U);
    state[2] = 0.25;
    state[3] = std::log(1e-6);
    ASSERT_TRUE(flow.settle(0, state));
    EXPECT_EQ(flow.numbers()[2], 0.25);
    ASSERT_TRUE(flow.make_plain());
    EXPECT_FALSE(flow.make_plain()) << "there is no other";
    state = flow.numbers();
    EXPECT_NEAR(state[2] / (1e-6 / std::sqrt(2)), 1, 1e-14);
    EXPECT_NEAR(state[3] / (0.25e-6 / std::sqrt(2)), 1, 1e-14);
    ASSERT_TRUE(flow.settle(0, state));
    EXPECT_EQ(flow.numbers()[2], state[2]);
    EXPECT_EQ(flow.numbers()[3], state[3]);
    state[2] *= 1e5;
    state[3] *= 1e5;
    ASSERT_TRUE(flow.settle(0, state));
    EXPECT_NEAR(flow.numbers()[2], 0.25, 1e-14);
    EXPECT_NEAR(flow.numbers()[3], std::log(0.1), 1e-14);
}

// The last of both kinds of times; 0 where there is none.
TEST(Flow, ChangesLastAtTheLaterOfItsSwitchesAndStops) {
    const auto last_change = [](const char* text) { return Flow(equation(text), with(8, 1)).last_change(); };
    EXPECT_EQ(last_change("norm(x + dt*f(x))"), 0);
    EXPECT_NEAR(last_change("norm(x + dt*f(x)*(t < 500 ? 1 : 2))"), 500, 1e-9);
    EXPECT_GE(last_change("norm(x + dt*f(x)*exp(-(t-300)^2*4))"), 300);
    EXPECT_LT(last_change("norm(x + dt*f(x)*exp(-(t-300)^2*4))"), 5000);
    EXPECT_NEAR(last_change("norm(x + dt*f(x)*exp(-(t-300)^2*4)*(t < 5000 ? 1 : 2))"), 5000, 1e-9);
    EXPECT_GE(last_change("norm(x + dt*f(x)*exp(-(t-300)^2*4)*(t < 5 ? 1 : 2))"), 300);
}

// |y| = 1 - t/2 and |z| = 1 - t/3, whichever is written first.
TEST(Flow, EndsWithTheStreamThatReachesZeroFirst) {
    for (const char* text : {"y = y - dt*unit(y)/2; z = z - dt*unit(z)/3; x = norm(x + dt*f(x)) | x + y + z",
                             "z = z - dt*unit(z)/3; y = y - dt*unit(y)/2; x = norm(x + dt*f(x)) | x + y + z"}) {
        Flow flow(equation(text), with(8, 1));
        const auto ending = flow.ending(0);
        ASSERT_TRUE(ending) << text;
        EXPECT_EQ(ending->stream, "y") << text;
        EXPECT_NEAR(ending->when, 2, 1e-12) << text;
        EXPECT_NEAR(ending->left, 2, 1e-12) << text;
        const Law law = terminal_law(equation(text), with(8, 1));
        ASSERT_EQ(law.kind, LawKind::extinct) << text << ": " << law.note;
        EXPECT_NEAR(law.time.value(), 2, 1e-11) << text;
        EXPECT_NE(law.note.find("y reaches zero"), std::string::npos) << law.note;
    }
}

// 1-gamma = e^2/(e^2 + 2e + n): gamma rises while e goes to zero, from either side, and falls as it goes on.
TEST(Direction, SaysWhichWayTheCosineGoesOnBothSidesOfConsensus) {
    constexpr double n = 6;
    const auto lacks = [](double e) { return e * e / (e * e + 2 * e + n); };
    for (const double eta : {-0.5, -1e-3, 1e-3, 0.5}) {
        for (const double rate : {-0.25, 0.25}) {
            Direction direction;
            direction.chart = Chart::eta;
            direction.value = eta;
            const double h = 1e-5 * std::abs(eta);
            const double slope = (lacks(eta - h) - lacks(eta + h)) / (2 * h) * rate;  // of gamma
            double sign = 0;
            const double log_speed = direction.log_relative_speed(n, rate, sign);
            EXPECT_EQ(sign, std::copysign(1.0, -eta * rate)) << eta << ' ' << rate;
            EXPECT_NEAR(sign * std::exp(log_speed) * lacks(eta) / slope, 1, 1e-7) << eta << ' ' << rate;
            EXPECT_NEAR(direction.speed(n, rate) / slope, 1, 1e-7) << eta << ' ' << rate;
        }
    }
}

// x follows y, whose share falls like 1/t: 1-gamma ~ t^-2, so that lambda = 2/t and gamma' = lambda (1-gamma). From
// some t on the velocity is what rounding leaves of two parts of size 1.
TEST(Samples, WhoseVelocityHasNoDigitsAreMendedFromTheirOwnDifferences) {
    const scheme::Program follower = equation("o = f(x); y = y + dt*(o - y)/(1+t); x = norm(x + dt*y)");
    ASSERT_TRUE(std::isnan(at(follower, with(8, 1), 1e28).log_velocity)) << "nothing is tested";
    const std::vector<Sample> samples = sampled_back_from(follower, with(8, 1), 1e24, 1e28);
    ASSERT_GE(samples.size(), 32U);
    for (const Sample& sample : samples) {
        EXPECT_TRUE(sample.forward) << sample.t;
        EXPECT_NEAR(sample.log_rate, std::log(2 / sample.t), 1e-3) << sample.t;
        EXPECT_NEAR(sample.log_velocity, std::log(2 / sample.t) - sample.u, 1e-3) << sample.t;
        EXPECT_NEAR(sample.log_s, std::log(sample.t), 1e-3) << sample.t;
    }
}

// r = 1 + t and a = (1+t)^-9, so that 1-gamma = C t^-20 to t = 1e100, where it is 1e-2000. Of the other one r ~ t^9.5, up
// to the longest length there is.
TEST(TerminalLaw, OfSharesFarBelowTheSmallestNumber) {
    const scheme::Program slow = equation("x + dt*(10*f(x/(1+t)) - 9*x/(1+t)) | norm(x)");
    const Law law = terminal_law(slow, with(6, 1));
    ASSERT_EQ(law.kind, LawKind::power) << law.note;
    EXPECT_NEAR(law.exponent.value(), -21, 1e-9);
    const double between =
        at(slow, with(6, 1), 1e99).log_one_minus_gamma - at(slow, with(6, 1), 1e10).log_one_minus_gamma;
    EXPECT_NEAR(between, -20 * 89 * std::log(10.0), 1e-7);
    const scheme::Program longer = equation("x + dt*(f(x/(1+0.1*t)) - 0.5*x/(1+t)) | norm(x)");
    const Law end = terminal_law(longer, with(6, 1));
    ASSERT_EQ(end.kind, LawKind::power) << end.note;
    EXPECT_NEAR(end.exponent.value(), -21, 1e-9);
}

}  // namespace
}  // namespace flyball::theory::test
