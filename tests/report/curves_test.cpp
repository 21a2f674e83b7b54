// Series in pixels: where bands lie that an axis cannot show, and where labels go.
#include "report/curves.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace flyball::report {
namespace {

// x from 0 to 3, y from 1 to 100, on a plot of 300 by 200 pixels.
Plot plot_of(LineFigure& figure) {
    figure.y.min = 1;
    figure.y.max = 100;
    Plot plot;
    plot.left = 10;
    plot.top = 20;
    plot.width = 300;
    plot.height = 200;
    std::tie(plot.x, plot.y) = rulers(figure);
    return plot;
}

TEST(Curves, ABandThatReachesZeroEndsBelowALogAxis) {
    LineFigure figure;
    figure.y.scale = Scale::log;
    Series series;
    series.name = "band";
    series.x = {0, 1, 2, 3};
    series.y = {10, 10, 10, 10};
    series.lo = {5, 0, -1, 5};
    series.hi = {20, 20, 20, 20};
    figure.series = {series};
    const Plot plot = plot_of(figure);
    const std::vector<Curve> curves = make_curves(figure, plot);
    ASSERT_EQ(curves[0].bands.size(), 1U);
    const Band& band = curves[0].bands[0];
    ASSERT_EQ(band.size(), 4U);
    for (const std::size_t i : {1U, 2U}) {
        EXPECT_NEAR(band[i].lo, plot.at_y(20), 1e-9);  // pixels grow downwards
        EXPECT_GE(band[i].hi, plot.bottom());
    }
    EXPECT_NEAR(band[0].hi, plot.at_y(5), 1e-9);
}

TEST(Curves, ABandEndsBeforeAGapAndBeginsAnewAfterIt) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    LineFigure figure;
    figure.series = {
        {"band", {0, 1, 1.5, 2, 3}, {50, 50, nan, 50, 50}, {40, 40, nan, 40, 40}, {60, 60, 60, 60, 60}, {}}};
    const Plot plot = plot_of(figure);
    const std::vector<Curve> curves = make_curves(figure, plot);
    ASSERT_EQ(curves[0].bands.size(), 2U);
    ASSERT_EQ(curves[0].bands[0].size(), 2U);
    EXPECT_NEAR(curves[0].bands[0].back().x, plot.at_x(1), 1e-9);
    EXPECT_NEAR(curves[0].bands[1].front().x, plot.at_x(2), 1e-9);
}

TEST(Curves, TheLabelOfALineThatLeavesStandsAtItsLastPointInside) {
    LineFigure figure;
    Series series;
    series.name = "leaving";
    series.x = {0, 1, 2, 3};
    series.y = {10, 50, 90, 400};
    figure.series = {series};
    const Plot plot = plot_of(figure);
    const std::vector<Curve> curves = make_curves(figure, plot);
    EXPECT_TRUE(curves[0].leaves);
    EXPECT_NEAR(curves[0].end.x, plot.at_x(2), 1e-9);
    EXPECT_NEAR(curves[0].end.y, plot.at_y(90), 1e-9);
}

}  // namespace
}  // namespace flyball::report
