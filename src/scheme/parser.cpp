#include "scheme/parser.hpp"

#include <fmt/format.h>

#include <utility>

namespace flyball::scheme {

void Parser::fail(const Token& token, std::string_view expected, std::string_view hint) const {
    const std::string shown = token.kind == Token::Kind::end ? "the end of the equation" : flyball::quoted(token.text);
    fail_at(text_, token.span, shown, expected, hint);
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

// [ label ":" ] statements. A lone expression means x = expression; beside other statements it would be one by mistake.
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
        fail(peek(), fmt::format("'=' and the value of {}", flyball::quoted(result.name)));
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
            fail(peek(), fmt::format("'=' and a value for {}", flyball::quoted(setting.name)),
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
