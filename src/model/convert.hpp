// A model whose numbers are its own: copies under other names, in other orientations, under another equation.
//
// Published families cut the same matrices differently: queries, keys and values in one tensor or three, gate and up in
// one or two, each [in, out] or [out, in]. A model that was loaded reads its numbers where the file is mapped; one to
// be trained has contiguous parameters of its own (Model::parameters()) under native names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "scheme/recipe.hpp"

namespace flyball::model {

// The same numbers for an architecture that needs as many: it may differ in family, and in an equation of another text
// whose blocks have the same norms and learned parameters in the same order.
template <class Real>
Model<Real> converted(const Model<Real>& model, Architecture architecture, const Names& names);

// A copy with native names and parameters of its own.
Model<float> trainable(const Model<float>& loaded);

// The same numbers under another equation, as far as they have a place there.
struct Rewired {
    Model<float> model;                // native names
    std::vector<std::string> copied;   // names of parameters, as the new model has them
    std::vector<std::string> fresh;    // those that start as the recipe and the equation say
    std::vector<std::string> dropped;  // those of the old model, by their native names, that have no place in the new
};

// Matrices, biases, tables, gains inside attention, FFN and head, and learned parameters of the equation are copied
// where name and shape agree. Norms of the equation are matched by place: at the input of a sub-layer, on its output,
// on the stream (everything else), each counted by how many sub-layers the block has run before, and at the readout.
// Where both equations have as many norms at a place they are copied in order, otherwise those of the new one are
// fresh: Pre-LN's norms become Peri-LN's input norms, and its output norms start at gain 1; Pre-LN and Post-LN share
// none. A norm of another kind keeps what both kinds have (gain, bias). Vectors that the recipe keeps at unit length
// are scaled to it, those that were copied too.
Rewired rewired(const Model<float>& loaded, Architecture architecture, const scheme::Recipe& recipe,
                std::uint64_t seed);

extern template Model<float> converted(const Model<float>&, Architecture, const Names&);
extern template Model<double> converted(const Model<double>&, Architecture, const Names&);

}  // namespace flyball::model
