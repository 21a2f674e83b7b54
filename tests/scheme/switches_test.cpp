// Where comparisons flip, and numbers written into a program.
#include "scheme/switches.hpp"

#include <cmath>

#include "core/error.hpp"
#include "scheme/quantity_use.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

std::vector<double> switches(const char* equation, double T) {
    const Program program = Program::parse(equation);
    return find_switches([&](double t) { return program.comparisons(Environment::ode(t, T, 8, 8)); }, switch_probes(T));
}

TEST(Switches, AreTheLastTimesBeforeAComparisonFlips) {
    EXPECT_EQ(switches("x + dt*f(x)", 4), std::vector<double>{});
    // depth <= 0.25 holds at t = 1 itself, depth < 0.25 does not.
    EXPECT_EQ(switches("depth <= 0.25 ? x + dt*f(x) : norm(x + dt*f(x))", 4), std::vector<double>{1.0});
    EXPECT_EQ(switches("depth < 0.25 ? x + dt*f(x) : norm(x + dt*f(x))", 4), std::vector<double>{std::nextafter(1, 0)});
    // A comparison inside a scalar, and two of them.
    EXPECT_EQ(switches("x + dt*f(x)*(t > 2 ? 1 : 3)", 4), std::vector<double>{2.0});
    EXPECT_EQ(switches("x + dt*f(x)*(t > 2 ? (t > 3.25 ? 4 : 1) : 3)", 4), (std::vector<double>{2.0, 3.25}));
    EXPECT_EQ(switches("x + dt*f(x)*(t > 9 ? 1 : 3)", 4), std::vector<double>{});
    // Two that are near each other: a hundredth of the depth apart.
    EXPECT_EQ(switches("x + dt*f(x)*(t > 2 ? (t > 2.03125 ? 3 : 1) : 3)", 4), (std::vector<double>{2.0, 2.03125}));
}

// max(0, 1 - (t - 2)^2) is a pulse from 1 to 3.
TEST(Switches, AreTheCornersOfMinAndMaxToo) {
    const auto near = [](const std::vector<double>& times, const std::vector<double>& expected) {
        ASSERT_EQ(times.size(), expected.size());
        for (std::size_t i = 0; i < times.size(); ++i) {
            EXPECT_NEAR(times[i], expected[i], 1e-15);
        }
    };
    near(switches("norm(x + dt*f(x)*max(0, 1-(t-2)^2))", 4), {1, 3});
    near(switches("x + dt*f(x)*min(1, t/2)", 4), {2});
    near(switches("norm(x + dt*max(g, 1 - t/4)*f(x)) where ~g = 0.25", 4), {3});
    near(switches("norm(x + dt*a*f(x)) where a = max(0.5, 1 - depth)", 4), {2});
    near(switches("x + dt*f(x)*max(1, 2)", 4), {});
}

// |t - 2.0625| < 2^-6: open for a 128th of the depth, and the same again after it as before.
TEST(Switches, OfAWindowThatIsOpenForAHundredthOfTheDepthAreBothFound) {
    const std::vector<double> window = switches("x + dt*f(x)*((t-2.0625)^2 < 2^(-12) ? 1 : 3)", 4);
    ASSERT_EQ(window.size(), 2U);
    EXPECT_NEAR(window[0], 2.046875, 1e-12);
    EXPECT_NEAR(window[1], 2.078125, 1e-12);
}

TEST(Switches, AtTimeZeroAreNone) {
    EXPECT_EQ(switches("x + dt*f(x)*(t > 0 ? 1 : 3)", 4), std::vector<double>{});
}

TEST(WithQuantity, WritesTheNumberEverywhere) {
    const Program program = Program::parse("x + dt*a*f(x)/n | (1/n)*norm(x) where a = log(n)");
    const Program written = program.with_quantity(Quantity::n, 8);
    EXPECT_EQ(written.text(), "x + dt*a*f(x)/8 | 1/8*norm(x) where a = log(8)");
    EXPECT_EQ(program.text(), Program::parse(program.text()).text()) << "the program itself is as it was";
    // Other quantities, and names that contain the letter, stay.
    EXPECT_EQ(Program::parse("norm(x + dt*f(x)*gain*n/d) where ~gain[d] = 1").with_quantity(Quantity::n, 2.5).text(),
              "norm(x + dt*f(x)*gain*2.5/d) where ~gain[d] = 1");
}

TEST(WithQuantity, PointsIntoTheTextThatWasGiven) {
    try {
        Program::parse("x + dt*f(x)/(n-2)").with_quantity(Quantity::n, 2);
        ADD_FAILURE() << "divided by zero";
    } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("a division by zero"), std::string::npos) << message;
        EXPECT_NE(error.detail().find("x + dt*f(x)/(n-2)"), std::string::npos) << error.detail();
    }
}

TEST(Reads, TellsWhetherAQuantityIsAskedFor) {
    EXPECT_TRUE(asks_for(Program::parse("x + dt*f(x)/n"), Quantity::n));
    EXPECT_TRUE(asks_for(Program::parse("x + dt*f(x) | norm(x)/n"), Quantity::n)) << "in the readout alone";
    EXPECT_TRUE(asks_for(Program::parse("x + dt*alpha*f(x) where ~alpha = 1/n"), Quantity::n));
    EXPECT_TRUE(asks_for(Program::parse("attn: x + dt*f(x)/n; ffn: x + dt*f(x)"), Quantity::n));
    EXPECT_TRUE(asks_for(Program::parse("attn: x + dt*f(x); ffn: x + dt*f(x)/n"), Quantity::n));
    EXPECT_FALSE(asks_for(Program::parse("x + dt*f(x)/d | norm(x)"), Quantity::n));
}

TEST(Reads, TellsWhetherTheEmbeddingIsRead) {
    EXPECT_TRUE(Program::parse("x + dt*f(x0)").reads(embedding_variable));
    EXPECT_TRUE(Program::parse("x + dt*f(x) | x + x0").reads(embedding_variable));
    EXPECT_FALSE(Program::parse("x + dt*f(x) | norm(x)").reads(embedding_variable));
    EXPECT_TRUE(Program::parse("attn: x + dt*f(x); ffn: b + dt*f(x)").reads(block_input_variable));
}

}  // namespace
}  // namespace flyball::scheme::test
