// What lies between the steps of a solution, how often it is asked for, and where numbers end.
#include <numeric>

#include "scheme/own_equation.hpp"
#include "support.hpp"
#include "theory/prediction.hpp"

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
            EXPECT_NEAR(many[5000 << i].gamma, few[i].gamma, 1e-11) << text;
            EXPECT_NEAR(many[5000 << i].log_one_minus_gamma, few[i].log_one_minus_gamma, 2e-10) << text;
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

// gamma' = 2 e^-600/(1+t) is below the smallest number from t = 1e48 on.
TEST(Solve, HasNoDigitsWhereGammaMovesMoreSlowlyThanNumbersCanSay) {
    const Settings sharp = with(32, 600);
    for (const double t : {1e5, 1e20, 1e40}) {
        EXPECT_NEAR(at(named("pre-ln"), sharp, t).gamma / (2 * std::exp(-600.0) * std::log1p(t)), 1, 1e-8) << t;
    }
    EXPECT_TRUE(std::isnan(at(named("pre-ln"), sharp, 1e80).gamma));
    const Law law = terminal_law(named("pre-ln"), sharp);
    ASSERT_EQ(law.kind, LawKind::frozen);
    EXPECT_EQ(law.limit.value(), 0);
    EXPECT_FALSE(law.error.has_value());
    EXPECT_NE(law.note.find("more slowly than the smallest"), std::string::npos) << law.note;
}

}  // namespace
}  // namespace flyball::theory::test
