// The worst case over all weights, by sums done by hand: a norm gives at most 1, and terms may all point one way.
#include "check/bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "check/beginning.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::check::bound_test {
namespace {

WorstCase worst_of(const std::string& equation, Settings settings = {}) {
    return worst_case(on_stand_in(scheme::scheme_of_equation(equation), settings), settings);
}

std::string bound_of(const std::string& equation) {
    return worst_of(equation).name();
}

TEST(Bound, IsTheWorstCaseOverAllWeights) {
    EXPECT_EQ(bound_of("norm(x + dt*f(x))"), "bounded");
    EXPECT_EQ(bound_of("x + dt*norm(f(norm(x))) | norm(x)"), "linear");
    EXPECT_EQ(bound_of("x + dt*f(norm(x)) | norm(x)"), "none");
    EXPECT_EQ(bound_of("x + dt*t*norm(f(norm(x))) | norm(x)"), "quadratic");
    EXPECT_EQ(bound_of("1.02*x + dt*norm(f(norm(x))) | norm(x)"), "exponential");
    EXPECT_EQ(bound_of("1.001*x + dt*norm(f(norm(x))) | norm(x)"), "exponential");  // however near to 1
    EXPECT_EQ(bound_of("1e9*x + dt*norm(f(norm(x))) | norm(x)"), "exponential");    // more than a double holds
    EXPECT_EQ(bound_of("1e9*x + dt*f(norm(x)) | norm(x)"), "none");
    EXPECT_EQ(bound_of("x + dt*norm(f(norm(x)))*1.05^t | norm(x)"), "exponential");
    EXPECT_EQ(bound_of("x/2 + dt*norm(f(norm(x))) | norm(x)"), "bounded");        // 2 at most
    EXPECT_EQ(bound_of("x + dt*norm(f(norm(x)))/(t+1)^2 | norm(x)"), "bounded");  // pi^2/6 at most, twice
    EXPECT_EQ(bound_of("x + 1e-4*dt*norm(f(norm(x))) | norm(x)"), "linear");      // a small step is a step
    EXPECT_EQ(bound_of("x + dt*g*f(norm(x)) | norm(x) where ~g = 0"), "none");    // gates open
    EXPECT_EQ(bound_of("o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)"), "bounded");
    EXPECT_EQ(bound_of("x = x + dt*y; y = norm(f(norm(x))) | norm(x)"), "linear");  // through a stream of norms
    EXPECT_EQ(bound_of("x = x + dt*y; y = y + dt*norm(f(norm(x))) | norm(x)"), "quadratic");
}

// Peri-LN has norms 1 and 3 inside the branches and 2 and 4 outside of them: a block adds the gains of those two.
TEST(Bound, NormsHaveTheGainsThatTheyStartWith) {
    Settings settings;
    settings.depth = 24;
    const auto worst = [&](const std::string& init) {
        settings.init = init;
        return worst_of("x + dt*norm(f(norm(x))) | norm(x)", settings);
    };
    EXPECT_NEAR(worst("").length, 49, 1e-9);
    EXPECT_NEAR(worst("gains=0.1").length, 1 + 48 * 0.1, 1e-9);
    EXPECT_NEAR(worst("gains=0.1").doubled, 1 + 96 * 0.1, 1e-9);
    EXPECT_NEAR(worst("gain.1=7,gain.2=-0.5,gain.3=7,gain.4=0.25").length, 1 + 24 * 0.75, 1e-9);
    EXPECT_NEAR(worst("gain.2=0.5,gains=2").length, 1 + 48 * 2, 1e-9) << "the last counts";
    EXPECT_EQ(worst("gains=1/L").law, WorstCase::Law::bounded);  // 3 at most
    EXPECT_NEAR(worst("gains=1/sqrt(d)").length, 1 + 48 / std::sqrt(512.0), 1e-9);
    EXPECT_NEAR(worst("matrices=0.1").length, 49, 1e-9);
}

struct LawCase {
    const char* factor;
    WorstCase::Law law;
    double power;
    const char* bound;
    const char* words;  // a part of them
};

// Two sub-layers in each of L blocks add c(t), t = 0 .. L - 1: the sum of 2 c(t), whose leading term is typed here.
TEST(Bound, HasTheLawOfTheSumOfItsFactors) {
    using Law = WorstCase::Law;
    const std::vector<LawCase> cases = {
        {"1/(t+1)^2", Law::bounded, 0, "bounded", "more blocks make it no larger"},
        {"1/(t+1)^1.2", Law::bounded, 0, "bounded", "more blocks make it no larger"},
        {"0.5^t", Law::bounded, 0, "bounded", "more blocks make it no larger"},
        {"1/L", Law::bounded, 0, "bounded", "more blocks make it no larger"},  // 2 in all
        {"1/(t+1)", Law::logarithm, 0, "linear", "at most like the logarithm of the number of blocks"},
        {"1/sqrt(t+1)", Law::power, 0.5, "linear",
         "less than linear: whatever the weights are, it grows at most like "
         "the square root of the number of blocks"},
        {"1/sqrt(2*L)", Law::power, 0.5, "linear", "like the square root of the number of blocks"},
        {"1/(t+1)^0.75", Law::power, 0.25, "linear", "like the number of blocks to the power 0.25"},
        {"1", Law::power, 1, "linear",
         "linear: whatever the weights are, it grows at most in proportion to the number"},
        {"0.1", Law::power, 1, "linear", "in proportion to the number of blocks"},
        {"(1+1/(t+1))", Law::power, 1, "linear", "in proportion to the number of blocks"},
        {"sqrt(t+1)", Law::power, 1.5, "quadratic",
         "less than quadratic: whatever the weights are, it grows at most "
         "like the number of blocks to the power 1.5"},
        {"(t+1)", Law::power, 2, "quadratic", "quadratic: whatever the weights are, it grows at most like the square"},
        {"max(0, t-10)", Law::power, 2, "quadratic", "like the square of the number of blocks"},
        {"(t+1)^2", Law::power, 3, "exponential",
         "more than quadratic: whatever the weights are, it grows at most like "
         "the number of blocks to the power 3"},
        {"exp(t/20)", Law::exponential, 0, "exponential", "there are weights with which it grows exponentially"},
        {"exp(L/20)", Law::exponential, 0, "exponential", "there are weights with which it grows exponentially"},
    };
    for (const LawCase& one : cases) {
        const WorstCase found = worst_of(std::string("x + dt*norm(f(norm(x)))*") + one.factor + " | norm(x)");
        EXPECT_EQ(found.law, one.law) << one.factor << ", power " << found.power;
        EXPECT_NEAR(found.power, one.power, 0.04) << one.factor;
        EXPECT_EQ(found.name(), one.bound) << one.factor;
        EXPECT_NE(found.words().find(one.words), std::string::npos) << one.factor << ": " << found.words();
    }
}

// 1 + 2 L for Peri-LN; 1 + 2 (1 + 1/sqrt 2 + .. + 1/sqrt L) with the factor; of a geometric series (1/4)^L + 1 + 1/2 + ..
// A factor that is 0 in the first block and not learned adds nothing there: 1 + 2 (0 + 1 + 2 + 3 + 4). A gate at 0
// opens to 1.
TEST(Bound, IsANumberThatCanBeAddedUpByHand) {
    const WorstCase peri = worst_of("x + dt*norm(f(norm(x))) | norm(x)");
    EXPECT_NEAR(peri.length, 49, 1e-9);
    EXPECT_NEAR(peri.doubled, 97, 1e-9);
    EXPECT_NE(peri.words().find("(49 after 24 blocks and 97 after 48, from 1 at the start)"), std::string::npos)
        << peri.words();
    Settings settings;
    settings.depth = 5;
    settings.dt = 0.5;
    const WorstCase root = worst_of("x + dt*norm(f(norm(x)))/sqrt(t+1) | norm(x)", settings);
    EXPECT_NEAR(root.length, 1 + 1 + std::sqrt(1 / 2.0) + std::sqrt(1 / 3.0) + 0.5 + std::sqrt(1 / 5.0), 1e-9);
    EXPECT_EQ(root.law, WorstCase::Law::power);
    settings.dt = 1;
    EXPECT_NEAR(worst_of("x/2 + dt*norm(f(norm(x))) | norm(x)", settings).length, 2 - std::ldexp(1, -10), 1e-9);
    EXPECT_NEAR(worst_of("x + dt*t*norm(f(norm(x))) | norm(x)", settings).length, 21, 1e-9);
    EXPECT_NEAR(worst_of("x + dt*g*norm(f(norm(x))) | norm(x) where ~g = 0", settings).length, 11, 1e-9);
    EXPECT_EQ(worst_of("x + dt*f(norm(x)) | norm(x)").document().at("length"), nullptr);
    EXPECT_EQ(worst_of("x + dt*f(norm(x)) | norm(x)").document().at("law"), "none");
    EXPECT_EQ(peri.document().at("law"), "power");
    EXPECT_NEAR(peri.document().at("power").get<double>(), 1, 1e-6);
}

// The same at every depth: Post-LN at first and Peri-LN after it grows as Peri-LN does, and the other way round not at all.
TEST(Bound, OfAConditionIsThatOfTheModelsThatHaveIt) {
    EXPECT_EQ(bound_of("depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*norm(f(norm(x))) | norm(x)"), "linear");
    EXPECT_EQ(bound_of("t < 20 ? norm(x + dt*f(x)) : x + dt*norm(f(norm(x))) | norm(x)"), "linear");
    EXPECT_EQ(bound_of("t < 20 ? x + dt*norm(f(norm(x))) : norm(x + dt*f(x)) | norm(x)"), "bounded");
    EXPECT_EQ(bound_of("depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)"), "none");
    EXPECT_EQ(bound_of("depth <= 0.5 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)"), "bounded");
    // The user's model has no limit, whatever deeper ones have.
    EXPECT_EQ(bound_of("L < 30 ? x + dt*f(norm(x)) : x + dt*norm(f(norm(x))) | norm(x)"), "none");
}

}  // namespace
}  // namespace flyball::check::bound_test
