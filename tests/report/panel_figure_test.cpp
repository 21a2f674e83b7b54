// Pages of line figures.
#include "report/support.hpp"

namespace flyball::report {
namespace {

using test::expect_sound;
using test::has;
using test::line;
using test::matches;
using test::numbers;

LineFigure small(const std::string& title, std::size_t caption_lines) {
    LineFigure figure;
    figure.title = title;
    figure.x.label = "block";
    figure.y.label = "value";
    figure.series = {line("a", {0, 1}, {1, 2})};
    for (std::size_t i = 0; i < caption_lines; ++i) {
        figure.caption += (i == 0 ? "" : "\n") + std::string("a line of the caption");
    }
    return figure;
}

double height(const std::string& svg) {
    return numbers(matches(svg, "^<svg [^>]* height=\"([0-9.]+)\"")).at(0);
}

// Of the pictures inside the page: x and y, in order.
std::vector<std::pair<double, double>> places(const std::string& svg) {
    const auto x = numbers(matches(svg, "<svg x=\"([0-9.]+)\" y=\"[0-9.]+\" xmlns"));
    const auto y = numbers(matches(svg, "<svg x=\"[0-9.]+\" y=\"([0-9.]+)\" xmlns"));
    std::vector<std::pair<double, double>> found;
    for (std::size_t i = 0; i < x.size(); ++i) {
        found.emplace_back(x[i], y[i]);
    }
    return found;
}

TEST(PanelSvg, PlacesPanelsRowByRow) {
    PanelFigure page;
    page.title = "Five <panels>";
    page.caption = "about all of them";
    // The first panel of each row is the tallest: a row is as tall as its tallest panel.
    page.panels = {small("one", 4), small("two", 0), small("three", 2), small("four", 0), small("five", 0)};
    const std::string svg = to_svg(page);
    expect_sound(svg);
    const auto at = places(svg);
    ASSERT_EQ(at.size(), 6U);  // the heading is a picture of its own
    EXPECT_EQ(at[0], std::pair(0.0, 0.0));
    const double first = at[1].second;
    const double second = first + height(to_svg(page.panels[0]));
    const double third = second + height(to_svg(page.panels[2]));
    EXPECT_GT(height(to_svg(page.panels[0])), height(to_svg(page.panels[1])));
    EXPECT_GT(first, 0);
    EXPECT_EQ(at[1], std::pair(0.0, first));
    EXPECT_EQ(at[2], std::pair(760.0, first));
    EXPECT_EQ(at[3], std::pair(0.0, second));
    EXPECT_EQ(at[4], std::pair(760.0, second));
    EXPECT_EQ(at[5], std::pair(0.0, third));
    EXPECT_EQ(height(svg), third + height(to_svg(page.panels[4])));
    EXPECT_EQ(numbers(matches(svg, "^<svg [^>]* width=\"([0-9.]+)\"")).at(0), 1520);
    EXPECT_TRUE(has(svg, "<title>Five &lt;panels&gt;</title>"));
    EXPECT_TRUE(has(svg, "<desc>A page of figures. one. two. three. four. five.</desc>"));
    EXPECT_TRUE(has(svg, "about all of them"));
    // Each panel is the figure that it is alone.
    for (const LineFigure& panel : page.panels) {
        EXPECT_TRUE(has(svg, to_svg(panel).substr(5)));
    }
}

TEST(PanelSvg, TakesAsManyColumnsAsItIsTold) {
    PanelFigure page;
    page.panels = {small("one", 0), small("two", 0), small("three", 0)};
    page.columns = 1;
    auto at = places(to_svg(page));
    ASSERT_EQ(at.size(), 4U);
    EXPECT_EQ(at[3].first, 0);
    EXPECT_EQ(at[3].second, at[2].second + height(to_svg(page.panels[1])));
    page.columns = 3;
    at = places(to_svg(page));
    EXPECT_EQ(at[3], std::pair(1520.0, at[1].second));
    page.columns = 8;  // no empty places to the right
    EXPECT_TRUE(has(to_svg(page), "width=\"2280\""));
    page.columns = 0;
    EXPECT_EQ(places(to_svg(page)).size(), 4U);
}

TEST(PanelSvg, OfNoPanelsIsItsHeading) {
    PanelFigure page;
    page.title = "Nothing";
    const std::string svg = to_svg(page);
    expect_sound(svg);
    EXPECT_EQ(places(svg).size(), 1U);
    EXPECT_TRUE(has(svg, "<title>Nothing</title>"));
    EXPECT_EQ(to_csv(page), "panel,series,x,y\n");
}

TEST(PanelCsv, HasEveryPointOfEveryPanel) {
    PanelFigure page;
    page.panels = {small("one", 0), small("two, too", 0)};
    page.panels[1].series = {line("b", {3}, {0.25}), line("c", {4, 5}, {test::nan, -1e-300})};
    EXPECT_EQ(to_csv(page),
              "panel,series,x,y\n"
              "one,a,0,1\n"
              "one,a,1,2\n"
              "\"two, too\",b,3,0.25\n"
              "\"two, too\",c,4,nan\n"
              "\"two, too\",c,5,-1e-300\n");
}

TEST(PanelFigures, RefuseAPanelThatIsWrong) {
    PanelFigure page;
    page.panels = {small("one", 0)};
    page.panels[0].series[0].y.pop_back();
    EXPECT_ANY_THROW(to_svg(page));
    EXPECT_ANY_THROW(to_csv(page));
}

}  // namespace
}  // namespace flyball::report
