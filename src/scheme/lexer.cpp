#include "scheme/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/number.hpp"
#include "core/utf8.hpp"
#include "scheme/syntax_error.hpp"

namespace flyball::scheme {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Characters people paste from papers, and what to write instead.
struct Foreign {
    std::string_view character;
    std::string_view instead;
};
constexpr std::array<Foreign, 22> foreign_characters = {{
    {"·", "*"},
    {"×", "*"},
    {"⋅", "*"},
    {"∗", "*"},
    {"−", "-"},
    {"–", "-"},
    {"÷", "/"},
    {"√", "sqrt"},
    {"²", "^2"},
    {"≤", "<="},
    {"≥", ">="},
    {"≠", "!="},
    {"α", "alpha"},
    {"β", "beta"},
    {"γ", "gamma"},
    {"λ", "lambda"},
    {"τ", "tau"},
    {"ω", "omega"},
    {"Δ", "dt for the residual step"},
    {"∥", "unit or norm"},
    {"‖", "unit or norm"},
    {"←", "="},
}};

std::size_t utf8_length(std::string_view text, std::size_t at) {
    std::size_t length = 1;
    while (at + length < text.size() && is_continuation(text[at + length])) {
        ++length;
    }
    return length;
}

[[noreturn]] void fail_character(std::string_view text, std::size_t at) {
    const Span span{at, at + utf8_length(text, at)};
    const std::string_view character = text.substr(span.begin, span.end - span.begin);
    std::string hint;
    for (const Foreign& row : foreign_characters) {
        if (row.character == character) {
            hint = fmt::format("write {}", row.instead);
        }
    }
    if (character == "{" || character == "}") {
        hint = "group with ( )";
    } else if (character == "&" || character == "!") {
        hint = "conditions are single comparisons; nest them as a ? (b ? x : y) : y";
    } else if (character == "@" || character == "%") {
        hint = "the operators are + - * / ^";
    }
    fail_at(text, span, fmt::format("the character {}", flyball::quoted(character)),
            "a number, a name, or one of + - * / ^ ( ) [ ] , ; : ? | ~ = < >", hint);
}

Token lex_number(std::string_view text, std::size_t at) {
    std::size_t end = at;
    const auto digits = [&] {
        while (end < text.size() && is_digit(text[end])) {
            ++end;
        }
    };
    digits();
    if (end < text.size() && text[end] == '.') {
        ++end;
        digits();
    }
    if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
        std::size_t exponent = end + 1;
        if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) {
            ++exponent;
        }
        if (exponent < text.size() && is_digit(text[exponent])) {
            end = exponent;
            digits();
        }
    }
    Token token{Token::Kind::number, {at, end}, text.substr(at, end - at), 0};
    // Only now look at what touches the number: 1.2.3 and 2x are common slips.
    if (end < text.size() && text[end] == '.') {
        fail_at(text, {at, end + 1}, flyball::quoted(text.substr(at, end + 1 - at)), "a number with one decimal point");
    }
    if (end < text.size() && is_letter(text[end])) {
        fail_at(text, {end, end + 1},
                fmt::format("{} right after the number {}", flyball::quoted(text.substr(end, 1)), token.text),
                "an operator between a number and a name", "products are written with *, as in 2*x");
    }
    const auto value = parse_double(token.text);
    if (!value) {
        fail_at(text, token.span, flyball::quoted(token.text), "a number between 1e-308 and 1e308");
    }
    token.number = *value;
    return token;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
    if (text.size() > longest_equation) {
        throw Error(ErrorKind::usage, "scheme.parse", fmt::format("an equation of {} bytes", text.size()),
                    fmt::format("at most {}", longest_equation),
                    "an equation is one residual block, not a whole network");
    }
    static constexpr std::array<std::string_view, 4> two = {"<=", ">=", "==", "!="};
    static constexpr std::string_view one = "+-*/^()[],;:?|~=<>";
    std::vector<Token> tokens;
    std::size_t at = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (is_space(c)) {
            ++at;
            continue;
        }
        if (tokens.size() >= most_tokens) {
            fail_at(text, {at, at + 1}, fmt::format("more than {} symbols", most_tokens),
                    "a residual block's equation");
        }
        Token token;
        if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
            token = lex_number(text, at);
        } else if (is_letter(c)) {
            std::size_t end = at + 1;
            while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) {
                ++end;
            }
            token = {Token::Kind::name, {at, end}, text.substr(at, end - at), 0};
        } else {
            std::size_t length = 0;
            for (const std::string_view symbol_text : two) {
                if (text.substr(at, 2) == symbol_text) {
                    length = 2;
                }
            }
            if (length == 0 && one.find(c) != std::string_view::npos) {
                length = 1;
            }
            if (length == 0) {
                fail_character(text, at);
            }
            token = {Token::Kind::symbol, {at, at + length}, text.substr(at, length), 0};
        }
        at = token.span.end;
        tokens.push_back(token);
    }
    tokens.push_back({Token::Kind::end, {text.size(), text.size()}, {}, 0});
    return tokens;
}

}  // namespace flyball::scheme
