// Expressions of the grammar in syntax.hpp, one function a rule. Every node gets the span of its text; parentheses
// leave no node.
#include "scheme/parser.hpp"

#include <fmt/format.h>

#include <utility>

namespace flyball::scheme {

namespace {

constexpr int deepest_nesting = 100;

}  // namespace

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > deepest_nesting) {
        fail_at(parser_.text_, parser_.peek().span, fmt::format("more than {} levels of nesting", deepest_nesting),
                "a flatter equation", "give parts a name: m = norm(x); x = ...");
    }
}

std::shared_ptr<Expression> Parser::node(Expression::Kind kind, std::vector<ExpressionPtr> arguments, Span span) const {
    auto result = std::make_shared<Expression>();
    result->kind = kind;
    result->span = span;
    for (const ExpressionPtr& argument : arguments) {
        result->size += argument->size;
    }
    result->arguments = std::move(arguments);
    return result;
}

std::optional<Operator> Parser::comparison() const {
    for (const Operator op : {Operator::less, Operator::less_equal, Operator::greater, Operator::greater_equal,
                              Operator::equal, Operator::not_equal}) {
        if (peek().kind == Token::Kind::symbol && peek().text == symbol(op)) {
            return op;
        }
    }
    return std::nullopt;
}

ExpressionPtr Parser::expression() {
    const Nesting nesting(*this);
    ExpressionPtr left = sum();
    if (const auto op = comparison()) {
        take();
        ExpressionPtr right = sum();
        const Span span{left->span.begin, right->span.end};
        auto compared = node(Expression::Kind::compare, {left, right}, span);
        compared->op = *op;
        compared->type = Type::condition;
        left = compared;
        if (comparison()) {
            fail(peek(), "'?' after one comparison", "nest them as a ? (b ? x : y) : y");
        }
    }
    if (!accept("?")) {
        return left;
    }
    ExpressionPtr yes = expression();
    if (!accept(":")) {
        fail(peek(), "':' and the value when the condition does not hold");
    }
    ExpressionPtr no = expression();
    const Span span{left->span.begin, no->span.end};
    return node(Expression::Kind::select, {left, yes, no}, span);
}

ExpressionPtr Parser::sum() {
    ExpressionPtr left = term();
    while (peek().is("+") || peek().is("-")) {
        const Operator op = take().is("+") ? Operator::plus : Operator::minus;
        ExpressionPtr right = term();
        const Span span{left->span.begin, right->span.end};
        auto result = node(Expression::Kind::binary, {left, right}, span);
        result->op = op;
        left = result;
    }
    return left;
}

ExpressionPtr Parser::term() {
    ExpressionPtr left = factor();
    while (peek().is("*") || peek().is("/")) {
        const Operator op = take().is("*") ? Operator::times : Operator::divide;
        if (peek().is("*")) {
            fail(peek(), "a factor", "powers are written with ^");
        }
        ExpressionPtr right = factor();
        const Span span{left->span.begin, right->span.end};
        auto result = node(Expression::Kind::binary, {left, right}, span);
        result->op = op;
        left = result;
    }
    return left;
}

ExpressionPtr Parser::factor() {
    const Nesting nesting(*this);
    if (peek().is("-") || peek().is("+")) {
        const Token sign = take();
        ExpressionPtr inner = factor();
        if (sign.is("+")) {
            return inner;
        }
        const Span span{sign.span.begin, inner->span.end};
        return node(Expression::Kind::negate, {inner}, span);
    }
    ExpressionPtr base = primary();
    if (!accept("^")) {
        return base;
    }
    ExpressionPtr exponent = factor();  // right associative; 2^-1 is allowed
    const Span span{base->span.begin, exponent->span.end};
    auto result = node(Expression::Kind::binary, {base, exponent}, span);
    result->op = Operator::power;
    return result;
}

ExpressionPtr Parser::primary() {
    const Token token = take();
    if (token.kind == Token::Kind::number) {
        auto result = node(Expression::Kind::number, {}, token.span);
        result->number = token.number;
        return result;
    }
    if (token.is("where")) {
        fail(token, "a number, a name or '('", "'where' starts the list of parameters");
    }
    if (token.kind == Token::Kind::name) {
        if (peek().is("(")) {
            return call(token);
        }
        auto result = node(Expression::Kind::name, {}, token.span);
        result->text = std::string(token.text);
        return result;
    }
    if (token.is("(")) {
        ExpressionPtr inner = expression();
        if (!accept(")")) {
            fail(peek(), fmt::format("')' to close the '(' at {}", place_of(text_, token.span.begin)));
        }
        return inner;
    }
    if (token.is("=")) {
        fail(token, "a number, a name or '('", "compare with ==; a statement is name = expression");
    }
    fail(token, "a number, a name or '('");
}

ExpressionPtr Parser::call(const Token& name) {
    take();  // '('
    std::vector<ExpressionPtr> arguments;
    if (!peek().is(")")) {
        do {
            arguments.push_back(expression());
        } while (accept(","));
    }
    if (!peek().is(")")) {
        fail(peek(), fmt::format("')' to close '{}('", name.text));
    }
    const Span span{name.span.begin, take().span.end};
    auto result = node(Expression::Kind::call, std::move(arguments), span);
    result->text = std::string(name.text);
    return result;
}

}  // namespace flyball::scheme
