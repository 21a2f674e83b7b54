// Norms on the queries, keys and values of attention (QK-norm, QKV-norm), forward and in reverse.
//
//     q <- gain * q / sqrt(mean q^2 + eps)           over the channels of each head, or of all heads together
//
// scheme::AttentionNorm says which, with what normaliser and gains, and whether before or after rotary positions. A
// normaliser that gives a direction has no eps; all others take the architecture's. There are no biases here.
#pragma once

#include <cstddef>
#include <vector>

#include "model/model.hpp"

namespace flyball::model {

enum class NormPlacement { before_positions, after_positions };

// Norms what is to be normed at `placement`, in the rows of qkv: [rows, queries | keys | values]. `before` gets what
// they were, for the way back; it is left alone where nothing is normed.
template <class Real>
void norm_attention(const Model<Real>& model, std::size_t layer, NormPlacement placement, std::size_t rows, Real* qkv,
                    std::vector<Real>& before);

// grad: the gradient of what norm_attention gave, which becomes that of what it was given. Gradients of gains are added
// to.
template <class Real>
void norm_attention_reverse(const Model<Real>& model, std::size_t layer, NormPlacement placement, std::size_t rows,
                            const std::vector<Real>& before, Real* grad, Parameters<Real>& gradients);

}  // namespace flyball::model
