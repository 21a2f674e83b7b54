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

// Two side by side share the page's width.
std::string half(const LineFigure& figure) {
    Sheet sheet;
    sheet.width_px = 280;
    return to_svg(figure, sheet);
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

TEST(PanelSvg, OnlyThePanelsOwnLineHasItsBand) {
    LineFigure figure = small("two", 0);
    figure.series = {line("a", {0, 1}, {1, 2}), line("b", {0, 1}, {3, 4})};
    for (Series& series : figure.series) {
        series.lo = {0, 1};
        series.hi = {5, 6};
    }
    const PanelFigure page = in_panels(figure);
    ASSERT_EQ(page.panels.size(), 2U);
    for (const LineFigure& panel : page.panels) {
        ASSERT_EQ(panel.series.size(), 2U);
        EXPECT_TRUE(panel.series[0].lo.empty() && panel.series[0].hi.empty()) << "of the other line, behind it";
        EXPECT_EQ(panel.series[1].hi, (std::vector<double>{5, 6}));
    }
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
    const double second = first + height(half(page.panels[0]));
    const double third = second + height(half(page.panels[2]));
    EXPECT_GT(height(half(page.panels[0])), height(half(page.panels[1])));
    EXPECT_GT(first, 0);
    EXPECT_EQ(at[1], std::pair(0.0, first));
    EXPECT_EQ(at[2], std::pair(280.0, first));
    EXPECT_EQ(at[3], std::pair(0.0, second));
    EXPECT_EQ(at[4], std::pair(280.0, second));
    EXPECT_EQ(at[5], std::pair(0.0, third));
    EXPECT_EQ(height(svg), third + height(half(page.panels[4])));
    EXPECT_EQ(numbers(matches(svg, "^<svg [^>]* width=\"([0-9.]+)\"")).at(0), 560);
    EXPECT_TRUE(has(svg, "<title>Five &lt;panels&gt;</title>"));
    EXPECT_TRUE(has(svg, "<desc>A page of figures. one. two. three. four. five.</desc>"));
    EXPECT_TRUE(has(svg, "about all of them"));
    // Each panel is the figure that it is alone.
    for (const LineFigure& panel : page.panels) {
        EXPECT_TRUE(has(svg, half(panel).substr(5)));
    }
}

TEST(PanelSvg, TakesAsManyColumnsAsItIsToldAndHasRoomFor) {
    PanelFigure page;
    page.panels = {small("one", 0), small("two", 0), small("three", 0)};
    page.columns = 1;
    auto at = places(to_svg(page));
    ASSERT_EQ(at.size(), 4U);
    EXPECT_EQ(at[3].first, 0);
    EXPECT_EQ(at[3].second, at[2].second + height(to_svg(page.panels[1])));
    page.columns = 3;
    EXPECT_EQ(places(to_svg(page))[2].first, 280) << "three would be too narrow";
    Sheet wide;
    wide.width_px = 900;
    at = places(to_svg(page, wide));
    EXPECT_EQ(at[3], std::pair(600.0, at[1].second));
    page.columns = 8;  // no empty places to the right
    EXPECT_EQ(places(to_svg(page, wide))[3].first, 600);
    page.columns = 0;
    EXPECT_EQ(places(to_svg(page)).size(), 4U);
}

TEST(InPanels, EachLineStandsBeforeTheOthersOnTheSameAxes) {
    LineFigure figure{"all", {"x", {}, {}, {}}, {"y", {}, {}, {}}, {}, "about"};
    figure.series = {line("low", {0, 1}, {0, 1}), line("high", {0, 2}, {5, 10})};
    figure.series[1].style = {"#123456", "6 2"};
    const PanelFigure page = in_panels(figure);
    EXPECT_EQ(page.title, "all");
    EXPECT_EQ(page.caption, "about");
    ASSERT_EQ(page.panels.size(), 2U);
    for (const LineFigure& panel : page.panels) {
        EXPECT_EQ(panel.x.max, 2);
        EXPECT_GE(*panel.y.max, 10);
        EXPECT_EQ(panel.y.min, page.panels[0].y.min);
        ASSERT_EQ(panel.series.size(), 2U);
        EXPECT_EQ(panel.title, panel.series.back().name);
        EXPECT_FALSE(panel.names);
    }
    EXPECT_EQ(page.panels[1].series.back().style.colour, "#123456");
    EXPECT_EQ(page.panels[1].series.front().style.colour, "#c4c8ce");
    const std::string svg = to_svg(page);
    expect_sound(svg);
    EXPECT_EQ(matches(svg, "(class=\"t-)").size(), 0U) << "the titles name the lines";
}

TEST(InPanels, EachLineHasTheColourThatItHasAmongTheOthers) {
    LineFigure figure;
    figure.series = {line("a", {0, 1}, {0, 1}), line("b", {0, 1}, {1, 2}), line("c", {0, 1}, {2, 3})};
    const auto together = matches(to_svg(figure), "<g stroke=\"(#[0-9a-f]+)\" fill=\"none\" stroke-linejoin");
    ASSERT_EQ(together.size(), 3U);
    EXPECT_NE(together[0], together[1]);
    const PanelFigure page = in_panels(figure);
    ASSERT_EQ(page.panels.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(page.panels[i].series.back().style.colour, together[i]) << i;
    }
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
    page.panels[1].series = {line("b", {3}, {0.25}), line("c, d", {4, 5}, {test::nan, -1e-300})};
    EXPECT_EQ(to_csv(page),
              "panel,series,x,y\n"
              "one,a,0,1\n"
              "one,a,1,2\n"
              "\"two, too\",b,3,0.25\n"
              "\"two, too\",\"c, d\",4,nan\n"
              "\"two, too\",\"c, d\",5,-1e-300\n");
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
