// Oniguruma's dialect of regular expressions (Ruby's syntax) in the words of PCRE2.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "tokenizer/pattern.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::string_view hex_class = "0-9A-Fa-f";

class Translator {
  public:
    explicit Translator(std::string_view pattern) : pattern_(pattern) {}

    std::string run() {
        while (at_ < pattern_.size()) {
            if (pattern_[at_] == '\\') {
                escape();
            } else if (pattern_[at_] == '[') {
                set();
            } else if (starts("(?#")) {
                copy(std::min(pattern_.find(')', at_), pattern_.size() - 1) + 1 - at_);
            } else if (starts("(?")) {
                group();
            } else if (starts("{,")) {
                out_ += "{0,";
                at_ += 2;
            } else {
                copy(1);
            }
        }
        return out_;
    }

  private:
    bool starts(std::string_view text) const { return pattern_.substr(at_, text.size()) == text; }

    void copy(std::size_t count) {
        out_ += pattern_.substr(at_, count);
        at_ += std::min(count, pattern_.size() - at_);
    }

    [[noreturn]] void refuse(std::string_view what) const {
        throw Error(ErrorKind::input, "tokenizer.pattern",
                    fmt::format("{} in the pattern {}", what, flyball::quoted(pattern_)), "a simpler pattern");
    }

    // What \s, \w or \h stands for inside a set; "" for other letters. The capitals are the opposites.
    static std::string class_of(char letter) {
        switch (letter) {
            case 's':
                return std::string(white_space_class);
            case 'w':
                return std::string(word_class).append(ruby_word_extra);
            case 'h':
                return std::string(hex_class);
            default:
                return "";
        }
    }

    static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

    // \u00e9 is \x{00e9}.
    bool short_code() {
        const std::string_view digits = pattern_.substr(std::min(at_ + 2, pattern_.size()), 4);
        const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'f'); };
        if (!starts("\\u") || digits.size() != 4 || !std::all_of(digits.begin(), digits.end(), is_hex)) {
            return false;
        }
        out_ += fmt::format("\\x{{{}}}", digits);
        at_ += 6;
        return true;
    }

    void escape() {
        if (short_code()) {
            return;
        }
        const char letter = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
        const std::string members = class_of(lower(letter));
        if (members.empty()) {
            copy(2);
            return;
        }
        out_ += fmt::format("[{}{}]", letter == lower(letter) ? "" : "^", members);
        at_ += 2;
    }

    // Whether it was a class and not one character.
    bool escape_in_set() {
        if (short_code()) {
            return false;
        }
        const char letter = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
        const std::string members = class_of(letter);
        if (!members.empty()) {
            out_ += members;
            at_ += 2;
            return true;
        }
        if (letter == 'H') {
            refuse("\\H inside a set");
        }
        if (starts("\\p{") || starts("\\P{")) {
            copy(std::min(pattern_.find('}', at_), pattern_.size() - 1) + 1 - at_);
            return true;
        }
        copy(2);  // \S and \W stay PCRE2's, which differ from Oniguruma's at a handful of characters
        return std::string_view("dDSW").find(letter) != std::string_view::npos;
    }

    // Inner sets are unions: their brackets go. A first ']' is itself. So is a '-' behind a class or beside the bracket
    // of an inner set; PCRE2 would refuse it, or make a range of what the rewriting brings together.
    void set() {
        copy(1);
        if (starts("^")) {
            copy(1);
        }
        if (starts("]")) {
            copy(1);
        }
        std::size_t inner = 0;
        bool class_before = false;  // a class or a bracket, with which no range begins
        while (at_ < pattern_.size()) {
            const bool no_range = std::exchange(class_before, false);
            if (pattern_[at_] == '\\') {
                class_before = escape_in_set();
            } else if (starts("[:")) {
                const std::size_t end = pattern_.find(":]", at_);
                copy(end == std::string_view::npos ? pattern_.size() - at_ : end + 2 - at_);
                class_before = true;
            } else if (starts("[^")) {
                refuse("a negated set inside a set");
            } else if (starts("[")) {
                ++inner;
                ++at_;
                class_before = true;
            } else if (starts("&&")) {
                refuse("an intersection of sets");
            } else if (starts("]") && inner > 0) {
                --inner;
                ++at_;
                class_before = true;
            } else if (starts("-") && (no_range || starts("-[") || (inner > 0 && starts("-]")))) {
                out_ += "\\-";
                ++at_;
            } else {
                const bool last = starts("]");
                copy(1);
                if (last) {
                    return;
                }
            }
        }
    }

    // In Ruby (?m) lets the dot match line ends; in PCRE2 it is about ^ and $, which match at lines here anyway.
    void group() {
        std::size_t end = at_ + 2;
        while (end < pattern_.size() &&
               (std::isalpha(static_cast<unsigned char>(pattern_[end])) != 0 || pattern_[end] == '-')) {
            ++end;
        }
        const bool flags = end < pattern_.size() && (pattern_[end] == ':' || pattern_[end] == ')');
        if (!flags) {
            copy(2);
            return;
        }
        std::string group(pattern_.substr(at_, end - at_));
        std::replace(group.begin(), group.end(), 'm', 's');
        out_ += group;
        at_ = end;
    }

    std::string_view pattern_;
    std::size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string from_ruby(std::string_view pattern) {
    return Translator(pattern).run();
}

}  // namespace flyball::tokenizer
