// The Kolmogorov-Smirnov test by hand, and against its series summed exactly (math.fsum of Python).
#include <gtest/gtest.h>

#include <cmath>

#include "limits/kolmogorov.hpp"

namespace flyball::limits {
namespace {

TEST(KolmogorovSmirnov, DistanceByHand) {
    EXPECT_DOUBLE_EQ(ks_distance({1, 2, 3, 4}, {1, 2, 3, 4}), 0);
    EXPECT_DOUBLE_EQ(ks_distance({1, 2}, {3, 4}), 1);
    EXPECT_DOUBLE_EQ(ks_distance({3, 1, 2, 4}, {2.5, 2.6, 2.7, 9}), 0.5);
    EXPECT_DOUBLE_EQ(ks_distance({1, 1, 1, 2}, {1, 2, 2, 2}), 0.5);  // ties count on both sides at once
    EXPECT_DOUBLE_EQ(ks_distance({1, 1, 1, 2}, {1, 1, 1, 3}), 0.25);
    EXPECT_TRUE(std::isnan(ks_distance({1, std::nan("")}, {1, 2})));
}

TEST(KolmogorovSmirnov, PValuesAreThoseOfTheLimit) {
    const auto of = [](double x) { return ks_p_value(x / std::sqrt(50.0), 100, 100); };
    EXPECT_NEAR(of(0.5), 0.9639452436648751, 1e-12);
    EXPECT_NEAR(of(1.0), 0.26999967167735456, 1e-12);
    EXPECT_NEAR(of(1.5), 0.022217962616525127, 1e-12);
    EXPECT_NEAR(of(2.0), 0.0006709252557796953, 1e-12);
    EXPECT_EQ(ks_p_value(0, 10, 10), 1);
}

// 1.6276 sqrt(2/144).
TEST(KolmogorovSmirnov, TheFixedDistanceIsThatOf144HeadsAtOnePerCent) {
    EXPECT_GT(ks_p_value(0.1910, 144, 144), 0.01);
    EXPECT_LT(ks_p_value(0.1925, 144, 144), 0.01);
    EXPECT_NEAR(fixed_distance, 1.6276 * std::sqrt(2.0 / 144), 5e-4);
}

TEST(CriticalN, IsTheFirstThatCannotBeToldApart) {
    const std::vector<double> distances = {0.9, 0.5, 0.18, 0.3, 0.1};
    const CriticalN level = critical_by_level(distances, 144, 0.01);
    ASSERT_TRUE(level.n);
    EXPECT_EQ(*level.n, 3U);
    EXPECT_EQ(level.distance, 0.18);
    EXPECT_TRUE(level.differs_later);
    // Twelve heads tell less apart: 0.5 is not enough.
    EXPECT_EQ(*critical_by_level(distances, 12, 0.01).n, 2U);
    EXPECT_EQ(*critical_by_distance(distances, 12, fixed_distance).n, 3U);
    EXPECT_FALSE(critical_by_distance({0.9, 0.2}, 144, fixed_distance).n);
}

}  // namespace
}  // namespace flyball::limits
