#include <algorithm>

#include "core/number.hpp"
#include "report/text.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

// Numbers, also with commas between thousands, and what stands for a number that is not there.
bool is_numeric(std::string cell) {
    std::erase(cell, ',');
    constexpr std::array<std::string_view, 9> others = {"", "-", "–", "—", "nan", "inf", "-inf", "null", "∞"};
    return std::find(others.begin(), others.end(), cell) != others.end() || parse_double(cell).has_value() ||
           (cell.ends_with('%') && parse_double(cell.substr(0, cell.size() - 1)).has_value());
}

}  // namespace

std::string text_table(const std::vector<std::string>& headers, const std::vector<std::vector<std::string>>& rows) {
    std::size_t n = headers.size();
    for (const auto& row : rows) {
        n = std::max(n, row.size());
    }
    std::vector<std::vector<std::string>> cells(rows.size() + 1, std::vector<std::string>(n));
    std::vector<std::size_t> width(n, 0);
    std::vector<bool> right(n, !rows.empty());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto& row = i == 0 ? headers : rows[i - 1];
        for (std::size_t j = 0; j < row.size(); ++j) {
            cells[i][j] = clean(row[j]);
            width[j] = std::max(width[j], columns(cells[i][j]));
            right[j] = right[j] && (i == 0 || is_numeric(cells[i][j]));
        }
    }
    std::string out;
    const auto add_line = [&](auto cell) {
        std::string line;
        for (std::size_t j = 0; j < n; ++j) {
            const std::string text = cell(j);
            const std::string space(width[j] - columns(text), ' ');
            line += (j == 0 ? "" : "  ") + (right[j] ? space + text : text + space);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    };
    for (std::size_t i = 0; i < cells.size(); ++i) {
        add_line([&](std::size_t j) { return cells[i][j]; });
        if (i == 0) {
            add_line([&](std::size_t j) { return std::string(width[j], '-'); });
        }
    }
    return out;
}

std::string text_lines(std::string_view text, std::size_t width, std::string_view first, std::string_view others) {
    std::string lines(first);
    std::size_t used = columns(first);
    bool is_empty = true;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = clean(std::string(text.substr(begin, end - begin)));
        if (!is_empty && used + 1 + columns(word) > width) {
            lines += '\n' + std::string(others);
            used = columns(others);
            is_empty = true;
        }
        lines += (is_empty ? "" : " ") + word;
        used += (is_empty ? 0 : 1) + columns(word);
        is_empty = false;
        begin = end + 1;
    }
    return lines + '\n';
}

}  // namespace flyball::report
