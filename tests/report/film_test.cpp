// Where the runs of a film stand on its page.
#include "report/film.hpp"

#include "report/support.hpp"

namespace flyball::report::film_test {
namespace {

using test::has;
using test::matches;
using test::numbers;

SphereFigure runs_of_one_dot(std::size_t count) {
    SphereFigure figure;
    figure.title = "Runs";
    for (std::size_t i = 0; i < count; ++i) {
        figure.runs.push_back({"run " + std::to_string(i), "#112233", {{0.25, {{1, 0, 0}}}}});
    }
    return figure;
}

// Side by side as many as there are, three at most, and four as two rows of two. The last row counts also where it is
// not full: a page that ended before it would cut its runs off.
TEST(FilmPage, HasRoomForEveryRowOfItsRuns) {
    constexpr double margin = 14;
    constexpr double line = 17;
    constexpr double gap = 16;
    std::vector<double> below;  // from the end of the last row to the end of the page
    for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 7U}) {
        const std::string svg = film_svg(runs_of_one_dot(count));
        const std::size_t columns = count == 4 ? 2 : std::min<std::size_t>(count, 3);
        const std::size_t rows = count == 4 ? 2 : count <= 3 ? 1 : count <= 6 ? 2 : 3;
        const double panel = (560 - 2 * margin) / static_cast<double>(columns);
        const double radius = std::floor((panel - gap) / 2);
        const double heading = count > 1 ? line + 6 : 6;
        const double row = heading + 2 * radius + gap;
        // What is behind comes first: a group for each run, around its centre.
        const auto x = numbers(matches(svg, "translate\\(([0-9.]+) [0-9.]+\\)"));
        const auto y = numbers(matches(svg, "translate\\([0-9.]+ ([0-9.]+)\\)"));
        ASSERT_EQ(x.size(), 4 * count) << "the net and the dots, behind and in front";
        ASSERT_EQ(y.size(), 4 * count);
        for (std::size_t r = 0; r < count; ++r) {
            EXPECT_NEAR(x[r], margin + panel * (static_cast<double>(r % columns) + 0.5), 0.01) << count << " " << r;
            EXPECT_NEAR(y[r], y[0] + row * static_cast<double>(r / columns), 0.01) << count << " " << r;
        }
        EXPECT_EQ(numbers(matches(svg, "<circle r=\"([0-9.]+)\"")), std::vector<double>(count, radius));
        const double end = y[0] - radius - heading + row * static_cast<double>(rows);
        below.push_back(numbers(matches(svg, "^<svg [^>]* height=\"([0-9.]+)\"")).at(0) - end);
    }
    for (std::size_t i = 0; i < below.size(); ++i) {
        EXPECT_NEAR(below[i], below[0], 1) << i << ": heights are rounded up";
        EXPECT_GE(below[i], 0);
    }
}

// Each name in the middle above its own run, eight units over the outline; the time once, at the left below the title.
TEST(FilmPage, NamesStandAboveTheirRunsAndTheTimeAboveAll) {
    const std::string svg = film_svg(runs_of_one_dot(5));
    const auto x = numbers(matches(svg, "translate\\(([0-9.]+) [0-9.]+\\)"));
    const auto y = numbers(matches(svg, "translate\\([0-9.]+ ([0-9.]+)\\)"));
    const double radius = numbers(matches(svg, "<circle r=\"([0-9.]+)\"")).at(0);
    for (std::size_t r = 0; r < 5; ++r) {
        const std::string name = "[^>]*text-anchor=\"middle\"[^>]*>run " + std::to_string(r) + "<";
        const auto at_x = numbers(matches(svg, "<text x=\"([0-9.]+)\" y=\"[0-9.]+\"" + name));
        const auto at_y = numbers(matches(svg, "<text x=\"[0-9.]+\" y=\"([0-9.]+)\"" + name));
        ASSERT_EQ(at_x.size(), 1U) << r;
        EXPECT_EQ(at_x[0], x[r]) << r;
        EXPECT_NEAR(at_y.at(0), y[r] - radius - 8, 0.01) << r;
    }
    const auto time = matches(svg, "<text (x=\"14\" y=\"[0-9.]+\"[^>]*text-anchor=\"start\"[^>]*>t = 0.25<)");
    ASSERT_EQ(time.size(), 1U);
    // Two lines of labels and 6 are between the title and the outlines of the first row.
    EXPECT_NEAR(numbers(matches(time[0], "y=\"([0-9.]+)\"")).at(0), y[0] - radius - (17 + 6) - 6, 0.01);
    EXPECT_EQ(matches(film_svg(runs_of_one_dot(1)), "(>run 0<)").size(), 0U) << "one alone needs no name";
}

// For who cannot see it: what it is drawn on, and how many moments of the longest run there are.
TEST(FilmPage, SaysWhatItIsAFilmOf) {
    SphereFigure figure = runs_of_one_dot(2);
    figure.runs[1].frames.push_back({0.5, {{0, 1, 0}}});
    EXPECT_TRUE(has(film_svg(figure), "<desc>Particles on the sphere, 2 frames.</desc>"));
    // The moment of a frame is that of the run which has it.
    EXPECT_EQ(matches(film_svg(figure), ">t = ([0-9.]+)<"), (std::vector<std::string>{"0.25", "0.5"}));
    figure.circle = true;
    EXPECT_TRUE(has(film_svg(figure), "<desc>Particles on the circle, 2 frames.</desc>"));
}

}  // namespace
}  // namespace flyball::report::film_test
