// The text of a scheme as a tree: sections of statements, readout, parameters; parsing and canonical printing.
//
//     program   = body [ "|" expression ] [ "where" parameter { "," parameter } ]
//     body      = statements | section { section }
//     section   = ( "attn" | "ffn" ) ":" statements
//     statements= expression | statement { ";" statement } [ ";" ]          a bare expression means x = expression
//     statement = name "=" expression
//     parameter = [ "~" ] name [ "[" "d" "]" ] "=" expression
//     expression= sum [ compare sum ] [ "?" expression ":" expression ]
//     sum       = term { ( "+" | "-" ) term }
//     term      = factor { ( "*" | "/" ) factor }
//     factor    = ( "-" | "+" ) factor | primary [ "^" factor ]
//     primary   = number | name | name "(" expression { "," expression } ")" | "(" expression ")"
//
// docs/equation.md is the manual. Types and names are not looked at here: program.hpp does that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scheme/expression.hpp"

namespace flyball::scheme {

struct Assignment {
    std::string name;
    Span name_span;
    ExpressionPtr value;
};

enum class SubLayer { attention, feed_forward };

struct Section {
    enum class Label { none, attn, ffn };
    Label label = Label::none;
    Span span;
    std::vector<Assignment> statements;
};

struct ParameterSyntax {
    std::string name;
    Span span;
    bool learned = false;
    bool per_channel = false;
    ExpressionPtr value;
};

struct Syntax {
    std::string text;  // what was parsed; the spans point into it
    std::vector<Section> sections;
    ExpressionPtr readout;  // null: x
    std::vector<ParameterSyntax> parameters;
};

Syntax parse_syntax(std::string_view text);

// One expression that must fill the whole text: the value of a parameter.
ExpressionPtr parse_expression(std::string_view text);

// "k=v,k=v": the settings after NAME: on a command line. Spans point into `text`.
std::vector<ParameterSyntax> parse_settings(std::string_view text);

// Canonical text. Sums of vectors are spaced, sums of scalars are not: norm(x + dt*f(x)/sqrt(t+1)).
// Needs the types that the checker assigns; parse(print(e)) = e.
std::string print(const Expression& expression);
std::string print(const Section& section);
std::string print(const Syntax& syntax);
std::string print_body(const Syntax& syntax);         // without readout and parameters
std::string print(const ParameterSyntax& parameter);  // ~lambda[d] = 1e-4

bool equal(const Syntax& a, const Syntax& b);

}  // namespace flyball::scheme
