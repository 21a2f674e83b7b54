// The value of a scalar expression, in doubles or in dual numbers, by walking its tree.
//
// A step evaluates a handful of expressions of a handful of nodes, so walking costs less than a microsecond; rows of
// vectors go through compiled code (code.hpp) instead.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <span>

#include "scheme/dual.hpp"
#include "scheme/expression.hpp"

namespace flyball::scheme {

template <class Number>
struct Scope {
    std::array<Number, quantity_count> quantities{};
    std::span<const Number> learned;  // by index of the learned parameter, for one channel
};

inline bool holds(Operator op, double a, double b) {
    switch (op) {
        case Operator::less:
            return a < b;
        case Operator::less_equal:
            return a <= b;
        case Operator::greater:
            return a > b;
        case Operator::greater_equal:
            return a >= b;
        case Operator::equal:
            return a == b;
        default:
            return a != b;
    }
}

template <class Number>
Number evaluate(const Expression& e, const Scope<Number>& scope);

template <class Number>
bool evaluate_condition(const Expression& e, const Scope<Number>& scope) {
    assert(e.kind == Expression::Kind::compare);
    return holds(e.op, value_of(evaluate(*e.arguments[0], scope)), value_of(evaluate(*e.arguments[1], scope)));
}

template <class Number>
Number evaluate_binary(Operator op, const Number& a, const Number& b) {
    using std::pow;
    switch (op) {
        case Operator::plus:
            return a + b;
        case Operator::minus:
            return a - b;
        case Operator::times:
            return a * b;
        case Operator::divide:
            return a / b;
        default:
            assert(op == Operator::power);
            return pow(a, b);
    }
}

template <class Number>
Number evaluate_call(const Expression& e, const Scope<Number>& scope) {
    using std::exp;
    using std::log;
    using std::sqrt;
    const Number a = evaluate(*e.arguments[0], scope);
    switch (e.function) {
        case Function::sqrt:
            return sqrt(a);
        case Function::log:
            return log(a);
        case Function::exp:
            return exp(a);
        default: {
            const Number b = evaluate(*e.arguments[1], scope);
            const bool first = e.function == Function::min ? value_of(a) <= value_of(b) : value_of(a) >= value_of(b);
            return first ? a : b;
        }
    }
}

template <class Number>
Number evaluate(const Expression& e, const Scope<Number>& scope) {
    switch (e.kind) {
        case Expression::Kind::number:
            return Number{e.number};
        case Expression::Kind::quantity:
            return scope.quantities[static_cast<std::size_t>(e.quantity)];
        case Expression::Kind::learned:
            return scope.learned[static_cast<std::size_t>(e.index)];
        case Expression::Kind::negate:
            return -evaluate(*e.arguments[0], scope);
        case Expression::Kind::binary:
            return evaluate_binary(e.op, evaluate(*e.arguments[0], scope), evaluate(*e.arguments[1], scope));
        case Expression::Kind::select:
            return evaluate(evaluate_condition(*e.arguments[0], scope) ? *e.arguments[1] : *e.arguments[2], scope);
        case Expression::Kind::call:
            return evaluate_call(e, scope);
        default:
            assert(false && "a vector or an unresolved name in a scalar expression");
            return Number{std::nan("")};
    }
}

}  // namespace flyball::scheme
