#include "report/text.hpp"

#include <sstream>

#include "report/support.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

using test::has;
using test::line;
using test::nan;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string row; std::getline(in, row);) {
        out.push_back(row);
    }
    return out;
}

LineFigure small() {
    return {"Two lines",
            {"time t", {}, {}, {}},
            {"cosine", {}, {}, {}},
            {line("up", {0, 1, 2}, {0, 0.5, 1}), line("down", {0, 1, 2}, {1, 0.5, 0})},
            ""};
}

TEST(TextPlot, DrawsASmallExampleInBraille) {
    EXPECT_EQ("\n" + text_plot(small(), 36, 13), R"(
Two lines
 cosine
 1.0 ┤⠒⠤⣀                        ⣀⠤⠒
     │   ⠉⠒⠢⢄⡀              ⢀⡠⠔⠒⠉
     │       ⠈⠉⠒⠤⣀⡀    ⢀⣀⠤⠒⠉⠁
 0.5 ┤            ⠈⢑⡢⢔⡊⠁
     │         ⣀⠤⠒⠊⠁  ⠈⠑⠒⠤⣀
     │    ⢀⡠⠔a⠉            ⠉b⠢⢄⡀
   0 ┤⣀⠤⠒⠉⠁                    ⠈⠉⠒⠤⣀
     └┬──────────────┬─────────────┬
      0              1             2
                  time t
  a up   b down
)");
}

TEST(TextPlot, DrawsASmallExampleInAscii) {
    EXPECT_EQ("\n" + text_plot(small(), 36, 13, {true, false}), R"(
Two lines
 cosine
 1.0 +bb                          aa
     |  bbbbb                aaaaa
     |       bbbbb      aaaaa
 0.5 +            bbabaa
     |        aaaaaa  bbbbbb
     |   aaaaa              bbbbb
   0 +aaa                        bbb
     ++--------------+-------------+
      0              1             2
                  time t
  a up   b down
)");
}

TEST(TextPlot, KeepsToTheSizeItIsGiven) {
    LineFigure figure = small();
    figure.title = std::string(200, 'T');
    figure.series.push_back(line(std::string(300, 'n'), {0}, {-1e-7}));
    for (const std::size_t width : {30U, 80U, 133U}) {
        for (const bool ascii : {true, false}) {
            const auto rows = lines_of(text_plot(figure, width, 20, {ascii, false}));
            EXPECT_EQ(rows.size(), 20U);
            for (const auto& row : rows) {
                EXPECT_LE(columns(row), width) << row;
            }
        }
    }
    EXPECT_GE(lines_of(text_plot(figure, 1, 1)).size(), 8U);
}

TEST(TextPlot, IsAsciiWhenAsked) {
    LineFigure figure = small();
    figure.y = {"β⟨θ⟩ 日", Scale::log, {}, {}};
    figure.series[0].y = {1e-9, 1e-5, 1};
    const std::string text = text_plot(figure, 60, 20, {true, false});
    for (const char c : text) {
        EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << text;
    }
    EXPECT_TRUE(has(text, "beta<theta> ?"));
    EXPECT_TRUE(has(text, "1e-5"));
}

TEST(TextPlot, ShowsEverySeriesByItsLetter) {
    LineFigure figure = small();
    for (int i = 0; i < 6; ++i) {
        figure.series.push_back(line("same", {0, 1, 2}, {0, 0.1 * i, 1}));
    }
    figure.series.push_back(line("none", {0}, {nan}));
    const std::string text = text_plot(figure, 80, 24);
    const std::string plot = text.substr(0, text.find("└"));
    for (const char letter : std::string("abcdefgh")) {
        EXPECT_NE(plot.find(letter, plot.find("│")), std::string::npos) << letter;
    }
    EXPECT_TRUE(has(text, "i none (not shown)"));
}

TEST(TextPlot, ColoursOnlyWhenAskedAndAlwaysResets) {
    EXPECT_FALSE(has(text_plot(small(), 60, 16), "\x1b"));
    const std::string text = text_plot(small(), 60, 16, {false, true});
    EXPECT_TRUE(has(text, "\x1b[38;2;66;105;208m"));
    EXPECT_EQ(test::matches(text, "(\x1b\\[38)").size(), test::matches(text, "(\x1b\\[0m)").size());
}

TEST(TextPlot, TakesAwkwardDataAndNamesThatMoveTheCursor) {
    for (const auto& values : std::vector<std::vector<double>>{{}, {1}, {nan}, {2, 2}, {1e308, -1e308}, {0, -1}}) {
        LineFigure figure;
        figure.series = {line("a\x1b[2Jb\nc", std::vector<double>(values.size(), 1.0), values)};
        for (const Scale scale : {Scale::linear, Scale::log}) {
            figure.y.scale = scale;
            const std::string text = text_plot(figure, 40, 12);
            EXPECT_FALSE(has(text, "\x1b"));
            EXPECT_FALSE(has(text, "nan"));
            EXPECT_TRUE(has(text, "a a [2Jb c"));
        }
    }
    EXPECT_TRUE(has(text_plot(LineFigure{}, 40, 12), "no data"));
}

TEST(TextTable, AlignsNumbersRightAndTextLeft) {
    EXPECT_EQ(text_table({"scheme", "t", "cosine"}, {{"post-ln", "10", "0.9987"}, {"θ", "100", "1e-12"}, {"x", "nan"}}),
              "scheme     t  cosine\n"
              "-------  ---  ------\n"
              "post-ln   10  0.9987\n"
              "θ        100   1e-12\n"
              "x        nan\n");
}

TEST(TextTable, AColumnWithOneWordIsText) {
    EXPECT_EQ(text_table({"a", "b"}, {{"1", "2"}, {"200", "no"}}), "  a  b\n---  --\n  1  2\n200  no\n");
}

TEST(TextTable, TakesEmptyTablesLongRowsAndControlCharacters) {
    EXPECT_EQ(text_table({}, {}), "\n\n");
    EXPECT_EQ(text_table({"a"}, {{"x", "y\x1b[1m\n"}}), "a\n-  ------\nx  y [1m\n");
}

}  // namespace
}  // namespace flyball::report
