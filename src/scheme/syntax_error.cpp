#include "scheme/syntax_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/utf8.hpp"

namespace flyball::scheme {

namespace {

// Columns on a terminal: one per code point. Good enough for every script an equation is likely to contain.
std::size_t columns(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

// Long lines show a window around the place, so that the caret is never lost by wrapping.
constexpr std::size_t window = 100;

}  // namespace

std::string place_of(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const std::size_t column = columns(before.substr(before.rfind('\n') + 1)) + 1;  // npos + 1 == 0
    if (text.find('\n') == std::string_view::npos) {
        return fmt::format("column {}", column);
    }
    return fmt::format("line {}, column {}", std::count(before.begin(), before.end(), '\n') + 1, column);
}

void fail_at(std::string_view text, Span span, std::string_view got, std::string_view expected, std::string_view hint) {
    const std::size_t begin = std::min(span.begin, text.size());
    std::size_t first = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;  // npos + 1 == 0
    std::size_t last = std::min(text.find('\n', begin), text.size());

    std::string prefix;
    std::string suffix;
    if (begin - first > window) {
        first = begin - window / 2;
        while (first < begin && is_continuation(text[first])) {
            ++first;
        }
        prefix = "...";
    }
    if (last - begin > window) {
        last = begin + window / 2;
        while (last > begin && is_continuation(text[last])) {
            --last;
        }
        suffix = "...";
    }
    std::string line(text.substr(first, last - first));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    const std::size_t end = std::clamp(span.end, begin, last);
    const std::size_t indent = prefix.size() + columns(text.substr(first, begin - first));
    const std::size_t width = std::max<std::size_t>(1, columns(text.substr(begin, end - begin)));
    const std::string detail =
        "    " + prefix + line + suffix + "\n    " + std::string(indent, ' ') + std::string(width, '^');
    throw Error(ErrorKind::usage, "scheme.parse", got, expected, hint, detail);
}

}  // namespace flyball::scheme
