// Streams whose length comes to rest, where x' is what rounding leaves of large parts.
//
// Numbers from the equations in the plane (a, b) by an interpreter and dual numbers of their own and SciPy's DOP853.
#include "support.hpp"

namespace flyball::theory::test {
namespace {

// Near consensus f(x) is the mean, so that a token's own share falls as e^-(t^2/2 + t) and the mean stays.
TEST(TerminalLaw, OfAStreamAtRestIsNoEndOfThatStream) {
    const scheme::Program program = equation("x + dt*(t+1)*(f(x)-x) | norm(x)");
    for (const double t : {10.0, 20.0, 30.0, 40.0}) {
        EXPECT_NEAR(at(program, with(6, 1), t).log_one_minus_gamma + t * t + 2 * t, 2.0114098278, 2e-9) << t;
    }
    const Law law = terminal_law(program, with(6, 1));
    ASSERT_STREQ(name(law.kind), "stretched") << law.note;
    EXPECT_NEAR(law.p.value(), 2, 1e-8);
    EXPECT_NEAR(law.rate.value(), 1, 1e-8);
}

// x tends to x0.
TEST(TerminalLaw, OfAStreamThatReturnsToItsStartIsFrozenAtZero) {
    const scheme::Program program = equation("x + dt*f(norm(x))*min(1,t) + dt*max(0,t-5)*(x0-x)/10 | norm(x)");
    const Law law = terminal_law(program, with(8, 1));
    ASSERT_STREQ(name(law.kind), "frozen") << law.note;
    EXPECT_EQ(law.limit.value(), 0);
    EXPECT_NEAR(at(program, with(8, 1), 1e18).radius, 1, 1e-12);
}

// A length that grows like the root of t sharpens attention until nothing turns any more; 1e94 more of t change nothing. The limit is
// gamma' = 2q (1-gamma)(1+15 gamma)/(1+15q), q = exp((1+sqrt(t))^2 (gamma-1)), by SciPy's DOP853 over sqrt(t).
TEST(TerminalLaw, OfTokensThatNoLongerTurnIsFrozenWhereTheyStopped) {
    const Law law = terminal_law(equation("norm(x + dt*f(x))*(1+sqrt(t))"), with(16, 1));
    ASSERT_STREQ(name(law.kind), "frozen") << law.note;
    EXPECT_NEAR(law.limit.value(), 0.22244411232473, 3e-14);
    EXPECT_LT(law.error.value(), 1e-12);
    EXPECT_EQ(law.note, "");
}

// Post-LN a 1e90th as fast, until t = 1e90: what it has at t = 1.
TEST(TerminalLaw, OfTokensThatStopVeryLateIsFrozenWhereTheyStopped) {
    const Law law = terminal_law(equation("norm(x + dt*f(x)*(t < 1e90 ? 1e-90 : 0))"), with(16, 1));
    ASSERT_STREQ(name(law.kind), "frozen") << law.note;
    EXPECT_NEAR(law.limit.value(), at(named("post-ln"), with(16, 1), 1).gamma, 1e-12);
    EXPECT_LT(law.error.value(), 1e-12);
    EXPECT_EQ(law.note, "");
}

// (1-gamma)' = -2 (1-gamma)/r near consensus, where r rests.
TEST(TerminalLaw, IsExponentialWhereALengthComesToRest) {
    const scheme::Program program = equation("x + dt*(norm(f(norm(x))) - norm(x)) | norm(x)");
    for (const auto& [beta, radius] : {std::pair(1.0, 0.7760336241), std::pair(0.0, 0.7236067977)}) {
        const Law law = terminal_law(program, with(5, beta));
        ASSERT_STREQ(name(law.kind), "exponential") << law.note;
        EXPECT_NEAR(law.rate.value(), 2 / radius, 1e-9);
        EXPECT_EQ(law.power.value(), 0);
        EXPECT_NEAR(at(program, with(5, beta), 1e12).radius, radius, 1e-9);
    }
}

// 1-gamma ~ exp(-(1+t)^4/2), followed until its logarithm leaves the numbers.
TEST(TerminalLaw, HasItsRateAlsoWhereThePowerOfTimeItselfIsNoNumber) {
    const Law law = terminal_law(equation("x + dt*(1+t)^3*(f(norm(f(x)+x)) - x) | norm(x)"), with(6, 1));
    ASSERT_STREQ(name(law.kind), "stretched") << law.note;
    EXPECT_NEAR(law.p.value(), 4, 1e-8);
    EXPECT_NEAR(law.rate.value(), 0.5, 1e-6);
}

// e^-1000 is no number: Pre-LN, which ends like t^-3 at every beta, must not seem to stand still for good.
TEST(TerminalLaw, OfWeightsBelowTheNumbersIsNotReached) {
    for (const std::string scheme : {"pre-ln", "residual"}) {
        const Law law = terminal_law(named(scheme), with(32, 1000));
        EXPECT_FALSE(law.reached) << scheme;
        EXPECT_NE(law.note.find("for all that numbers can say"), std::string::npos) << law.note;
        EXPECT_EQ(at(named(scheme), with(32, 1000), 5).gamma, 0);
    }
    EXPECT_FALSE(terminal_law(named("pre-ln"), with(32, 740)).reached);
    EXPECT_TRUE(terminal_law(named("output-ln"), with(32, 1)).reached);
}

// Streams that swing, from 1e14 on: one that becomes shorter for a while does not end there.
TEST(TerminalLaw, OfALateStartIsThatOfAnEarlyOne) {
    const Law law = terminal_law(equation("o = f(norm(x)); w = t > 1e14 ? dt : 0*dt; y = y + w*(o - x); "
                                          "x = x + w*(y - x0) | x0*2 + x"),
                                 with(6, 1));
    ASSERT_STREQ(name(law.kind), "other") << law.note;
    EXPECT_NE(law.note.find("gamma swings between -0.2 and 0.8"), std::string::npos) << law.note;
    // |y| = 1 - (t - 1e12)/2
    const Law ends =
        terminal_law(equation("y = y - (t > 1e12 ? dt : 0*dt)*unit(y)/2; x = norm(x + dt*f(x)) | x + y"), with(8, 1));
    ASSERT_STREQ(name(ends.kind), "extinct") << ends.note;
    EXPECT_NEAR(ends.time.value() - 1e12, 2, 3e-4);
}

// Numbers at 1e17 are 16 apart, and the swings 1.8 (OfSwingingTokensIsOtherWithEnvelopeAndPeriod).
TEST(TerminalLaw, OfSwingsBetweenTwoNumbersGivesNoPeriod) {
    const Law law = terminal_law(
        equation("o = f(x); w = t > 1e17 ? dt : 0*dt; y = y + w*(3*o - x - y); x = norm(x + w*y)"), with(8, 1));
    ASSERT_STREQ(name(law.kind), "other") << law.note;
    EXPECT_NE(law.note.find("faster than numbers tell times apart near t = 1e+17"), std::string::npos) << law.note;
    EXPECT_EQ(law.note.find("exp("), std::string::npos) << law.note;
}

// r^2 (1-gamma) -> K of Pre-LN, r ~ t, is a^2 for x = a e_j + b sum_k e_k, and x0 = e_j.
TEST(TerminalLaw, OfAReadoutThatIsNothingAtTheStartIsThatOfWhatFollows) {
    const Law law = terminal_law(equation("x + dt*f(norm(x)) | x - x0"), with(8, 1));
    ASSERT_STREQ(name(law.kind), "power") << law.note;
    EXPECT_NEAR(law.exponent.value(), -3, 1e-9);
    const double a = std::exp(0.4273242974908409 / 2);  // log K by mpmath.quad
    EXPECT_NEAR(law.constant.value(), 2 * (a - 1) * (a - 1), 1e-6);
}

// dt*max(1, t) = max(dt, dt*t), and its rate changes at t = 1.
TEST(Solve, OfStepsTheLargerAndTheSmallerAreTakenForSmallSteps) {
    const auto same = [](const std::string& one, const std::string& other) {
        for (const double t : {0.5, 1.0, 3.0, 20.0}) {
            EXPECT_NEAR(at(equation(one), with(8, 1), t).log_one_minus_gamma,
                        at(equation(other), with(8, 1), t).log_one_minus_gamma, 1e-10)
                << one << " at " << t;
        }
    };
    same("x + max(dt, dt*t)*f(norm(x)) | norm(x)", "x + dt*max(1, t)*f(norm(x)) | norm(x)");
    same("x + min(dt, dt*t)*f(norm(x)) | norm(x)", "x + dt*min(1, t)*f(norm(x)) | norm(x)");
    same("x + min(2*dt, dt)*f(norm(x)) | norm(x)", "x + dt*f(norm(x)) | norm(x)");
    same("x + max(0, dt)*f(norm(x)) | norm(x)", "x + dt*f(norm(x)) | norm(x)");
}

}  // namespace
}  // namespace flyball::theory::test
