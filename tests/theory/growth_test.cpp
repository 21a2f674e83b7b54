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

// t lambda = sqrt t, wrong by up to `wobble`, and gamma' = 3 t^-0.5 exp(-2 sqrt t). Wobbles of period three agree
// neither with those of eight members before nor with their neighbours.
TEST(FarLaw, AnExactPowerAddsNothingToTheErrorOfItsConstant) {
    constexpr double wobble = 1e-4;
    Walk walk;
    walk.noise = 1e-14;
    for (int k = 4; k <= 48; ++k) {
        Sample sample{};
        sample.t = std::pow(10, k / 4.0);
        const double root = std::sqrt(sample.t);
        sample.u = 4 + 2 * root;
        sample.log_rate = std::log((root + (k < 48 ? wobble * (k % 3 - 1) : 0)) / sample.t);
        sample.log_velocity = std::log(3) - std::log(sample.t) / 2 - 2 * root;
        sample.gamma = 1;
        sample.forward = sample.on_grid = true;
        walk.samples.push_back(sample);
    }
    Tail tail;
    tail.slope = -0.5;
    const Law law = far_law(walk, tail);
    ASSERT_EQ(law.kind, LawKind::stretched) << law.note;
    EXPECT_EQ(law.p.value(), 0.5);
    EXPECT_EQ(law.power.value(), -0.5) << "t^(p-1), though kappa is known to 1e-4 alone";
    EXPECT_NEAR(law.rate.value(), 2, 1e-12);
    EXPECT_NEAR(law.log_constant.value(), std::log(3), 1e-8);
    EXPECT_LT(law.error.value(), 1e-8);
}

// Another law before half of u has been come: lambda = 1/2 from t = 5000 on, and like t^3 before.
TEST(Tail, IsTheLastHalfOfTheWayWhereOneMinusGammaUnderflowed) {
    Walk walk;
    walk.underflow = true;
    for (int k = 1; k <= 100; ++k) {
        Sample sample{};
        sample.t = 100.0 * k;
        sample.u = sample.t / 2;
        sample.log_rate = std::log(0.5) + std::min(0.0, 3 * std::log(sample.t / 5000));
        walk.samples.push_back(sample);
    }
    const Tail tail = tail_of(walk);
    ASSERT_EQ(tail.samples.size(), 51U);
    EXPECT_EQ(tail.samples.front().t, 5000);
    EXPECT_EQ(tail.samples.back().t, 10000);
    EXPECT_NEAR(tail.slope, 0, 1e-12);
    EXPECT_LT(tail.drift, 1e-12);
}

}  // namespace
}  // namespace flyball::theory::test
