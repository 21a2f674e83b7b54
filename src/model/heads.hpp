// The heads of one attention sub-layer on a batch, forward and in reverse.
//
//     P_h = weights of the scores under the mask,   out_h = P_h v_g,      g = h * kv_heads / heads
//
//     scores      scale q_h k_g', or c tanh(scale q_h k_g' / c) under a soft cap c
//
// for each sequence by itself. How scores become weights is the Kind of attention/attention.hpp with beta = scale: a
// kernel of its own for softmax, attention/row_weights for all others. NaN or infinity among the scores of a row makes
// its weights NaN; minus infinity is weight 0 to softmax alone.
//
// Blocks of rows: a head's weights exist for one block at a time, are shown to whoever wants to see them, multiplied
// with the values, and overwritten. Reverse mode computes them again. Memory: O(block * tokens) a thread; in reverse
// O(tokens^2) for at most 256 tokens.
#pragma once

#include <cstddef>

#include "attention/attention.hpp"
#include "model/batch.hpp"
#include "model/dropout.hpp"
#include "model/layer_kernels.hpp"
#include "model/taps.hpp"

namespace flyball::model {

struct HeadsShape {
    Batch batch = 0;
    std::size_t heads = 1;
    std::size_t kv_heads = 1;
    std::size_t head_dim = 1;
    bool causal = true;
    std::size_t window = 0;  // a token sees this many tokens, itself included; 0: all. Causal alone.
    double scale = 1;
    double cap = 0;  // soft cap of the scaled scores; 0: none
    attention::Kind kind = attention::Kind::softmax;
    DropoutMask dropout = {};  // of the weights; number ((sequence * heads + head) * tokens + row) * tokens + column

    std::size_t stride() const { return (heads + 2 * kv_heads) * head_dim; }  // of qkv
};

// qkv: [rows, queries | keys | values]; out: [rows, heads*head_dim]. Taps get the scores, scaled and capped, as
// blocks.L.attn.scores and the weights, before dropout, as blocks.L.attn.pattern. `scales` (may be null): [rows,
// heads], in an order of its own, which spares attend_reverse two thirds of softmax.
template <class Real>
void attend(const HeadsShape& shape, const Real* qkv, Real* out, std::size_t layer, const Taps<Real>& taps,
            SoftmaxScale<Real>* scales = nullptr);

// The last token of a sequence whose keys and values, its own included, are at hand: keys, values [tokens,
// kv_heads*head_dim], query and out [heads*head_dim]. `shape.batch` is that one sequence; causal alone.
template <class Real>
void attend_last(const HeadsShape& shape, const Real* query, const Real* keys, const Real* values, Real* out);

// grad_qkv: shaped like qkv, overwritten. `scales`: as attend() left them, or null.
template <class Real>
void attend_reverse(const HeadsShape& shape, const Real* qkv, const Real* grad_out, Real* grad_qkv,
                    const SoftmaxScale<Real>* scales = nullptr);

}  // namespace flyball::model
