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

}  // namespace
}  // namespace flyball::theory::test
