// The scalars of an equation on one list, arguments first, evaluated with their derivative by t.
#include "scheme/time_scalars.hpp"

#include <cmath>

#include "core/unreachable.hpp"
#include "scheme/evaluate.hpp"

namespace flyball::scheme {

namespace {

// Outlines need a dt at which a product with dt shows its other factor; no digit of it means anything.
constexpr double some_dt = 0.625;
constexpr double rounding = 1e-13;  // of a derivative, in units of its terms

}  // namespace

TimeScalars::TimeScalars(const Program& program) : program_(program) {
    for (const SubLayer sub_layer : {SubLayer::attention, SubLayer::feed_forward}) {
        for (const Statement& statement : program_.statements(sub_layer)) {
            collect(*statement.value);
        }
    }
    collect(*program_.readout());
}

// Vectors down to the scalars in front of them.
void TimeScalars::collect(const Expression& expression) {
    if (expression.type != Type::vector) {
        add(expression);
        return;
    }
    for (const ExpressionPtr& argument : expression.arguments) {
        collect(*argument);
    }
}

std::size_t TimeScalars::add(const Expression& scalar) {
    if (const auto known = places_.find(&scalar); known != places_.end()) {
        return known->second;
    }
    Node node{&scalar, 0, 0, 0, false};
    if (scalar.kind == Expression::Kind::quantity) {
        node.moves = scalar.quantity == Quantity::t || scalar.quantity == Quantity::depth;
    } else if (scalar.kind == Expression::Kind::learned) {
        node.a = add(*program_.learned()[static_cast<std::size_t>(scalar.index)].value);
        node.moves = nodes_[node.a].moves;
    }
    std::size_t* const places[] = {&node.a, &node.b, &node.c};
    for (std::size_t i = 0; i < scalar.arguments.size(); ++i) {
        *places[i] = add(*scalar.arguments[i]);
        node.moves = node.moves || nodes_[*places[i]].moves;
    }
    moves_ = moves_ || node.moves;
    nodes_.push_back(node);
    places_.emplace(&scalar, nodes_.size() - 1);
    return nodes_.size() - 1;
}

TimeScalars::Moving TimeScalars::binary(Operator op, const Moving& a, const Moving& b) {
    const Dual result = evaluate_binary(op, Dual{a.value, a.slope}, Dual{b.value, b.slope});
    double size = 0;
    if (op == Operator::plus || op == Operator::minus) {
        size = a.size + b.size;
    } else if (op == Operator::times) {
        size = std::abs(a.value) * b.size + std::abs(b.value) * a.size;
    } else if (op == Operator::divide) {
        size = (a.size + std::abs(result.value) * b.size) / std::abs(b.value);
    } else {
        size = std::abs(result.value) *
               (std::abs(b.value / a.value) * a.size + (b.size == 0 ? 0 : std::abs(std::log(a.value)) * b.size));
    }
    return {result.value, result.slope, size};
}

TimeScalars::Moving TimeScalars::call(Function function, const Moving& a, const Moving& b) {
    switch (function) {
        case Function::sqrt:
        case Function::log:
        case Function::exp: {
            const Dual one{a.value, 1};
            const Dual result = function == Function::sqrt  ? sqrt(one)
                                : function == Function::log ? log(one)
                                                            : exp(one);
            return {result.value, result.slope * a.slope, std::abs(result.slope) * a.size};
        }
        case Function::min:
            return a.value <= b.value ? a : b;
        case Function::max:
            return a.value >= b.value ? a : b;
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

TimeScalars::Moving TimeScalars::value_of(const Node& node, const Environment& env) const {
    const Expression& e = *node.expression;
    const auto argument = [&](std::size_t place) -> const Moving& { return values_[place]; };
    switch (e.kind) {
        case Expression::Kind::number:
            return {e.number, 0, 0};
        case Expression::Kind::quantity: {
            const double slope = e.quantity == Quantity::t ? 1 : e.quantity == Quantity::depth ? 1 / env.T : 0;
            const bool is_dt = e.quantity == Quantity::dt;
            return {is_dt ? some_dt : env.values()[static_cast<std::size_t>(e.quantity)], slope, slope};
        }
        case Expression::Kind::learned:
            return argument(node.a);
        case Expression::Kind::negate:
            return {-argument(node.a).value, -argument(node.a).slope, argument(node.a).size};
        case Expression::Kind::binary:
            return binary(e.op, argument(node.a), argument(node.b));
        case Expression::Kind::compare:  // the difference of the two
            return binary(Operator::minus, argument(node.a), argument(node.b));
        case Expression::Kind::select: {
            const Expression& condition = *e.arguments[0];
            const Node& compared = nodes_[node.a];
            const bool yes = holds(condition.op, argument(compared.a).value, argument(compared.b).value);
            return argument(yes ? node.b : node.c);
        }
        case Expression::Kind::call:
            return call(e.function, argument(node.a), argument(node.b));
        case Expression::Kind::name:
        case Expression::Kind::variable:
            break;
    }
    unreachable();
}

std::vector<bool> TimeScalars::outlines(const Environment& env) {
    std::vector<bool> facts;
    values_.resize(nodes_.size());
    const auto rises = [&](const Moving& x) {
        facts.push_back(x.slope > 0 && (std::isinf(x.slope) || x.slope > rounding * x.size));
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        values_[i] = value_of(node, env);
        const Expression& e = *node.expression;
        if (!node.moves || e.kind == Expression::Kind::quantity || e.kind == Expression::Kind::learned) {
            continue;
        }
        rises(values_[i]);
        const double a = std::abs(values_[node.a].value);
        if (e.kind == Expression::Kind::binary && (e.op == Operator::plus || e.op == Operator::minus)) {
            facts.push_back(a <= std::abs(values_[node.b].value));
        } else if ((e.kind == Expression::Kind::binary && e.op == Operator::power) ||
                   (e.kind == Expression::Kind::call && e.function == Function::exp)) {
            facts.push_back(a <= 1);
        } else if (e.kind == Expression::Kind::call && (e.function == Function::min || e.function == Function::max)) {
            rises(binary(Operator::minus, values_[node.a], values_[node.b]));
        }
    }
    return facts;
}

}  // namespace flyball::scheme
