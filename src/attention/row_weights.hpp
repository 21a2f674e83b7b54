// Scores of one row turned into weights, by the definitions in attention.hpp, in double.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/attention.hpp"

namespace flyball::attention {

// scores[0..allowed) are <Q z_j, K z_k> on entry and weights on return. `room` is scratch memory, kept by the caller so
// that rows do not allocate. O(allowed), or O(allowed log allowed) for sparsemax and entmax15.
void row_weights(Kind kind, double beta, std::size_t tokens, std::size_t allowed, double* scores,
                 std::vector<double>& room);

}  // namespace flyball::attention
