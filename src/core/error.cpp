#include "core/error.hpp"

#include <fmt/format.h>

#include "core/utf8.hpp"

namespace flyball {

namespace {

// Around the name of a setting. quoted() escapes control characters, so that no text from outside has them.
constexpr char name_begins = '\x1d';
constexpr char name_ends = '\x1e';
constexpr char value_follows = '\x1f';

std::string spelled(std::string_view marked, SettingSpelling spelling) {
    std::string text;
    text.reserve(marked.size() + 16);
    for (const char c : marked) {
        if (c == name_begins) {
            text += spelling.before;
        } else if (c == value_follows) {
            text += spelling.between;
        } else if (c != name_ends) {
            text += c;
        }
    }
    return text;
}

std::string sentence_of(std::string_view where, std::string_view got, std::string_view expected,
                        std::string_view hint) {
    std::string text = fmt::format("[{}] got {}, expected {}.", where, got, expected);
    if (!hint.empty()) {
        text += fmt::format(" hint: {}{}", hint, hint.back() == '?' ? "" : ".");
    }
    return text;
}

}  // namespace

Error::Error(ErrorKind kind, std::string_view where, std::string_view got, std::string_view expected,
             std::string_view hint, std::string_view detail)
    : Error(kind, sentence_of(where, got, expected, hint), detail) {}

Error::Error(ErrorKind kind, std::string marked, std::string_view detail)
    : std::runtime_error(spelled(marked, {"", " = "})), kind_(kind), marked_(std::move(marked)), detail_(detail) {}

std::string Error::sentence(SettingSpelling spelling) const {
    return spelled(marked_, spelling);
}

std::string setting(std::string_view name) {
    return fmt::format("{}{}{}", name_begins, name, name_ends);
}

std::string setting(std::string_view name, std::string_view value) {
    return fmt::format("{}{}{}{}", name_begins, name, value_follows, value);
}

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
