#include "train/batches.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace flyball::train {
namespace {

std::vector<Token> counting(std::size_t count) {
    std::vector<Token> tokens(count);
    std::iota(tokens.begin(), tokens.end(), 0);
    return tokens;
}

TEST(Batches, TargetsAreTheIdsShiftedByOne) {
    const std::vector<Token> tokens = counting(1000);
    const Batches batches(tokens, 16, 4, 1);
    std::vector<std::int32_t> ids, targets;
    batches.fill(3, 0, ids, targets);
    ASSERT_EQ(ids.size(), 64U);
    ASSERT_EQ(targets.size(), 64U);
    for (std::size_t s = 0; s < 4; ++s) {
        for (std::size_t t = 0; t < 16; ++t) {
            EXPECT_EQ(ids[16 * s + t], static_cast<Token>(batches.start(3, s) + t));
            EXPECT_EQ(targets[16 * s + t], ids[16 * s + t] + 1);
        }
    }
}

// Computed in Python from the published definition of Philox4x32-10: floor(bits (tokens - context) / 2^64).
TEST(Batches, StartsAreThoseOfAnIndependentCalculation) {
    const std::vector<Token> tokens(1003854);
    const Batches batches(tokens, 256, 8, 1);
    const std::vector<std::size_t> expected = {711284, 936446, 584682, 185577, 713343, 413901, 320589, 960386, 526218};
    std::vector<std::size_t> found;
    for (const std::uint64_t step : {0U, 1U, 2000U}) {
        for (const std::size_t window : {0U, 1U, 15U}) {
            found.push_back(batches.start(step, window));
        }
    }
    EXPECT_EQ(found, expected);
    // As many tokens as there may be; nothing is read.
    const Batches most(std::span(tokens.data(), std::size_t{1} << 32U), 64, 8, (std::uint64_t{1} << 40U) + 7);
    EXPECT_EQ(most.start((std::uint64_t{1} << 33U) + 5, 0), 3692560194U);
    EXPECT_EQ(most.start((std::uint64_t{1} << 33U) + 5, 1), 2706383738U);
}

TEST(Batches, AStepIsTheSameHoweverItIsCut) {
    const std::vector<Token> tokens = counting(5000);
    std::vector<std::int32_t> whole, part, targets, joined;
    Batches(tokens, 8, 12, 9).fill(5, 0, whole, targets);
    const Batches parts(tokens, 8, 4, 9);
    for (std::size_t m = 0; m < 3; ++m) {
        parts.fill(5, m, part, targets);
        joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, whole);
    parts.fill(6, 0, part, targets);
    EXPECT_NE(part, std::vector<std::int32_t>(whole.begin(), whole.begin() + 32));
}

TEST(Batches, EveryPlaceIsAsLikelyAsAnother) {
    // 20 tokens and a context of 10: starts 0 .. 9, where the last target of start 9 is the last token.
    const std::vector<Token> tokens = counting(20);
    const Batches batches(tokens, 10, 1, 2);
    std::vector<int> counts(10);
    constexpr int draws = 20000;
    for (std::uint64_t step = 0; step < draws; ++step) {
        ++counts.at(batches.start(step, 0));
    }
    for (const int count : counts) {
        EXPECT_NEAR(count, draws / 10, 4 * std::sqrt(draws * 0.09));
    }
}

TEST(Batches, OneWindowOfTokensIsEnoughAndLessIsRefused) {
    const std::vector<Token> tokens = counting(11);
    std::vector<std::int32_t> ids, targets;
    Batches(tokens, 10, 2, 1).fill(0, 0, ids, targets);
    EXPECT_EQ(ids.front(), 0);
    EXPECT_EQ(targets.back(), 10);
    EXPECT_THROW(Batches(tokens, 11, 2, 1), Error);
    EXPECT_THROW(Batches(tokens, 0, 2, 1), Error);
    EXPECT_THROW(Batches(tokens, 10, 0, 1), Error);
    EXPECT_THROW(Batches({}, 10, 1, 1), Error);
}

TEST(ValidationWindows, FollowOneAnotherAndAreWhole) {
    using Starts = std::vector<std::size_t>;
    EXPECT_EQ(validation_windows(41, 10, 100), (Starts{0, 10, 20, 30}));  // the last target is token 40
    EXPECT_EQ(validation_windows(40, 10, 100), (Starts{0, 10, 20}));
    EXPECT_EQ(validation_windows(11, 10, 100), (Starts{0}));
    EXPECT_EQ(validation_windows(10, 10, 100), Starts{});
    EXPECT_EQ(validation_windows(0, 10, 100), Starts{});
}

TEST(ValidationWindows, AreEvenlySpreadWhenThereAreTooMany) {
    using Starts = std::vector<std::size_t>;
    EXPECT_EQ(validation_windows(101, 10, 5), (Starts{0, 20, 40, 60, 80}));
    EXPECT_EQ(validation_windows(101, 10, 4), (Starts{0, 20, 50, 70}));
    EXPECT_EQ(validation_windows(101, 10, 10).size(), 10U);
    EXPECT_EQ(validation_windows(101, 10, 1), (Starts{0}));
    EXPECT_EQ(validation_windows(101, 10, 0), Starts{});
}

}  // namespace
}  // namespace flyball::train
