// Laws of growth read from samples that are typed, not solved for.
#include "theory/growth.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flyball::theory::test {
namespace {

// gamma' = C t^(-1-m) (1 + 1/(2t)) and t lambda = m (1 + 1/t), the latter wrong by up to `wobble`, to t = 1e20.
std::vector<Sample> power_samples(double m, double constant, double wobble) {
    std::vector<Sample> samples;
    for (int k = 0; k <= 80; ++k) {
        Sample sample{};
        sample.t = std::pow(10, k / 4.0);
        sample.u = 1 + m * std::log(sample.t);
        sample.log_rate = std::log(m / sample.t) + std::log1p(1 / sample.t) + wobble * std::cos(2.4 * k * k);
        sample.log_velocity = std::log(constant) - (1 + m) * std::log(sample.t) + std::log1p(0.5 / sample.t);
        sample.gamma = -std::expm1(-sample.u);
        sample.forward = sample.on_grid = true;
        samples.push_back(sample);
    }
    return samples;
}

// An exponent that is a little wrong makes the constant wrong by as much times log t, most at the last sample.
TEST(NearLaw, TheErrorOfItsConstantCoversThatOfItsExponent) {
    constexpr double m = 1.2345678901;
    for (const double wobble : {1e-9, 1e-7, 1e-6}) {
        const std::vector<Sample> samples = power_samples(m, 3, wobble);
        const auto law = near_law(samples, samples, wobble);
        ASSERT_TRUE(law.has_value());
        ASSERT_EQ(law->kind, LawKind::power) << law->note;
        const double wrong = std::abs(*law->exponent + 1 + m);
        EXPECT_LT(wrong, 3 * wobble);
        EXPECT_LT(std::abs(*law->log_constant - std::log(3)), *law->error);
        EXPECT_GT(*law->error, wrong * std::log(1e20)) << wobble;
        EXPECT_LT(*law->error, 200 * wobble);
    }
}

}  // namespace
}  // namespace flyball::theory::test
