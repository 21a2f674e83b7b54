// One place of a block: errors, tolerances and factors of rows whose answer is known.
#include "check/conformance_compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace flyball::check::against_test {
namespace {

Estimate with_errors(std::vector<double> values, double error) {
    Estimate out;
    out.error.assign(values.size(), error);
    out.value = std::move(values);
    return out;
}

TEST(ConformanceCompare, ErrorsAreSharesOfWhatIsAddedOrOfTheWhole) {
    const Estimate computed = with_errors({3, 4, 0, 0}, 1e-3);
    const SavedRows saved = {{3, 4, 0, 1}, 0, 0};
    const PlaceReading whole = compare_rows(computed, saved, {}, 0, 4);
    EXPECT_DOUBLE_EQ(whole.error, 1 / std::sqrt(26.0));  // of the larger of both
    const std::vector<double> base = {3, 2, 0, 0};
    const PlaceReading added = compare_rows(computed, saved, {&base}, 0, 4);
    EXPECT_DOUBLE_EQ(added.error, 1 / std::sqrt(5.0));
    EXPECT_FALSE(added.conforms());
    // The difference is at right angles to what is added: no factor explains any of it.
    EXPECT_DOUBLE_EQ(added.factor, 1);
    EXPECT_DOUBLE_EQ(added.rest, added.error);
}

TEST(ConformanceCompare, TheFactorIsThatOfWhatIsAdded) {
    const std::vector<double> base = {10, 10, 10};
    const Estimate computed = with_errors({11, 12, 10}, 1e-6);
    const SavedRows saved = {{13, 16, 10}, 0, 0};
    const PlaceReading reading = compare_rows(computed, saved, {&base}, 0, 3);
    EXPECT_DOUBLE_EQ(reading.factor, 3);
    EXPECT_NEAR(reading.rest, 0, 1e-12);
    EXPECT_NEAR(reading.error, 2.0 / 3, 1e-12);
    EXPECT_TRUE(reading.factor_explains);
    EXPECT_EQ(reading.wrong_rows, 1U);  // as the equation says it, whatever a factor would explain
}

TEST(ConformanceCompare, TheBorderIsFourTimesTheEstimate) {
    // The same difference in every number, at right angles to what is added.
    const std::vector<double> base = {0, 0, 0, 0};
    const auto reading_of = [&](double difference) {
        const Estimate computed = with_errors({1, 1, 1, 1}, 1e-3);
        const SavedRows saved = {{1 + difference, 1 - difference, 1 + difference, 1 - difference}, 0, 0};
        return compare_rows(computed, saved, {&base}, 0, 4);
    };
    EXPECT_TRUE(reading_of(3.99e-3).conforms());
    EXPECT_FALSE(reading_of(4.01e-3).conforms());
    EXPECT_NEAR(reading_of(2e-3).tolerance, 4e-3, 1e-5);
    EXPECT_NEAR(reading_of(0).tolerance, 4e-3, 1e-5);
    EXPECT_EQ(reading_of(0).error, 0);
}

TEST(ConformanceCompare, WhatWasSavedIsRoundedToo) {
    // Nothing is known to be wrong with what was computed; the saved numbers have three digits, u = 1/8.
    const std::vector<double> base = {0, 0};
    const Estimate computed = with_errors({8, 8}, 0);
    const auto conforms = [&](double difference) {
        return compare_rows(computed, {{8 + difference, 8 - difference}, 0, 0.125}, {&base}, 0, 2).conforms();
    };
    EXPECT_TRUE(conforms(3));  // u*8 = 1, four times that is the border
    EXPECT_FALSE(conforms(6));
}

TEST(ConformanceCompare, EveryRowCounts) {
    std::vector<double> values(40, 1);
    const Estimate computed = with_errors(values, 1e-3);
    for (const std::size_t row : {std::size_t{0}, std::size_t{4}, std::size_t{9}}) {
        SavedRows saved = {values, 0, 0};
        saved.values[4 * row] += 0.01;
        const PlaceReading reading = compare_rows(computed, saved, {}, 1, 4);
        EXPECT_FALSE(reading.conforms()) << row;
        EXPECT_EQ(reading.wrong_rows, 1U);
    }
}

// What the sub-layers add is one fiftieth of the stream, in BF16: half of it is below the noise of every single number
// and well above that of all together.
TEST(ConformanceCompare, AFactorBelowTheNoiseOfSingleNumbersIsSeen) {
    constexpr std::size_t dim = 256;
    constexpr double u = 0x1p-8;
    std::mt19937_64 generator(3);
    std::normal_distribution<double> normal;
    Estimate computed;
    SavedRows half = {{}, u, u};
    SavedRows all = {{}, u, u};
    std::vector<double> base;
    for (std::size_t i = 0; i < 16 * dim; ++i) {
        const double x =
            normal(generator) < 0 ? -1 - 0.5 * std::fabs(normal(generator)) : 1 + 0.5 * std::fabs(normal(generator));
        const double branch = 0.02 * normal(generator);
        const double noise = 0.3 * u * x * normal(generator);
        base.push_back(x);
        computed.value.push_back(x + branch);
        computed.error.push_back(u * std::fabs(x));
        all.values.push_back(x + branch + noise);
        half.values.push_back(x + branch / 2 + noise);
    }
    const PlaceReading right = compare_rows(computed, all, {&base}, u, dim);
    EXPECT_TRUE(right.conforms());
    const PlaceReading wrong = compare_rows(computed, half, {&base}, u, dim);
    EXPECT_EQ(wrong.wrong_rows, 0U);
    EXPECT_FALSE(wrong.conforms());
    EXPECT_NEAR(wrong.factor, 0.5, 0.02);
}

// A branch below half the distance of neighbouring numbers: the sum is the stream again, and the whole branch is
// difference, in all rows. Arithmetic in the type shows that; without it this is a factor of 0.
TEST(ConformanceCompare, ABranchThatTheTypeLosesIsNoDifference) {
    constexpr std::size_t dim = 64;
    constexpr double u = 0x1p-8;
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    Estimate computed;
    SavedRows saved = {{}, u, u};
    PlaceParts parts;
    std::vector<double> base;
    for (std::size_t i = 0; i < 1024 * dim; ++i) {
        const double x = (normal(generator) < 0 ? -1 : 1) * (640 + 4.0 * static_cast<double>(i % 32));  // 4 apart
        base.push_back(x);
        computed.value.push_back(x + 0.5 * normal(generator));
        computed.error.push_back(1.7 * u * std::fabs(x));
        saved.values.push_back(x);
    }
    parts.base = &base;
    const PlaceReading alone = compare_rows(computed, saved, parts, u, dim);
    EXPECT_NEAR(alone.factor, 0, 1e-12);
    EXPECT_FALSE(alone.conforms());
    parts.rounded = base;
    EXPECT_TRUE(compare_rows(computed, saved, parts, u, dim).conforms());
}

TEST(ConformanceCompare, GainsAndBiasesAreFittedChannelByChannel) {
    Estimate computed = with_errors({1, 1, 2, 3, 4, 8}, 0.5);  // three rows of two channels
    const SavedRows saved = {{3, -1, 5, -5, 9, -15}, 0, 0};    // 2x + 1 and 1 - 2x
    fit_gains(computed, saved, 2);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(computed.value[i], saved.values[i], 1e-12);
        EXPECT_NEAR(computed.error[i], 1, 1e-12);
    }
}

}  // namespace
}  // namespace flyball::check::against_test
