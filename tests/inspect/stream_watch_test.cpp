#include "inspect/stream_watch.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flyball::inspect {
namespace {

TEST(MassiveActivations, AreAboveAHundredAndAThousandMedians) {
    std::vector<float> x(2 * 3 * 4, 0.1F);
    const model::Batch batch(2, 3);
    x[1 * 4 + 2] = 150;         // sequence 0, token 1, channel 2
    x[(3 + 2) * 4 + 3] = -400;  // sequence 1, token 2, channel 3
    x[0] = 99;                  // large beside the others, and not large
    const auto found = massive_activations(x.data(), batch, 4, 0.1, 7);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].value, -400);
    EXPECT_EQ(found[0].layer, 7U);
    EXPECT_EQ(found[0].sequence, 1U);
    EXPECT_EQ(found[0].token, 2U);
    EXPECT_EQ(found[0].channel, 3U);
    EXPECT_EQ(found[1].value, 150);
    EXPECT_EQ(found[1].sequence, 0U);
    EXPECT_EQ(found[1].token, 1U);
    EXPECT_EQ(found[1].channel, 2U);
    EXPECT_EQ(massive_activations(x.data(), batch, 4, 0.2, 7).size(), 1U);  // 150 is 750 times as large
    EXPECT_TRUE(massive_activations(x.data(), batch, 4, 0.5, 7).empty());
}

TEST(MassiveActivations, AreTheThreeLargest) {
    const std::vector<float> x = {200, 500, -300, 400, 0.1F, 0.1F};
    const auto found = massive_activations(x.data(), 1, 6, 0.1, 0);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].value, 500);
    EXPECT_EQ(found[1].value, 400);
    EXPECT_EQ(found[2].value, -300);
}

TEST(StreamMeasures, OfSeveralWindowsAreMeansOfEach) {
    // Window 0: two equal tokens. Window 1: two orthogonal ones of equal length, whose rank is 2.
    const std::vector<float> x = {1, 0, 1, 0, 2, 0, 0, 2};
    LayerReport report;
    measure_stream(x.data(), model::Batch(2, 2), 2, report);
    EXPECT_NEAR(report.cosine, 0.5, 1e-12);
    EXPECT_NEAR(report.effective_rank, (1 + 2) / 2.0, 1e-12);
    // Window 1 minus its mean row (1, 1): entries +-1, so column and row sums are 2; of the window itself 2 and 2.
    EXPECT_NEAR(report.collapse_residual, (0 + 1) / 2.0, 1e-12);
    EXPECT_NEAR(report.norm_median, 1.5, 1e-12);
    EXPECT_EQ(report.largest, 2);
    EXPECT_EQ(report.median_abs, 0);
}

TEST(StreamMeasures, OfNotANumberAreNone) {
    const std::vector<float> x = {1, 0, NAN, 0};
    LayerReport report;
    measure_stream(x.data(), 2, 2, report);
    EXPECT_TRUE(std::isnan(report.median_abs) && std::isnan(report.largest) && std::isnan(report.norm_median));
}

}  // namespace
}  // namespace flyball::inspect
