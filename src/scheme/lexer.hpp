// Splits an equation into tokens.
#pragma once

#include <string_view>
#include <vector>

#include "scheme/expression.hpp"

namespace flyball::scheme {

struct Token {
    enum class Kind { number, name, symbol, end };
    Kind kind = Kind::end;
    Span span;
    std::string_view text;  // a view into the equation
    double number = 0;

    bool is(std::string_view symbol_or_name) const {
        return (kind == Kind::symbol || kind == Kind::name) && text == symbol_or_name;
    }
};

// Limits that keep hostile text cheap: no equation of a paper comes near them.
inline constexpr std::size_t longest_equation = 16384;  // bytes
inline constexpr std::size_t most_tokens = 2000;

// The last token is always `end`. `text` must outlive the tokens.
std::vector<Token> tokenize(std::string_view text);

}  // namespace flyball::scheme
