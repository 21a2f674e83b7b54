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

TEST(TextPlot, LeavesGapsEmpty) {
    LineFigure figure;
    figure.series = {line("x", {0, 1, 2, 3, 4}, {1, 1, nan, 1, 1})};
    const auto rows = test::matches(text_plot(figure, 48, 12, {true, false}), "[|+](a+ +a+)\n");
    ASSERT_EQ(rows.size(), 1U);
    const auto empty = static_cast<double>(std::count(rows[0].begin(), rows[0].end(), ' '));
    EXPECT_NEAR(empty, 0.5 * static_cast<double>(rows[0].size()), 1.5) << "from 1 to 3 of 0 to 4: " << rows[0];
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
    EXPECT_TRUE(has(text, "1e-6"));
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

TEST(TextTable, ThousandsWithCommasAreNumbers) {
    EXPECT_EQ(text_table({"tokens/s", "seeds"}, {{"1,234,567", "1,2 or 3"}, {"-", "4"}, {"89", "5%"}}),
              " tokens/s  seeds\n"
              "---------  --------\n"
              "1,234,567  1,2 or 3\n"
              "        -  4\n"
              "       89  5%\n");
    EXPECT_EQ(text_table({"share"}, {{"5%"}, {"12.5%"}}), "share\n-----\n   5%\n12.5%\n");
}

TEST(TextLines, BreakBeforeTheWordThatDoesNotFit) {
    EXPECT_EQ(text_lines("aa bb cc", 8), "aa bb cc\n");
    EXPECT_EQ(text_lines("aa bb cc", 7), "aa bb\ncc\n");
    EXPECT_EQ(text_lines("aa bb cc", 5), "aa bb\ncc\n");
    EXPECT_EQ(text_lines("aa bb cc", 4), "aa\nbb\ncc\n");
    EXPECT_EQ(text_lines("a wonderful b c", 5), "a\nwonderful\nb c\n") << "a word is never cut";
    EXPECT_EQ(text_lines("wonderful", 5), "wonderful\n") << "no empty line before it";
    EXPECT_EQ(text_lines("", 5), "\n");
}

TEST(TextLines, CountTheirPrefixes) {
    EXPECT_EQ(text_lines("aa bb cc dd ee", 8, "1. ", "   "), "1. aa bb\n   cc dd\n   ee\n");
    EXPECT_EQ(text_lines("aa bb cc", 7, "1. ", "   "), "1. aa\n   bb\n   cc\n");
    EXPECT_EQ(text_lines("aa bb cc dd ee", 8, "10. ", "-"), "10. aa\n-bb cc\n-dd ee\n");
    EXPECT_EQ(text_lines("aa bb cc dd ee", 8, "", "--- "), "aa bb cc\n--- dd\n--- ee\n");
}

// θ has two bytes and ∞ three; the accent (two bytes) stands above the e before it.
TEST(TextLines, CountCharactersAsATerminalDoes) {
    EXPECT_EQ(text_lines("θθ ∞∞ cc", 5), "θθ ∞∞\ncc\n");
    EXPECT_EQ(text_lines("e\u0301e\u0301 bb cc", 5), "e\u0301e\u0301 bb\ncc\n");
    EXPECT_EQ(text_lines("aa bb cc dd", 7, "∞ ", "θ "), "∞ aa bb\nθ cc dd\n");
    EXPECT_EQ(text_lines("aa\x1b[1m b\nb", 20), "aa [1m b b\n") << "nothing moves the cursor";
}

TEST(TextTable, LeavesOutWhatMattersLeastWhereColumnsAreFew) {
    const std::vector<TableColumn> table = {{"name", {"first", "second"}, 0},
                                            {"seldom", {"1", "2"}, 2},
                                            {"often", {"3", "4"}, 1},
                                            {"always", {"5", "6"}, 0}};
    EXPECT_EQ(text_table(table, 80),
              text_table({"name", "seldom", "often", "always"}, {{"first", "1", "3", "5"}, {"second", "2", "4", "6"}}));
    EXPECT_EQ(text_table(table, 29), text_table(table, 80)) << "29 columns are just enough";
    EXPECT_EQ(text_table(table, 28),
              text_table({"name", "often", "always"}, {{"first", "3", "5"}, {"second", "4", "6"}}));
    EXPECT_EQ(text_table(table, 15), text_table({"name", "always"}, {{"first", "5"}, {"second", "6"}}));
}

// θ has two bytes. The longest line is "θθθθθθ  1".
TEST(TextTable, IsAsWideAsATerminalShowsIt) {
    const std::vector<TableColumn> table = {{"name", {"θθθθθθ"}, 0}, {"n", {"1"}, 1}};
    EXPECT_EQ(text_table(table, 9), "name    n\n------  -\nθθθθθθ  1\n");
    EXPECT_EQ(text_table(table, 8), "name\n------\nθθθθθθ\n");
}

TEST(TextTable, CutsLongNamesWhenNothingElseIsLeftToGo) {
    const std::string text =
        text_table({{"name", {"a name that is much too long", "b"}, 0}, {"t", {"10", "7"}, 0}}, 20);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_LE(columns(text.substr(begin, end - begin)), 20U) << text;
        begin = end + 1;
    }
    EXPECT_NE(text.find("a name that"), std::string::npos) << text;
    EXPECT_NE(text.find("10"), std::string::npos) << text;
}

}  // namespace
}  // namespace flyball::report
