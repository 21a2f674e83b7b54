// Figures and tables as text for a terminal.
//
// Promises: no line is wider than asked (as far as a column of numbers allows), every character is one column wide, and
// text from outside cannot move the cursor: control characters are shown as spaces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/figure.hpp"

namespace flyball::report {

struct TextOptions {
    bool ascii = false;   // only characters of ASCII; otherwise lines are drawn in braille dots
    bool colour = false;  // each series in its colour, by ANSI escape sequences
};

// Lines with axes, numbers and a legend, `width` columns and `height` rows in all, legend included (at least 24 x 8).
// Every series has a letter, shown on its line and in the legend. Bands are not drawn.
std::string text_plot(const LineFigure& figure, std::size_t width = 80, std::size_t height = 20,
                      TextOptions options = {});

// Columns aligned, a rule below the headers; columns of numbers to the right. Short rows are filled with empty cells.
std::string text_table(const std::vector<std::string>& headers, const std::vector<std::vector<std::string>>& rows);

// The same in at most `width` columns: what does not fit is left out, the column of the highest `rank` first and never
// one of rank 0; at last the first column is cut, which holds names.
struct TableColumn {
    std::string header;
    std::vector<std::string> cells;  // one for each row
    int rank = 0;
};
std::string text_table(std::vector<TableColumn> columns, std::size_t width);

// Lines of at most `width` columns, as far as words allow, each with its end; `first` stands before the first line and
// `others` before each of the others.
std::string text_lines(std::string_view text, std::size_t width, std::string_view first = "",
                       std::string_view others = "");

}  // namespace flyball::report
