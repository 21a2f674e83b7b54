// The names of what a forward pass computes, as users ask for it and as files call it.
//
//     logits               [tokens, vocab]
//     hidden.N             [tokens, dim]: hidden.0 the embedding x0, hidden.N the stream x after N blocks; but the
//                          last, N = layers, is the readout, as in Hugging Face's hidden_states
//     stream.N             [tokens, dim]: the same, and the last is the stream too: what the final norm is given
//     attention.B          [heads, tokens, tokens], zero where the mask is; attention.B.H is one head, [tokens, tokens]
//     scores.B             the same before they become weights; minus infinity where the mask is
//     query.B              [heads, tokens, head_dim], after biases, norms and rotary positions; with .H one head
//     key.B, value.B       [kv_heads, tokens, head_dim]
//     branch.B.attn, .ffn  [tokens, dim]: what the equation adds to x for a sub-layer of a block, after norms and
//                          coefficients
//
// Blocks B and heads H count from 0: block B leads from stream.B to stream.(B+1). A word without its numbers means all
// of them. `branches` is `branch` under the names attn_added.B and ffn_added.B.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/architecture.hpp"

namespace flyball::model {

// One tensor to keep.
struct Recorded {
    enum class What { logits, hidden, stream, attention, scores, query, key, value, attn_added, ffn_added };
    std::string name;
    What what = What::logits;
    std::size_t place = 0;  // a block, or how many blocks a stream has passed
    std::optional<std::size_t> head = std::nullopt;

    std::string tap(const Architecture& architecture) const;    // who shows it
    std::size_t heads(const Architecture& architecture) const;  // in the tensor; 1 for what has none
    std::size_t width(const Architecture& architecture, std::size_t tokens) const;  // of a row
    // [heads, tokens, width], without the first where there are no heads or it is one.
    std::vector<std::size_t> shape(const Architecture& architecture, std::size_t tokens) const;
};

// "logits,hidden,attention.3.5" as tensors, none twice. Error(usage) for other words, for blocks and heads that are not
// there, and for logits of a model that has none.
std::vector<Recorded> parse_recorded(const std::string& text, const Architecture& architecture);

// What is kept when nothing is said: logits, where there are any, hidden and attention.
std::vector<Recorded> usual_recorded(const Architecture& architecture);

// Bytes of all of them.
double memory_estimate(const Architecture& architecture, std::size_t tokens, const std::vector<Recorded>& recorded);

}  // namespace flyball::model
