#include "dynamics/start_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "core/error.hpp"
#include "core/number.hpp"

namespace flyball::dynamics {

namespace {

constexpr std::string_view blanks = " \t\r";

[[noreturn]] void fail_csv(const std::string& path, std::size_t line, std::string_view got, std::string_view expected,
                           std::string_view hint = {}) {
    throw Error(ErrorKind::input, "dynamics.start_file",
                fmt::format("{} in line {} of {}", got, line, flyball::quoted(path)), expected, hint);
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Takes the next line off the front.
std::string_view next_line(std::string_view& rest) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

// Takes the next cell off the front of a line that has one; a comma in quotes is none. `more`: there is another.
std::string_view next_cell(std::string_view& rest, bool& more) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < rest.size() && (quoted || rest[end] != ','); ++end) {
        quoted = quoted != (rest[end] == '"');
    }
    std::string_view cell = trimmed(rest.substr(0, end));
    more = end < rest.size();
    rest.remove_prefix(more ? end + 1 : end);
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
        cell = trimmed(cell.substr(1, cell.size() - 2));
    }
    return cell;
}

// Whether a cell is a number, or was meant to be one: what begins like one ("1;2", "1 2"), and the words that people
// and programs write for numbers that are none. A line with such a cell is no header.
bool is_meant_as_number(std::string_view cell) {
    constexpr std::string_view beginnings = "0123456789.+-\"";  // a quote that is left over was not closed
    std::string word(cell.substr(0, 10));
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return word.empty() || beginnings.find(word[0]) != std::string_view::npos || word == "nan" || word == "inf" ||
           word == "infinity" || word == "na" || word == "null" || word == "n/a" || word == "#n/a" || word == "none";
}

bool is_header(std::string_view line) {
    for (bool more = true; more;) {
        const std::string_view cell = next_cell(line, more);
        if (is_meant_as_number(cell)) {
            return false;
        }
    }
    return true;
}

std::string_view without_mark(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace

void walk_csv(std::string_view text, const std::string& path,
              const std::function<void(std::span<const double>)>& visit) {
    std::string_view rest = without_mark(text);
    while (!rest.empty() && (blanks.find(rest.back()) != std::string_view::npos || rest.back() == '\n')) {
        rest.remove_suffix(1);
    }
    std::vector<double> row;
    std::optional<std::size_t> columns;
    for (std::size_t number = 1; !rest.empty(); ++number) {
        std::string_view line = next_line(rest);
        if (number == 1 && is_header(line)) {
            continue;
        }
        row.clear();
        for (bool more = true; more;) {
            const std::string_view cell = next_cell(line, more);
            const auto value = parse_double(cell);
            if (!value) {
                const bool wide = cell.find_first_of(" \t;") != std::string_view::npos;
                fail_csv(path, number, flyball::quoted(cell, 40), "finite numbers",
                         wide ? "put commas between them" : "");
            }
            if (row.size() == most_start_dimensions) {
                fail_csv(path, number, fmt::format("more than {} numbers", most_start_dimensions), "fewer dimensions");
            }
            row.push_back(*value);
        }
        if (columns && row.size() != *columns) {
            fail_csv(path, number, fmt::format("{} numbers", row.size()),
                     fmt::format("{}, as in the rows before", *columns));
        }
        columns = row.size();
        visit(row);
    }
}

CsvShape csv_shape(std::string_view text, const std::string& path) {
    CsvShape shape;
    walk_csv(text, path, [&](std::span<const double> row) {
        shape.columns = row.size();
        ++shape.rows;
    });
    if (shape.rows == 0) {
        throw Error(ErrorKind::input, "dynamics.start_file", fmt::format("no numbers in {}", flyball::quoted(path)),
                    "one row of numbers a token");
    }
    return shape;
}

}  // namespace flyball::dynamics
