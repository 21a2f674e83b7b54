#include <fmt/format.h>

#include <algorithm>

#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "scheme/syntax.hpp"

namespace flyball::scheme {

namespace {

// How tightly a node binds; a child that binds less tightly than its place asks for is put in parentheses.
enum Precedence { select_level, compare_level, sum_level, term_level, sign_level, power_level, primary_level };

Precedence precedence(const Expression& e) {
    switch (e.kind) {
        case Expression::Kind::select:
            return select_level;
        case Expression::Kind::compare:
            return compare_level;
        case Expression::Kind::negate:
            return sign_level;
        case Expression::Kind::binary:
            switch (e.op) {
                case Operator::plus:
                case Operator::minus:
                    return sum_level;
                case Operator::power:
                    return power_level;
                case Operator::times:
                case Operator::divide:
                    return term_level;
                case Operator::none:
                case Operator::less:
                case Operator::less_equal:
                case Operator::greater:
                case Operator::greater_equal:
                case Operator::equal:
                case Operator::not_equal:
                    break;
            }
            break;
        case Expression::Kind::number:
        case Expression::Kind::name:
        case Expression::Kind::call:
        case Expression::Kind::quantity:
        case Expression::Kind::learned:
        case Expression::Kind::variable:
            return primary_level;
    }
    unreachable();
}

std::string print_at(const Expression& e, Precedence least);

// Both sides are printed at the least level that reads back as the same tree: the right side of - and / one higher,
// since those associate to the left, the base of ^ as a primary, since ^ associates to the right.
std::string print_binary(const Expression& e) {
    const Expression& a = *e.arguments[0];
    const Expression& b = *e.arguments[1];
    switch (e.op) {
        case Operator::plus:
        case Operator::minus: {
            const bool spaced = e.type == Type::vector;
            return fmt::format("{}{}{}{}{}", print_at(a, sum_level), spaced ? " " : "", symbol(e.op), spaced ? " " : "",
                               print_at(b, term_level));
        }
        case Operator::power:
            return fmt::format("{}^{}", print_at(a, primary_level), print_at(b, sign_level));
        case Operator::times:
        case Operator::divide:
            return fmt::format("{}{}{}", print_at(a, term_level), symbol(e.op), print_at(b, sign_level));
        case Operator::none:
        case Operator::less:
        case Operator::less_equal:
        case Operator::greater:
        case Operator::greater_equal:
        case Operator::equal:
        case Operator::not_equal:
            break;
    }
    unreachable();
}

std::string print_call(const Expression& e) {
    std::string text = e.text + "(";
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
        text += (i == 0 ? "" : ", ") + print_at(*e.arguments[i], select_level);
    }
    return text + ")";
}

std::string print_bare(const Expression& e) {
    switch (e.kind) {
        case Expression::Kind::number:
            return format_double(e.number);
        case Expression::Kind::negate:
            return "-" + print_at(*e.arguments[0], sign_level);
        case Expression::Kind::binary:
            return print_binary(e);
        case Expression::Kind::compare:
            return fmt::format("{} {} {}", print_at(*e.arguments[0], sum_level), symbol(e.op),
                               print_at(*e.arguments[1], sum_level));
        case Expression::Kind::select:
            return fmt::format("{} ? {} : {}", print_at(*e.arguments[0], compare_level),
                               print_at(*e.arguments[1], select_level), print_at(*e.arguments[2], select_level));
        case Expression::Kind::call:
            return print_call(e);
        case Expression::Kind::name:
        case Expression::Kind::quantity:
        case Expression::Kind::learned:
        case Expression::Kind::variable:
            return e.text;
    }
    unreachable();
}

std::string print_at(const Expression& e, Precedence least) {
    const std::string text = print_bare(e);
    return precedence(e) < least ? "(" + text + ")" : text;
}

}  // namespace

std::string print(const Expression& expression) {
    return print_at(expression, select_level);
}

std::string print(const Section& section) {
    std::string text;
    if (section.label != Section::Label::none) {
        text = section.label == Section::Label::attn ? "attn: " : "ffn: ";
    }
    if (section.statements.size() == 1 && section.statements.front().name == "x") {
        return text + print(*section.statements.front().value);
    }
    for (std::size_t i = 0; i < section.statements.size(); ++i) {
        const Assignment& statement = section.statements[i];
        text += fmt::format("{}{} = {}", i == 0 ? "" : "; ", statement.name, print(*statement.value));
    }
    return text;
}

std::string print(const ParameterSyntax& parameter) {
    return fmt::format("{}{}{} = {}", parameter.learned ? "~" : "", parameter.name, parameter.per_channel ? "[d]" : "",
                       print(*parameter.value));
}

std::string print_body(const Syntax& syntax) {
    std::string text;
    for (std::size_t i = 0; i < syntax.sections.size(); ++i) {
        text += (i == 0 ? "" : "; ") + print(syntax.sections[i]);
    }
    return text;
}

std::string print(const Syntax& syntax) {
    std::string text = print_body(syntax);
    if (syntax.readout != nullptr) {
        text += " | " + print(*syntax.readout);
    }
    for (std::size_t i = 0; i < syntax.parameters.size(); ++i) {
        text += (i == 0 ? " where " : ", ") + print(syntax.parameters[i]);
    }
    return text;
}

bool equal(const Syntax& a, const Syntax& b) {
    const auto same_statement = [](const Assignment& p, const Assignment& q) {
        return p.name == q.name && equal(*p.value, *q.value);
    };
    const auto same_section = [&](const Section& p, const Section& q) {
        return p.label == q.label && std::equal(p.statements.begin(), p.statements.end(), q.statements.begin(),
                                                q.statements.end(), same_statement);
    };
    const auto same_parameter = [](const ParameterSyntax& p, const ParameterSyntax& q) {
        return p.name == q.name && p.learned == q.learned && p.per_channel == q.per_channel &&
               equal(*p.value, *q.value);
    };
    const bool same_readout =
        (a.readout == nullptr) == (b.readout == nullptr) && (a.readout == nullptr || equal(*a.readout, *b.readout));
    return same_readout &&
           std::equal(a.sections.begin(), a.sections.end(), b.sections.begin(), b.sections.end(), same_section) &&
           std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                      same_parameter);
}

}  // namespace flyball::scheme
