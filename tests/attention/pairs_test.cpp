// Sums over pairs and components, against plain loops over the definition.
#include "attention/pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"

namespace flyball::attention {
namespace {

double cosine(const std::vector<double>& z, std::size_t d, std::size_t j, std::size_t k) {
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) {
        sum += z[j * d + c] * z[k * d + c];
    }
    return sum;
}

double plain_sum(const std::vector<double>& z, std::size_t n, std::size_t d, double beta) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) {
            sum += std::exp(beta * (cosine(z, d, j, k) - 1));
        }
    }
    return sum;
}

std::size_t plain_components(const std::vector<double>& z, std::size_t n, std::size_t d, double level) {
    std::vector<std::size_t> label(n, n);
    std::size_t count = 0;
    for (std::size_t seed = 0; seed < n; ++seed) {
        if (label[seed] != n) {
            continue;
        }
        std::vector<std::size_t> front = {seed};
        label[seed] = count;
        while (!front.empty()) {
            const std::size_t from = front.back();
            front.pop_back();
            for (std::size_t k = 0; k < n; ++k) {
                if (label[k] == n && cosine(z, d, from, k) > level) {
                    label[k] = count;
                    front.push_back(k);
                }
            }
        }
        ++count;
    }
    return count;
}

// Unit vectors: scattered, or in clumps of a given width.
std::vector<double> points(std::size_t n, std::size_t d, std::size_t clumps, double width, std::uint64_t seed) {
    std::vector<double> centres(clumps * d);
    Random(seed, 1).fill_normal(centres);
    std::vector<double> z(n * d);
    Random(seed, 2).fill_normal(z);
    for (std::size_t j = 0; j < n; ++j) {
        double squares = 0;
        for (std::size_t c = 0; c < d; ++c) {
            double& value = z[j * d + c];
            value = clumps == 0 ? value : centres[(j % clumps) * d + c] + width * value;
            squares += value * value;
        }
        for (std::size_t c = 0; c < d; ++c) {
            z[j * d + c] /= std::sqrt(squares);
        }
    }
    return z;
}

TEST(Pairs, SumsAndComponentsAgreeWithTheirDefinitions) {
    for (const std::size_t n : {1U, 2U, 3U, 31U, 192U, 193U, 500U}) {
        for (const std::size_t d : {1U, 2U, 3U, 4U, 7U, 33U}) {
            for (const std::size_t clumps : {0U, 5U}) {
                const std::vector<double> z = points(n, d, clumps, 0.02, n + 10 * d);
                for (const double beta : {0.0, 1.0, 50.0}) {
                    const PairStatistics result = pair_statistics(n, d, z.data(), beta, 0.999);
                    const double expected = plain_sum(z, n, d, beta);
                    EXPECT_NEAR(result.exponential_sum, expected, 1e-12 * expected) << n << " " << d << " " << beta;
                    EXPECT_EQ(result.components, plain_components(z, n, d, 0.999)) << n << " " << d << " " << clumps;
                }
            }
        }
    }
}

std::uint64_t plain_above(const std::vector<double>& z, std::size_t n, std::size_t d, double level) {
    std::uint64_t count = 0;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = j + 1; k < n; ++k) {
            count += cosine(z, d, j, k) > level ? 1 : 0;
        }
    }
    return count;
}

// Tiles, and on the circle from 1024 tokens on sorted angles; levels on both sides of 0.
TEST(Pairs, AboveALevelAreCountedAsTheDefinitionCountsThem) {
    for (const std::size_t n : {1U, 2U, 3U, 191U, 192U, 193U, 400U, 1100U}) {
        for (const std::size_t d : {2U, 3U, 7U}) {
            for (const std::size_t clumps : {0U, 5U}) {
                const std::vector<double> z = points(n, d, clumps, 0.02, n + 10 * d);
                for (const double level : {-0.7, 0.0, 0.5, 0.999}) {
                    const PairStatistics beside = pair_statistics(n, d, z.data(), 1, 0.999, level);
                    EXPECT_EQ(beside.above, plain_above(z, n, d, level)) << "beside the components at 0.999";
                    EXPECT_EQ(beside.components, pair_statistics(n, d, z.data(), 1, 0.999).components);
                    EXPECT_EQ(pair_statistics(n, d, z.data(), 1, std::nullopt, level).above, beside.above)
                        << n << " tokens in " << d << " dimensions, " << clumps << " clumps, above " << level;
                }
            }
        }
    }
    EXPECT_FALSE(pair_statistics(1, 2, std::vector<double>{1, 0}.data(), 1, 0.999).above.has_value());
}

TEST(Pairs, AboveALevelCountAcrossMinusPiAndWithZeroRows) {
    for (const std::size_t n : {40U, 2000U}) {  // tiles, and angles
        std::vector<double> z;
        for (std::size_t i = 0; i < n; ++i) {
            const double angle = M_PI + 0.01 * (static_cast<double>(i) / static_cast<double>(n) - 0.5);
            z.push_back(std::cos(angle));
            z.push_back(std::sin(angle));
        }
        EXPECT_EQ(pair_statistics(n, 2, z.data(), 1, std::nullopt, 0.999).above, n * (n - 1) / 2) << n;
        z[4] = z[5] = z[8] = z[9] = 0;  // two tokens without a direction
        EXPECT_EQ(pair_statistics(n, 2, z.data(), 1, std::nullopt, 0.999).above, (n - 2) * (n - 3) / 2) << n;
        EXPECT_EQ(pair_statistics(n, 2, z.data(), 1, std::nullopt, -0.5).above, n * (n - 1) / 2) << n;
        EXPECT_EQ(pair_statistics(n, 2, z.data(), 1, std::nullopt, 0.0).above, (n - 2) * (n - 3) / 2) << n;
    }
}

// Two groups of 600 tokens on both sides of the angle pi, 0.27 apart: pairs within 0.045 are those of each group.
TEST(Pairs, AboveALevelDoNotReachAcrossMinusPiFartherThanTheLevel) {
    std::vector<double> z;
    for (int i = 0; i < 1200; ++i) {
        const double angle = (i % 2 == 0 ? 3 : -3) + 1e-5 * i;
        z.push_back(std::cos(angle));
        z.push_back(std::sin(angle));
    }
    EXPECT_EQ(pair_statistics(1200, 2, z.data(), 1, std::nullopt, 0.999).above, std::uint64_t{600 * 599});
}

TEST(Pairs, FourierSumsOnTheCircleAgreeWithTheDefinition) {
    const std::size_t n = 2000;
    for (const std::size_t clumps : {0U, 3U}) {
        const std::vector<double> z = points(n, 2, clumps, 0.1, 4);
        for (const double beta : {0.0, 0.3, 9.0, 1000.0, -2.0}) {
            const double expected = plain_sum(z, n, 2, beta);
            EXPECT_NEAR(pair_statistics(n, 2, z.data(), beta, std::nullopt).exponential_sum, expected, 1e-11 * expected)
                << beta;
        }
    }
}

// Terms of opposite tokens, e^40 times those of near ones, are not there.
TEST(Pairs, SumsOfNearTokensOnTheCircleAtANegativeBetaKeepTheirDigits) {
    const std::vector<double> z = points(1100, 2, 1, 0.01, 4);
    const double expected = plain_sum(z, 1100, 2, -20);
    EXPECT_NEAR(pair_statistics(1100, 2, z.data(), -20, std::nullopt).exponential_sum, expected, 1e-11 * expected);
}

TEST(Pairs, ComponentsOfChainsAndOfOnePointAreFound) {
    // A chain of steps of cosine 0.9995 half around the equator, in two and three dimensions, and its antipode alone.
    const double step = std::acos(0.9995);
    for (const std::size_t d : {2U, 3U, 4U}) {
        std::vector<double> z;
        const auto add = [&](double angle) {
            std::vector<double> row(d, 0.0);
            row[0] = std::cos(angle);
            row[d - 1] = std::sin(angle);
            z.insert(z.end(), row.begin(), row.end());
        };
        for (int i = 0; i < 60; ++i) {
            add(i * step);
        }
        add(59 * step + 2 * std::acos(0.999));
        EXPECT_EQ(pair_statistics(61, d, z.data(), 1, 0.999).components, 2U) << d;
        const std::vector<double> same(300 * d, 1 / std::sqrt(static_cast<double>(d)));
        EXPECT_EQ(pair_statistics(300, d, same.data(), 1, 0.999).components, 1U) << d;
    }
}

TEST(Pairs, AllAroundTheCircleIsOneComponentAlsoAcrossMinusPi) {
    std::vector<double> z;
    for (int i = 0; i < 200; ++i) {
        z.push_back(std::cos(2 * M_PI * i / 200));
        z.push_back(std::sin(2 * M_PI * i / 200));
    }
    EXPECT_EQ(pair_statistics(200, 2, z.data(), 1, 0.999).components, 1U);
    // One gap leaves one arc, two gaps two.
    EXPECT_EQ(pair_statistics(190, 2, z.data(), 1, 0.999).components, 1U);
    z.erase(z.begin() + 200, z.begin() + 220);
    EXPECT_EQ(pair_statistics(180, 2, z.data(), 1, 0.999).components, 2U);
}

// Zero rows (a readout that vanishes) have cosine 0 with all others and with each other, on the circle as elsewhere;
// 1100 tokens take the sum by Fourier series, fewer take tiles.
TEST(Pairs, ZeroRowsOnTheCircleAreAtNoAngle) {
    for (const std::size_t n : {std::size_t{40}, std::size_t{1100}}) {
        for (const std::size_t zeros : {std::size_t{1}, std::size_t{7}, n}) {
            std::vector<double> z = points(n, 2, 3, 0.01, 5);
            for (std::size_t i = 0; i < zeros; ++i) {
                z[2 * i] = z[2 * i + 1] = 0;
            }
            const double level = 1 - 1e-3;
            const PairStatistics found = pair_statistics(n, 2, z.data(), 1, level);
            const double sum = plain_sum(z, n, 2, 1);
            EXPECT_NEAR(found.exponential_sum, sum, 1e-10 * sum) << n << ' ' << zeros;
            EXPECT_EQ(found.components, plain_components(z, n, 2, level)) << n << ' ' << zeros;
            EXPECT_EQ(pair_statistics(n, 2, z.data(), 1, -0.5).components, std::size_t{1});
        }
    }
    const std::vector<double> between = {std::cos(0.001), -std::sin(0.001), 0, 0, std::cos(0.001), std::sin(0.001)};
    EXPECT_EQ(pair_statistics(3, 2, between.data(), 1, 1 - 1e-3).components, std::size_t{2});
}

TEST(Pairs, TheNumberOfThreadsDoesNotMatter) {
    const std::vector<double> z = points(700, 5, 0, 0, 3);
    const int before = threads();
    set_threads(1);
    const double one = pair_statistics(700, 5, z.data(), 2, 0.999).exponential_sum;
    set_threads(2);
    const double two = pair_statistics(700, 5, z.data(), 2, 0.999).exponential_sum;
    set_threads(before);
    EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace flyball::attention
