// Growth over depth against numpy.polyfit (weights 1/y for y, 1/y^2 for y^2; its covariance gives the errors).
#include "measure/growth.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flyball::measure {
namespace {

std::vector<double> over_depth(double (*law)(double l), std::size_t count = 12) {
    std::vector<double> values;
    for (std::size_t l = 1; l <= count; ++l) {
        values.push_back(law(static_cast<double>(l)));
    }
    return values;
}

TEST(Growth, NamesEveryLawThatHoldsExactly) {
    const Growth linear = growth(over_depth([](double l) { return 3 + 2 * l; }));
    EXPECT_EQ(linear.kind, GrowthClass::linear);
    EXPECT_NEAR(linear.rate, 2, 1e-12);
    EXPECT_NEAR(linear.rate_error, 0, 1e-12);
    const Growth root = growth(over_depth([](double l) { return std::sqrt(4 + 9 * l); }));
    EXPECT_EQ(root.kind, GrowthClass::sqrt);
    EXPECT_NEAR(root.rate, 9, 1e-12);
    const Growth exponential = growth(over_depth([](double l) { return 2 * std::exp(0.3 * l); }));
    EXPECT_EQ(exponential.kind, GrowthClass::exponential);
    EXPECT_NEAR(exponential.rate, 0.3, 1e-12);
    const Growth constant = growth(over_depth([](double) { return 5.0; }));
    EXPECT_EQ(constant.kind, GrowthClass::bounded);
    EXPECT_NEAR(constant.rate, 0, 1e-12);
}

TEST(Growth, OfALineWithScatterIsTheWeightedFit) {
    const Growth fit = growth({5.1, 6.8, 9.3, 10.9, 13.2, 14.7, 17.3, 18.9});
    EXPECT_EQ(fit.kind, GrowthClass::linear);
    EXPECT_NEAR(fit.rate, 1.9931512750898828, 1e-9);
    EXPECT_NEAR(fit.rate_error, 0.038993904480258655, 1e-9);
    EXPECT_NEAR(fit.exponent, 0.6457625007121631, 1e-9);
    EXPECT_NEAR(fit.exponent_error, 0.03202153501847024, 1e-9);
    EXPECT_NEAR(fit.error, 0.020153782913722326, 1e-9);
    EXPECT_NEAR(fit.factor, 18.9 / 5.1, 1e-12);
}

TEST(Growth, OfARootWithScatterIsTheWeightedFitOfSquares) {
    const Growth fit = growth({3.7, 4.6, 5.65, 6.3, 7.1, 7.6, 8.25, 8.7});
    EXPECT_EQ(fit.kind, GrowthClass::sqrt);
    EXPECT_NEAR(fit.rate, 8.950829719036259, 1e-9);
    EXPECT_NEAR(fit.rate_error, 0.1708603673191571, 1e-9);
    EXPECT_NEAR(fit.error, 0.012382337422780828, 1e-9);
}

TEST(Growth, OfAnExponentialIsTheSlopeOfLogarithms) {
    const Growth fit = growth({2.75, 3.6, 4.95, 6.6, 9.0, 12.0, 16.4, 22.0});
    EXPECT_EQ(fit.kind, GrowthClass::exponential);
    EXPECT_NEAR(fit.rate, 0.2988635760300637, 1e-9);
    EXPECT_NEAR(fit.rate_error, 0.0015623514099934383, 1e-9);
}

TEST(Growth, ThatIsScatterAloneIsBounded) {
    const Growth fit = growth({7.1, 6.6, 7.4, 6.9, 7.3, 6.5, 7.2, 7.0});
    EXPECT_EQ(fit.kind, GrowthClass::bounded);
    EXPECT_NEAR(fit.rate, 3.6713174166691424e-05, 1e-9);
    EXPECT_NEAR(fit.rate_error, 0.007714665030421386, 1e-9);
    EXPECT_NEAR(fit.error, 0.0432985318110865, 1e-9);
}

TEST(Growth, OfAShrinkingOrHardlyMovingCurveIsBounded) {
    EXPECT_EQ(growth(over_depth([](double l) { return 9 - 0.5 * l; })).kind, GrowthClass::bounded);
    EXPECT_EQ(growth(over_depth([](double l) { return 10 + 0.1 * l; })).kind, GrowthClass::bounded);
    EXPECT_EQ(growth(over_depth([](double l) { return 10 + 0.4 * l; })).kind, GrowthClass::linear);
}

// Whichever law fits best (here the straight line, whose slopes are -0.5 and 0.1).
TEST(Growth, OfABoundedCurveHasTheSlopeOfLogarithmsAsItsRate) {
    EXPECT_NEAR(growth(over_depth([](double l) { return 9 - 0.5 * l; })).rate, -0.09223646269060806, 1e-12);
    EXPECT_NEAR(growth(over_depth([](double l) { return 10 + 0.1 * l; })).rate, 0.009395543079975423, 1e-12);
}

// The straight line leaves none: its error is 0.
TEST(Growth, OfABoundedCurveHasTheErrorOfThatSlope) {
    EXPECT_NEAR(growth(over_depth([](double l) { return 9 - 0.5 * l; })).rate_error, 0.004208954897206801, 1e-12);
    EXPECT_NEAR(growth(over_depth([](double l) { return 10 + 0.1 * l; })).rate_error, 4.265173654658907e-05, 1e-12);
}

// The last value is 1.6 times the first, and no law explains the curve better than a constant by a quarter.
TEST(Growth, ThatEndsHighByChanceIsBounded) {
    const Growth fit = growth({5, 8, 5.5, 8.2, 5.2, 8.1, 5.4, 8});
    EXPECT_EQ(fit.kind, GrowthClass::bounded);
    EXPECT_NEAR(fit.factor, 1.6, 1e-12);
    EXPECT_GT(fit.rate, 0);
}

TEST(Growth, OfTooFewOrImpossibleValuesIsUnknownAndHasNoNumbers) {
    for (const std::vector<double>& values :
         {std::vector<double>{1, 2, 3}, {1, 2, 0, 4}, {1, 2, std::nan(""), 4}, {1, -2, 3, 4}, {}}) {
        const Growth fit = growth(values);
        EXPECT_EQ(fit.kind, GrowthClass::unknown);
        EXPECT_TRUE(std::isnan(fit.rate) && std::isnan(fit.factor) && std::isnan(fit.exponent_error));
    }
}

}  // namespace
}  // namespace flyball::measure
