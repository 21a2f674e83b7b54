// The heads of one attention sub-layer on one sequence, forward and in reverse.
//
//     P_h = softmax(scale q_h k_g' under the mask),   out_h = P_h v_g,      g = h * kv_heads / heads
//
// Blocks of rows: a head's weights exist for one block at a time, are shown to whoever wants to see them, multiplied
// with the values, and overwritten. Reverse mode computes them again. Memory: O(block * tokens) a thread.
#pragma once

#include <cstddef>

#include "core/parallel.hpp"

namespace flyball::model {

struct HeadsShape {
    std::size_t tokens = 0;
    std::size_t heads = 1;
    std::size_t kv_heads = 1;
    std::size_t head_dim = 1;
    bool causal = true;
    std::size_t window = 0;  // a token sees this many tokens, itself included; 0: all. Causal alone.
    double scale = 1;

    std::size_t stride() const { return (heads + 2 * kv_heads) * head_dim; }  // of qkv
};

// A block of rows of one head's weights; columns outside [first_column, first_column + columns) are masked.
template <class Real>
struct WeightBlock {
    std::size_t head = 0;
    std::size_t first_row = 0;
    std::size_t rows = 0;
    std::size_t first_column = 0;
    std::size_t columns = 0;
    const Real* data = nullptr;
    std::size_t stride = 0;
};
template <class Real>
using WeightSink = FunctionRef<void(const WeightBlock<Real>&)>;

// qkv: [tokens, queries | keys | values]; out: [tokens, heads*head_dim]. The sink (may be null) gets the blocks of a
// head in order and from one thread, different heads at the same time.
template <class Real>
void attend(const HeadsShape& shape, const Real* qkv, Real* out, const WeightSink<Real>* sink);

// grad_qkv: shaped like qkv, overwritten.
template <class Real>
void attend_reverse(const HeadsShape& shape, const Real* qkv, const Real* grad_out, Real* grad_qkv);

}  // namespace flyball::model
