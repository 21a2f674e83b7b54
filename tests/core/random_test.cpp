#include "core/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <set>
#include <vector>

#include "core/parallel.hpp"

namespace flyball {
namespace {

// Random123's kat_vectors file, lines "philox4x32 10": counter, key, result.
TEST(Random, GivesThePublishedPhiloxVectors) {
    using Block = std::array<std::uint32_t, 4>;
    EXPECT_EQ(Random(0, 0).block(0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(Random(~0ULL, ~0ULL).block(~0ULL), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    // Counter 243f6a88 85a308d3 13198a2e 03707344, key a4093822 299f31d0: words from low to high.
    EXPECT_EQ(Random(0x299f31d0a4093822, 0x0370734413198a2e).block(0x85a308d3243f6a88),
              (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, BitsAreTheFirstHalfOfTheBlock) {
    EXPECT_EQ(Random(0, 0).bits(0), 0xe169c58d6627e8d5);
}

// The upper 52 bits of the published block, in the middle of their interval: (0xe169c58d6627e + 1/2)/2^52.
TEST(Random, UniformIsTheMiddleOfItsInterval) {
    EXPECT_EQ(Random(0, 0).uniform(0), 0.8805201978886142);
}

TEST(Random, DoesNotDependOnTheOrderOfCalls) {
    const Random random(7, 3);
    std::vector<double> forward(100);
    std::vector<double> backward(100);
    for (std::uint64_t i = 0; i < 100; ++i) {
        forward[i] = random.uniform(i) + random.normal(i);
    }
    for (std::uint64_t i = 100; i-- > 0;) {
        backward[i] = random.uniform(i) + random.normal(i);
    }
    EXPECT_EQ(forward, backward);
}

TEST(Random, FillNormalEqualsNormalOneByOne) {
    const Random random(11, 5);
    for (const std::uint64_t first : {0ULL, 1ULL, 6ULL, 7ULL}) {
        for (std::size_t size = 0; size < 6; ++size) {
            std::vector<double> out(size);
            random.fill_normal(out, first);
            for (std::size_t i = 0; i < size; ++i) {
                EXPECT_EQ(out[i], random.normal(first + i)) << first << " " << i;
            }
        }
    }
}

TEST(Random, SeedsAndStreamsDiffer) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (std::uint64_t stream = 0; stream < 20; ++stream) {
            for (std::uint64_t index = 0; index < 20; ++index) {
                seen.insert(Random(seed, stream).bits(index));
            }
        }
    }
    EXPECT_EQ(seen.size(), 8000U);
    EXPECT_NE(Random(1, 1ULL << 40).bits(0), Random(1, 0).bits(0));
    EXPECT_NE(Random(1ULL << 40, 0).bits(0), Random(0, 0).bits(0));
    EXPECT_NE(Random(1, 0).bits(1ULL << 40), Random(1, 0).bits(0));
}

// Error budget: five standard errors of each estimate, for n samples.
TEST(Random, UniformHasTheMomentsOfTheUniform) {
    const Random random(42, 0);
    const std::uint64_t n = 1'000'000;
    const double root = std::sqrt(static_cast<double>(n));
    double mean = 0;
    double square = 0;
    double neighbours = 0;
    double least = 1;
    double most = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        const double u = random.uniform(i);
        mean += u;
        square += (u - 0.5) * (u - 0.5);
        neighbours += (u - 0.5) * (random.uniform(i + 1) - 0.5);
        least = std::min(least, u);
        most = std::max(most, u);
    }
    const auto count = static_cast<double>(n);
    EXPECT_NEAR(mean / count, 0.5, 5 * std::sqrt(1.0 / 12) / root);
    EXPECT_NEAR(square / count, 1.0 / 12, 5 * std::sqrt(1.0 / 180) / root);
    EXPECT_NEAR(neighbours / count, 0, 5 * (1.0 / 12) / root);
    EXPECT_GT(least, 0.0);
    EXPECT_LT(least, 2e-5);
    EXPECT_LT(most, 1.0);
    EXPECT_GT(most, 1 - 2e-5);
}

TEST(Random, NormalHasTheMomentsOfTheNormal) {
    std::vector<double> x(1'000'000);
    Random(42, 1).fill_normal(x);
    const auto count = static_cast<double>(x.size());
    double m1 = 0;
    double m2 = 0;
    double m3 = 0;
    double m4 = 0;
    double pairs = 0;
    double beyond = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        m1 += x[i];
        m2 += x[i] * x[i];
        m3 += x[i] * x[i] * x[i];
        m4 += x[i] * x[i] * x[i] * x[i];
        pairs += x[i] * x[i ^ 1U];  // the two halves of one Box-Muller pair
        beyond += std::fabs(x[i]) > 3 ? 1 : 0;
    }
    const double root = std::sqrt(count);
    EXPECT_NEAR(m1 / count, 0, 5 / root);
    EXPECT_NEAR(m2 / count, 1, 5 * std::sqrt(2.0) / root);
    EXPECT_NEAR(m3 / count, 0, 5 * std::sqrt(15.0) / root);
    EXPECT_NEAR(m4 / count, 3, 5 * std::sqrt(96.0) / root);
    EXPECT_NEAR(pairs / count, 0, 5 * std::sqrt(2.0) / root);
    const double tail = std::erfc(3 / std::sqrt(2.0));
    EXPECT_NEAR(beyond / count, tail, 5 * std::sqrt(tail) / root);
}

TEST(Random, NormalsStopWhenTheyAreTold) {
    std::vector<double> out(1000);
    const std::atomic<bool> flag{true};
    const StopOn stop(&flag);
    EXPECT_THROW(Random(1, 1).fill_normal(out), Stopped);
}

// Longer than what lies between two looks at the signal, from an odd place on.
TEST(Random, ManyNormalsAreThoseOfTheirPlaces) {
    std::vector<double> out(200'001);
    Random(5, 3).fill_normal(out, 11);
    for (const std::size_t i : {0U, 1U, 65535U, 65536U, 65537U, 131072U, 131073U, 200000U}) {
        EXPECT_EQ(out[i], Random(5, 3).normal(11 + i)) << i;
    }
}

}  // namespace
}  // namespace flyball
