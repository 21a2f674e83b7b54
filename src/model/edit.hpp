// Changes to a model while it runs: a block that is left out, a branch that is scaled. The weights stay as they are.
//
//     {3, Edit::What::block}             block 3 passes every stream on as it came, as if it were not there
//     {3, Edit::What::attention, 0.5}    what attention adds there, after coefficients and norms, is halved
//     {3, Edit::What::feed_forward, 0}   and what its FFN adds is left out
//
// Blocks count from 0. t, L and depth stay those of the whole model. scheme/branches.hpp says what a branch adds: under
// post-ln a block without its branches is still a norm, and another thing than a block left out.
#pragma once

#include <cstddef>

namespace flyball::model {

struct Edit {
    enum class What { block, attention, feed_forward };
    std::size_t layer = 0;
    What what = What::block;
    double factor = 0;  // a block can only be left out
};

}  // namespace flyball::model
