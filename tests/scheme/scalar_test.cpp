// Scalars of an equation: every function's value and derivative, how numbers and pasted characters are read.
#include <cmath>

#include "core/error.hpp"
#include "scheme/dual.hpp"
#include "scheme/rows.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

// The value of a scalar expression in block 3 of 4 with dt = 1/2, d = 2: what stands before f(x) = x in a layer.
double value_of(const std::string& scalar) {
    const Program program = Program::parse("x + (" + scalar + ")*f(x)");
    RowStep<double> step(program, SubLayers::attention_only, 1, 2);
    State<double> state = State<double>::start(program, 1, 2, {1, 0});
    step.layer(Environment::layer(3, 4, 0.5, 1, 2), state,
               [](SubLayer, const double* in, double* out) { std::copy_n(in, 2, out); });
    return state.streams[0][0] - 1;
}

// Zero whatever t is, times what has no slope there, has the slope zero; so has dt*sqrt(t) at t = 0.
TEST(Scalars, ZeroStaysZeroBesideWhatHasNoSlope) {
    const Dual root = sqrt(Dual{0, 1});
    ASSERT_TRUE(std::isinf(root.slope));
    EXPECT_EQ((Dual{0, 0} * root).slope, 0);
    EXPECT_EQ((root * Dual{0, 0}).slope, 0);
    EXPECT_TRUE(std::isinf((root * Dual{2, 0}).slope));
    EXPECT_TRUE(std::isinf((root + Dual{2, 0}).slope));
}

TEST(Scalars, HaveTheValuesOfTheirFunctions) {
    const std::vector<std::pair<std::string, double>> expected = {
        {"min(2, 5)", 2},
        {"min(5, 2)", 2},
        {"max(2, 5)", 5},
        {"max(5, 2)", 5},
        {"sqrt(2)", 1.4142135623730951},
        {"log(3)", 1.0986122886681098},
        {"exp(0.5)", 1.6487212707001282},
        {"2^10", 1024},
        {"2^-1", 0.5},
        {"(2^3)^2", 64},
        {"2^3^2", 512},
        {"7 - 2 - 3", 2},
        {"12/3/2", 2},
        {"-3 + 5", 2},
        {"-2^2", -4},
        {"1e-1", 0.1},
        {"1E-1", 0.1},
        {"2.5E+1", 25},
        {".5", 0.5},
        {"dt", 0.5},
        {"d", 2},
    };
    for (const auto& [scalar, value] : expected) {
        EXPECT_NEAR(value_of(scalar), value, 1e-14 * std::max(1.0, std::abs(value))) << scalar;
    }
}

// One number a channel, in the base or in the exponent, in either argument of a function.
TEST(Scalars, PowersAndFunctionsOfChannelsAreChannels) {
    for (const auto& [power, value] : {std::pair{"2^g", std::vector<double>{2, 8}},
                                       {"g^2", {1, 9}},
                                       {"sqrt(16*g)", {4, 6.928203230275509}},
                                       {"log(g)", {0, 1.0986122886681098}},
                                       {"exp(g)", {2.718281828459045, 20.085536923187668}},
                                       {"max(g, 2)", {2, 3}},
                                       {"max(2, g)", {2, 3}},
                                       {"min(g, 2)", {1, 2}},
                                       {"min(2, g)", {1, 2}}}) {
        const Program program = Program::parse("x + " + std::string(power) + "*f(x) where ~g[d] = 1");
        RowStep<double> step(program, SubLayers::attention_only, 1, 2);
        State<double> state = State<double>::start(program, 1, 2, {1, 1});
        BlockParameters<double> parameters;
        parameters.learned = {{1.0, 3.0}};
        step.layer(
            Environment::layer(1, 4, 0.5, 1, 2), state,
            [](SubLayer, const double* in, double* out) { std::copy_n(in, 2, out); }, parameters);
        EXPECT_NEAR(state.streams[0][0], 1 + value[0], 1e-14) << power;
        EXPECT_NEAR(state.streams[0][1], 1 + value[1], 1e-14) << power;
    }
}

// With f = 0 the velocity of g(dt) x, g(0) = 1, is g'(0) x.
double slope_of(const std::string& factor) {
    const Program program = Program::parse("x*(" + factor + ") + dt*f(x)");
    RowStep<double> step(program, SubLayers::attention_only, 1, 2);
    State<double> state = State<double>::start(program, 1, 2, {1, 0});
    std::vector<std::vector<double>> slopes;
    const auto problem = step.velocity(
        Environment::ode(1, 4, 1, 2), state, [](SubLayer, const double*, double* out) { std::fill_n(out, 2, 0.0); },
        slopes);
    EXPECT_EQ(problem, std::nullopt) << factor;
    return slopes.empty() ? std::nan("") : slopes[0][0];
}

TEST(Scalars, HaveTheDerivativesOfTheirFunctions) {
    const std::vector<std::pair<std::string, double>> expected = {
        {"1 + 3*dt", 3},
        {"1.5^(1+dt)/1.5", 0.40546510810816438},  // log 1.5
        {"(4+dt)^2/16", 0.5},                     // 2/4
        {"4/(4+dt)", -0.25},
        {"(4+dt)/(4-dt)", 0.5},
        {"sqrt(9+dt)/3", 1.0 / 18},
        {"exp(2*dt)", 2},
        {"1 + log(1+5*dt)", 5},
        {"min(1+dt, 2)", 1},
        {"max(1-2*dt, 0)", -2},
    };
    for (const auto& [factor, slope] : expected) {
        EXPECT_NEAR(slope_of(factor), slope, 1e-14) << factor;
    }
}

TEST(PastedCharacters, AreAnsweredWithWhatToWrite) {
    const std::vector<std::pair<std::string, std::string>> expected = {
        {"\u00d7", "write *"},      {"\u2212", "write -"},  {"\u00f7", "write /"},  {"\u221a", "write sqrt"},
        {"\u00b2", "write ^2"},     {"\u2264", "write <="}, {"\u2265", "write >="}, {"\u2260", "write !="},
        {"\u03bb", "write lambda"}, {"\u2190", "write ="},
    };
    for (const auto& [character, advice] : expected) {
        try {
            Program::parse("x + dt" + character + "f(x)");
            FAIL() << "accepted " << character;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(advice), std::string::npos) << error.what();
        }
    }
}

// A line too long to show is cut, and the caret still stands below the character.
TEST(LongEquations, HaveTheCaretUnderThePlace) {
    std::string text = "x";
    for (int i = 0; i < 40; ++i) {
        text += " + dt*f(x)";
    }
    text += " + dt@f(x)";
    for (int i = 0; i < 40; ++i) {
        text += " + dt*f(x)";
    }
    try {
        Program::parse(text);
        FAIL();
    } catch (const Error& error) {
        const std::string& detail = error.detail();
        const std::size_t end = detail.find('\n');
        ASSERT_NE(end, std::string::npos);
        const std::string line = detail.substr(0, end);
        const std::string carets = detail.substr(end + 1);
        EXPECT_EQ(line.substr(4, 3), "...");
        EXPECT_EQ(line.substr(line.size() - 3), "...");
        ASSERT_NE(carets.find('^'), std::string::npos);
        EXPECT_EQ(line[carets.find('^')], '@') << detail;
    }
}

}  // namespace
}  // namespace flyball::scheme::test
