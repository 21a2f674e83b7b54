#include <algorithm>
#include <array>

#include "core/support.hpp"
#include "report/support.hpp"

namespace flyball::report {
namespace {

using test::expect_sound;
using test::has;
using test::infinity;
using test::line;
using test::matches;
using test::nan;
using test::numbers;

LineFigure many(std::size_t n, bool together) {
    LineFigure figure{"Many", {"t", {}, {}, {}}, {"y", {}, {}, {}}, {}, "settings"};
    for (std::size_t s = 0; s < n; ++s) {
        figure.series.push_back(line("series " + std::to_string(s % 7), {0, 1, 2},
                                     {0, static_cast<double>(s), together ? 1.0 : static_cast<double>(s)}));
    }
    return figure;
}

// Baselines of the names of lines.
std::vector<double> label_heights(const std::string& svg) {
    auto out = numbers(matches(svg, "y=\"([-0-9.]+)\" class=\"t-[0-9a-f]+\""));
    std::sort(out.begin(), out.end());
    return out;
}

// The rectangle of the plot: left, top, right, bottom, from its two axes.
std::array<double, 4> plot_of(const std::string& svg) {
    const auto at = [&](const char* pattern) { return numbers(matches(svg, pattern)).at(0); };
    return {at("M([0-9.]+) [0-9.]+V[0-9.]+M"), at("M[0-9.]+ ([0-9.]+)V[0-9.]+M"), at("M[0-9.]+ [0-9.]+H([0-9.]+)M"),
            at("M[0-9.]+ ([0-9.]+)H[0-9.]+M")};
}

Series long_line(const std::string& name, double height) {
    Series series = line(name, {}, {});
    for (int i = 0; i <= 100; ++i) {
        series.x.push_back(i);
        series.y.push_back(height + 0.5 * i);
    }
    return series;
}

TEST(LineSvg, IsSoundForAnOrdinaryFigure) {
    LineFigure figure = many(5, false);
    figure.series[0].lo = {-1, -1, -1};
    figure.series[0].hi = {1, 1, 1};
    figure.series[1].style = {"#123456", "6 2"};
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_TRUE(has(svg, "<title>Many</title>"));
    EXPECT_TRUE(has(svg, "fill-opacity=\"0.16\""));
    EXPECT_TRUE(has(svg, "stroke=\"#123456\""));
    EXPECT_TRUE(has(svg, "stroke-dasharray=\"6 2\""));
    EXPECT_TRUE(has(svg, ">settings</text>"));
    EXPECT_EQ(svg, to_svg(figure));
}

// The band's outline goes along one edge and back along the other; the axis makes room for both.
TEST(LineSvg, BandsReachFromLowToHighAndFitThePlot) {
    LineFigure figure{"Band", {"t", {}, {}, {}}, {"y", {}, {}, {}}, {}, ""};
    figure.series.push_back(line("s", {0, 1}, {2, 2}));
    figure.series[0].lo = {1, 0};
    figure.series[0].hi = {3, 6};
    const std::string svg = to_svg(figure);
    const auto outline =
        numbers(matches(matches(svg, "<path d=\"M([^\"]+)z\" fill=\"[^\"]+\" fill-opacity").at(0), "(-?[0-9.]+)"));
    ASSERT_EQ(outline.size(), 8U);
    EXPECT_EQ(outline[0], outline[6]) << "it ends above where it began";
    EXPECT_EQ(outline[2], outline[4]);
    const double left = std::abs(outline[7] - outline[1]);
    const double right = std::abs(outline[5] - outline[3]);
    EXPECT_NEAR(right / left, 3, 0.01) << "from 0 to 6 against from 1 to 3";
    const auto box = numbers(matches(svg, "<svg x=\"[0-9.]+\" y=\"([0-9.]+)\" width=\"[0-9.]+\" height=\"[0-9.]+\""));
    const auto height =
        numbers(matches(svg, "<svg x=\"[0-9.]+\" y=\"[0-9.]+\" width=\"[0-9.]+\" height=\"([0-9.]+)\""));
    for (const std::size_t i : {1U, 3U, 5U, 7U}) {
        EXPECT_GE(outline[i], box.at(0));
        EXPECT_LE(outline[i], box.at(0) + height.at(0));
    }
    EXPECT_GT(right, 0.8 * height.at(0)) << "the axis is not much longer than the band";
}

TEST(LineSvg, IsSoundForAwkwardData) {
    const std::vector<std::vector<double>> data = {{},
                                                   {1},
                                                   {0},
                                                   {5, 5, 5},
                                                   {nan},
                                                   {nan, nan, nan},
                                                   {infinity, 1, -infinity},
                                                   {1, nan, 2, nan, 3},
                                                   {0, 0, 0},
                                                   {-1, -2},
                                                   {1e308, -1e308, 3},
                                                   {5e-324, 1e-310, 0},
                                                   {1e-300, 1e300}};
    for (const Scale x : {Scale::linear, Scale::log}) {
        for (const Scale y : {Scale::linear, Scale::log}) {
            for (const auto& values : data) {
                LineFigure figure{"t", {"x", x, {}, {}}, {"y", y, {}, {}}, {}, ""};
                std::vector<double> places;
                for (std::size_t i = 0; i < values.size(); ++i) {
                    places.push_back(static_cast<double>(i));
                }
                figure.series = {line("a", places, values), line("b", values, places)};
                figure.series[0].lo = values;
                figure.series[0].hi = places;
                expect_sound(to_svg(figure));
            }
        }
    }
}

TEST(LineSvg, SaysThatThereIsNoData) {
    EXPECT_TRUE(has(to_svg(LineFigure{}), ">no data</text>"));
    EXPECT_FALSE(has(to_svg(many(1, true)), "no data"));
}

TEST(LineSvg, DropsNonPositivePointsOnLogAxesAndNamesWhatIsLeftOut) {
    LineFigure figure{"t", {"x", {}, {}, {}}, {"y", Scale::log, {}, {}}, {}, "settings"};
    figure.series = {line("kept", {0, 1, 2}, {0, 1, 100}), line("gone", {0, 1}, {0, -1}), line("lost", {0}, {nan})};
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_TRUE(has(svg, ">Not shown, having no point to draw: gone, lost.</text>"));
    EXPECT_FALSE(has(svg, "<title>gone</title>"));
    EXPECT_TRUE(has(svg, "<title>kept</title>"));
    figure.y.scale = Scale::linear;
    EXPECT_FALSE(has(to_svg(figure), "gone, lost"));
}

TEST(LineSvg, SaysWhereEachLineHasItsLastPoint) {
    LineFigure figure{"t", {"x", {}, {}, {}}, {"y", {}, {}, {}}, {}, ""};
    figure.series = {line("broken", {0, 1, 2}, {3, 4, nan}), line("lost", {0}, {nan}), line("whole", {0, 2}, {1, 5})};
    EXPECT_TRUE(has(to_svg(figure), "<desc>Lines of y against x. broken ends at 1, 4. whole ends at 2, 5.</desc>"));
}

TEST(LineSvg, ALegendNamesOnlyLinesThatAreThere) {
    LineFigure figure = many(6, true);
    for (Series& series : figure.series) {
        series.name += " with a name too long to stand beside the plot";
    }
    figure.series.push_back(line("gone", {0, 1}, {nan, nan}));
    const std::string svg = to_svg(figure);
    EXPECT_EQ(matches(svg, "(h26\" stroke=\"#[0-9a-f]+\")").size(), 6U);
    EXPECT_FALSE(has(svg, ">gone</text>"));
}

TEST(LineSvg, ALongLabelOfTheYAxisIsReadDownwards) {
    LineFigure figure = many(1, true);
    for (int i = 0; i < 30; ++i) {
        figure.y.label += " word" + std::to_string(i);
    }
    const std::string svg = to_svg(figure);
    const auto lines = numbers(matches(svg, "y=\"([0-9.]+)\" [^>]*>[y ]*word[0-9 word]+</text>"));
    ASSERT_GE(lines.size(), 3U);
    EXPECT_LT(numbers(matches(svg, "y=\"([0-9.]+)\" [^>]*>y word0 ")).at(0), plot_of(svg)[1]);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        EXPECT_GT(lines[i], lines[i - 1]) << i;
    }
}

TEST(LineSvg, BreaksTheLineAtNanAndDrawsLonePointsAsDots) {
    LineFigure figure;
    figure.series = {line("a", {0, 1, 2, 3, 4, 5, 6}, {1, 2, nan, 3, nan, 4, 5})};
    const std::string svg = to_svg(figure);
    const auto paths = matches(svg, "<path d=\"(M[-0-9. M]+)\" stroke-width=\"2\"");
    ASSERT_EQ(paths.size(), 1U);
    EXPECT_EQ(std::count(paths[0].begin(), paths[0].end(), 'M'), 2);
    figure.series = {long_line("a", 0)};
    figure.series[0].y[10] = figure.series[0].y[12] = nan;
    EXPECT_EQ(matches(to_svg(figure), "(h0)").size(), 1U);
}

// Between ten samples nothing was measured; a hundred are the line.
TEST(LineSvg, MarksPointsThatAreFew) {
    LineFigure figure{"", {"x", {}, 0.0, 9.0}, {"y", {}, 0.0, 10.0}, {}, ""};
    figure.series = {line("ten", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};
    const std::string svg = to_svg(figure);
    const auto x = numbers(matches(svg, "M([0-9.]+) [0-9.]+h0"));
    const auto y = numbers(matches(svg, "M[0-9.]+ ([0-9.]+)h0"));
    ASSERT_EQ(x.size(), 10U);
    const auto [left, top, right, bottom] = plot_of(svg);
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_NEAR(x[i], left + (right - left) * static_cast<double>(i) / 9, 0.01) << i;
        EXPECT_NEAR(y[i], bottom - (bottom - top) * static_cast<double>(i + 1) / 10, 0.01) << i;
    }
    figure.series = {line("straight", {0, 9}, {1, 9})};
    EXPECT_EQ(matches(to_svg(figure), "(h0)").size(), 0U);
    figure.series = {long_line("hundred", 0)};
    EXPECT_EQ(matches(to_svg(figure), "(h0)").size(), 0U);
}

// Three lines of which two are the same all the way and the third joins them half-way.
TEST(LineSvg, HiddenLinesShowAsDashesBetweenThoseOfTheOthers) {
    LineFigure figure;
    figure.series = {long_line("a", 0), long_line("b", 0), long_line("c", 0)};
    for (std::size_t i = 0; i < 50; ++i) {
        figure.series[2].y[i] = 50;
    }
    figure.series[0].style.colour = "#000001";
    figure.series[1].style.colour = "#000002";
    figure.series[2].style.colour = "#000003";
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    const auto colours = matches(svg, "class=\"strand\" fill=\"none\" stroke=\"(#[0-9a-f]+)\"");
    const auto dashes = matches(svg, "class=\"strand\"[^>]*stroke-dasharray=\"([0-9. ]+)\"");
    const auto offsets = numbers(matches(svg, "class=\"strand\"[^>]*stroke-dashoffset=\"([0-9.]+)\""));
    ASSERT_EQ(colours, (std::vector<std::string>{"#000001", "#000001", "#000002"})) << "the last is on top already";
    EXPECT_EQ(dashes, (std::vector<std::string>{"7 7", "7 14", "7 14"}));
    // A dash begins where the offset plus the way is a whole period: after 7, and after 14 and 7.
    EXPECT_EQ(offsets, (std::vector<double>{7, 7, 14}));
    figure.series = {long_line("a", 0), long_line("b", 3)};
    EXPECT_FALSE(has(to_svg(figure), "strand")) << "lines that only run beside each other";
    figure.series = {long_line("a", 0), line("crossing", {0, 100}, {50, 0})};
    EXPECT_FALSE(has(to_svg(figure), "strand"));
}

TEST(LineSvg, NamesThatWouldFanOutGoIntoALegendWithSamples) {
    LineFigure figure;
    for (int i = 0; i < 6; ++i) {
        figure.series.push_back(line("series " + std::to_string(i), {0, 1}, {0.1 * i, 1}));  // all end in one corner
    }
    const std::string svg = to_svg(figure);
    const double bottom = plot_of(svg)[3];
    // The lines, which end where the data do, reach the right end of the plot: names beside them take no room.
    const auto ends = numbers(matches(svg, "<path d=\"M[0-9.]+ [0-9.]+ ([0-9.]+) [0-9.]+\""));
    ASSERT_FALSE(ends.empty());
    EXPECT_GT(*std::max_element(ends.begin(), ends.end()), plot_of(svg)[2] - 30);
    const auto names = label_heights(svg);
    ASSERT_EQ(names.size(), 6U);
    EXPECT_GT(names.front(), bottom);
    EXPECT_EQ(matches(svg, "(h26\" stroke=\"#[0-9a-f]+\")").size(), 6U);
    for (int i = 0; i < 6; ++i) {
        figure.series[static_cast<std::size_t>(i)].y = {0, 0.2 * i};  // and now each at its own place
    }
    EXPECT_LT(label_heights(to_svg(figure)).back(), bottom + 10);
    for (int i = 0; i < 6; ++i) {
        figure.series[static_cast<std::size_t>(i)].y = {1 - 0.1 * i, 0};  // in the lower corner, names high above it
    }
    const std::string falling = to_svg(figure);
    EXPECT_GT(label_heights(falling).front(), plot_of(falling)[3]);
    EXPECT_EQ(matches(falling, "(h26\" stroke=\"#[0-9a-f]+\")").size(), 6U);
}

// What a reader sees on a phone 390 pixels wide.
TEST(LineSvg, LettersAreNinePixelsHighOnAPhone) {
    const std::string svg = to_svg(many(30, true));
    const double width = numbers(matches(svg, "role=\"img\" width=\"([0-9]+)\"")).at(0);
    for (const double size : numbers(matches(svg, "<text [^>]*font-size=\"([0-9.]+)\""))) {
        EXPECT_GE(size * 390 / width, 9) << size;
    }
}

TEST(LineSvg, EscapesEveryText) {
    const std::string rude = "<script>&\"'\x01\xff</script>]]>";
    LineFigure figure{rude, {rude, {}, {}, {}}, {rude, {}, {}, {}}, {line(rude, {0, 1}, {0, 1})}, rude};
    figure.series.push_back(line(rude, {}, {}));
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_FALSE(has(svg, "<script"));
    EXPECT_TRUE(has(svg, "&lt;script&gt;&amp;&quot;&#39;"));
}

TEST(LineSvg, NamesDoNotOverlap) {
    for (const bool together : {true, false}) {
        for (const std::size_t n : {2U, 8U, 20U}) {
            const std::string svg = to_svg(many(n, together));
            const auto x = numbers(matches(svg, "<text x=\"([0-9.]+)\" y=\"[-0-9.]+\" class=\"t-"));
            const auto y = numbers(matches(svg, "<text x=\"[0-9.]+\" y=\"([-0-9.]+)\" class=\"t-"));
            ASSERT_EQ(y.size(), n);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t k = 0; k < i; ++k) {
                    EXPECT_TRUE(std::abs(y[i] - y[k]) >= 14 || std::abs(x[i] - x[k]) >= 60) << n;
                }
            }
        }
    }
}

TEST(LineSvg, AMovedLabelHasALeaderAndAnUnmovedOneHasNone) {
    const auto leaders = [](const std::string& svg) { return matches(svg, "(stroke-opacity=\"0.6\")").size(); };
    LineFigure apart{"", {}, {}, {line("a", {0, 1}, {0, 0}), line("b", {0, 1}, {0, 1})}, ""};
    EXPECT_EQ(leaders(to_svg(apart)), 0U);
    LineFigure same{"", {}, {}, {line("a", {0, 1}, {0, 1}), line("b", {0, 1}, {0, 1})}, ""};
    EXPECT_EQ(leaders(to_svg(same)), 2U);
}

TEST(LineSvg, ThirtySeriesGetALegendInsideThePage) {
    const std::string svg = to_svg(many(30, true));
    expect_sound(svg);
    EXPECT_EQ(label_heights(svg).size(), 30U);
    const double height = numbers(matches(svg, "role=\"img\" width=\"560\" height=\"([0-9]+)\"")).at(0);
    EXPECT_LT(label_heights(svg).back(), height);
    EXPECT_GT(label_heights(svg).front(), 380);  // below the plot
    EXPECT_EQ(matches(svg, "d=\"M[0-9. ]+h26\" stroke=\"(#[0-9a-f]+)\"").size(), 30U);
}

TEST(LineSvg, LongNamesAreWhole) {
    const std::string equation = "o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y) where alpha = 1";
    LineFigure figure{"", {}, {}, {line(equation, {0, 1}, {0, 1})}, ""};
    const std::string svg = to_svg(figure);
    std::string whole;
    for (const std::string& part : matches(svg, "class=\"t-[^>]*>([^<]+)</text>")) {
        whole += (whole.empty() ? "" : " ") + part;
    }
    EXPECT_EQ(whole, equation);
    EXPECT_LT(numbers(matches(svg, "<text x=\"([0-9.]+)\" y=\"[0-9.]+\" class=\"t-")).at(0), 100);  // in a legend
}

TEST(LineSvg, StaysSmallAndKeepsASpikeAmongAMillionPoints) {
    LineFigure figure{"", {}, {"", {}, -1.0, 10.0}, {}, ""};
    for (int s = 0; s < 3; ++s) {
        Series series = line("s", {}, {});
        for (int i = 0; i < 350'000; ++i) {
            series.x.push_back(i);
            series.y.push_back(std::sin(i * 0.37) * (i % 2 == 0 ? 1 : 0.3) + s);
            series.lo.push_back(series.y.back() - 1);
            series.hi.push_back(series.y.back() + 1);
        }
        series.y[123'456] = 9.5;
        figure.series.push_back(std::move(series));
    }
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    // The axis spans 11: the spike is 0.5 / 11 of it below the top.
    const auto [left, top, right, bottom] = plot_of(svg);
    EXPECT_TRUE(has(svg, std::to_string(top + (bottom - top) * 0.5 / 11).substr(0, 5))) << left << right;
}

TEST(LineSvg, StaysSmallWithGapsEverywhereAndXInDisorder) {
    LineFigure figure{"", {}, {}, {line("gaps", {}, {}), line("scatter", {}, {})}, ""};
    for (int i = 0; i < 200'000; ++i) {
        figure.series[0].x.push_back(i);
        figure.series[0].y.push_back(i % 2 == 0 ? std::cos(i) : nan);
        figure.series[1].x.push_back(1e5 * (1 + std::sin(i * 12.9)));
        figure.series[1].y.push_back(std::cos(i * 78.2));
    }
    expect_sound(to_svg(figure));
}

TEST(LineSvg, AxisBoundsCutTheData) {
    LineFigure figure{"", {"x", {}, 0.0, 10.0}, {"y", {}, {}, {}}, {line("a", {0, 10, 20}, {0, 1, 1e9})}, ""};
    EXPECT_TRUE(has(to_svg(figure), ">1.0</text>"));  // y follows what x shows
    figure.y.max = 0.5;
    expect_sound(to_svg(figure));
}

TEST(LineSvg, RefusesLengthsThatDiffer) {
    LineFigure figure{"", {}, {}, {line("a", {0, 1}, {0})}, ""};
    EXPECT_ERROR(to_svg(figure), "2 x and 1 y");
    figure.series = {line("a", {0}, {0})};
    figure.series[0].lo = {1};
    EXPECT_ERROR(to_svg(figure), "1 lo, 0 hi");
}

}  // namespace
}  // namespace flyball::report
