// Where tokens start, from the definitions in docs/simulate.md.
#include "dynamics/start.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "definitions.hpp"
#include "dynamics/weights.hpp"

namespace flyball::dynamics {
namespace {

using test::dot;
using test::length;
using test::Rows;

// Tokens of one system as rows.
Rows system_of(const Settings& s, std::size_t system) {
    const std::vector<double> all = start_rows(s);
    Rows rows;
    for (std::size_t j = 0; j < s.tokens; ++j) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>((system * s.tokens + j) * s.dim);
        rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(s.dim));
    }
    return rows;
}

Settings of(StartKind start, std::size_t tokens, std::size_t dim) {
    Settings s;
    s.start = start;
    s.tokens = tokens;
    s.dim = dim;
    s.systems = 2;
    s.r0 = 3;
    return s;
}

TEST(Start, SymmetricTokensAreOrthogonalAndOfLengthR0) {
    const Rows x = system_of(of(StartKind::symmetric, 4, 6), 1);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            EXPECT_EQ(dot(x[i], x[j]), i == j ? 9 : 0);
        }
    }
}

// The mean of 20,000 points of the sphere is within 0.04 r0 of its centre, each coordinate's square near 1/d.
TEST(Start, UniformTokensCoverTheSphereOfRadiusR0) {
    const Rows x = system_of(of(StartKind::uniform, 20000, 3), 0);
    std::vector<double> mean(3, 0.0);
    std::vector<double> squares(3, 0.0);
    for (const auto& row : x) {
        EXPECT_NEAR(length(row), 3, 1e-14);
        for (std::size_t c = 0; c < 3; ++c) {
            mean[c] += row[c] / 20000;
            squares[c] += row[c] * row[c] / 20000;
        }
    }
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(mean[c], 0, 0.12);
        EXPECT_NEAR(squares[c], 3, 0.12);
    }
}

// 1 - cosine is half the squared distance of unit vectors, which keeps its digits. In the plane tilts are even in
// [-a, a], where 1 - cos 2a = delta, and some pair of 400 tokens comes close to that.
TEST(Start, NarrowConesAreAsWideAsTheySay) {
    for (const double delta : {1e-2, 1e-14, 1e-16, 1e-20}) {
        Settings s = of(StartKind::cone, 400, 2);
        s.r0 = 1;
        s.cone_delta = delta;
        const Rows x = system_of(s, 0);
        double widest = 0;
        for (const auto& a : x) {
            for (const auto& b : x) {
                widest = std::max(widest, (std::pow(a[0] - b[0], 2) + std::pow(a[1] - b[1], 2)) / 2);
            }
        }
        EXPECT_LE(widest, delta * (1 + 1e-5)) << delta;
        EXPECT_GE(widest, 0.9 * delta) << delta;
    }
}

// By settings alone: the 4,194,304th draw is not the first again.
TEST(Weights, AreDrawnAnewHoweverManyDrawsThereWere) {
    Settings s;
    s.tokens = s.dim = s.ffn_width = 2;
    s.weights = WeightKind::gaussian;
    for (const std::size_t many : {std::size_t{1} << 22U, std::size_t{1} << 23U, std::size_t{1} << 30U}) {
        EXPECT_NE(draw_weights(s, 0, many).head[0].query, draw_weights(s, 0, 0).head[0].query) << many;
        EXPECT_NE(draw_weights(s, 0, many).head[0].query, draw_weights(s, 0, 2 * many).head[0].query) << many;
        EXPECT_NE(draw_feed_forward(s, 0, many).first, draw_feed_forward(s, 0, 0).first) << many;
    }
}

TEST(Start, GaussianTokensHaveUnitVarianceWhateverR0Is) {
    const Rows x = system_of(of(StartKind::gaussian, 10000, 4), 0);
    double sum = 0;
    double squares = 0;
    for (const auto& row : x) {
        for (const double value : row) {
            sum += value / 40000;
            squares += value * value / 40000;
        }
    }
    EXPECT_NEAR(sum, 0, 0.025);
    EXPECT_NEAR(squares, 1, 0.035);
}

// Every pair has a cosine of at least 1 - delta, and among many tokens some pair comes near to it.
TEST(Start, ConeKeepsEveryPairWithinDeltaAndUsesIt) {
    for (const double delta : {0.01, 0.3, 1.0}) {
        for (const std::size_t dim : {2U, 3U}) {
            Settings s = of(StartKind::cone, 300, dim);
            s.cone_delta = delta;
            const Rows x = system_of(s, 1);
            double least = 1;
            for (const auto& a : x) {
                EXPECT_NEAR(length(a), 3, 1e-14);
                for (const auto& b : x) {
                    least = std::min(least, dot(a, b) / 9);
                }
            }
            EXPECT_GE(least, 1 - delta - 1e-12);
            EXPECT_LE(least, 1 - 0.8 * delta) << "the cone is not filled";
        }
    }
}

// 1 - cosine of two rows from their difference: 1 - <a, b> = |a - b|^2/2 for unit rows.
double apart(const std::vector<double>& a, const std::vector<double>& b) {
    const std::vector<double> difference = test::plus(a, -length(a) / length(b), b);
    return dot(difference, difference) / dot(a, a) / 2;
}

TEST(Start, EquiangularTokensHaveTheCosineThatWasAskedForInEveryPair) {
    for (const std::size_t tokens : {2U, 3U, 8U, 65U}) {
        const double least = -1 / static_cast<double>(tokens - 1);
        for (const double rho : {least, 0.9 * least, -1e-12, 0.0, 1e-9, 0.5, 0.999, 1 - 1e-9, 1 - 0x1p-53}) {
            Settings s = of(StartKind::equiangular, tokens, tokens + (tokens == 8 ? 5 : 0));
            s.start_cosine = rho;
            check(s);
            const Rows x = system_of(s, 1);
            for (std::size_t i = 0; i < tokens; ++i) {
                EXPECT_NEAR(length(x[i]), 3, 2e-15 * 3) << tokens << " " << rho;
                for (std::size_t j = 0; j < i; ++j) {
                    EXPECT_NEAR(dot(x[i], x[j]) / 9, rho, 2e-15) << tokens << " " << rho;
                    // Every digit of 1 - rho, however small: 1 - rho itself is exact.
                    EXPECT_NEAR(apart(x[i], x[j]), 1 - rho, 1e-14 * (1 - rho)) << tokens << " " << rho;
                }
            }
        }
    }
}

// Near the lower end the small mean of the tokens keeps its digits: |sum x|^2 = n (1 + (n-1) rho).
TEST(Start, EquiangularTokensKeepTheDigitsOfTheirMeanNearTheLowerEnd) {
    Settings s = of(StartKind::equiangular, 5, 5);
    s.r0 = 1;
    for (const double above : {0x1p-20, 0x1p-40}) {
        s.start_cosine = -0.25 + above;  // exact, and so is 1 + 4 rho = 4 above
        std::vector<double> sum(5, 0.0);
        for (const auto& row : system_of(s, 0)) {
            sum = test::plus(sum, 1, row);
        }
        EXPECT_NEAR(dot(sum, sum), 20 * above, 1e-9 * above);
    }
}

// At the lower end they are the corners of a simplex, which needs a dimension less; above it does not fit.
TEST(Start, EquiangularTokensAtTheLowerEndNeedADimensionLess) {
    for (const std::size_t tokens : {2U, 3U, 4U, 7U, 8U, 50U, 1000U}) {
        Settings s = of(StartKind::equiangular, tokens, tokens - 1);
        s.start_cosine = -1 / static_cast<double>(tokens - 1);
        EXPECT_NO_THROW(check(s)) << tokens;
        EXPECT_EQ(start_dimensions(s), tokens - 1);
        const Rows x = system_of(s, 0);
        EXPECT_NEAR(dot(x[0], x[1]) / 9, s.start_cosine, 1e-15) << tokens;
        EXPECT_NEAR(dot(x[tokens - 1], x[0]) / 9, s.start_cosine, 1e-15) << tokens;
        s.start_cosine *= 0.999;
        EXPECT_THROW(check(s), Error) << tokens;
        s.dim = tokens;
        EXPECT_NO_THROW(check(s)) << tokens;
        s.start_cosine = -1.001 / static_cast<double>(tokens - 1);
        EXPECT_THROW(check(s), Error) << tokens;
    }
    Settings unsaid = of(StartKind::equiangular, 40, 0);
    unsaid.start_cosine = 0.5;
    complete(unsaid);
    EXPECT_EQ(unsaid.dim, 40U);
}

TEST(Start, SystemsDiffer) {
    for (const StartKind start : {StartKind::uniform, StartKind::gaussian, StartKind::cone}) {
        Settings s = of(start, 3, 4);
        s.cone_delta = 0.1;
        EXPECT_NE(system_of(s, 0), system_of(s, 1));
    }
}

// 128 rows of the hidden layer would be 512 MB here; one is 4 MB.
TEST(FeedForward, HoldsNoMoreRowsThanThereAre) {
    FeedForward ffn{1, 500000, std::vector<double>(500000, 0.5), std::vector<double>(500000, 0.25)};
    const auto most = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;  // in kB
    };
    const auto before = most();
    const double in = 2;
    double out = 0;
    ffn(1, &in, &out);
    EXPECT_NEAR(out, 500000 * 0.25 * 0.8413447460685429, 1e-6);  // gelu(1) is the normal distribution at 1
    EXPECT_LT(most() - before, 100000);
}

// N(0, 1/d) whatever the number of heads: 16,384 squares have a mean within 5 % of 1/d.
TEST(Weights, OfSeveralHeadsHaveTheVarianceOfTheWholeWidth) {
    Settings s = of(StartKind::gaussian, 4, 128);
    s.weights = WeightKind::gaussian;
    s.heads = 4;
    const auto weights = draw_weights(s, 0, 0);
    double sum = 0;
    for (const auto& head : weights.head) {
        sum += dot(head.query, head.query);
    }
    EXPECT_NEAR(sum / (128 * 128) * 128, 1, 0.05);
}

// Starts, weights and the FFN of every system have random numbers of their own: no first number of one is that of
// another.
TEST(Start, SharesItsRandomNumbersNeitherWithWeightsNorWithTheFfn) {
    Settings s = of(StartKind::gaussian, 4, 4);
    s.systems = 40;
    s.weights = WeightKind::gaussian;
    s.ffn_width = 4;
    std::vector<double> firsts;
    for (std::size_t m = 0; m < s.systems; ++m) {
        firsts.push_back(start_rows(s)[m * s.tokens * s.dim]);
        const auto weights = draw_weights(s, m, 0);
        firsts.push_back(weights.head[0].query[0] * 2);  // drawn with variance 1/4
        firsts.push_back(weights.head[0].value[0] * 2);
        firsts.push_back(draw_feed_forward(s, m, 0).first[0] * 2);
        firsts.push_back(draw_feed_forward(s, m, 0).second[0] * 2);
    }
    std::sort(firsts.begin(), firsts.end());
    for (std::size_t i = 1; i < firsts.size(); ++i) {
        EXPECT_GT(firsts[i] - firsts[i - 1], 1e-12);
    }
}

// W2 gelu(W1 z) with gelu(z) = z Phi(z): gelu(1) = 0.841344746068543 and gelu(-2) = -0.045500263896358
// (scipy.stats.norm).
TEST(FeedForward, IsGeluBetweenItsMatricesForEveryRow) {
    const FeedForward ffn{1, 2, {1, -2}, {3, 0.5}};
    const std::vector<double> in(131, 1.0);
    std::vector<double> out(131);
    ffn(131, in.data(), out.data());
    for (const double value : out) {
        ASSERT_NEAR(value, 3 * 0.841344746068543 - 0.5 * 0.045500263896358, 1e-14);
    }
}

// Entries have the variance 1/(inputs of the matrix): dim of the first, width of the second. The mean square of 4096
// normal numbers is 1 up to sqrt(2/4096) = 0.022.
TEST(FeedForward, HasMatricesWhoseVarianceIsOneOverTheirInputs) {
    Settings s;
    s.dim = 16;
    s.ffn_width = 256;
    const FeedForward ffn = draw_feed_forward(s, 0, 0);
    ASSERT_EQ(ffn.first.size(), 4096U);
    ASSERT_EQ(ffn.second.size(), 4096U);
    EXPECT_NEAR(dot(ffn.first, ffn.first) / 4096 * 16, 1, 0.1);
    EXPECT_NEAR(dot(ffn.second, ffn.second) / 4096 * 256, 1, 0.1);
}

TEST(FeedForward, HasBothMatricesAnewInEveryDrawAndSystem) {
    Settings s;
    s.dim = 3;
    s.ffn_width = 5;
    const FeedForward one = draw_feed_forward(s, 0, 0);
    for (const auto& [system, draw] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 0}, {1, 1}}) {
        const FeedForward other = draw_feed_forward(s, system, draw);
        EXPECT_NE(other.first, one.first);
        EXPECT_NE(other.second, one.second);
    }
    EXPECT_NE(one.first, one.second);
    EXPECT_EQ(draw_feed_forward(s, 0, 0).second, one.second);
}

}  // namespace
}  // namespace flyball::dynamics
