// Heat maps, box plots and spheres.
#include <algorithm>
#include <array>
#include <set>

#include "core/support.hpp"
#include "report/colour.hpp"
#include "report/support.hpp"

namespace flyball::report {
namespace {

using test::expect_sound;
using test::has;
using test::infinity;
using test::matches;
using test::nan;
using test::numbers;

HeatFigure grid(std::size_t nx, std::size_t ny) {
    HeatFigure figure;
    figure.title = "Grid";
    figure.colour.label = "value";
    for (std::size_t j = 0; j < nx; ++j) {
        figure.x_values.push_back(static_cast<double>(j + 1));
    }
    for (std::size_t i = 0; i < ny; ++i) {
        figure.y_values.push_back(static_cast<double>(i + 1));
    }
    for (std::size_t k = 0; k < nx * ny; ++k) {
        figure.values.push_back(std::sin(static_cast<double>(k * k % 1009)));
    }
    return figure;
}

// Stroke by stroke, the area of all cells.
double painted_area(const std::string& svg) {
    double area = 0;
    for (const auto& path : matches(svg, "(stroke-width=\"[0-9]+\" d=\"[^\"]+\")")) {
        const double height = numbers(matches(path, "stroke-width=\"([0-9]+)\"")).at(0);
        for (const double width : numbers(matches(path, "h([0-9]+)"))) {
            area += width * height;
        }
    }
    return area;
}

// Of the plot, from its two axes.
double plot_area(const std::string& svg) {
    const auto at = [&](const char* pattern) { return numbers(matches(svg, pattern)).at(0); };
    return (at("M[0-9.]+ [0-9.]+H([0-9.]+)M") - at("M([0-9.]+) [0-9.]+H[0-9.]+M")) *
           (at("M[0-9.]+ [0-9.]+V([0-9.]+)M") - at("M[0-9.]+ ([0-9.]+)V[0-9.]+M"));
}

TEST(HeatSvg, CoversThePlotExactlyOnce) {
    for (const std::size_t nx : {1U, 3U, 7U, 64U}) {
        for (const Scale scale : {Scale::linear, Scale::log}) {
            HeatFigure figure = grid(nx, 5);
            figure.x.scale = scale;
            const std::string svg = to_svg(figure);
            expect_sound(svg);
            EXPECT_EQ(painted_area(svg), plot_area(svg)) << nx;
        }
    }
}

TEST(HeatSvg, PutsRowsUpwardsAndColumnsToTheRight) {
    HeatFigure figure = grid(2, 2);
    figure.values = {0, 0, 0, 1};  // the largest at large x, large y
    const std::string svg = to_svg(figure);
    const auto brightest = matches(svg, "<path stroke=\"#f[0-9a-f]+\" stroke-width=\"168\" d=\"(M[^\"]+)\"");
    ASSERT_EQ(brightest.size(), 1U);
    const double y = numbers(matches(brightest[0], "M[0-9]+ ([0-9.]+)h213")).at(0);
    EXPECT_LT(y, 200);
    figure.y_values = {2, 1};  // the same picture from rows in falling order
    figure.values = {0, 1, 0, 0};
    EXPECT_EQ(painted_area(to_svg(figure)), plot_area(svg));
    EXPECT_TRUE(has(to_svg(figure), brightest[0]));
}

// A cell of value v has the colour that the bar shows beside v.
TEST(HeatSvg, ColourBarShowsTheColoursOfTheCellsAtTheirValues) {
    HeatFigure figure = grid(4, 1);
    figure.values = {0, 0.005, 0.995, 1};
    const std::string svg = to_svg(figure);
    const auto fills =
        matches(svg, "<rect x=\"[0-9.]+\" y=\"[0-9.]+\" width=\"14\" height=\"[34]\" fill=\"(#[0-9a-f]+)\"");
    const auto tops = numbers(matches(svg, "<rect x=\"[0-9.]+\" y=\"([0-9.]+)\" width=\"14\" height=\"[34]\""));
    ASSERT_EQ(fills.size(), 100U);
    const auto highest = static_cast<std::size_t>(std::min_element(tops.begin(), tops.end()) - tops.begin());
    const auto lowest = static_cast<std::size_t>(std::max_element(tops.begin(), tops.end()) - tops.begin());
    EXPECT_NE(fills[highest], fills[lowest]);
    const auto cell = [&](double x) {  // the colour of the stroke that starts at the left end of a cell
        for (const auto& path : matches(svg, "<path (stroke=\"#[0-9a-f]+\" stroke-width=\"336\" d=\"[^\"]+)")) {
            for (const double start : numbers(matches(path, "M([0-9]+) "))) {
                if (std::abs(start - x) < 1) {
                    return matches(path, "stroke=\"(#[0-9a-f]+)\"").at(0);
                }
            }
        }
        return std::string();
    };
    auto starts = numbers(matches(svg, "M([0-9]+) [0-9.]+h10[67]"));
    std::sort(starts.begin(), starts.end());
    ASSERT_EQ(starts.size(), 4U);
    EXPECT_EQ(cell(starts[1]), fills[lowest]);
    EXPECT_EQ(cell(starts[2]), fills[highest]);
}

TEST(HeatSvg, ShowsCellsWithoutAValueInGreyAndSaysSo) {
    HeatFigure figure = grid(4, 4);
    figure.values[3] = nan;
    figure.values[5] = infinity;
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_TRUE(has(svg, "Grey: no finite value (2 of 16 cells)."));
    EXPECT_TRUE(has(svg, "#9aa0a8"));
    figure.colour.scale = Scale::log;
    EXPECT_TRUE(has(to_svg(figure), "Grey: no positive finite value"));
    figure.values.assign(16, 2.0);
    figure.values[3] = nan;
    figure.values[5] = -1;
    figure.values[6] = 0;
    EXPECT_TRUE(has(to_svg(figure), "Grey: no positive finite value (3 of 16 cells)."));
    figure.values.assign(16, nan);
    expect_sound(to_svg(figure));
    figure.values.assign(16, 3.0);
    expect_sound(to_svg(figure));
}

TEST(HeatSvg, DrawsManyCellsAsMeansOfBlocks) {
    const std::string svg = to_svg(grid(500, 700));
    expect_sound(svg);
    EXPECT_FALSE(matches(svg, "(Drawn as means of [0-9]+ × [0-9]+ cells)").empty());
    EXPECT_EQ(painted_area(svg), plot_area(svg));
    EXPECT_FALSE(has(to_svg(grid(40, 40)), "means of"));
}

// 401 cells along each axis are drawn in blocks of two, and of the last one cell is left over. All cells are 1 but those
// of the first block, so that every other block has the mean 1, whatever is left of it: two colours.
TEST(HeatSvg, BlocksAtTheEdgeAreMeansOfTheCellsTheyHave) {
    constexpr std::size_t n = 401;
    HeatFigure figure = grid(n, n);
    figure.values.assign(n * n, 1.0);
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}, n, n + 1}) {
        figure.values[first] = 0;
    }
    const std::string svg = to_svg(figure);
    ASSERT_TRUE(has(svg, "Drawn as means of 2 × 2 cells."));
    const auto strokes = matches(svg, "<path stroke=\"(#[0-9a-f]+)\" stroke-width=\"[0-9]+\" d=\"M");
    EXPECT_EQ(std::set<std::string>(strokes.begin(), strokes.end()),
              (std::set<std::string>{to_hex(heat_colour(0)), to_hex(heat_colour(1))}));
}

TEST(HeatSvg, NumbersFewCellsAtTheirCentres) {
    HeatFigure figure = grid(3, 4);
    figure.x_values = {1, 8, 32};
    const std::string svg = to_svg(figure);
    EXPECT_TRUE(has(svg, ">8</text>"));
    EXPECT_TRUE(has(svg, ">32</text>"));
}

// Four cells of four colours: the number of a row stands at the middle of its cells (4.5 below it, where the letters'
// line is), that of a column under the middle of its own. No step of 1, 2 or 5 leads to these numbers.
TEST(HeatSvg, NumbersOfRowsAndColumnsStandAtTheirOwnCells) {
    HeatFigure figure = grid(2, 2);
    figure.x_values = {5.3, 7.9};
    figure.y_values = {31, 73};
    figure.values = {0, 0.25, 0.75, 1};
    const std::string svg = to_svg(figure);
    for (std::size_t k = 0; k < 4; ++k) {
        const std::string path = "<path stroke=\"" + to_hex(heat_colour(figure.values[k])) + "\" [^>]*d=\"M";
        const auto begin = numbers(matches(svg, path + "([0-9]+) [0-9.]+h[0-9]+\""));
        const auto middle = numbers(matches(svg, path + "[0-9]+ ([0-9.]+)h[0-9]+\""));
        const auto width = numbers(matches(svg, path + "[0-9]+ [0-9.]+h([0-9]+)\""));
        ASSERT_EQ(begin.size(), 1U) << k;
        const std::string column = k % 2 == 0 ? ">5\\.3<" : ">7\\.9<";
        const std::string row = k / 2 == 0 ? ">31<" : ">73<";
        const auto x = numbers(matches(svg, "<text x=\"([0-9.]+)\"[^>]*text-anchor=\"middle\"[^>]*" + column));
        const auto y = numbers(matches(svg, "<text x=\"[0-9.]+\" y=\"([0-9.]+)\"[^>]*text-anchor=\"end\"[^>]*" + row));
        ASSERT_EQ(x.size(), 1U) << column;
        ASSERT_EQ(y.size(), 1U) << row;
        EXPECT_NEAR(x[0], begin[0] + width.at(0) / 2, 1) << k << ": edges are whole pixels";
        EXPECT_NEAR(y[0] - 4.5, middle.at(0), 1) << k;
    }
}

// 400 cells along an axis are drawn one by one, and of more the longer side says how many are taken together.
TEST(HeatSvg, BlocksAreThoseOfTheLongerSide) {
    Sheet wide;  // so that the sentence is one line
    wide.width_px = 1200;
    const auto block = [&](std::size_t nx, std::size_t ny) -> std::string {
        const std::string svg = to_svg(grid(nx, ny), wide);
        const std::string begin = "Drawn as means of ";
        const std::size_t at = svg.find(begin);
        return at == std::string::npos ? ""
                                       : svg.substr(at + begin.size(), svg.find(" cells.", at) - at - begin.size());
    };
    EXPECT_EQ(block(400, 2), "");
    EXPECT_EQ(block(2, 400), "");
    EXPECT_EQ(block(401, 2), "2 × 2");
    EXPECT_EQ(block(2, 401), "2 × 2");
    EXPECT_EQ(block(801, 2), "3 × 3");
    EXPECT_EQ(block(1, 1201), "4 × 4");
    HeatFigure figure = grid(401, 1);
    figure.values[7] = nan;
    EXPECT_TRUE(has(to_svg(figure, wide), "Grey: no finite value (1 of 401 cells). Drawn as means of 2 × 2 cells."));
}

// The bar beside the plot is as high as the plot: the least value stands at its lower end, the largest at its upper
// one.
TEST(HeatSvg, NumbersOfTheBarStandBesideTheirColours) {
    HeatFigure figure = grid(2, 2);
    figure.x_values = {5, 7};
    figure.y_values = {30, 70};
    figure.values = {0, 0.25, 0.75, 1};
    const std::string svg = to_svg(figure);
    const std::string rect = "<rect x=\"[0-9.]+\" y=\"([0-9.]+)\" width=\"14\" height=\"[0-9.]+\" fill=\"";
    const auto top = numbers(matches(svg, rect));
    const auto heights = numbers(matches(svg, "width=\"14\" height=\"([0-9.]+)\" fill=\""));
    ASSERT_EQ(top.size(), 100U);
    ASSERT_EQ(heights.size(), 100U);
    const auto place = [&](const std::string& label) {
        return numbers(
            matches(svg, "<text x=\"[0-9.]+\" y=\"([0-9.]+)\"[^>]*text-anchor=\"start\"[^>]*>" + label + "<"));
    };
    ASSERT_EQ(place("0").size(), 1U);
    ASSERT_EQ(place("1\\.0").size(), 1U);
    EXPECT_NEAR(place("0")[0] - 4.5, top.front() + heights.front(), 0.01);
    EXPECT_NEAR(place("1\\.0")[0] - 4.5, top.back(), 0.01);
    EXPECT_EQ(matches(svg, "<text x=\"546\" [^>]*text-anchor=\"end\"[^>]*>(value)<").size(), 1U)
        << "what the colours are of ends at the margin";
}

TEST(HeatSvg, SaysHowManyRowsAndCellsThereAre) {
    EXPECT_TRUE(has(to_svg(grid(3, 4)), ": 4 rows of 3 cells"));
}

TEST(HeatSvg, TakesAnEmptyFigureAndRefusesABadOne) {
    expect_sound(to_svg(HeatFigure{}));
    HeatFigure figure = grid(2, 2);
    figure.values.pop_back();
    EXPECT_ERROR(to_svg(figure), "3 values for 2 columns and 2 rows");
    figure = grid(3, 1);
    figure.x_values = {1, 3, 2};
    EXPECT_ERROR(to_svg(figure), "strictly increase");
    figure.x_values = {0, 1, 2};
    figure.x.scale = Scale::log;
    EXPECT_ERROR(to_svg(figure), "positive");
}

BoxFigure boxes(std::vector<double> values) {
    BoxFigure figure;
    figure.axis = {"loss", {}, 0.0, 100.0};
    figure.groups = {{"group", std::move(values), {}, {"#112233", ""}}};
    return figure;
}

TEST(BoxSvg, HasQuartilesWhiskersAndOutliers) {
    // 1 .. 9: quartiles 3, 5, 7, whiskers to 1 and 9; 90 lies beyond 7 + 1.5 * 4 and shifts the quartiles a little.
    const std::string svg = to_svg(boxes({1, 2, 3, 4, 5, 6, 7, 8, 9, 90}));
    expect_sound(svg);
    EXPECT_TRUE(has(svg, "group: median 5.5, quartiles 3.25 and 7.75"));
    EXPECT_TRUE(has(svg, "Box plot of loss. group: median 5.5.")) << "for who cannot see it";
    EXPECT_TRUE(has(svg, ">n = 10</text>"));
    EXPECT_EQ(matches(svg, "(h0)\" stroke-width=\"4\"").size(), 1U);
}

// Of many outliers some are drawn, and always the farthest.
TEST(BoxSvg, DrawsTheFarthestOfManyOutliers) {
    const auto farthest = [](std::size_t count) {
        std::vector<double> values(4000, 0.0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<double>(i % 100) / 100;
        }
        for (std::size_t i = 1; i <= count; ++i) {
            // One far from all others, so that its neighbour cannot stand for it.
            values.push_back(i == count ? 90 : 10 + 10 * static_cast<double>(i) / static_cast<double>(count));
        }
        double x = 0;
        for (const std::string& place : matches(to_svg(boxes(values)), "M([0-9.]+) [0-9.]+h0")) {
            x = std::max(x, std::stod(place));
        }
        return x;
    };
    EXPECT_GT(farthest(1), 100);
    EXPECT_EQ(farthest(450), farthest(1));
}

TEST(BoxSvg, CallsOutlierWhatLiesBeyondOneAndAHalfBoxes) {
    // Quartiles of 0, 10, 20, 30, 40 and one more value y >= 40: 12.5 and 37.5, so that the box is 25 long and ends of
    // whiskers reach to 75.
    const auto outliers = [](double last) {
        return matches(to_svg(boxes({0, 10, 20, 30, 40, last})), "(h0)\" stroke-width=\"4\"").size();
    };
    EXPECT_EQ(outliers(74), 0U);
    EXPECT_EQ(outliers(76), 1U);
    // And one more value y <= 0: 2.5 and 27.5, down to -35.
    EXPECT_EQ(outliers(-34), 0U);
    EXPECT_EQ(outliers(-36), 1U);
}

TEST(BoxSvg, DrawsFiveNumbersAsGiven) {
    BoxFigure figure = boxes({});
    figure.groups[0].five = {1, 2, 30, 40, 99};
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_TRUE(has(svg, "median 30, quartiles 2 and 40"));
    EXPECT_FALSE(has(svg, "n = "));
    figure.groups[0].five = {1, 2, 1, 4, 5};
    EXPECT_ERROR(to_svg(figure), "1 after 2");
    figure.groups[0].five = {1, 2, 3, 4, 3.5};
    EXPECT_ERROR(to_svg(figure), "3.5 after 4");
    figure.groups[0].five = {1, 2, 3, 4, 5};
    figure.groups[0].values = {1};
    EXPECT_ERROR(to_svg(figure), "one of them");
}

// Marks of one label look the same and are named once; one that cannot be drawn is left out.
TEST(BoxSvg, DrawsMarksAcrossRowsAndSaysWhatTheyAre) {
    BoxFigure figure = boxes({10, 20, 30});
    figure.groups.push_back({"other", {40, 50}, {}, {"#112233", ""}, {}});
    figure.groups[0].marks = {{"bound", 60}, {"expected", 15}};
    figure.groups[1].marks = {{"bound", 70}, {"expected", nan}};
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_TRUE(has(svg, "group: bound 60"));
    EXPECT_TRUE(has(svg, "other: bound 70"));
    EXPECT_FALSE(has(svg, "other: expected"));
    EXPECT_EQ(matches(svg, ">(bound)</text>").size(), 1U);
    EXPECT_EQ(matches(svg, ">(expected)</text>").size(), 1U);
}

TEST(BoxSvg, TheAxisMakesRoomForMarksBeyondTheBoxes) {
    BoxFigure figure = boxes({10, 20, 30});
    figure.axis = {"loss", {}, {}, {}};
    figure.groups[0].marks = {{"above", 60}, {"below", -20}};
    const std::string svg = to_svg(figure);
    const auto marks = numbers(matches(svg, "M([-0-9.]+) [0-9.]+v[0-9.]+\" stroke-width=\"2.2\""));
    ASSERT_EQ(marks.size(), 2U);
    EXPECT_LT(marks[0], numbers(matches(svg, "M[0-9.]+ [0-9.]+H([0-9.]+)M")).at(0)) << "the right end of the axis";
    EXPECT_GT(marks[1], numbers(matches(svg, "M([0-9.]+) [0-9.]+H[0-9.]+M")).at(0)) << "the left end";
}

// Five numbers alone: the whiskers reach to the first and the last, and so does the axis.
TEST(BoxSvg, TheAxisReachesToTheEndsOfTheWhiskers) {
    BoxFigure figure = boxes({});
    figure.axis = {"loss", {}, {}, {}};
    figure.groups[0].five = {-50, 10, 20, 30, 99};
    const std::string svg = to_svg(figure);
    const auto at = [&](const char* pattern) { return numbers(matches(svg, pattern)).at(0); };
    // The whiskers, from the first number to the lower quartile and from the upper one to the last, stay over the axis.
    EXPECT_GE(at("<path d=\"M(-?[0-9.]+) [0-9.]+H[-0-9.]+M[-0-9.]+ [0-9.]+H[-0-9.]+M[-0-9.]+ [0-9.]+v"),
              at("<path d=\"M([0-9.]+) [0-9.]+H[0-9.]+M[0-9.]+ [0-9.]+v"));
    EXPECT_LE(at("<path d=\"M-?[0-9.]+ [0-9.]+H[-0-9.]+M[-0-9.]+ [0-9.]+H([-0-9.]+)M[-0-9.]+ [0-9.]+v"),
              at("<path d=\"M[0-9.]+ [0-9.]+H([0-9.]+)M[0-9.]+ [0-9.]+v"));
}

TEST(BoxSvg, CountsTheValuesThatItDraws) {
    EXPECT_TRUE(has(to_svg(boxes({1, nan, 2, infinity, 3})), ">n = 3</text>"));
    BoxFigure figure = boxes({-1, 0, 1, 10});
    figure.axis = {"loss", Scale::log, {}, {}};
    EXPECT_TRUE(has(to_svg(figure), ">n = 2</text>"));
}

TEST(BoxSvg, IsSoundForAwkwardData) {
    for (const Scale scale : {Scale::linear, Scale::log}) {
        for (const auto& values : std::vector<std::vector<double>>{
                 {}, {1}, {2, 2, 2}, {nan}, {nan, 1, infinity}, {0, -1}, {-5, 5}, {1e300, 1e-300}}) {
            BoxFigure figure = boxes(values);
            figure.axis = {"loss", scale, {}, {}};
            expect_sound(to_svg(figure));
        }
    }
    expect_sound(to_svg(BoxFigure{}));
    EXPECT_TRUE(has(to_svg(boxes({nan})), "having no point to draw: group."));
}

// A boundary has the middle colour, and what is as far to either side is as far along the colours.
TEST(HeatSvg, CentresItsColoursAtABoundary) {
    HeatFigure figure = grid(3, 1);
    figure.colour.scale = Scale::log;
    figure.values = {0.5, 1, 10};
    figure.centre = 1;
    const std::string svg = to_svg(figure);
    const auto rects = matches(svg, "width=\"14\" height=\"[34]\" fill=\"(#[0-9a-f]+)\"");
    ASSERT_EQ(rects.size(), 100U);
    EXPECT_TRUE(has(svg, "stroke=\"" + to_hex(side_colour(0.5)) + "\""));
    EXPECT_TRUE(has(svg, "stroke=\"" + to_hex(side_colour(1)) + "\""));
    // 0.5 lies log 2 / log 10 of the way to the blue end, where 0.1 is.
    EXPECT_TRUE(has(svg, "stroke=\"" + to_hex(side_colour(0.5 - 0.5 * std::log10(2.0))) + "\""));
    for (const char* const end : {">0.1</text>", ">1</text>", ">10</text>"}) {
        EXPECT_TRUE(has(svg, end)) << end;
    }
    figure.values = {0.1, 1, 2};  // and when the data reach farther below
    for (const double share : {0.0, 0.5, 0.5 + 0.5 * std::log10(2.0)}) {
        EXPECT_TRUE(has(to_svg(figure), "stroke=\"" + to_hex(side_colour(share)) + "\"")) << share;
    }
    const auto lightness = [](double share) { return oklab(side_colour(share))[0]; };
    EXPECT_NEAR(lightness(0.2), lightness(0.8), 0.01);
    EXPECT_GT(lightness(0.5), lightness(0.4) + 0.05);
    EXPECT_LT(oklab(side_colour(0))[2], -0.05) << "blue below";
    EXPECT_GT(oklab(side_colour(1))[2], 0.05) << "yellow-red above";
    figure.centre = 0;
    EXPECT_ERROR(to_svg(figure), "the centre 0");
}

SphereFigure sphere(std::size_t frames, std::size_t points) {
    SphereFigure figure;
    figure.title = "Sphere";
    figure.runs = {{"run", "#112233", {}}};
    for (std::size_t f = 0; f < frames; ++f) {
        SphereFigure::Frame frame{static_cast<double>(f), {}};
        for (std::size_t i = 0; i < points; ++i) {
            const auto a = static_cast<double>(i * 7919 + f);
            frame.points.push_back({std::sin(a), std::cos(a * 1.3), std::sin(a * 0.7 + 1)});
        }
        figure.runs[0].frames.push_back(std::move(frame));
    }
    return figure;
}

SphereFigure one_frame(std::vector<std::array<double, 3>> points, double t = 0) {
    SphereFigure figure;
    figure.runs = {{"", "", {{t, std::move(points)}}}};
    return figure;
}

TEST(SphereSvg, HasOnePanelAFrameAndAtMostSix) {
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 6U, 11U}) {
        const std::string svg = to_svg(sphere(n, 10));
        expect_sound(svg);
        EXPECT_EQ(matches(svg, "(<circle r=)").size(), std::min<std::size_t>(n, 6)) << n;
    }
    const auto times = matches(to_svg(sphere(11, 2)), ">t = ([0-9]+)<");
    EXPECT_EQ(times, (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
    expect_sound(to_svg(SphereFigure{}));
}

TEST(SphereSvg, DrawsPointsBehindFainter) {
    const std::string svg =
        to_svg(one_frame({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}}));  // the mean, (1, 0, 0), is in front
    EXPECT_EQ(matches(svg, "d=\"(M[-0-9. ]+h0)\"[^>]*stroke-opacity=\"0.9\"").size(), 1U);
    EXPECT_EQ(matches(svg, "d=\"(M[-0-9. ]+h0)\"[^>]*stroke-opacity=\"0.3\"").size(), 1U);
    EXPECT_TRUE(has(svg, "Larger dots: several points in one place."));
}

TEST(SphereSvg, HasTheNorthAboveAndTheMajorityInFront) {
    const double c = std::sqrt(0.5);
    // Towards the north once, on the equator twice, which makes a larger dot, and one point behind.
    const std::string svg = to_svg(one_frame({{c, 0, c}, {1, 0, 0}, {1, 0, 0}, {-1, 0, 0}}));
    const auto front = matches(svg, "d=\"M[-0-9.]+ ([-0-9.]+)h0\"[^>]*stroke-opacity=\"0.9\"");
    ASSERT_EQ(front.size(), 2U);
    // In an SVG y grows downwards; smaller dots are drawn first.
    EXPECT_LT(std::stod(front[0]), std::stod(front[1]) - 20);
    EXPECT_EQ(matches(svg, "(M[-0-9. ]+h0)\"[^>]*stroke-opacity=\"0.3\"").size(), 1U);
}

TEST(SphereSvg, StaysSmallWithManyPoints) {
    expect_sound(to_svg(sphere(6, 60'000)));
}

TEST(SphereSvg, LeavesOutPointsWithoutADirection) {
    const std::string svg =
        to_svg(one_frame({{0, 0, 0}, {nan, 0, 1}, {infinity, 0, 0}, {1.7e308, 1.7e308, 1e308}, {1e-310, 0, 0}}, nan));
    expect_sound(svg);
    EXPECT_TRUE(has(svg, "Not shown: 3 points without a direction."));
    SphereFigure figure = one_frame({{0, 0, 0}, {nan, 0, 1}, {1, 0, 0}});
    figure.runs[0].frames.push_back({1, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}});
    figure.runs.push_back(figure.runs[0]);
    EXPECT_TRUE(has(to_svg(figure), "Not shown: 6 points without a direction.")) << "two and one in each run";
}

TEST(SphereSvg, ShowsSeveralRunsInRowsOfFourTimes) {
    SphereFigure figure = sphere(11, 10);
    figure.runs.push_back(figure.runs[0]);
    figure.runs[1].name = "other";
    figure.runs[1].colour = "#445566";
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    EXPECT_EQ(matches(svg, "(<circle r=)").size(), 8U);
    EXPECT_EQ(matches(svg, ">t = ([0-9]+)<"), (std::vector<std::string>{"0", "3", "7", "10", "0", "3", "7", "10"}));
    EXPECT_EQ(matches(svg, "class=\"t-[^>]*>([a-z]+)<"), (std::vector<std::string>{"run", "other"}));
    EXPECT_TRUE(has(svg, "stroke=\"#445566\""));
}

// Two runs from one start end in different places; with one front a point is at one place in both figures.
TEST(SphereSvg, RunsThatShareAFrontShareTheirView) {
    const auto place_of_the_first = [](const std::vector<std::array<double, 3>>& end,
                                       const std::optional<std::array<double, 3>>& front) {
        SphereFigure figure;
        figure.runs = {{"", "#112233", {{0, {{1, 2, 3}}}, {1, end}}}};
        figure.front = front;
        return matches(to_svg(figure), "d=\"(M[-0-9.]+ [-0-9.]+)h0\"").at(0);
    };
    const std::vector<std::array<double, 3>> one = {{1, 0, 0}};
    const std::vector<std::array<double, 3>> other = {{0, 1, 0}};
    EXPECT_NE(place_of_the_first(one, {}), place_of_the_first(other, {}));
    const auto front =
        gathering_place({{"", "", {{0, {{0, 0, 1}}}, {1, one}}}, {"", "", {{0, {{0, 0, 1}}}, {1, other}}}});
    ASSERT_TRUE(front.has_value());
    EXPECT_NEAR((*front)[0], std::sqrt(0.5), 1e-12);
    EXPECT_NEAR((*front)[1], std::sqrt(0.5), 1e-12);
    EXPECT_EQ(place_of_the_first(one, front), place_of_the_first(other, front));
    EXPECT_FALSE(gathering_place({{"", "", {{0, {{0, 0, 1}, {0, 0, -1}}}}}}).has_value());
    EXPECT_FALSE(gathering_place({}).has_value());
}

// The angle as everybody draws it: from the right, against the clock.
TEST(SphereSvg, ACircleIsSeenFromAbove) {
    SphereFigure figure = one_frame({{1, 0, 0}, {0, 1, 0}});
    figure.circle = true;
    const std::string svg = to_svg(figure);
    expect_sound(svg);
    const double radius = numbers(matches(svg, "<circle r=\"([0-9.]+)\"")).at(0);
    const auto x = numbers(matches(svg, "M([-0-9.]+) [-0-9.]+h0"));
    const auto y = numbers(matches(svg, "M[-0-9.]+ ([-0-9.]+)h0"));
    ASSERT_EQ(x.size(), 2U);
    EXPECT_EQ(*std::max_element(x.begin(), x.end()), radius) << "(1, 0) is at the right";
    EXPECT_EQ(*std::min_element(x.begin(), x.end()), 0);
    EXPECT_EQ(*std::min_element(y.begin(), y.end()), -radius) << "(0, 1) is at the top";
    EXPECT_EQ(matches(svg, "(stroke-opacity=\"0.3\")").size(), 0U) << "nothing is behind";
    EXPECT_FALSE(has(svg, "stroke-opacity=\"0.7\"")) << "a circle has no meridians";
}

}  // namespace
}  // namespace flyball::report
