#include "report/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace flyball::report {
namespace {

void expect_apart(std::vector<double> placed, double gap, double lo, double hi) {
    std::sort(placed.begin(), placed.end());
    for (std::size_t i = 0; i < placed.size(); ++i) {
        EXPECT_GE(placed[i], lo - 1e-9);
        EXPECT_LE(placed[i], hi + 1e-9);
        if (i > 0) {
            EXPECT_GE(placed[i] - placed[i - 1], gap - 1e-9);
        }
    }
}

TEST(PushedApart, LeavesLabelsWithRoomInPlace) {
    const std::vector<double> wanted = {30, 10, 90};
    EXPECT_EQ(pushed_apart(wanted, 15, 0, 100), wanted);
}

TEST(PushedApart, SpreadsAClusterAroundItsMiddle) {
    const std::vector<double> wanted = {50, 50, 50};
    EXPECT_EQ(pushed_apart(wanted, 10, 0, 100), (std::vector<double>{40, 50, 60}));
}

TEST(PushedApart, StaysInsideTheBounds) {
    const std::vector<double> wanted = {0, 1, 2, 100, 99};
    const auto placed = pushed_apart(wanted, 15, 0, 100);
    expect_apart(placed, 15, 0, 100);
    EXPECT_EQ(placed, (std::vector<double>{0, 15, 30, 100, 85}));
}

TEST(PushedApart, KeepsTheGapForAwkwardInputs) {
    std::vector<double> wanted;
    for (int i = 0; i < 20; ++i) {
        wanted.push_back(std::fmod(i * 37.7, 11.0) + (i % 3) * 120);
        expect_apart(pushed_apart(wanted, 14, 0, 300), 14, 0, 300);
    }
}

TEST(PushedApart, TakesTheSmallestSumOfSquares) {
    // As one block: the mean of 10, 12 - 8 and 20 - 16 is 6.
    const std::vector<double> wanted = {10, 12, 20};
    const auto placed = pushed_apart(wanted, 8, -100, 100);
    EXPECT_NEAR(placed[0], 6, 1e-9);
    EXPECT_NEAR(placed[1], 14, 1e-9);
    EXPECT_NEAR(placed[2], 22, 1e-9);
}

TEST(PushedApart, SpreadsEvenlyWhatDoesNotFit) {
    const std::vector<double> wanted(11, 5.0);
    expect_apart(pushed_apart(wanted, 15, 0, 100), 10, 0, 100);
    EXPECT_TRUE(pushed_apart({}, 15, 0, 100).empty());
}

Stretch wave(std::size_t n, double width) {
    Stretch run;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = width * static_cast<double>(i) / static_cast<double>(n);
        run.push_back({x, 100 * std::sin(x * 7.3) * std::cos(static_cast<double>(i))});
    }
    return run;
}

TEST(Thinned, KeepsTheExtremesOfEveryColumn) {
    const Stretch full = wave(50'000, 100);
    const auto runs = thinned({full}, 1);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_LE(runs[0].size(), 400U);
    for (int column = 0; column < 100; ++column) {
        const auto extremes = [&](const Stretch& run) {
            std::pair<double, double> out = {1e9, -1e9};
            for (const Point& point : run) {
                if (std::floor(point.x) == column) {
                    out = {std::min(out.first, point.y), std::max(out.second, point.y)};
                }
            }
            return out;
        };
        EXPECT_EQ(extremes(full), extremes(runs[0])) << column;
    }
    EXPECT_EQ(runs[0].front().x, full.front().x);
    EXPECT_EQ(runs[0].back().x, full.back().x);
}

TEST(Thinned, ChangesNothingThatHasAColumnOfItsOwn) {
    const Stretch run = {{0.5, 1}, {1.5, 2}, {2.5, 0}, {3.5, 1}, {4.5, 1}};
    const auto runs = thinned({run}, 1);
    ASSERT_EQ(runs.size(), 1U);
    ASSERT_EQ(runs[0].size(), 5U);
    EXPECT_EQ(runs[0][1].y, 2);
}

TEST(Thinned, KeepsGapsWiderThanAColumnAndClosesNarrowOnes) {
    const std::vector<Stretch> runs = {{{0.1, 1}}, {{0.5, 2}}, {{3.2, 3}, {3.3, 4}}};
    EXPECT_EQ(thinned(runs, 1).size(), 2U);
    EXPECT_EQ(thinned(runs, 0.1).size(), 3U);
}

TEST(Thinned, ABandCoversWhatItStandsFor) {
    Band band;
    for (int i = 0; i < 1000; ++i) {
        band.push_back({i * 0.01, std::sin(i * 1.0), 2 + std::cos(i * 1.7)});
    }
    const auto bands = thinned({band}, 1);
    ASSERT_EQ(bands.size(), 1U);
    EXPECT_LE(bands[0].size(), 12U);
    EXPECT_EQ(bands[0].front().x, band.front().x);
    EXPECT_EQ(bands[0].back().x, band.back().x);
    for (const Slice& slice : bands[0]) {
        EXPECT_LT(slice.lo, -0.99);
        EXPECT_GT(slice.hi, 2.99);
    }
}

}  // namespace
}  // namespace flyball::report
