// The value of a scalar expression, in doubles or in dual numbers, by walking its tree.
//
// A step evaluates a handful of expressions of a handful of nodes, so walking costs less than a microsecond; rows of
// vectors go through compiled code (code.hpp) instead.
#pragma once

#include <array>
#include <cassert>
#include <cmath>
#include <span>

#include "core/unreachable.hpp"
#include "scheme/dual.hpp"
#include "scheme/expression.hpp"

namespace flyball::scheme {

template <class Number>
struct Scope {
    std::array<Number, quantity_count> quantities{};
    std::span<const Number> learned;  // by index of the learned parameter, for one channel
    bool beside_zero = false;         // dt = 0 + eps: of two that are equal there, min and max are those of a small dt
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
        case Operator::not_equal:
            return a != b;
        case Operator::none:
        case Operator::plus:
        case Operator::minus:
        case Operator::times:
        case Operator::divide:
        case Operator::power:
            break;
    }
    unreachable();
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
        case Operator::power:
            return pow(a, b);
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

// Is a <= b? Of numbers in dt = 0 + eps that are equal at dt = 0 their slopes decide: max(dt, 2*dt) is 2*dt.
inline bool at_most(double a, double b, bool) {
    return b >= a;
}
inline bool at_most(const Dual& a, const Dual& b, bool beside_zero) {
    return beside_zero && a.value == b.value ? a.slope <= b.slope : a.value <= b.value;
}

// Of one argument, or of two: `b` is not looked at where there is no second one.
template <class Number>
Number evaluate_function(Function function, const Number& a, const Number& b, bool beside_zero = false) {
    using std::exp;
    using std::log;
    using std::sqrt;
    switch (function) {
        case Function::sqrt:
            return sqrt(a);
        case Function::log:
            return log(a);
        case Function::exp:
            return exp(a);
        case Function::min:
            return at_most(a, b, beside_zero) ? a : b;
        case Function::max:
            return at_most(b, a, beside_zero) ? a : b;
        case Function::f:
        case Function::attn:
        case Function::ffn:
        case Function::norm:
        case Function::unit:
        case Function::rms:
        case Function::ln:
        case Function::tanh:
        case Function::erf:
        case Function::detach:
            break;  // of vectors
    }
    unreachable();
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
        case Expression::Kind::call: {
            const Number a = evaluate(*e.arguments[0], scope);
            return evaluate_function(e.function, a, e.arguments.size() > 1 ? evaluate(*e.arguments[1], scope) : a,
                                     scope.beside_zero);
        }
        case Expression::Kind::name:
        case Expression::Kind::compare:
        case Expression::Kind::variable:
            break;  // a vector or an unresolved name in a scalar expression
    }
    unreachable();
}

}  // namespace flyball::scheme
