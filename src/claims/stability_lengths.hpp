// How long streams can be, from the weights of a model, and small things that the claims about it share.
#pragma once

#include <functional>

#include "claims/claim.hpp"
#include "claims/stability_models.hpp"

namespace flyball::claims {

// Largest ratio of what was seen to a bound; a bound holds when that is at most 1, but for rounding.
struct Share {
    double largest = 0;

    void see(double seen, double bound);
    bool within() const { return largest < 1 + 1e-9; }
    bool attained() const { return within() && largest > 0.99; }
};

std::vector<double> times(std::vector<double> x, double factor);

// (1, -1, 0, ..)/sqrt 2, or further to the right: directions that a LayerNorm does not change, at right angles.
std::vector<double> direction(std::size_t dim, std::size_t pair = 0);

// R of Lemma 1 with the gains and the bias of a norm.
double radius_of(const model::Model<double>& model, const model::NormPlace& norm);

// Peri-LN: those of the norms on the branches of the first blocks, two a block.
std::vector<double> branch_radii(const model::Model<double>& model, std::size_t blocks);

// What the branches of a Pre-LN block can be at most: attention by the root over heads and by the joint matrix, FFN.
struct PreBounds {
    double attention = 0;
    double joint = 0;
    double ffn = 0;
};
PreBounds pre_bounds(const model::Model<double>& model, std::size_t block);

// Models of six blocks with drawn weights, small and large, both steps.
void walk_drawn(const Context& context, const char* equation,
                const std::function<void(const model::Model<double>&, const Flow&)>& see);

}  // namespace flyball::claims
