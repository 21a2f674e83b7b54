// Where tokens start, from the definitions in docs/simulate.md.
#include "dynamics/start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

TEST(Start, SystemsDiffer) {
    for (const StartKind start : {StartKind::uniform, StartKind::gaussian, StartKind::cone}) {
        Settings s = of(start, 3, 4);
        s.cone_delta = 0.1;
        EXPECT_NE(system_of(s, 0), system_of(s, 1));
    }
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
