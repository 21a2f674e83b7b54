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

namespace {

std::string table_of(const std::vector<TableColumn>& table) {
    std::vector<std::string> headers;
    std::vector<std::vector<std::string>> rows;
    for (const TableColumn& column : table) {
        headers.push_back(column.header);
        rows.resize(std::max(rows.size(), column.cells.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(i < column.cells.size() ? column.cells[i] : "");
        }
    }
    return text_table(headers, rows);
}

std::size_t widest_line(std::string_view text) {
    std::size_t widest = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        widest = std::max(widest, columns(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return widest;
}

}  // namespace

std::string text_table(std::vector<TableColumn> table, std::size_t width) {
    constexpr std::size_t least_name = 8;
    std::string text = table_of(table);
    while (widest_line(text) > width) {
        const auto least_missed =
            std::max_element(table.begin(), table.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
        if (least_missed == table.end() || least_missed->rank == 0) {
            break;
        }
        table.erase(least_missed);
        text = table_of(table);
    }
    if (const std::size_t wide = widest_line(text); wide > width && !table.empty()) {
        std::size_t names = columns(table.front().header);
        for (const std::string& cell : table.front().cells) {
            names = std::max(names, columns(cell));
        }
        const std::size_t room = std::max(least_name, names - std::min(names, wide - width));
        for (std::string& cell : table.front().cells) {
            cell = shortened(cell, room);
        }
        text = table_of(table);
    }
    return text;
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
