#include <fmt/format.h>

#include <optional>
#include <utility>

#include "scheme/lexer.hpp"
#include "scheme/syntax.hpp"
#include "scheme/syntax_error.hpp"

namespace flyball::scheme {

namespace {

constexpr int deepest_nesting = 100;  // bounds the recursion below and in every later walk of the tree

std::string shown(const Token& token) {
    return token.kind == Token::Kind::end ? "the end of the equation" : quoted(token.text);
}

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
    [[noreturn]] void fail(const Token& token, std::string_view expected, std::string_view hint = {}) const {
        fail_at(text_, token.span, shown(token), expected, hint);
    }
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

    struct Nesting {
        explicit Nesting(Parser& parser) : parser_(parser) {
            if (++parser_.depth_ > deepest_nesting) {
                fail_at(parser_.text_, parser_.peek().span,
                        fmt::format("more than {} levels of nesting", deepest_nesting), "a flatter equation",
                        "give parts a name: m = norm(x); x = ...");
            }
        }
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

Syntax Parser::program() {
    Syntax syntax;
    syntax.text = std::string(text_);
    if (peek().kind == Token::Kind::end) {
        fail(peek(), "an equation such as x + dt*f(norm(x))");
    }
    syntax.sections = body();
    if (accept("|")) {
        syntax.readout = expression();
        if (peek().is("|")) {
            fail(peek(), "the end of the equation or 'where'", "an equation has one readout");
        }
    }
    if (accept("where")) {
        do {
            syntax.parameters.push_back(parameter());
        } while (accept(","));
    }
    if (peek().kind != Token::Kind::end) {
        if (peek().is("where")) {
            fail(peek(), "',' between parameters", "one 'where' introduces them all");
        }
        fail(peek(), syntax.parameters.empty() ? "an operator, '|', 'where' or the end of the equation"
                                               : "',' or the end of the equation");
    }
    return syntax;
}

std::vector<Section> Parser::body() {
    std::vector<Section> sections;
    do {
        sections.push_back(section());
        const Section& latest = sections.back();
        for (std::size_t i = 0; i + 1 < sections.size(); ++i) {
            if (sections[i].label == latest.label) {
                fail_at(text_, latest.span, "the same label twice", "one 'attn:' and one 'ffn:' section");
            }
        }
        if (latest.label == Section::Label::attn && sections.size() == 2) {
            fail_at(text_, latest.span, "'attn:' after 'ffn:'", "'attn:' first",
                    "a block runs attention, then the FFN");
        }
    } while (!at_body_end());
    if (sections.front().label != Section::Label::none && sections.size() == 1) {
        const bool has_attn = sections.front().label == Section::Label::attn;
        fail_at(text_, sections.front().span, fmt::format("only the section '{}:'", has_attn ? "attn" : "ffn"),
                fmt::format("a section '{}:' too", has_attn ? "ffn" : "attn"),
                "leave the labels out to use one text for both sub-layers");
    }
    return sections;
}

Section Parser::section() {
    Section section;
    section.span = peek().span;
    if (at_label()) {
        section.label = take().is("attn") ? Section::Label::attn : Section::Label::ffn;
        section.span.end = take().span.end;
    }
    do {
        if (at_body_end() || (at_label() && !section.statements.empty())) {
            break;  // a trailing ';'
        }
        const bool bare = !(peek().kind == Token::Kind::name && peek(1).is("="));
        if (bare && !section.statements.empty()) {
            fail(peek(), "a statement name = expression", "only a single expression may stand without a name");
        }
        section.statements.push_back(statement());
        if (bare && peek().is(";") && !(peek(1).kind == Token::Kind::end || peek(1).is("|") || peek(1).is("where"))) {
            const bool label_next = (peek(1).is("attn") || peek(1).is("ffn")) && peek(2).is(":");
            if (!label_next && !peek(1).is(";")) {
                fail_at(text_, section.statements.back().value->span, "an expression without a name before ';'",
                        "a statement name = expression", "only a single expression may stand without a name");
            }
        }
    } while (accept(";"));
    if (section.statements.empty()) {
        fail(peek(), "a statement such as x = x + dt*f(norm(x))");
    }
    if (at_label() && section.label == Section::Label::none) {
        fail(peek(), "no label after unlabelled statements", "start the equation with 'attn:'");
    }
    if (!at_body_end() && !at_label()) {
        if (peek().is("=")) {
            fail(peek(), "an operator or the end of the statement", "compare with ==; only a name can be assigned");
        }
        fail(peek(), "an operator, ';', '|', 'where' or the end of the equation");
    }
    return section;
}

Assignment Parser::statement() {
    Assignment assignment;
    if (peek().kind == Token::Kind::name && peek(1).is("=")) {
        const Token name = take();
        take();
        assignment.name = std::string(name.text);
        assignment.name_span = name.span;
        assignment.value = expression();
    } else {
        assignment.name = "x";
        assignment.value = expression();
        assignment.name_span = assignment.value->span;
    }
    return assignment;
}

std::string Parser::parameter_name(Span& span) {
    const Token name = take();
    if (name.kind != Token::Kind::name) {
        fail(name, "a parameter's name");
    }
    span.end = name.span.end;
    return std::string(name.text);
}

ParameterSyntax Parser::parameter() {
    ParameterSyntax result;
    result.span = peek().span;
    result.learned = accept("~");
    result.name = parameter_name(result.span);
    if (accept("[")) {
        if (!peek().is("d")) {
            fail(peek(), "'d' between the brackets", "[d] means one value per channel");
        }
        take();
        if (!accept("]")) {
            fail(peek(), "']'");
        }
        result.per_channel = true;
    }
    if (!accept("=")) {
        fail(peek(), fmt::format("'=' and the value of {}", quoted(result.name)));
    }
    result.value = expression();
    return result;
}

std::vector<ParameterSyntax> Parser::settings() {
    std::vector<ParameterSyntax> result;
    do {
        ParameterSyntax setting;
        setting.span = peek().span;
        setting.name = parameter_name(setting.span);
        if (!accept("=")) {
            fail(peek(), fmt::format("'=' and a value for {}", quoted(setting.name)),
                 "settings look like tau=0.5,alpha=1");
        }
        setting.value = expression();
        result.push_back(std::move(setting));
    } while (accept(","));
    if (peek().kind != Token::Kind::end) {
        fail(peek(), "',' or the end", "settings look like tau=0.5,alpha=1");
    }
    return result;
}

ExpressionPtr Parser::whole_expression() {
    ExpressionPtr result = expression();
    if (peek().kind != Token::Kind::end) {
        fail(peek(), "an operator or the end");
    }
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
            fail(peek(), fmt::format("')' to close the '(' at column {}", token.span.begin + 1));
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

}  // namespace

Syntax parse_syntax(std::string_view text) {
    return Parser(text).program();
}

ExpressionPtr parse_expression(std::string_view text) {
    return Parser(text).whole_expression();
}

std::vector<ParameterSyntax> parse_settings(std::string_view text) {
    return Parser(text).settings();
}

}  // namespace flyball::scheme
