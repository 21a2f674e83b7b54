// The formulas of the second paper beside their definitions on rows that are small enough to go through every case, and
// the analyses that its claims share.
#include "claims/limits_paper.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "claims/limits_model.hpp"
#include "claims/limits_rows.hpp"

namespace flyball::claims {
namespace {

// Theorem 1.2 with five keys, two of them drawn: a key that is not drawn is at the distance |a_i - a_j - a_k|, where
// {j, k} is one of the six pairs of the others, all equally likely; it stays outside with probability 3/5.
TEST(TheoremOneExpectation, IsTheMeanOverAllPairsOfTheOthers) {
    SelectionRow row;
    row.alpha = {0.4, 0.25, 0.2, 0.1, 0.05};
    row.x = {1, 2, -1, 0.5, 3, -2, 0.7, 4, -6, 1};
    row.dim = 2;
    double main = 0;
    double slack = 0;
    double rms = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        double x = 0;  // means over pairs: of a_i - a_j - a_k, and of its square
        double y = 0;
        double squares = 0;
        for (std::size_t j = 0; j < 5; ++j) {
            for (std::size_t k = 0; k < j; ++k) {
                if (j != i && k != i) {
                    const auto off = [&](std::size_t c) {
                        return row.alpha[i] * row.x[2 * i + c] - row.alpha[j] * row.x[2 * j + c] -
                               row.alpha[k] * row.x[2 * k + c];
                    };
                    x += off(0) / 6;
                    y += off(1) / 6;
                    squares += (off(0) * off(0) + off(1) * off(1)) / 6;
                }
            }
        }
        main += 0.6 * std::hypot(x, y);
        slack += 0.6 * std::sqrt(squares - x * x - y * y);
        rms += 0.6 * std::sqrt(squares);
    }
    const Expectation found = theorem_1_expectation(row, 2);
    EXPECT_NEAR(found.main, main, 1e-12);
    EXPECT_NEAR(found.slack, slack, 1e-12);
    EXPECT_NEAR(found.rms, rms, 1e-12);
}

TEST(BoundCheck, ABoundIsAttainedWhereItIsInEveryCaseThatIsSaidToAttainIt) {
    BoundCheck check;
    check.see(3, 4);
    check.see_attaining(1, 2);
    check.see_attaining(2, 2);
    EXPECT_EQ(check.attaining(), 0.5);
    EXPECT_FALSE(check.attained());
    EXPECT_TRUE(check.never_above());
    EXPECT_EQ(check.largest(), 1);
    EXPECT_EQ(check.count(), 3U);
    BoundCheck all;
    all.see_attaining(2, 2);
    all.see_attaining(3.98, 4);
    EXPECT_TRUE(all.sound());
}

TEST(Analyses, AreKeptByTheirSettings) {
    const auto tokens = [](std::size_t length, limits::Vectors vectors) {
        limits::Settings settings;
        settings.lengths = {length};
        settings.vectors = vectors;
        return analysed({}, settings, "builtin:pre-ln").about;
    };
    const std::string one = tokens(8, limits::Vectors::hidden);
    EXPECT_NE(one.find(" 8 tokens, vectors: hidden"), std::string::npos) << one;
    EXPECT_NE(tokens(12, limits::Vectors::hidden).find(" 12 tokens, vectors: hidden"), std::string::npos);
    EXPECT_NE(tokens(8, limits::Vectors::value).find(" 8 tokens, vectors: value"), std::string::npos);
    EXPECT_EQ(tokens(8, limits::Vectors::hidden), one);
}

}  // namespace
}  // namespace flyball::claims
