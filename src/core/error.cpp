#include "core/error.hpp"

#include <fmt/format.h>

#include "core/utf8.hpp"

namespace flyball {

namespace {

std::string sentence(std::string_view where, std::string_view got, std::string_view expected, std::string_view hint) {
    std::string text = fmt::format("[{}] got {}, expected {}.", where, got, expected);
    if (!hint.empty()) {
        text += fmt::format(" hint: {}{}", hint, hint.back() == '?' ? "" : ".");
    }
    return text;
}

}  // namespace

Error::Error(ErrorKind kind, std::string_view where, std::string_view got, std::string_view expected,
             std::string_view hint, std::string_view detail)
    : std::runtime_error(sentence(where, got, expected, hint)), kind_(kind), detail_(detail) {}

ExitCode exit_code(ErrorKind kind) noexcept {
    switch (kind) {
        case ErrorKind::usage:
        case ErrorKind::input:
        case ErrorKind::io:
        case ErrorKind::resource:
            return ExitCode::bad_input;
    }
    return ExitCode::bug;
}

std::string quoted(std::string_view text, std::size_t longest) {
    std::string shown = "'";
    const auto append = [&shown](std::string_view part) {
        for (const char c : part) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte < 0x20 || byte == 0x7f) {
                shown += fmt::format("\\x{:02x}", byte);
            } else {
                shown += c;
            }
        }
    };
    if (text.size() <= longest) {
        append(text);
    } else {
        // Cutting may split a UTF-8 character; the halves are dropped so that what we print stays valid.
        std::size_t head = longest / 2;
        std::size_t tail = text.size() - longest / 2;
        while (head > 0 && is_continuation(text[head])) {
            --head;
        }
        while (tail < text.size() && is_continuation(text[tail])) {
            ++tail;
        }
        append(text.substr(0, head));
        shown += "...";
        append(text.substr(tail));
    }
    return shown + "'";
}

}  // namespace flyball
