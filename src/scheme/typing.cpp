// The type of every node, from the leaves up; a mistake is reported at the smallest part of the text that has it.
#include "scheme/typing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "scheme/evaluate.hpp"
#include "scheme/scheme_names.hpp"
#include "scheme/syntax.hpp"
#include "scheme/syntax_error.hpp"

namespace flyball::scheme {

namespace {

class Typing {
  public:
    Typing(std::string_view text, const NameTypes& types) : text_(text), types_(types) {}

    ExpressionPtr visit(const Expression& e) const {
        auto node = std::make_shared<Expression>(e);
        for (ExpressionPtr& argument : node->arguments) {
            argument = visit(*argument);
        }
        node->type = type_of(*node);
        check_finite(*node);
        return node;
    }

  private:
    Type type_of(Expression& node) const;
    Type sum_type(const Expression& node) const;
    Type product_type(const Expression& node) const;
    Type power_type(const Expression& node) const;
    Type compare_type(const Expression& node) const;
    Type select_type(const Expression& node) const;
    Type call_type(Expression& node) const;
    void check_finite(const Expression& node) const;

    std::string shown(const Expression& e) const {
        return flyball::quoted(text_.substr(e.span.begin, e.span.end - e.span.begin), 40);
    }

    // A comparison may only stand before '?'.
    void refuse_condition(const Expression& e) const {
        if (e.type == Type::condition) {
            fail_at(text_, e.span, "a comparison where a number is needed", "a scalar or a vector",
                    "use it as (a < b ? this : that)");
        }
    }

    std::string_view text_;
    const NameTypes& types_;
};

Type Typing::type_of(Expression& node) const {
    switch (node.kind) {
        case Expression::Kind::number:
            return Type::scalar;
        case Expression::Kind::name:
            return types_(node);
        case Expression::Kind::negate:
            refuse_condition(*node.arguments[0]);
            return node.arguments[0]->type;
        case Expression::Kind::binary:
            refuse_condition(*node.arguments[0]);
            refuse_condition(*node.arguments[1]);
            switch (node.op) {
                case Operator::plus:
                case Operator::minus:
                    return sum_type(node);
                case Operator::power:
                    return power_type(node);
                case Operator::times:
                case Operator::divide:
                    return product_type(node);
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
        case Expression::Kind::compare:
            return compare_type(node);
        case Expression::Kind::select:
            return select_type(node);
        case Expression::Kind::call:
            return call_type(node);
        case Expression::Kind::quantity:
        case Expression::Kind::learned:
        case Expression::Kind::variable:
            break;  // names are resolved after they have a type
    }
    unreachable();
}

// A per-channel parameter is a number to multiply with, and a vector to add.
Type Typing::sum_type(const Expression& node) const {
    const Expression& a = *node.arguments[0];
    const Expression& b = *node.arguments[1];
    const bool vector = a.type == Type::vector || b.type == Type::vector;
    if (vector && (a.type == Type::scalar || b.type == Type::scalar)) {
        const Expression& scalar = a.type == Type::scalar ? a : b;
        fail_at(text_, scalar.span, fmt::format("the scalar {} added to a vector", shown(scalar)),
                "a vector on both sides", "multiply it with a vector, as in dt*f(x)");
    }
    if (vector) {
        return Type::vector;
    }
    return a.type == Type::channel || b.type == Type::channel ? Type::channel : Type::scalar;
}

Type Typing::product_type(const Expression& node) const {
    const Expression& a = *node.arguments[0];
    const Expression& b = *node.arguments[1];
    if (b.type == Type::vector && node.op == Operator::divide) {
        fail_at(text_, b.span, fmt::format("a division by the vector {}", shown(b)),
                "a scalar or a per-channel parameter", "to divide a vector by its length write unit(...)");
    }
    if (a.type == Type::vector && b.type == Type::vector) {
        fail_at(text_, node.span, fmt::format("a product of the vectors {} and {}", shown(a), shown(b)),
                "a vector times a scalar or a per-channel parameter",
                "a per-channel parameter is declared as where ~g[d] = 1");
    }
    if (a.type == Type::vector || b.type == Type::vector) {
        return Type::vector;
    }
    return a.type == Type::channel || b.type == Type::channel ? Type::channel : Type::scalar;
}

Type Typing::power_type(const Expression& node) const {
    for (const ExpressionPtr& argument : node.arguments) {
        if (argument->type == Type::vector) {
            fail_at(text_, argument->span, fmt::format("the vector {} in a power", shown(*argument)),
                    "scalars on both sides of ^");
        }
    }
    const bool channel = node.arguments[0]->type == Type::channel || node.arguments[1]->type == Type::channel;
    return channel ? Type::channel : Type::scalar;
}

Type Typing::compare_type(const Expression& node) const {
    for (const ExpressionPtr& argument : node.arguments) {
        if (argument->type != Type::scalar) {
            fail_at(text_, argument->span,
                    fmt::format("{}, which is {}, in a comparison", shown(*argument),
                                argument->type == Type::condition ? "itself a comparison" : name(argument->type)),
                    "scalars such as t, depth or a parameter");
        }
    }
    return Type::condition;
}

Type Typing::select_type(const Expression& node) const {
    const Expression& condition = *node.arguments[0];
    if (condition.type != Type::condition) {
        fail_at(text_, condition.span,
                fmt::format("{}, which is {}, before '?'", shown(condition), name(condition.type)),
                "a comparison such as depth <= tau");
    }
    const Expression& yes = *node.arguments[1];
    const Expression& no = *node.arguments[2];
    refuse_condition(yes);
    refuse_condition(no);
    if ((yes.type == Type::vector) != (no.type == Type::vector)) {
        fail_at(text_, no.span, fmt::format("{} on one side of ':' and {} on the other", name(yes.type), name(no.type)),
                "two vectors or two scalars");
    }
    if (yes.type == Type::vector) {
        return Type::vector;
    }
    return yes.type == Type::channel || no.type == Type::channel ? Type::channel : Type::scalar;
}

Type Typing::call_type(Expression& node) const {
    const FunctionName* function = find_function(node.text);
    if (function == nullptr) {
        const Span where{node.span.begin, node.span.begin + node.text.size()};
        std::string hint = function_hint(node.text);
        if (find_quantity(node.text) != nullptr || node.text == "x") {
            hint = fmt::format("products are written with *, as in {}*(...)", node.text);
        }
        fail_at(text_, where, fmt::format("the unknown function {}", flyball::quoted(node.text)),
                "one of f, attn, ffn, norm, unit, rms, ln, tanh, erf, detach, sqrt, log, exp, min, max", hint);
    }
    node.function = function->function;
    if (node.arguments.size() != static_cast<std::size_t>(function->arity)) {
        fail_at(text_, node.span,
                fmt::format("{} with {} argument{}", node.text, node.arguments.size(),
                            node.arguments.size() == 1 ? "" : "s"),
                fmt::format("{} argument{}", function->arity, function->arity == 1 ? "" : "s"));
    }
    Type result = function->of_vector ? Type::vector : Type::scalar;
    for (const ExpressionPtr& argument : node.arguments) {
        refuse_condition(*argument);
        if (function->of_vector && argument->type != Type::vector) {
            fail_at(text_, argument->span,
                    fmt::format("{}, which is {}, as the argument of {}", shown(*argument), name(argument->type),
                                node.text),
                    "a vector such as x");
        }
        if (!function->of_vector && argument->type == Type::vector) {
            fail_at(text_, argument->span,
                    fmt::format("the vector {} as the argument of {}", shown(*argument), node.text), "a scalar",
                    "functions of a vector are norm, unit, rms, ln, tanh, erf, detach");
        }
        if (!function->of_vector && argument->type == Type::channel) {
            result = Type::channel;
        }
    }
    return result;
}

bool is_constant(const Expression& e) {
    bool constant = true;
    walk(e, [&](const Expression& node) { constant = constant && node.kind != Expression::Kind::name; });
    return constant && (e.type == Type::scalar || e.type == Type::channel);
}

void Typing::check_finite(const Expression& node) const {
    if (node.kind == Expression::Kind::binary && node.op == Operator::divide && is_constant(*node.arguments[1]) &&
        evaluate(*node.arguments[1], Scope<double>{}) == 0) {
        fail_at(text_, node.arguments[1]->span, "a division by zero", "a divisor other than 0");
    }
    const bool leaf = node.arguments.empty();
    if (!leaf && is_constant(node) && node.type == Type::scalar) {
        const double value = evaluate(node, Scope<double>{});
        if (!finite(value)) {
            fail_at(text_, node.span, fmt::format("{}, which is {}", shown(node), format_double(value)),
                    "a finite number");
        }
    }
}

}  // namespace

ExpressionPtr assign_types(std::string_view text, const Expression& expression, const NameTypes& types) {
    return Typing(text, types).visit(expression);
}

ExpressionPtr assign_parameter_types(std::string_view text, const Expression& value) {
    const auto types = [text](const Expression& name) {
        if (find_quantity(name.text) == nullptr || name.text == "dt") {
            fail_at(text, name.span, fmt::format("{} in the value of a parameter", flyball::quoted(name.text)),
                    "an expression in t, T, L, n, d, depth",
                    name.text == "dt" ? "multiply with dt in the equation itself" : "");
        }
        return Type::scalar;
    };
    ExpressionPtr typed = assign_types(text, value, types);
    if (typed->type != Type::scalar) {
        fail_at(text, typed->span, fmt::format("{} as the value of a parameter", name(typed->type)),
                "a scalar expression in t, T, L, n, d, depth");
    }
    return typed;
}

void walk(const Expression& expression, const std::function<void(const Expression&)>& visit) {
    visit(expression);
    for (const ExpressionPtr& argument : expression.arguments) {
        walk(*argument, visit);
    }
}

}  // namespace flyball::scheme
