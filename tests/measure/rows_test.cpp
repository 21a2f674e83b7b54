// Each quantity against its definition, with numbers computed by hand in NumPy (SVD, all pairs one by one).
#include "measure/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flyball::measure {
namespace {

const std::vector<double> x = {0.0,   0.3,   -0.27, -0.89, -0.45, -0.99, 0.06, 1.34,
                               -0.49, -0.62, 0.49,  0.36,  0.11,  -0.93, -0.03};
const Rows rows{x.data(), 5, 3};

std::vector<double> unit_rows() {
    return directions(rows);
}

TEST(Measure, LengthsAreEuclidean) {
    EXPECT_NEAR(lengths(rows)[0], std::sqrt(0.09 + 0.0729), 1e-16);
    EXPECT_EQ(lengths(rows).size(), 5U);
}

TEST(Measure, DistancesAreSquaredAndSymmetric) {
    // numpy: ((x[0] - x[1])**2).sum(), with x the rows above.
    EXPECT_NEAR(squared_distance(rows.row(0), rows.row(1), 3), 1.873, 1e-15);
    EXPECT_EQ(squared_distance(rows.row(0), rows.row(1), 3), squared_distance(rows.row(1), rows.row(0), 3));
    EXPECT_EQ(squared_distance(rows.row(2), rows.row(2), 3), 0);
}

TEST(Measure, LengthsNeitherOverflowNorVanish) {
    const std::vector<double> extreme = {3e200, 4e200, 3e-200, 4e-200, 0, 0};
    const std::vector<double> sizes = lengths({extreme.data(), 3, 2});
    EXPECT_NEAR(sizes[0] / 5e200, 1, 1e-15);
    EXPECT_NEAR(sizes[1] / 5e-200, 1, 1e-15);
    EXPECT_EQ(sizes[2], 0);
    const std::vector<double> denormal_squares = {3e-162, 4e-162};
    EXPECT_NEAR(lengths({denormal_squares.data(), 1, 2})[0] / 5e-162, 1, 1e-15);
    EXPECT_NEAR(directions({extreme.data(), 3, 2})[2], 0.6, 1e-15);
    const std::vector<double> broken = {NAN, 1, HUGE_VAL, 1};
    EXPECT_TRUE(std::isnan(lengths({broken.data(), 2, 2})[0]));
    EXPECT_TRUE(std::isinf(lengths({broken.data(), 2, 2})[1]));
}

TEST(Measure, CosineAndVarianceAreThoseOfAllPairs) {
    const std::vector<double> theta = unit_rows();
    EXPECT_NEAR(one_minus_cosine({theta.data(), 5, 3}), 1.046925775301624, 1e-15);
    EXPECT_NEAR(variance({theta.data(), 5, 3}), 0.8375406202412993, 1e-15);
}

TEST(Measure, AZeroRowHasNoDirectionAndCountsZeroInEveryPair) {
    std::vector<double> theta = unit_rows();
    theta.resize(18, 0.0);
    EXPECT_NEAR(one_minus_cosine({theta.data(), 6, 3}), 1.0312838502010826, 1e-15);
    const std::vector<double> zero = {0, 0};
    EXPECT_EQ(directions({zero.data(), 1, 2}), zero);
}

TEST(Measure, OneMinusCosineKeepsItsDigitsWhenTheCosineRoundsToOne) {
    // Directions at the angles 0, 1e-12 and 3e-12: the mean of 1 - cos over the pairs is 7e-24/3 (mpmath, 60 digits).
    const std::vector<double> theta = {1, 0, 1, 1e-12, 1, 3e-12};
    EXPECT_NEAR(one_minus_cosine({theta.data(), 3, 2}) / 2.3333333333333333e-24, 1, 1e-12);
    EXPECT_EQ(1 - one_minus_cosine({theta.data(), 3, 2}), 1.0);
}

TEST(Measure, OneRowAloneHasCosineOne) {
    EXPECT_EQ(one_minus_cosine({x.data() + 1, 1, 1}), 0);
}

TEST(Measure, EffectiveRankIsTheExponentialOfTheEntropyOfSingularValues) {
    const std::vector<double> theta = unit_rows();
    EXPECT_NEAR(effective_rank({theta.data(), 5, 3}), 2.894522834019606, 1e-12);
    const std::vector<double> orthonormal = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    EXPECT_NEAR(effective_rank({orthonormal.data(), 3, 4}), 3, 1e-12);
    const std::vector<double> together = {0.6, 0.8, 0.6, 0.8, 0.6, 0.8};
    EXPECT_NEAR(effective_rank({together.data(), 3, 2}), 1, 1e-14);
    // Two directions with an angle of 1e-9 between them: shares are those of 1 and tan(a/2).
    const std::vector<double> close = {1, 0, std::cos(1e-9), std::sin(1e-9)};
    EXPECT_NEAR((effective_rank({close.data(), 2, 2}) - 1) / 1.1208206566086022e-08, 1, 1e-6);
    const std::vector<double> wide = {1, 0, 0, std::cos(1e-9), std::sin(1e-9), 0};
    EXPECT_NEAR((effective_rank({wide.data(), 2, 3}) - 1) / 1.1208206566086022e-08, 1, 1e-6);
    // The same two rows among more channels, and a thousand rows more than are taken of as many channels.
    const std::vector<double> wider = {1, 0, 0, 0, 0, 0, std::cos(1e-9), std::sin(1e-9), 0, 0, 0, 0};
    EXPECT_NEAR((effective_rank({wider.data(), 2, 6}) - 1) / 1.1208206566086022e-08, 1, 1e-6);
    std::vector<double> many(std::size_t{2024} * 2, 0.0);
    for (std::size_t i = 0; i < 2024; ++i) {
        many[2 * i + i % 2] = 1;
    }
    EXPECT_NEAR(effective_rank({many.data(), 2024, 2}), 2, 1e-12);
    std::vector<double> largest(std::size_t{1024} * 1024, 0.0);  // of those that are taken
    for (std::size_t i = 0; i < 1024; ++i) {
        largest[i * 1025] = 1;
    }
    EXPECT_NEAR(effective_rank({largest.data(), 1024, 1024}), 1024, 1e-6);
    const std::vector<double> large(std::size_t{1025} * 1025, 1.0);
    EXPECT_TRUE(std::isnan(effective_rank({large.data(), 1025, 1025})));
}

TEST(Measure, AngularSpeedIsTheSlopeAcrossTheRowOverItsLength) {
    const std::vector<double> slope = {0.7,  -1.34, -0.46, -1.9,  -1.29, -1.84, -0.24, -1.27,
                                       0.27, 0.16,  -0.19, -2.52, -0.54, -0.05, 0.11};
    EXPECT_NEAR(mean_angular_speed(rows, slope.data()), 1.4241285919099753, 1e-14);
    // numpy: with u = x[4]/|x[4]|, |v - (v.u) u|/|x[4]| for v = slope[4].
    EXPECT_NEAR(angular_speed(rows.row(4), slope.data() + 12, 3), 0.590293452351083, 1e-14);
    EXPECT_NEAR(mean_angular_speed(rows, x.data()), 0, 1e-15) << "a slope along the rows turns nothing";
}

TEST(Measure, EntropyIsOfShares) {
    EXPECT_NEAR(entropy({3, 1, 0, 4}), 0.9743147528693494, 1e-15);
    EXPECT_EQ(entropy({0, 2}), 0);
}

TEST(Measure, QuantilesInterpolateBetweenOrderStatistics) {
    std::vector<double> values = {3, 1, 10, 7};
    EXPECT_NEAR(quantile(values, 0.05), 1.3, 1e-15);
    EXPECT_NEAR(quantile(values, 0.25), 2.5, 1e-15);
    EXPECT_NEAR(quantile(values, 0.5), 5, 1e-15);
    EXPECT_NEAR(quantile(values, 0.95), 9.55, 1e-14);
    EXPECT_EQ(quantile(values, 1), 10);
    std::vector<double> far = {1.5e308, -1.5e308};
    EXPECT_EQ(quantile(far, 0.5), 0);
    values[2] = NAN;
    EXPECT_TRUE(std::isnan(quantile(values, 0.5)));
}

TEST(Measure, QuantilesBesideAnInfiniteValueAreThoseOfTheOthers) {
    std::vector<double> values = {HUGE_VAL, 0, 1};
    EXPECT_EQ(quantile(values, 0), 0);
    EXPECT_EQ(quantile(values, 0.5), 1);
    EXPECT_EQ(quantile(values, 0.75), HUGE_VAL);
    EXPECT_EQ(quantile(values, 1), HUGE_VAL);
    std::vector<double> below = {2, -HUGE_VAL, 1};
    EXPECT_EQ(quantile(below, 0), -HUGE_VAL);
    EXPECT_EQ(quantile(below, 0.25), -HUGE_VAL);
    EXPECT_EQ(quantile(below, 0.5), 1);
}

TEST(CollapseResidual, IsTheMixedNormAroundTheMeanRow) {
    // numpy: norm(X - X.mean(0))/norm(X) with norm(A) = sqrt(abs(A).sum(0).max() * abs(A).sum(1).max())
    const std::vector<double> three = {1, 2, -1, 3, 0, 2, -2, 1, 4};
    EXPECT_NEAR(collapse_residual({three.data(), 3, 3}), 0.7377111135633176, 1e-15);
}

// In any place: rows that are not known have not collapsed.
TEST(CollapseResidual, OfANanIsNone) {
    for (std::size_t place = 0; place < 9; ++place) {
        std::vector<double> three = {1, 2, -1, 3, 0, 2, -2, 1, 4};
        three[place] = NAN;
        EXPECT_TRUE(std::isnan(collapse_residual({three.data(), 3, 3}))) << place;
    }
}

TEST(CollapseResidual, IsZeroForEqualRowsAndUnknownForNothing) {
    const std::vector<double> equal = {1, 2, 1, 2, 1, 2};
    EXPECT_NEAR(collapse_residual({equal.data(), 3, 2}), 0, 1e-15);
    const std::vector<double> zero(6, 0.0);
    EXPECT_TRUE(std::isnan(collapse_residual({zero.data(), 3, 2})));
}

}  // namespace
}  // namespace flyball::measure
