// Types of expressions. Vectors and scalars are different things: the rules are the table in docs/equation.md.
#pragma once

#include <functional>
#include <string_view>

#include "scheme/expression.hpp"

namespace flyball::scheme {

// Tells the type of a name, or throws an error at its place.
using NameTypes = std::function<Type(const Expression& name)>;

// A copy of the tree with the type of every node and the function of every call filled in.
// Throws where the types do not fit, or where a constant part is not finite; `text` is what the spans point into.
ExpressionPtr assign_types(std::string_view text, const Expression& expression, const NameTypes& types);

// The same for the value of a parameter: a scalar in t, T, L, n, d, depth.
ExpressionPtr assign_parameter_types(std::string_view text, const Expression& value);

// Calls `visit` on every node, parents first.
void walk(const Expression& expression, const std::function<void(const Expression&)>& visit);

}  // namespace flyball::scheme
