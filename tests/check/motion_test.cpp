// The block as particles, for as many tokens as the model is meant to see.
#include "check/motion.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flyball::check::motion_test {
namespace {

// n orthonormal tokens at beta = 1: A has the weight e/(e+n-1) on itself and 1/(e+n-1) on each other token. Peri-LN turns
// by A/|A| where Post-LN turns by A, so it is 1/|A| = (e+n-1)/sqrt(e^2+n-1) times as fast.
TEST(Motion, OfPeriLnGrowsWithTheNumberOfTokens) {
    for (const std::size_t tokens : {2U, 64U, 1024U}) {
        const double others = static_cast<double>(tokens) - 1;
        const double e = std::exp(1.0);
        const Motion motion = motion_of(scheme::find_scheme("peri-ln"), tokens);
        EXPECT_NEAR(1 / motion.speed_factor, (e + others) / std::sqrt(e * e + others), 1e-9 * others) << tokens;
        EXPECT_NE(motion.sentence().find("(" + std::to_string(tokens) + " tokens, beta = 1)"), std::string::npos);
        EXPECT_EQ(motion.document().at("tokens"), tokens);
    }
}

// s = sqrt t: log(1 - cosine) falls like 2 times the integral of 1/sqrt t, which is 4 sqrt t.
TEST(Motion, EndsWithTheLawOfItsScheme) {
    const std::string said = motion_of(scheme::find_scheme("sqrt-scaling"), 64).sentence();
    EXPECT_NE(said.find("as a stretched exponential, exp(-4 t^0.5)"), std::string::npos) << said;
    const std::string post = motion_of(scheme::find_scheme("post-ln"), 64).sentence();
    EXPECT_NE(post.find("exponentially, as exp(-2 t)"), std::string::npos) << post;
}

}  // namespace
}  // namespace flyball::check::motion_test
