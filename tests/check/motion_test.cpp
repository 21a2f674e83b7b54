// The block as particles, for as many tokens as the model is meant to see.
#include "check/motion.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flyball::check::motion_test {
namespace {

Settings of_tokens(std::size_t tokens) {
    Settings settings;
    settings.tokens = tokens;
    return settings;
}

// n orthonormal tokens at beta = 1: A has the weight e/(e+n-1) on itself and 1/(e+n-1) on each other token. Peri-LN turns
// by A/|A| where Post-LN turns by A, so it is 1/|A| = (e+n-1)/sqrt(e^2+n-1) times as fast.
TEST(Motion, OfPeriLnGrowsWithTheNumberOfTokens) {
    for (const std::size_t tokens : {2U, 64U, 1024U}) {
        const double others = static_cast<double>(tokens) - 1;
        const double e = std::exp(1.0);
        const Motion motion = motion_of(scheme::find_scheme("peri-ln"), of_tokens(tokens));
        EXPECT_NEAR(1 / motion.speed_factor, (e + others) / std::sqrt(e * e + others), 1e-9 * others) << tokens;
        EXPECT_NE(motion.sentence().find("(" + std::to_string(tokens) + " tokens, beta = 1)"), std::string::npos);
        EXPECT_EQ(motion.document().at("tokens"), tokens);
        // 31.95 of 1024 tokens.
        EXPECT_EQ(motion.sentence().find("32 times as fast as Post-LN's") != std::string::npos, tokens == 1024);
    }
}

// 65537.7/256.01 = 255.99, which has more digits than are said.
TEST(Motion, ManyTimesAsFastIsWrittenOut) {
    const std::string said = motion_of(scheme::find_scheme("peri-ln"), of_tokens(65536)).sentence();
    EXPECT_NE(said.find("towards each other 256 times as fast as Post-LN's"), std::string::npos) << said;
}

// s = sqrt t: log(1 - cosine) falls like 2 times the integral of 1/sqrt t, which is 4 sqrt t.
TEST(Motion, EndsWithTheLawOfItsScheme) {
    const std::string said = motion_of(scheme::find_scheme("sqrt-scaling"), of_tokens(64)).sentence();
    EXPECT_NE(said.find("as a stretched exponential, exp(-4 t^0.5)"), std::string::npos) << said;
    const std::string post = motion_of(scheme::find_scheme("post-ln"), of_tokens(64)).sentence();
    EXPECT_NE(post.find("exponentially, as exp(-2 t)"), std::string::npos) << post;
}

scheme::Scheme written(const char* equation) {
    scheme::Scheme scheme = scheme::find_scheme("post-ln");
    scheme.program = scheme::Program::parse(equation);
    return scheme;
}

TEST(Motion, AsFastAsPostLnIsSaidWithoutANumber) {
    const std::string said = motion_of(scheme::find_scheme("pre-ln"), of_tokens(64)).sentence();
    EXPECT_NE(
        said.find("towards each other as fast as Post-LN's; late in depth the speed falls as a power of depth, t^-3."),
        std::string::npos)
        << said;
}

// The factors are 1 in a model of 8 blocks and 512 channels; in one of 16 blocks the first is 2^-20.
TEST(Motion, IsThatOfAsManyBlocksAndChannelsAsTheModelHas) {
    Settings settings;
    settings.depth = 8;
    settings.width = 512;
    for (const char* equation : {"norm(x + dt*f(x)*min(1, (8/L)^20))", "norm(x + dt*f(x)*min(1, d/512))"}) {
        EXPECT_NEAR(motion_of(written(equation), settings).speed_factor, 1, 1e-12) << equation;
    }
    settings.depth = 16;
    EXPECT_NEAR(motion_of(written("norm(x + dt*f(x)*min(1, (8/L)^20))"), settings).speed_factor, 0x1p20, 1e-6);
}

TEST(Motion, OfTokensThatHaveNotMetByTheEndIsNotToldAsAStop) {
    const std::string rests = motion_of(written("norm(x + dt*f(x)*1e-120)"), of_tokens(64)).sentence();
    EXPECT_NE(rests.find("late in depth they still rest, at a cosine of "), std::string::npos) << rests;
    const std::string stops = motion_of(written("norm(x + dt*f(x)/(1+t)^3)"), of_tokens(64)).sentence();
    EXPECT_NE(stops.find("late in depth they stop, at a cosine of "), std::string::npos) << stops;
}

// |y| = 1 - t/2 is zero at t = 2, and no cosine is 2.
TEST(Motion, OfAStreamThatReachesZeroIsToldWithTheTimeOfIt) {
    const std::string said =
        motion_of(written("y = y - dt*unit(y)/2; x = norm(x + dt*f(x)) | x + y"), of_tokens(8)).sentence();
    EXPECT_NE(said.find("at t = 2 a stream reaches zero, where the prediction ends"), std::string::npos) << said;
}

// The same motion as Pre-LN's the other way round: no rest, and no approach.
TEST(Motion, OfTokensThatAreDrivenApartIsNotWeak) {
    const scheme::Scheme apart = written("x - dt*f(norm(x)) | norm(x)");
    const Motion motion = motion_of(apart, of_tokens(64));
    EXPECT_NEAR(motion.speed_factor, -1, 1e-12);
    EXPECT_TRUE(findings_of(motion, apart.program).empty());
    EXPECT_NE(motion.sentence().find("drive tokens apart, as fast as Post-LN's"), std::string::npos)
        << motion.sentence();
    const scheme::Scheme slow = written("x - dt*f(norm(x))/9 | norm(x)");
    EXPECT_EQ(findings_of(motion_of(slow, of_tokens(64)), slow.program).size(), 1U);
}

}  // namespace
}  // namespace flyball::check::motion_test
