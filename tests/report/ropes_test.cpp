// Where curves that are drawn over each other are seen as dashes of a rope.
#include "report/ropes.hpp"

#include "report/support.hpp"

namespace flyball::report::ropes_test {
namespace {

constexpr double left = 40;

Plot plot_of_width(double width) {
    Plot plot;
    plot.left = left;
    plot.top = 20;
    plot.width = width;
    plot.height = 100;
    return plot;
}

// From one place to another, counted from the left edge of the plot.
Curve flat(double y, double from, double to) {
    Curve curve;
    curve.runs = {{{left + from, y}, {left + to, y}}};
    return curve;
}

// A plot that is w wide has a column at its left edge and w more, of which the last is its right edge.
TEST(Strands, GoFromTheFirstColumnOfThePlotToTheLast) {
    for (const double width : {90.0, 91.0, 92.0, 90.75}) {
        const Plot plot = plot_of_width(width);
        const auto found = strands({flat(50, 0, width), flat(50, 0, width)}, plot);
        ASSERT_EQ(found.size(), 1U) << width;
        EXPECT_EQ(found[0].curve, 0U) << "the one that is drawn first is hidden";
        ASSERT_FALSE(found[0].points.empty());
        EXPECT_EQ(found[0].points.front().x, left) << width;
        EXPECT_EQ(found[0].points.back().x, left + std::floor(width)) << width;
        for (const Point& point : found[0].points) {
            EXPECT_EQ(point.y, 50);
        }
    }
}

// Of three together each is seen on a third of the way: a dash of 7, then a gap of two dashes. The first dash of a
// curve begins behind those of the curves that are drawn over it.
TEST(Strands, TakeTurns) {
    const auto two = strands({flat(50, 0, 90), flat(50, 0, 90)}, plot_of_width(90));
    ASSERT_EQ(two.size(), 1U);
    EXPECT_EQ(two[0].gap, 7);
    EXPECT_EQ(two[0].before, 7);
    const auto three = strands({flat(50, 0, 90), flat(50, 0, 90), flat(50, 0, 90)}, plot_of_width(90));
    ASSERT_EQ(three.size(), 2U);
    EXPECT_EQ(three[0].curve, 0U);
    EXPECT_EQ(three[0].gap, 14);
    EXPECT_EQ(three[0].before, 14);
    EXPECT_EQ(three[1].curve, 1U);
    EXPECT_EQ(three[1].gap, 14);
    EXPECT_EQ(three[1].before, 7);
}

// Less than 1.2 apart, on either side.
TEST(Strands, AreOfCurvesThatTouch) {
    const auto count = [](double apart) {
        return strands({flat(50, 0, 90), flat(50 + apart, 0, 90)}, plot_of_width(90)).size();
    };
    EXPECT_EQ(count(1.1), 1U);
    EXPECT_EQ(count(-1.1), 1U);
    EXPECT_EQ(count(1.3), 0U);
    EXPECT_EQ(count(-1.3), 0U);
}

// Two dashes are 14 columns: the columns 30 to 43 are 14 of them, 30 to 42 are 13.
TEST(Strands, AreAtLeastTwoDashesLong) {
    const auto together = [](double from, double to) {
        return strands({flat(50, from, to), flat(50, 0, 90)}, plot_of_width(90));
    };
    EXPECT_EQ(together(30, 42).size(), 0U);
    const auto found = together(30, 43);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].points.front().x, left + 30);
    EXPECT_EQ(found[0].points.back().x, left + 43);
}

// The plot is from 20 to 120, and a line on its edge still belongs to it.
TEST(Strands, AreInThePlotAndOfCurvesThatGoToTheRight) {
    const auto count = [](double y) { return strands({flat(y, 0, 90), flat(y, 0, 90)}, plot_of_width(90)).size(); };
    EXPECT_EQ(count(19.5), 1U);
    EXPECT_EQ(count(18.5), 0U);
    EXPECT_EQ(count(120.5), 1U);
    EXPECT_EQ(count(121.5), 0U);
    EXPECT_EQ(strands({flat(50, 90, 0), flat(50, 0, 90)}, plot_of_width(90)).size(), 0U);
}

}  // namespace
}  // namespace flyball::report::ropes_test
