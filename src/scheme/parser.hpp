// The recursive-descent parser of syntax.hpp's grammar: one member function per rule. Internal to the parser's two
// files: parser.cpp has programs, sections and parameters, parser_expression.cpp has expressions.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheme/lexer.hpp"
#include "scheme/syntax.hpp"
#include "scheme/syntax_error.hpp"

namespace flyball::scheme {

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

    Syntax program();
    ExpressionPtr whole_expression();
    std::vector<ParameterSyntax> settings();

  private:
    const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    Token take() {
        const Token token = peek();
        if (token.kind != Token::Kind::end) {
            ++at_;
        }
        return token;
    }
    bool accept(std::string_view symbol_text) {
        if (!peek().is(symbol_text)) {
            return false;
        }
        take();
        return true;
    }
    [[noreturn]] void fail(const Token& token, std::string_view expected, std::string_view hint = {}) const;
    bool at_label() const { return (peek().is("attn") || peek().is("ffn")) && peek(1).is(":"); }
    bool at_body_end() const { return peek().kind == Token::Kind::end || peek().is("|") || peek().is("where"); }

    std::vector<Section> body();
    Section section();
    Assignment statement();
    ParameterSyntax parameter();
    std::string parameter_name(Span& span);

    ExpressionPtr expression();
    ExpressionPtr sum();
    ExpressionPtr term();
    ExpressionPtr factor();
    ExpressionPtr primary();
    ExpressionPtr call(const Token& name);
    std::optional<Operator> comparison() const;

    std::shared_ptr<Expression> node(Expression::Kind kind, std::vector<ExpressionPtr> arguments, Span span) const;

    // Counts how deep the recursion is; throws beyond deepest_nesting, which bounds every later walk of the tree too.
    struct Nesting {
        explicit Nesting(Parser& parser);
        ~Nesting() { --parser_.depth_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        Parser& parser_;
    };

    std::string_view text_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace flyball::scheme
