#include "measure/moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"

namespace flyball::measure {
namespace {

// Two sequences of two tokens with two channels; every expected number is worked out by hand from the definitions.
const std::vector<double> hidden = {1, 2, 3, 4, 5, 6, -7, 8};

TEST(Moments, AreWhatTheirDefinitionsSay) {
    const Moments m = moments(hidden.data(), 2, 2, 2);
    EXPECT_DOUBLE_EQ(m.mean_abs, 36.0 / 8);
    EXPECT_DOUBLE_EQ(m.entry_variance, (1.25 + 34.5) / 2);
    EXPECT_DOUBLE_EQ(m.data_variance, (4.0 + 4 + 25 + 4) / 4);
    EXPECT_DOUBLE_EQ(m.norm, (std::sqrt(5.0) + 5 + std::sqrt(61.0) + std::sqrt(113.0)) / 4);
}

// Two sequences of one token: 1e8 and an eighth more or less, whose deviations are exact, and a number without any.
TEST(Moments, VarianceOfEntriesKeepsItsDigitsBesideALargeMean) {
    std::vector<double> x(64);
    for (std::size_t i = 0; i < 32; ++i) {
        x[i] = 1e8 + (i % 2 == 0 ? 0.125 : -0.125);
        x[32 + i] = 0.1;
    }
    EXPECT_DOUBLE_EQ(moments(x.data(), 1, 1, 32).entry_variance, 1.0 / 64);
    EXPECT_LT(moments(x.data() + 32, 1, 1, 32).entry_variance, 1e-32);
    EXPECT_DOUBLE_EQ(moments(x.data(), 2, 1, 32).entry_variance, 1.0 / 128);
}

TEST(Moments, OfANanAreNone) {
    std::vector<double> broken = hidden;
    broken[6] = NAN;
    const Moments m = moments(broken.data(), 2, 2, 2);
    EXPECT_TRUE(std::isnan(m.entry_variance));
    EXPECT_TRUE(std::isnan(m.mean_abs) && std::isnan(m.data_variance) && std::isnan(m.norm));
}

TEST(Moments, OfOneSequenceHaveNoVarianceOverData) {
    EXPECT_TRUE(std::isnan(moments(hidden.data(), 1, 4, 2).data_variance));
}

// 19 channels and 300 entries cross every boundary of the sums: lanes of 8, pieces of 256.
TEST(Moments, OfAwkwardSizesInFloatAgreeWithPlainSums) {
    const std::size_t sequences = 3;
    const std::size_t tokens = 31;
    const std::size_t dim = 19;
    std::vector<float> x(sequences * tokens * dim);
    const Random random(7);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(2 + random.normal(i));
    }
    double mean_abs = 0;
    double entry = 0;
    double data = 0;
    const std::size_t entries = tokens * dim;
    for (std::size_t s = 0; s < sequences; ++s) {
        double mean = 0;
        double square = 0;
        for (std::size_t k = 0; k < entries; ++k) {
            mean_abs += std::fabs(static_cast<double>(x[s * entries + k]));
            mean += static_cast<double>(x[s * entries + k]) / static_cast<double>(entries);
        }
        for (std::size_t k = 0; k < entries; ++k) {
            square += std::pow(static_cast<double>(x[s * entries + k]) - mean, 2) / static_cast<double>(entries);
        }
        entry += square / static_cast<double>(sequences);
    }
    for (std::size_t k = 0; k < entries; ++k) {
        double mean = 0;
        for (std::size_t s = 0; s < sequences; ++s) {
            mean += static_cast<double>(x[s * entries + k]) / static_cast<double>(sequences);
        }
        for (std::size_t s = 0; s < sequences; ++s) {
            data +=
                std::pow(static_cast<double>(x[s * entries + k]) - mean, 2) / static_cast<double>(sequences * entries);
        }
    }
    const Moments m = moments(x.data(), sequences, tokens, dim);
    EXPECT_NEAR(m.mean_abs, mean_abs / static_cast<double>(x.size()), 1e-13);
    EXPECT_NEAR(m.entry_variance, entry, 1e-12);
    EXPECT_NEAR(m.data_variance, data, 1e-13);
}

TEST(Moments, DoNotDependOnThreads) {
    std::vector<float> x(5 * 40 * 24);
    const Random random(8);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(random.normal(i));
    }
    const int before = threads();
    set_threads(1);
    const Moments one = moments(x.data(), 5, 40, 24);
    const double angle = mean_turn(x.data(), x.data() + 24, 199, 24).angle;
    set_threads(3);
    const Moments three = moments(x.data(), 5, 40, 24);
    EXPECT_EQ(one.data_variance, three.data_variance);
    EXPECT_EQ(one.entry_variance, three.entry_variance);
    EXPECT_EQ(angle, mean_turn(x.data(), x.data() + 24, 199, 24).angle);
    set_threads(before);
}

TEST(MeanLength, IsTheMeanOfLengthsAndNotTheRootOfTheMeanSquare) {
    const std::vector<double> rows = {3, 4, 0, 0, 0, 1};
    EXPECT_DOUBLE_EQ(mean_length(rows.data(), 3, 2), 2);
}

TEST(Frobenius, IsTheRootOfTheSumOfSquaresOfAll) {
    EXPECT_DOUBLE_EQ(frobenius(hidden.data(), 8), std::sqrt(204.0));
    const std::vector<float> ones(5000, 1.0F);
    EXPECT_DOUBLE_EQ(frobenius(ones.data(), ones.size()), std::sqrt(5000.0));
}

TEST(MeanTurn, IsInRadiansAndIgnoresLengths) {
    const std::vector<double> a = {1, 0, 0, 2, 1, 0};
    const std::vector<double> b = {1, 1, 0, 5, -3, 0};
    EXPECT_NEAR(mean_turn(a.data(), b.data(), 3, 2).angle, (std::numbers::pi / 4 + 0 + std::numbers::pi) / 3, 1e-15);
}

TEST(MeanTurn, HasTheCosineOfEachRowAndNotOfTheSums) {
    const std::vector<double> a = {1, 0, 0, 2, 1, 0};
    const std::vector<double> b = {1, 1, 0, 5, -3, 0};
    EXPECT_NEAR(mean_turn(a.data(), b.data(), 3, 2).one_minus_cosine, (1 - std::sqrt(0.5) + 0 + 2) / 3, 1e-15);
}

TEST(MeanTurn, KeepsTheDigitsOfSmallAngles) {
    const std::vector<double> a = {1, 0};
    const std::vector<double> b = {1, 1e-9};
    EXPECT_NEAR(mean_turn(a.data(), b.data(), 1, 2).angle, 1e-9, 1e-20);
    EXPECT_NEAR(mean_turn(a.data(), b.data(), 1, 2).one_minus_cosine, 5e-19, 1e-28);
}

TEST(MeanTurn, OfAZeroRowCountsNothing) {
    const std::vector<double> a = {0, 0, 1, 0};
    const std::vector<double> b = {1, 1, 0, 1};
    EXPECT_NEAR(mean_turn(a.data(), b.data(), 2, 2).angle, std::numbers::pi / 4, 1e-15);
    EXPECT_NEAR(mean_turn(a.data(), b.data(), 2, 2).one_minus_cosine, 1, 1e-15);  // no cosine with nothing
}

}  // namespace
}  // namespace flyball::measure
