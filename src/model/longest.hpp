// What the equation of a model is told of a block where no text says how long it is.
#pragma once

#include "model/architecture.hpp"
#include "scheme/environment.hpp"

namespace flyball::model {

// Of block l, counted from 0: n is the longest sequence, the one that a model is trained on. Starts of parameters and
// the order of their names come from here.
inline scheme::Environment block_of_the_longest(const Architecture& a, std::size_t l) {
    return scheme::Environment::block(l + 1, a.layers, a.dt, a.positions, a.dim);
}

}  // namespace flyball::model
