// Scores of one row turned into weights, by the definitions in attention.hpp, in double; and the way back.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/attention.hpp"

namespace flyball::attention {

// scores[0..allowed) are <Q z_j, K z_k> on entry and weights on return. `room` is scratch memory, kept by the caller so
// that rows do not allocate. O(allowed), or O(allowed log allowed) for sparsemax and entmax15.
void row_weights(Kind kind, double beta, std::size_t tokens, std::size_t allowed, double* scores,
                 std::vector<double>& room);

// grad[0..allowed) is the gradient of something by the weights on entry and by the scores on return. `weights` as
// row_weights gave them. Where a kind has a kink (a weight of sparsemax or entmax15 about to leave 0) the derivative of
// the side on which it is 0.
void row_weights_reverse(Kind kind, double beta, std::size_t allowed, const double* weights, double* grad);

}  // namespace flyball::attention
