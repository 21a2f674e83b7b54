#include "scheme/expression.hpp"

#include <algorithm>
#include <cassert>

namespace flyball::scheme {

std::string_view name(Type type) noexcept {
    switch (type) {
        case Type::scalar:
            return "a scalar";
        case Type::channel:
            return "a per-channel parameter";
        case Type::vector:
            return "a vector";
        case Type::condition:
            return "a comparison";
    }
    return "";
}

std::string_view symbol(Operator op) noexcept {
    switch (op) {
        case Operator::none:
            return "";
        case Operator::plus:
            return "+";
        case Operator::minus:
            return "-";
        case Operator::times:
            return "*";
        case Operator::divide:
            return "/";
        case Operator::power:
            return "^";
        case Operator::less:
            return "<";
        case Operator::less_equal:
            return "<=";
        case Operator::greater:
            return ">";
        case Operator::greater_equal:
            return ">=";
        case Operator::equal:
            return "==";
        case Operator::not_equal:
            return "!=";
    }
    return "";
}

const std::vector<QuantityName>& quantity_names() {
    static const std::vector<QuantityName> table = {
        {Quantity::dt, "dt", "residual step"},
        {Quantity::t, "t", "time: (l-1)*dt for particles, l-1 in a model"},
        {Quantity::T, "T", "final time, L*dt"},
        {Quantity::L, "L", "number of blocks; T in an ODE run"},
        {Quantity::depth, "depth", "l/L in layers and models, t/T in an ODE run"},
        {Quantity::n, "n", "number of tokens"},
        {Quantity::d, "d", "number of channels"},
    };
    return table;
}

const std::vector<FunctionName>& function_names() {
    static const std::vector<FunctionName> table = {
        {Function::sqrt, "sqrt", false, 1}, {Function::log, "log", false, 1}, {Function::exp, "exp", false, 1},
        {Function::min, "min", false, 2},   {Function::max, "max", false, 2}, {Function::f, "f", true, 1},
        {Function::attn, "attn", true, 1},  {Function::ffn, "ffn", true, 1},  {Function::norm, "norm", true, 1},
        {Function::unit, "unit", true, 1},  {Function::rms, "rms", true, 1},  {Function::ln, "ln", true, 1},
        {Function::tanh, "tanh", true, 1},  {Function::erf, "erf", true, 1},  {Function::detach, "detach", true, 1},
    };
    return table;
}

const FunctionName& describe(Function function) {
    const auto& table = function_names();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const FunctionName& row) { return row.function == function; });
    assert(found != table.end());
    return *found;
}

const FunctionName* find_function(std::string_view name) {
    for (const FunctionName& row : function_names()) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

const QuantityName* find_quantity(std::string_view name) {
    for (const QuantityName& row : quantity_names()) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

bool equal(const Expression& a, const Expression& b) {
    if (a.kind != b.kind || a.op != b.op || a.text != b.text || a.number != b.number ||
        a.arguments.size() != b.arguments.size()) {
        return false;
    }
    if (a.kind == Expression::Kind::call && a.function != b.function) {
        return false;
    }
    return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(),
                      [](const ExpressionPtr& p, const ExpressionPtr& q) { return equal(*p, *q); });
}

ExpressionPtr make_number(double value) {
    auto node = std::make_shared<Expression>();
    node->number = value;
    return node;
}

namespace {

bool is_number(const ExpressionPtr& e, double value) {
    return e->kind == Expression::Kind::number && e->number == value;
}

Type wider(const ExpressionPtr& a, const ExpressionPtr& b) {
    return a->type == Type::channel || b->type == Type::channel ? Type::channel : Type::scalar;
}

}  // namespace

ExpressionPtr make_binary(Operator op, ExpressionPtr a, ExpressionPtr b) {
    if ((op == Operator::times || op == Operator::divide) && is_number(b, 1)) {
        return a;
    }
    if ((op == Operator::times && is_number(a, 1)) || (op == Operator::plus && is_number(a, 0))) {
        return b;
    }
    if (op == Operator::plus && is_number(b, 0)) {
        return a;
    }
    auto node = std::make_shared<Expression>();
    node->kind = Expression::Kind::binary;
    node->op = op;
    node->type = wider(a, b);
    node->size = 1 + a->size + b->size;
    node->span = a->span;
    node->arguments = {std::move(a), std::move(b)};
    return node;
}

ExpressionPtr make_negate(ExpressionPtr a) {
    if (a->kind == Expression::Kind::number) {
        return make_number(-a->number);
    }
    auto node = std::make_shared<Expression>();
    node->kind = Expression::Kind::negate;
    node->type = a->type;
    node->size = 1 + a->size;
    node->span = a->span;
    node->arguments = {std::move(a)};
    return node;
}

}  // namespace flyball::scheme
