// Distances from the Gram matrix against the definitions on vectors, against every subset, and in closed form.
#include <gtest/gtest.h>

#include <cmath>

#include "limits/rows.hpp"
#include "limits/separation.hpp"

namespace flyball::limits {
namespace {

constexpr double close = 1e-10;  // of the value: Gram matrices cancel a few digits

void expect_close(double found, double wanted, const char* what, std::size_t n) {
    EXPECT_NEAR(found, wanted, close * (1 + std::abs(wanted))) << what << " at N = " << n;
}

TEST(Walk, AgreesWithTheDefinitionsForEveryN) {
    for (const auto& [keys, dim, sharpness] : {std::tuple{3, 2, 1.0}, {7, 5, 3.0}, {33, 4, 0.1}, {40, 64, 8.0}}) {
        const reference::Row row =
            random_row(static_cast<std::size_t>(keys), static_cast<std::size_t>(dim), sharpness, 7);
        const Prepared prepared(row);
        RowWalk walk;
        walk.start(prepared.input);
        EXPECT_EQ(walk.order(), reference::order_of(row.weights));
        for (std::size_t n = 1; n < row.keys(); ++n) {
            walk.join(true);
            const DistanceAtN found = walk.at();
            const DistanceAtN wanted = reference::distances(row, n);
            ASSERT_EQ(found.n, n);
            expect_close(found.mass, wanted.mass, "mass", n);
            expect_close(found.selected, wanted.selected, "|s|", n);
            expect_close(found.distance, wanted.distance, "distance", n);
            expect_close(found.bound, wanted.bound, "bound", n);
            expect_close(found.expected, wanted.expected, "expected", n);
            expect_close(found.expected_rms, wanted.expected_rms, "expected_rms", n);
            if (n > 1) {
                expect_close(found.uniformity, wanted.uniformity, "uniformity", n);
            }
        }
    }
}

TEST(Walk, DistanceWithAllKeysSelectedIsZero) {
    const reference::Row row = random_row(9, 3, 1, 3);
    const Prepared prepared(row);
    RowWalk walk;
    walk.start(prepared.input);
    for (std::size_t n = 0; n < 9; ++n) {
        walk.join(true);
    }
    EXPECT_EQ(walk.distance(), 0);
    EXPECT_NEAR(walk.expected(), 0, 1e-12);
    EXPECT_NEAR(walk.expected_rms(), 0, 1e-12);
}

// Theorem 1.2 is about the mean over all sets of N keys, which ten keys let us write down.
TEST(Expectation, LiesBetweenTheMainSumAndTheRootMeanSquare) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const reference::Row row = random_row(10, 3, static_cast<double>(seed) / 2, seed);
        for (const std::size_t n : {1U, 3U, 6U, 9U}) {
            const double truth = reference::expected_exactly(row, n);
            const double main = reference::expected(row, n);
            EXPECT_LE(main, truth * (1 + 1e-12)) << n;
            EXPECT_GE(main + reference::expected_slack(row, n), truth * (1 - 1e-12)) << n;
            EXPECT_GE(reference::expected_rms(row, n), truth * (1 - 1e-12)) << n;
        }
    }
}

// Ten keys, nine selected: s is the sum of all others of the one key outside, and nothing is left to chance.
TEST(Expectation, IsExactWhenOneKeyIsLeftOutside) {
    const reference::Row row = random_row(10, 4, 1, 11);
    EXPECT_NEAR(reference::expected(row, 9), reference::expected_exactly(row, 9), 1e-12);
    EXPECT_NEAR(reference::expected_rms(row, 9), reference::expected_exactly(row, 9), 1e-12);
}

TEST(Bound, IsNeverViolatedByTheTopSet) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        const reference::Row row = random_row(12, 1 + seed % 5, static_cast<double>(seed % 7), seed);
        for (std::size_t n = 1; n < 12; ++n) {
            const DistanceAtN at = reference::distances(row, n);
            EXPECT_LE(at.distance, at.bound * (1 + 1e-12)) << n << " " << seed;
        }
    }
}

// Equal vectors of length 3: d1 = 0, and every key outside is 3 (abar - alpha_i) away.
TEST(Bound, IsAttainedByEqualVectors) {
    reference::Row row = random_row(20, 4, 2, 5);
    for (std::size_t i = 0; i < row.vectors.size(); ++i) {
        row.vectors[i] = 1.5;
    }
    const Prepared prepared(row);
    RowWalk walk;
    walk.start(prepared.input);
    for (std::size_t n = 1; n < 20; ++n) {
        walk.join(true);
        double inside = 0;
        for (std::size_t k = 0; k < n; ++k) {
            inside += row.weights[walk.order()[k]];
        }
        const double closed = 3 * (inside * static_cast<double>(20 - n) - (1 - inside));
        EXPECT_NEAR(walk.distance(), closed, 1e-6 * closed);
        EXPECT_NEAR(walk.bound(), closed, 1e-6 * closed);
    }
}

TEST(Walk, OfEqualWeightsTheFirstIsSelected) {
    reference::Row row = random_row(6, 2, 0, 1);
    const Prepared prepared(row);
    RowWalk walk;
    walk.start(prepared.input);
    EXPECT_EQ(walk.order(), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
    for (std::size_t n = 1; n < 6; ++n) {
        walk.join(true);
        EXPECT_NEAR(walk.at().distance, reference::distances(row, n).distance, 1e-12);
        EXPECT_NEAR(n > 1 ? walk.at().uniformity : 1, 1, 1e-12);
    }
}

// All weight on one key: s = x_1, every other key is |x_1| away.
TEST(Walk, AllWeightOnOneKey) {
    reference::Row row = random_row(5, 3, 0, 9);
    row.weights = {0, 0, 1, 0, 0};
    const Prepared prepared(row);
    RowWalk walk;
    walk.start(prepared.input);
    walk.join(true);
    EXPECT_EQ(walk.order().front(), 2U);
    EXPECT_NEAR(walk.distance(), 4 * std::sqrt(prepared.gram.diagonal()[2]), 1e-12);
    EXPECT_NEAR(walk.bound(), 4 * std::sqrt(prepared.gram.diagonal()[2]), 1e-12);
    walk.join(true);
    EXPECT_EQ(walk.at().uniformity, 0);
}

// Masked keys are keys of weight 0, before and behind those that are seen; their vectors count in the bound.
TEST(Walk, MaskedKeysCountAsKeysOfWeightZero) {
    reference::Row longer = random_row(10, 3, 1, 21);
    double sum = 0;
    for (const std::size_t hidden : {0U, 1U, 7U, 8U, 9U}) {
        longer.weights[hidden] = 0;
    }
    for (const double weight : longer.weights) {
        sum += weight;
    }
    for (double& weight : longer.weights) {
        weight /= sum;
    }
    const Prepared prepared(longer);
    RowInput seen = prepared.input;
    seen.seen = {2, 7};
    seen.weights += 2;
    seen.along += 2;
    WithMasked masked;
    masked.assign(seen, 10);
    RowWalk walk;
    walk.start(masked.row);
    SeparationWalk separation;
    separation.start(prepared.gram, masked.row.seen, masked.row.weights, walk.order());
    EXPECT_EQ(walk.order()[5], 0U);  // of the masked ones the first is selected first
    EXPECT_EQ(walk.order()[7], 7U);
    const double delta = reference::spread(reference::normalised(longer)).least;
    for (std::size_t n = 1; n < 10; ++n) {
        walk.join(true);
        separation.join();
        const DistanceAtN wanted = reference::distances(longer, n);
        expect_close(walk.at().distance, wanted.distance, "distance", n);
        expect_close(walk.at().bound, wanted.bound, "bound", n);
        expect_close(walk.at().expected, wanted.expected, "expected", n);
        expect_close(walk.at().expected_rms, wanted.expected_rms, "expected_rms", n);
        const SeparationAtN apart = reference::separation(longer, n, delta);
        expect_close(separation.at(delta).lower, apart.lower, "lower", n);
        expect_close(separation.at(delta).upper_exact, apart.upper_exact, "upper_exact", n);
    }
    walk.join(true);
    EXPECT_EQ(walk.distance(), 0);
}

TEST(Walk, NegativeWeightsHaveNoBound) {
    reference::Row row = random_row(5, 3, 0, 9);
    row.weights = {0.6, 0.5, -0.1, 0, 0};
    const Prepared prepared(row);
    RowWalk walk;
    walk.start(prepared.input);
    walk.join(true);
    EXPECT_TRUE(std::isnan(walk.bound()));
    EXPECT_NEAR(walk.distance(), reference::distances(row, 1).distance, 1e-12);
}

// A window of a longer sequence is a row of its own.
TEST(Walk, SeesTheKeysOfItsWindowAlone) {
    const reference::Row all = random_row(12, 3, 1, 31);
    reference::Row window;
    window.dim = 3;
    window.weights.assign(all.weights.begin() + 4, all.weights.begin() + 9);
    window.vectors.assign(all.vectors.begin() + 12, all.vectors.begin() + 27);
    Gram gram;
    gram.assign(all.vectors.data(), 12, 3, 3);
    const Prepared prepared(window);
    RowInput input = prepared.input;
    input.gram = &gram;
    input.seen = {4, 9};
    RowWalk walk;
    walk.start(input);
    for (std::size_t n = 1; n < 5; ++n) {
        walk.join(true);
        EXPECT_NEAR(walk.at().distance, reference::distances(window, n).distance, 1e-12);
        EXPECT_NEAR(walk.at().bound, reference::distances(window, n).bound, 1e-10);
    }
}

}  // namespace
}  // namespace flyball::limits
