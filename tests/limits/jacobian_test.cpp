// Norms of the Jacobian of softmax against eigenvalues and all subsets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limits/jacobian.hpp"
#include "limits/rows.hpp"

namespace flyball::limits {
namespace {

std::vector<double> random_weights(std::size_t keys, double sharpness, std::uint64_t seed) {
    return random_row(keys, 1, sharpness, seed).weights;
}

TEST(SpectralNorm, AgreesWithTheEigenvalues) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        for (const double sharpness : {0.0, 1e-9, 0.1, 1.0, 4.0, 15.0, 60.0}) {
            const std::vector<double> a = random_weights(2 + seed * 2, sharpness, seed);
            EXPECT_NEAR(spectral_norm(a), reference::spectral_norm(a), 1e-13) << seed << " " << sharpness;
        }
    }
}

TEST(SpectralNorm, IsOneHalfAtTwoTiedWeightsAndNeverMore) {
    EXPECT_NEAR(spectral_norm({0.5, 0.5}), 0.5, 1e-15);
    EXPECT_NEAR(spectral_norm({0.5, 0.5, 0, 0}), 0.5, 1e-15);
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        EXPECT_LE(spectral_norm(random_weights(5, 3, seed)), 0.5);
    }
}

TEST(SpectralNorm, OfOneWeightAndOfEqualWeights) {
    EXPECT_EQ(spectral_norm({1}), 0);
    EXPECT_EQ(spectral_norm({0, 1, 0}), 0);
    EXPECT_NEAR(spectral_norm(std::vector<double>(8, 0.125)), 0.125, 1e-15);
    EXPECT_NEAR(spectral_norm({0.9, 0.1}), 2 * 0.9 * 0.1, 1e-15);  // [[p q, -p q], [-p q, p q]]
}

// The weights that `negligible` allows to leave off do not show.
TEST(SpectralNorm, DoesNotFeelNegligibleWeights) {
    std::vector<double> a = {0.6, 0.3, 0.1};
    for (std::size_t i = 0; i < 2000; ++i) {
        a.push_back(0.3 * negligible);
    }
    EXPECT_NEAR(sorted_spectral_norm(3, a.data()), sorted_spectral_norm(a.size(), a.data()), 1e-14);
}

TEST(InfinityNorm, IsTheLargestRowSum) {
    const std::vector<double> a = random_weights(9, 2, 5);
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < a.size(); ++j) {
            sum += std::abs((i == j ? a[i] : 0) - a[i] * a[j]);
        }
        largest = std::max(largest, sum);
    }
    EXPECT_NEAR(infinity_norm(a), largest, 1e-15);
}

TEST(InfinityToOneNorm, HoldsTheValueOfAllSubsets) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        for (const std::size_t keys : {2U, 5U, 11U, 16U}) {
            for (const double sharpness : {0.1, 1.0, 4.0}) {
                const std::vector<double> a = random_weights(keys, sharpness, seed);
                const Interval found = infinity_to_one_norm(a);
                const double truth = reference::infinity_to_one_norm(a);
                EXPECT_LE(found.lower, truth + 1e-12);
                EXPECT_GE(found.upper, truth - 1e-12);
                const double most = *std::max_element(a.begin(), a.end());
                EXPECT_GE(found.lower, 1 - most * most - 1e-12);
                if (most >= 0.5) {
                    EXPECT_NEAR(found.lower, truth, 1e-12);
                    EXPECT_NEAR(found.upper, truth, 1e-12);
                }
            }
        }
    }
}

// 8, 7, 6, 5, 4 of 30: Karmarkar and Karp's own example ends with a difference of 2 (the best is 0).
TEST(Differencing, OfTheTextbookExample) {
    EXPECT_NEAR(differencing({8, 7, 6, 5, 4}), 2, 1e-15);
    EXPECT_EQ(differencing({}), 0);
    EXPECT_EQ(differencing({3}), 3);
}

TEST(Lemma2, BoundsTheJacobianOfAnyNormaliser) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const Random numbers(seed, 3);
        std::vector<double> exponential;
        std::vector<double> squareplus;
        std::vector<double> slope;
        for (std::size_t i = 0; i < 3 + seed; ++i) {
            const double l = 2 * numbers.normal(i);
            exponential.push_back(std::exp(l));
            squareplus.push_back(l + std::sqrt(l * l + 1));
            slope.push_back(1 + l / std::sqrt(l * l + 1));
        }
        EXPECT_LE(reference::spectral_norm(exponential, exponential), lemma2_bound(exponential, exponential));
        EXPECT_LE(reference::spectral_norm(squareplus, slope), lemma2_bound(squareplus, slope));
    }
}

// Three keys with F = 1, 1, 2 and F' = F: 2 (1/3 + sqrt(6)/4/sqrt(3)).
TEST(Lemma2, ByHand) {
    EXPECT_NEAR(lemma2_bound({1, 1, 2}, {1, 1, 2}), 2 * (1.0 / 3 + std::sqrt(6.0) / 4 / std::sqrt(3.0)), 1e-15);
}

}  // namespace
}  // namespace flyball::limits
