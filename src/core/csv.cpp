#include "core/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace flyball {

std::string csv_cell(std::string_view text, Quotes quotes) {
    if (quotes == Quotes::when_needed && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string out = "\"";
    for (const char c : text) {
        out += c;
        if (c == '"') {
            out += c;
        }
    }
    return out + '"';
}

namespace {

[[noreturn]] void refuse_row(std::string_view what, std::size_t row, std::string_view got) {
    throw Error(ErrorKind::input, "core.csv", fmt::format("{} in row {} of {}", got, row + 1, flyball::quoted(what)),
                "comma-separated values with as many cells in every row as in the first");
}

// Whether a row that ends with "\r" ends at `at`; the last one may lack its newline.
bool ends_row(std::string_view text, std::size_t at) {
    return at == text.size() || text[at] == '\n';
}

// The cell that begins at `at`, which moves behind it.
std::string take_cell(std::string_view text, std::size_t& at, std::string_view what, std::size_t row) {
    std::string cell;
    if (at == text.size() || text[at] != '"') {
        const std::size_t end = std::min(text.find_first_of(",\n", at), text.size());
        cell = text.substr(at, end - at);
        if (ends_row(text, end) && !cell.empty() && cell.back() == '\r') {
            cell.pop_back();
        }
        at = end;
        return cell;
    }
    for (++at;; ++at) {
        const std::size_t quote = text.find('"', at);
        if (quote == std::string_view::npos) {
            refuse_row(what, row, "a quote without its end");
        }
        cell += text.substr(at, quote - at);
        at = quote + 1;
        if (at == text.size() || text[at] != '"') {
            break;
        }
        cell += '"';
    }
    if (at < text.size() && text[at] == '\r' && ends_row(text, at + 1)) {
        ++at;
    }
    if (at < text.size() && text[at] != ',' && text[at] != '\n') {
        refuse_row(what, row, "text behind a quote");
    }
    return cell;
}

}  // namespace

std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::string_view what) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t at = 0; at < text.size();) {
        std::vector<std::string> cells;
        for (;;) {
            cells.push_back(take_cell(text, at, what, rows.size()));
            const bool more = at < text.size() && text[at] == ',';
            at += at < text.size() ? 1 : 0;
            if (!more) {
                break;
            }
        }
        if (!rows.empty() && cells.size() != rows.front().size()) {
            refuse_row(what, rows.size(), fmt::format("{} cells", cells.size()));
        }
        rows.push_back(std::move(cells));
    }
    return rows;
}

}  // namespace flyball
