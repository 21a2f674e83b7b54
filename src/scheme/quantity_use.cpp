#include "scheme/quantity_use.hpp"

#include <algorithm>

namespace flyball::scheme {

bool asks_for(const Expression& expression, Quantity quantity) {
    return (expression.kind == Expression::Kind::quantity && expression.quantity == quantity) ||
           std::any_of(expression.arguments.begin(), expression.arguments.end(),
                       [&](const ExpressionPtr& argument) { return asks_for(*argument, quantity); });
}

bool asks_for(const Program& program, Quantity quantity) {
    for (const SubLayer sub_layer : {SubLayer::attention, SubLayer::feed_forward}) {
        for (const Statement& statement : program.statements(sub_layer)) {
            if (asks_for(*statement.value, quantity)) {
                return true;
            }
        }
    }
    return asks_for(*program.readout(), quantity) ||
           std::any_of(program.learned().begin(), program.learned().end(),
                       [&](const Parameter& parameter) { return asks_for(*parameter.value, quantity); });
}

}  // namespace flyball::scheme
