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
    if (expression.kind == Expression::Kind::binary && expression.op == Operator::divide) {
        nodes_[add(*expression.arguments[1])].divides = true;
    }
}

std::size_t TimeScalars::add(const Expression& scalar) {
    if (const auto known = places_.find(&scalar); known != places_.end()) {
        return known->second;
    }
    Node node{&scalar, 0, 0, 0, false, false};
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
    if (scalar.kind == Expression::Kind::binary && scalar.op == Operator::divide) {
        nodes_[node.b].divides = true;
    }
    nodes_.push_back(node);
    if (node.moves) {
        moving_.push_back(nodes_.size() - 1);
    }
    places_.emplace(&scalar, nodes_.size() - 1);
    return nodes_.size() - 1;
}

TimeScalars::Moving TimeScalars::binary(Operator op, const Moving& a, const Moving& b) {
    if (op == Operator::power && b.value == 2 && b.size == 0) {  // by far the most common, and pow takes its time
        const double twice = 2 * a.value;
        return {a.value * a.value, twice * a.slope, std::abs(twice) * a.size};
    }
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
    if (function == Function::min) {
        return a.value <= b.value ? a : b;
    }
    if (function == Function::max) {
        return a.value >= b.value ? a : b;
    }
    const Dual one{a.value, 1};
    const Dual result = evaluate_function(function, one, one);
    return {result.value, result.slope * a.slope, std::abs(result.slope) * a.size};
}

TimeScalars::Moving TimeScalars::value_of(const Node& node, const Environment& env,
                                          const std::vector<Moving>& values) const {
    const Expression& e = *node.expression;
    const auto argument = [&](std::size_t place) -> const Moving& { return values[place]; };
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

std::uint8_t TimeScalars::outline_of(std::size_t place, const std::vector<Moving>& values) const {
    const Node& node = nodes_[place];
    const Expression& e = *node.expression;
    const auto rises = [](const Moving& x) {
        return x.slope > 0 && (std::isinf(x.slope) || x.slope > rounding * x.size);
    };
    const bool is_binary = e.kind == Expression::Kind::binary;
    const bool is_call = e.kind == Expression::Kind::call;
    const Moving& a = values[node.a];
    const Moving& b = values[node.b];
    bool itself = false;
    bool parts = false;
    bool base = false;
    if (e.kind != Expression::Kind::quantity && e.kind != Expression::Kind::learned) {
        itself = rises(values[place]);
    }
    if (is_binary && (e.op == Operator::plus || e.op == Operator::minus)) {
        parts = std::abs(a.value) <= std::abs(b.value);
    } else if ((is_binary && e.op == Operator::power) || (is_call && e.function == Function::exp)) {
        parts = std::abs(a.value) <= 1;
        base = is_binary && b.value < 0 && a.value < 0;
    } else if (is_call && (e.function == Function::min || e.function == Function::max)) {
        parts = rises(binary(Operator::minus, a, b));
    }
    const bool below = node.divides && values[place].value < 0;
    return static_cast<std::uint8_t>((itself ? 1 : 0) | (parts ? 2 : 0) | (below ? 4 : 0) | (base ? 8 : 0));
}

TimeScalars::Look TimeScalars::look(const Environment& env) const {
    Look result;
    result.values.resize(nodes_.size());
    result.outlines.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        result.values[i] = value_of(nodes_[i], env, result.values);
    }
    for (const std::size_t i : moving_) {
        result.outlines[i] = outline_of(i, result.values);
    }
    return result;
}

void TimeScalars::look_at(const std::vector<std::size_t>& nodes, const Environment& env, Look& look) const {
    for (const std::size_t i : nodes) {
        look.values[i] = value_of(nodes_[i], env, look.values);
        look.outlines[i] = outline_of(i, look.values);
    }
}

std::vector<std::size_t> TimeScalars::parts_between(const std::vector<std::size_t>& nodes, const Look& before,
                                                    const Look& after) const {
    std::vector<bool> wanted(nodes_.size());
    for (const std::size_t i : nodes) {
        wanted[i] = true;
    }
    const auto for_parts = [&](std::size_t i, const auto& use) {
        const Node& node = nodes_[i];
        const bool learned = node.expression->kind == Expression::Kind::learned;
        const std::size_t places[] = {node.a, node.b, node.c};
        for (std::size_t k = 0; k < (learned ? 1 : node.expression->arguments.size()); ++k) {
            use(places[k]);
        }
    };
    std::vector<bool> turns(nodes_.size());  // or is made of something that does
    std::vector<bool> differs(nodes_.size());
    for (const std::size_t i : moving_) {
        turns[i] = before.outlines[i] != after.outlines[i];
        for_parts(i, [&](std::size_t part) { turns[i] = turns[i] || turns[part]; });
        differs[i] = turns[i] || before.values[i] != after.values[i];
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
        if (wanted[i] && differs[i]) {
            for_parts(i, [&](std::size_t part) { wanted[part] = true; });
        }
    }
    std::vector<std::size_t> result;
    for (const std::size_t i : moving_) {
        if (wanted[i] && differs[i]) {
            result.push_back(i);
        }
    }
    return result;
}

}  // namespace flyball::scheme
