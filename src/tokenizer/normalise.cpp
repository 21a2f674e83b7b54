#include "tokenizer/normalise.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "tokenizer/unicode.hpp"

namespace flyball::tokenizer {

namespace {

// Calls change(out, point, bytes) for every character.
template <typename Change>
std::string rewritten(std::string_view text, const Change& change) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    while (!text.empty()) {
        const Utf8Point next = next_valid_point(text);
        change(out, next.value, text.substr(0, next.length));
        text.remove_prefix(next.length);
    }
    return out;
}

void clean(std::string& out, char32_t point, std::string_view bytes) {
    if (point == '\t' || point == '\n' || point == '\r') {
        out += ' ';
    } else if (point >= 0x20 && point < 0x7F) {
        out += bytes;
    } else if (point != 0xFFFD && !is_control(point)) {
        out += is_white_space(point) ? " " : bytes;
    }
}

void space_chinese(std::string& out, char32_t point, std::string_view bytes) {
    if (is_chinese(point)) {
        out.append(" ").append(bytes).append(" ");
    } else {
        out += bytes;
    }
}

void strip_mark(std::string& out, char32_t point, std::string_view bytes) {
    if (!is_nonspacing_mark(point)) {
        out += bytes;
    }
}

void lower(std::string& out, char32_t point, std::string_view bytes) {
    if (point >= 0x80) {
        append_lower(out, point);
    } else if (point >= 'A' && point <= 'Z') {
        out += static_cast<char>(point - 'A' + 'a');
    } else {
        out += bytes;
    }
}

struct Normalise {
    std::string text;
    std::size_t most;

    void operator()(const BertStep& step) {
        if (step.clean) {
            text = rewritten(text, clean);
        }
        const bool ascii = is_ascii(text);
        if (step.space_chinese && !ascii) {
            text = rewritten(text, space_chinese);
        }
        if (step.strip_accents && !ascii) {
            text = rewritten(nfd(text), strip_mark);
        }
        if (step.lower) {
            text = rewritten(text, lower);
        }
    }
    void operator()(const LowerStep&) { text = rewritten(text, lower); }
    void operator()(const NfcStep&) { text = nfc(text); }
    void operator()(const NfdStep&) { text = nfd(text); }
    void operator()(const PrependStep& step) {
        if (!text.empty()) {
            text.insert(0, step.text);
        }
    }
    void operator()(const ReplaceStep& step) { text = replaced(text, step.pattern, step.by, most); }
    void operator()(const TrimStep& step) {
        if (step.left) {
            text.erase(0, leading_space(text));
        }
        if (step.right) {
            text.resize(text.size() - trailing_space(text));
        }
    }
};

}  // namespace

std::string normalised(std::string_view text, const std::vector<NormaliseStep>& steps) {
    Normalise apply{std::string(text), 64 * text.size() + 65536};
    for (const NormaliseStep& step : steps) {
        std::visit(apply, step);
    }
    return std::move(apply.text);
}

std::string replaced(std::string_view text, const Pattern& pattern, std::string_view by, std::size_t most) {
    std::string out;
    out.reserve(text.size());
    Matches matches(pattern);
    matches.begin(text);
    std::size_t done = 0;
    while (const std::optional<Pattern::Match> match = matches.next()) {
        out.append(text.substr(done, match->start - done)).append(by);
        done = match->end;
        if (out.size() > most) {
            throw Error(ErrorKind::input, "tokenizer.read",
                        fmt::format("replacements that make a text of {} bytes longer than {}", text.size(), most),
                        "a tokenizer that lets text grow less");
        }
    }
    return out.append(text.substr(done));
}

std::size_t leading_space(std::string_view text) noexcept {
    std::size_t at = 0;
    while (at < text.size()) {
        const Utf8Point next = next_valid_point(text.substr(at));
        if (!is_white_space(next.value)) {
            break;
        }
        at += next.length;
    }
    return at;
}

std::size_t trailing_space(std::string_view text) noexcept {
    std::size_t end = text.size();
    while (end > 0) {
        std::size_t start = end - 1;
        while (start > 0 && is_continuation(text[start])) {
            --start;
        }
        if (!is_white_space(next_valid_point(text.substr(start)).value)) {
            break;
        }
        end = start;
    }
    return text.size() - end;
}

}  // namespace flyball::tokenizer
