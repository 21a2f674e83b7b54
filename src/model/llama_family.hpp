// Relatives of Llama: decoders with rotary positions, RMSNorm and a gated FFN. A relative is a row of data, what it
// says about its wiring, its attributes and what a missing key of its config.json means.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/family.hpp"
#include "model/family_keys.hpp"

namespace flyball::model {

// A number of the configuration that not every relative has.
struct NumberKey {
    const char* key = nullptr;  // null: this relative has none
    double standard = 0;        // without the key
};

struct LlamaRelative {
    enum class Biases { none, query_key_value, by_key };  // by_key: where attention_bias says so
    enum class Windows {
        none,
        everywhere,  // or in the blocks that layer_types names
        late,        // if use_sliding_window: in those blocks, or from block max_window_layers on
        mostly,      // in those blocks, or in all but every `full_every`-th
    };

    std::string_view model_type;
    std::string_view title;
    std::string_view equation = pre_ln;
    std::vector<std::string_view> norms = {"input_layernorm", "post_attention_layernorm"};  // in the equation's order
    bool gains_less_one = false;                                                            // norms store g - 1
    std::optional<scheme::AttentionNorm::Over> query_key_norm = {};  // RMSNorm before rotary positions, over what
    const char* inside = nullptr;  // the object of config.json that holds all of this; null: the file itself
    std::vector<std::string_view> prefixes = {"model.", "transformer."};
    std::vector<std::string_view> other_parts = {};  // tensors that are left out, beside the heads of other tasks

    // What a missing key means.
    std::size_t layers = 32;
    std::size_t dim = 4096;
    std::size_t heads = 32;
    std::size_t kv_heads = 0;  // 0: as many as heads
    std::size_t head_dim = 0;  // 0: dim / heads
    std::size_t ffn_dim = 11008;
    std::size_t vocab = 32000;
    std::size_t positions = 2048;
    double eps = 1e-6;
    bool tied = false;
    const char* activation_key = "hidden_act";
    const char* activation = "silu";

    // Which keys may be null, and what must divide.
    bool kv_heads_may_be_null = true;
    bool head_dim_may_be_null = false;
    bool dim_is_multiple_of_heads = false;

    Biases biases = Biases::by_key;  // of attention
    bool ffn_biases_by_key = false;  // where mlp_bias says so
    Windows windows = Windows::none;
    std::size_t full_every = 0;
    const char* full_every_key = nullptr;  // which may say another number
    RopeKeys rope = {};
    std::optional<RopeKeys> window_rope = {};  // blocks with a window turn otherwise

    bool embedding_times_root = false;     // embedding_scale = sqrt(dim), rounded to float
    NumberKey embedding_multiplier = {};   // embedding_scale
    NumberKey residual_multiplier = {};    // dt
    NumberKey attention_multiplier = {};   // score_factor
    NumberKey query_pre_attn_scalar = {};  // score_factor = 1/sqrt of it
    NumberKey logits_divisor = {};         // logit_scale = 1/it
    NumberKey score_cap = {};              // null in the file: none
    NumberKey logit_cap = {};
};

const std::vector<LlamaRelative>& llama_relatives();
Names llama_names(const LlamaRelative& relative);
Architecture read_llama_like(const ConfigReader& config, const HasTensor& has);

}  // namespace flyball::model
