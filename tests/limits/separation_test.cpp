// Theorem 2 from the Gram matrix against its definition, and which of its bounds hold.
#include <gtest/gtest.h>

#include <cmath>

#include "limits/rows.hpp"
#include "limits/separation.hpp"

namespace flyball::limits {
namespace {

TEST(Separation, AgreesWithTheDefinitionForEveryN) {
    for (const auto& [keys, dim, sharpness] : {std::tuple{4, 2, 1.0}, {24, 3, 2.0}, {40, 48, 5.0}}) {
        const reference::Row row =
            random_row(static_cast<std::size_t>(keys), static_cast<std::size_t>(dim), sharpness, 3);
        const Prepared prepared(row);
        const reference::Spread spread = reference::spread(reference::normalised(row));
        const Gram::Least least = prepared.gram.least_distances({{0, row.keys()}}).front();
        EXPECT_NEAR(least.any, spread.least, 1e-12);
        const std::vector<std::size_t> order = reference::order_of(row.weights);
        SeparationWalk walk;
        walk.start(prepared.gram, {0, row.keys()}, row.weights.data(), order);
        for (std::size_t n = 1; n < row.keys(); ++n) {
            walk.join();
            const SeparationAtN found = walk.at(least.any);
            const SeparationAtN wanted = reference::separation(row, n, spread.least);
            EXPECT_NEAR(found.ratio, wanted.ratio, 1e-12) << n;
            EXPECT_NEAR(found.r, wanted.r, 1e-9) << n;
            EXPECT_NEAR(found.lower, wanted.lower, 1e-7 * (1 + std::abs(wanted.lower))) << n;
            EXPECT_NEAR(found.upper, wanted.upper, 1e-9) << n;
            EXPECT_NEAR(found.upper_patched, wanted.upper_patched, 1e-9) << n;
            EXPECT_NEAR(found.lower_exact, wanted.lower_exact, 1e-12) << n;
            EXPECT_NEAR(found.upper_exact, wanted.upper_exact, 1e-12) << n;
            std::vector<std::size_t> keys_that_count;
            walk.separated(keys_that_count);
            EXPECT_NEAR(static_cast<double>(keys_that_count.size()), found.ratio * static_cast<double>(n), 1e-9);
        }
    }
}

TEST(Separation, CorrectedBoundsHoldRowByRow) {
    std::size_t printed_violated = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const reference::Row row = random_row(16, 2 + seed % 6, 0.5 + static_cast<double>(seed % 5), seed);
        const double delta = reference::spread(reference::normalised(row)).least;
        for (std::size_t n = 1; n < 16; ++n) {
            const SeparationAtN at = reference::separation(row, n, delta);
            EXPECT_LE(at.lower, at.ratio + 1e-12) << seed << " " << n;
            EXPECT_LE(at.lower_exact, at.ratio + 1e-12) << seed << " " << n;
            EXPECT_GE(at.upper_exact, at.ratio - 1e-12) << seed << " " << n;
            printed_violated += at.upper < at.ratio - 1e-12 ? 1 : 0;
        }
    }
    EXPECT_GT(printed_violated, 100U);  // of 900: the printed bound is none
}

TEST(Separation, OneSelectedKeyIsAlwaysSeparated) {
    const reference::Row row = random_row(8, 3, 1, 2);
    EXPECT_EQ(reference::separation(row, 1, 0).ratio, 1);
    EXPECT_EQ(reference::separation(row, 1, 0).lower, 1);  // xi of the only key is 0
    EXPECT_EQ(reference::separation(row, 1, 0).lower_exact, 1);
}

// Two unit vectors with a right angle between them, weights 0.4 each, and 0.2 on a third that is the first again:
// s = (0.4, 0.4); r = |(0.2, 0) - s| = sqrt(0.2); the two selected keys are 0.4 from s. xi = 0.4, zeta = 0.4.
TEST(Separation, ThreeKeysByHand) {
    reference::Row row;
    row.dim = 2;
    row.weights = {0.4, 0.4, 0.2};
    row.vectors = {2, 0, 0, 5, 3, 0};
    const SeparationAtN at = reference::separation(row, 2, 0);
    EXPECT_NEAR(at.r, std::sqrt(0.2), 1e-15);
    EXPECT_EQ(at.ratio, 1);
    EXPECT_NEAR(at.lower, 1 - 0.4 / std::sqrt(0.2), 1e-15);
    const double gap = 0.4 - std::sqrt(0.2);
    EXPECT_NEAR(at.upper, std::exp(-gap * gap / 2), 1e-15);
    EXPECT_EQ(at.upper_patched, 1);
    EXPECT_EQ(at.lower_exact, 1);
    EXPECT_EQ(at.upper_exact, 1);
}

// Three selected keys at right angles, weights 0.28, and 0.16 on (1, 1, 1)/sqrt 3: s = 0.28 (1, 1, 1), r = 0.28 sqrt 3 -
// 0.16 = 0.325. The widest distance is sqrt 2, so that zeta = 0.28 sqrt 2 = 0.396, which is |a_i - s|: none is separated.
TEST(Separation, FourKeysByHand) {
    reference::Row row;
    row.dim = 3;
    row.weights = {0.28, 0.28, 0.28, 0.16};
    row.vectors = {1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1};
    const Prepared prepared(row);
    const std::vector<std::size_t> order = {0, 1, 2, 3};
    SeparationWalk walk;
    walk.start(prepared.gram, {0, 4}, row.weights.data(), order);
    for (int i = 0; i < 3; ++i) {
        walk.join();
    }
    const SeparationAtN at = walk.at(0);
    EXPECT_NEAR(at.r, 0.28 * std::sqrt(3.0) - 0.16, 1e-12);
    EXPECT_EQ(at.ratio, 0);
    EXPECT_EQ(at.upper_exact, 0);
}

// The first of three keys is the lightest: both others are 0.4 from s and the nearest outside is sqrt(0.2) away, as
// above. They are named by their numbers in the row, and not by their places in the order of weights.
TEST(Separation, NamesTheKeysThatItSeparates) {
    reference::Row row;
    row.dim = 2;
    row.weights = {0.2, 0.4, 0.4};
    row.vectors = {3, 0, 2, 0, 0, 5};
    const Prepared prepared(row);
    const std::vector<std::size_t> order = {1, 2, 0};
    SeparationWalk walk;
    walk.start(prepared.gram, {0, 3}, row.weights.data(), order);
    walk.join();
    walk.join();
    std::vector<std::size_t> keys;
    walk.separated(keys);
    EXPECT_EQ(keys, (std::vector<std::size_t>{1, 2}));
}

TEST(Gram, RepeatedVectorsAreAtDistanceZeroExactly) {
    reference::Row row = random_row(9, 70, 1, 4);
    std::copy_n(row.vectors.begin(), 70, row.vectors.begin() + 70L * 5);  // key 5 is key 0
    for (std::size_t c = 0; c < 70; ++c) {
        row.vectors[70 * 7 + c] = 2 * row.vectors[70 * 2 + c] * (1 + (c == 3 ? 1e-9 : 0));  // 7 nearly along 2
    }
    Gram gram;
    gram.assign(row.vectors.data(), 9, 70, 70);
    const auto least = gram.least_distances({{0, 1}, {0, 5}, {0, 6}, {1, 7}, {1, 9}});
    EXPECT_TRUE(std::isinf(least[0].any));
    EXPECT_GT(least[1].any, 0.5);
    EXPECT_EQ(least[2].any, 0);
    EXPECT_GT(least[2].distinct, 0.5);
    EXPECT_GT(least[3].any, 0.5);  // key 0 is not seen
    EXPECT_GT(least[4].any, 1e-12);
    EXPECT_LT(least[4].any, 1e-9);  // far below what differences of products could tell
}

}  // namespace
}  // namespace flyball::limits
