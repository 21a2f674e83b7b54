// Gradients over depth beside what the Jacobian bounds of stability_paper.hpp allow with the weights of a model.
//
//     |dL/dx_l| <= |dL/dx_L| J_(l+1) .. J_L        J of a block: that of its attention times that of its FFN
//
// A sub-layer's own Lipschitz constant L_F is local: how much it lengthens a small change of what it was given. It is
// found by power iteration, whose last digits are from below; the products are far from attained in whole models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "claims/stability_models.hpp"

namespace flyball::claims {

// Of the schemes of the catalogue that have bounds in the table.
std::optional<Placement> placement_of(const std::string& scheme);

// How much the attention or the FFN of a block lengthens a change of its input [rows, dim], all tokens at once.
double sub_layer_lipschitz(const model::Model<double>& model, std::size_t block, scheme::SubLayer sub_layer,
                           const std::vector<double>& input);

// By block, for what flows through it.
std::vector<double> block_jacobian_bounds(const model::Model<double>& model, Placement placement, const Flow& flow);

struct BoundedGradients {
    std::vector<double> gradient;  // |dL/dx_l| from the embedding on
    std::vector<double> bound;     // the last is the last gradient itself
    double share = 0;              // the largest gradient over its bound before that
};
BoundedGradients beside_bounds(std::vector<double> gradient, const std::vector<double>& jacobians);

// One sequence of tokens through a model and back.
BoundedGradients bounded_gradients(const model::Model<float>& model, Placement placement,
                                   const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& targets);

// The share of the bound where it is attained: a Pre-LN block whose FFN lengthens the gradient that comes as much as it
// can, and whose attention adds nothing.
double gradient_share_where_attained();

}  // namespace flyball::claims
