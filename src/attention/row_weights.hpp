// Scores of one row turned into weights, by the definitions in attention.hpp, in double; and the way back.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/attention.hpp"

namespace flyball::attention {

// What a kernel has to know of a kind to compute it in its own way. A kind that no fast kernel has a way for is
// `whole_row`: then every kernel that can do it at all asks row_weights.
struct Form {
    enum class Weights {
        exponential,  // exp of a score, over the sum of them or over n
        sigmoid,
        whole_row
    } weights = Weights::whole_row;
    bool by_log_count = false;  // scores are multiplied by log m first
    bool by_tokens = false;     // divided by n instead of the sum: a row's weights depend on tokens that it cannot see
};
Form form_of(Kind kind);
// What the scores of a row that sees `allowed` tokens are multiplied by besides beta.
double score_factor(Kind kind, std::size_t allowed);

// scores[0..allowed) are <Q z_j, K z_k> on entry and weights on return. `room` is scratch memory, kept by the caller so
// that rows do not allocate. O(allowed), or O(allowed log allowed) for sparsemax and entmax15.
void row_weights(Kind kind, double beta, std::size_t tokens, std::size_t allowed, double* scores,
                 std::vector<double>& room);

// grad[0..allowed) is the gradient of something by the weights on entry and by the scores on return. `weights` as
// row_weights gave them. Where a kind has a kink (a weight of sparsemax or entmax15 about to leave 0) the derivative of
// the side on which it is 0.
void row_weights_reverse(Kind kind, double beta, std::size_t allowed, const double* weights, double* grad);

}  // namespace flyball::attention
