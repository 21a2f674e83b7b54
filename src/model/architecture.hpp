// What a transformer is, apart from its numbers: sizes, wiring, attention, positions.
//
//     x0           embedding_scale * tokens[id] (+ positions[j]) (+ types[0]), normed when embedding_norm;
//                  or the rows of an image, see patches.hpp
//     blocks       1..layers: the equation (src/scheme), whose f is attention or the FFN
//     attention    concat_h weights(cap(scale q_h k_h') + mask) v_h  times W_o
//                  q, k turned by rotary positions; q, k, v normed where attention_norm says so;
//                  weights are softmax unless attention_kind names another kind (attention/attention.hpp)
//     FFN          W_down act(s W_up x),  or gated  W_down (act(s W_gate x) * s W_up x)
//                  s = ffn_scale, times a learned gain of each inner channel where ffn_gains says so
//     readout      that of the equation
//     logits       cap(logit_scale * readout * head'), the product times a learned gain of each token where
//                  logit_gains says so
//
// A soft cap c is cap(s) = c tanh(s/c), which keeps s between -c and c; c = 0 stands for none, cap(s) = s.
//
// One description serves every family: family.hpp maps a published configuration to it, train builds its own. Not here:
// dropout (dropout.hpp), mixtures of experts, encoder-decoder models.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attention/attention.hpp"
#include "scheme/recipe.hpp"

namespace flyball::model {

enum class Activation { gelu, gelu_tanh, silu, relu };

// Rotary positions: channel pair (i, i + dims/2) of a head turns by position * frequency_i.
struct Rope {
    enum class Scaling { none, linear, dynamic, llama3, yarn };
    std::size_t dims = 0;  // of each head, even; 0: no rotary positions
    bool odd = false;      // frequencies count one channel less: a published share of a head that is odd is rounded up
    double theta = 10000;
    Scaling scaling = Scaling::none;
    double factor = 1;
    double original_positions = 0;  // what the model was trained for, before scaling
    double low_frequency = 1;       // llama3
    double high_frequency = 4;      // llama3
    double beta_fast = 32;          // yarn
    double beta_slow = 1;           // yarn
    bool truncate = true;           // yarn
    double attention_factor = 1;    // yarn: multiplies cos and sin
};

// An image in place of tokens: its patches, row by row, behind a token of its own (arXiv:2010.11929).
struct Patches {
    std::size_t channels = 0;  // of a pixel; 0: tokens are ids
    std::size_t height = 0;    // of the image, in pixels
    std::size_t width = 0;
    std::size_t patch_height = 0;  // what is left at the right and below is not looked at
    std::size_t patch_width = 0;

    bool any() const { return channels > 0; }
    std::size_t rows() const { return height / patch_height; }
    std::size_t columns() const { return width / patch_width; }
    std::size_t count() const { return rows() * columns(); }
    std::size_t numbers() const { return channels * patch_height * patch_width; }  // of one patch
};

struct Architecture {
    std::string family = "flyball";
    std::string equation = "x + dt*f(norm(x)) | norm(x)";
    double dt = 1;
    std::size_t layers = 1;
    std::size_t dim = 1;
    std::size_t heads = 1;
    std::size_t kv_heads = 1;
    std::size_t head_dim = 1;
    std::size_t ffn_dim = 1;
    std::size_t vocab = 1;        // 0: there are patches
    std::size_t positions = 1;    // the longest sequence
    std::size_t token_types = 0;  // 0: no such embedding
    bool causal = true;
    attention::Kind attention_kind = attention::Kind::softmax;
    bool learned_positions = false;
    Rope rope;
    bool embedding_norm = false;
    Activation activation = Activation::gelu_tanh;
    bool gated = false;
    std::string norm = "layernorm";  // of scheme/normaliser.hpp
    double eps = 1e-5;
    scheme::AttentionNorm attention_norm;
    bool qkv_bias = false;
    bool output_bias = false;
    bool ffn_bias = false;
    bool norm_bias = false;
    bool has_head = true;
    bool tied = true;             // the head is the token embedding
    bool scale_scores = true;     // by 1/sqrt(head_dim), or by its inverse where attention_norm says so
    double score_factor = 0;      // in place of that, where it is above 0
    bool scale_by_layer = false;  // and by 1/block number
    double score_cap = 0;         // soft cap of the scaled scores
    double ffn_scale = 1;         // of the FFN's inner numbers, before the activation
    bool ffn_gains = false;       // and learned gains of the same numbers, which start at 1
    bool logit_gains = false;     // learned, one for each token of the vocabulary, which start at 1
    double embedding_scale = 1;   // of a token's row
    double logit_scale = 1;       // of logits, before their cap
    double logit_cap = 0;         // soft cap
    Patches patches;
    std::vector<std::size_t> windows;  // by block, how many tokens back a token sees, itself included; 0 or none: all
    std::optional<Rope> window_rope;   // of the blocks that have a window, where it is not `rope`

    std::size_t query_width() const { return heads * head_dim; }
    std::size_t key_width() const { return kv_heads * head_dim; }
    std::size_t inner_width() const { return gated ? 2 * ffn_dim : ffn_dim; }  // gate, up; or up
    std::size_t qkv_width() const { return query_width() + 2 * key_width(); }
    std::size_t window(std::size_t layer) const { return layer < windows.size() ? windows[layer] : 0; }
    const Rope& rope_of(std::size_t layer) const { return window_rope && window(layer) > 0 ? *window_rope : rope; }
    double score_scale(std::size_t layer) const;
};

const char* name(Activation activation) noexcept;

// Sizes that fit together and the machine; throws Error(input) with the first that does not.
void check(const Architecture& architecture, const std::string& what);

}  // namespace flyball::model
