// How a model's numbers start, and what training keeps them to: the recipe of its scheme (scheme/recipe.hpp) applied.
//
// Every number is a function of the seed, of which matrix of which block it belongs to and of its index there, whatever
// the number of threads and whatever else the scheme has: schemes whose matrices have the same shapes start from the
// same normal numbers, times their own deviations. Parts of a fused matrix (queries, keys and values in one) are drawn
// as matrices of their own. Tables of vectors (embeddings, the head) count d inputs and d outputs for Xavier: deviation
// 1/sqrt(d).
//
// Not here: parameters that a pass over data measures (Initialisation::measured; train/profile.hpp), which start at
// what the equation says.
#pragma once

#include <cstdint>

#include "model/model.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::model {

// The sizes with what the scheme says about wiring: the equation it is trained with, the norms inside attention, the
// scale and gains inside the FFN, the gains of logits (where there is a head).
// Parameters that the caller has set (NAME:k=v) stay as they are.
Architecture wired(Architecture sizes, const scheme::Scheme& scheme);

// The opposite, for the scheme of the catalogue whose equation the model has: without what `wired` gave it for that
// scheme. What differs from the scheme's (a norm on queries and keys that was asked for) is the model's own and stays.
Architecture unwired(Architecture architecture);

// Throws Error for an architecture that does not fit together.
template <class Real>
Model<Real> initialised(Architecture architecture, const scheme::Recipe& recipe, std::uint64_t seed);

// The standard deviation with which a matrix from `in` to `out` numbers is drawn in a block, gains included.
double deviation_of(const scheme::Initialisation& initialisation, scheme::Matrix matrix, std::size_t in,
                    std::size_t out, const scheme::Environment& env);

// By parameter of the layout: what its learning rate is multiplied by, 1 unless the recipe says otherwise.
std::vector<double> rate_factors(const Architecture& architecture, const Layout& layout, const scheme::Recipe& recipe);

// Scales the vectors of `which` to unit length; vectors that are zero stay so. The head counts as a matrix.
template <class Real>
void scale_to_unit(const Layout& layout, scheme::UnitVectors which, Parameters<Real>& parameters);

}  // namespace flyball::model
