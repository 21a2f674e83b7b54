// config.json of the families that are no relatives of Llama. Keys, their defaults and what wins when two disagree
// follow the configuration classes of transformers 5: a file that leaves a key out relies on them.
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "model/family.hpp"
#include "model/family_keys.hpp"

namespace flyball::model {

namespace {

// GPT-2 knows four sizes by a second name, and the second name wins.
std::size_t gpt2_size(const ConfigReader& config, const char* second, const char* first, std::size_t fallback) {
    const std::size_t size = config.size(first, fallback, 1);
    return config.size(second, size, 1);
}

// A size of an image: one number for a square, or [height, width].
std::pair<std::size_t, std::size_t> image_size(const ConfigReader& config, const char* key, std::size_t fallback) {
    const auto found = config.json().find(key);
    if (found == config.json().end() || !found->is_array()) {
        const std::size_t size = config.size(key, fallback, 1);
        return {size, size};
    }
    const auto is_size = [](const Json& one) {
        return one.is_number_unsigned() && one.get<std::uint64_t>() >= 1 && one.get<std::uint64_t>() < 1'000'000;
    };
    if (found->size() != 2 || !is_size((*found)[0]) || !is_size((*found)[1])) {
        config.fail(key, "a whole number, or height and width in a list");
    }
    return {(*found)[0].get<std::size_t>(), (*found)[1].get<std::size_t>()};
}

}  // namespace

Architecture read_gpt2(const ConfigReader& config, const HasTensor& has) {
    refuse_general(config);
    refuse_bidirectional(config);
    refuse(config, "add_cross_attention");
    Architecture a;
    a.family = "gpt2";
    a.equation = pre_ln;
    a.layers = gpt2_size(config, "num_hidden_layers", "n_layer", 12);
    a.dim = gpt2_size(config, "hidden_size", "n_embd", 768);
    a.heads = gpt2_size(config, "num_attention_heads", "n_head", 12);
    a.kv_heads = a.heads;
    a.head_dim = divided(config, config.has("hidden_size") ? "hidden_size" : "n_embd", a.dim, a.heads);
    a.ffn_dim = config.size_or_null("n_inner", 4 * a.dim, 4 * a.dim);
    a.vocab = config.size("vocab_size", 50257, 1);
    a.positions = gpt2_size(config, "max_position_embeddings", "n_positions", 1024);
    a.learned_positions = true;
    a.activation = activation_of(config, "activation_function", "gelu_new");
    a.norm = "layernorm";
    a.eps = config.number("layer_norm_epsilon", 1e-5);
    a.qkv_bias = has("h.0.attn.c_attn.bias");
    a.output_bias = has("h.0.attn.c_proj.bias");
    a.ffn_bias = has("h.0.mlp.c_fc.bias");
    a.norm_bias = has("h.0.ln_1.bias");
    a.tied = config.flag("tie_word_embeddings", true);
    a.has_head = a.tied || has("lm_head.weight") || needs_head(config);
    a.scale_scores = config.flag("scale_attn_weights", true);
    a.scale_by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
    return a;
}

Architecture read_gpt_neox(const ConfigReader& config, const HasTensor& has) {
    refuse_general(config);
    refuse_bidirectional(config);
    Architecture a;
    a.family = "gpt_neox";
    a.equation = config.flag("use_parallel_residual", true) ? parallel_pre_ln : pre_ln;
    a.layers = config.size("num_hidden_layers", 44, 1);
    a.dim = config.size("hidden_size", 6144, 1);
    a.heads = config.size("num_attention_heads", 64, 1);
    a.kv_heads = a.heads;
    a.head_dim = divided(config, "hidden_size", a.dim, a.heads);
    if (config.has("head_dim") && config.size("head_dim", 0) != a.head_dim) {
        config.fail("head_dim", fmt::format("{}, the channels of each of {} heads", a.head_dim, a.heads));
    }
    a.ffn_dim = config.size("intermediate_size", 24576, 1);
    a.vocab = config.size("vocab_size", 50432, 1);
    a.positions = config.size("max_position_embeddings", 2048, 1);
    a.rope = rope_of(config, {.theta = "rotary_emb_base", .part = "rotary_pct", .standard_part = 0.25}, a.head_dim,
                     a.positions);
    a.activation = activation_of(config, "hidden_act", "gelu");
    a.norm = "layernorm";
    a.eps = config.number("layer_norm_eps", 1e-5);
    a.qkv_bias = a.output_bias = config.flag("attention_bias", true);
    a.ffn_bias = a.norm_bias = true;
    a.tied = config.flag("tie_word_embeddings", false);
    a.has_head = a.tied || has("embed_out.weight") || has("lm_head.weight") || needs_head(config);
    return a;
}

Architecture read_opt(const ConfigReader& config, const HasTensor& has) {
    refuse_general(config);
    refuse_bidirectional(config);
    refuse(config, "_remove_final_layer_norm");
    Architecture a;
    a.family = "opt";
    a.equation = config.flag("do_layer_norm_before", true) ? pre_ln : post_ln;  // OPT-350M alone is Post-LN
    a.layers = config.size("num_hidden_layers", 12, 1);
    a.dim = config.size("hidden_size", 768, 1);
    a.heads = config.size("num_attention_heads", 12, 1);
    a.kv_heads = a.heads;
    a.head_dim = divided(config, "hidden_size", a.dim, a.heads);
    a.ffn_dim = config.size("ffn_dim", 3072, 1);
    a.vocab = config.size("vocab_size", 50272, 1);
    a.positions = config.size("max_position_embeddings", 2048, 1);
    a.learned_positions = true;
    a.activation = activation_of(config, "activation_function", "relu");
    a.norm = "layernorm";
    a.eps = 1e-5;  // its class has no key for it
    a.qkv_bias = a.output_bias = a.ffn_bias = config.flag("enable_bias", true);
    a.norm_bias = true;
    a.tied = config.flag("tie_word_embeddings", true);
    a.has_head = a.tied || has("lm_head.weight") || needs_head(config);
    if (config.size_or_null("word_embed_proj_dim", a.dim, a.dim) != a.dim) {
        config.fail("word_embed_proj_dim", fmt::format("{}, the hidden_size", a.dim),
                    "embeddings of another width are not supported");
    }
    if (!config.flag("layer_norm_elementwise_affine", true)) {
        config.fail("layer_norm_elementwise_affine", "true", "norms without gains are not supported");
    }
    return a;
}

Architecture read_bert(const ConfigReader& config, const HasTensor&) {
    refuse_general(config);
    refuse(config, "add_cross_attention");
    refuse(config, "is_decoder");
    if (!config.is_null("position_embedding_type") &&
        config.text("position_embedding_type", "absolute") != "absolute") {
        config.fail("position_embedding_type", "'absolute'");
    }
    Architecture a;
    a.family = "bert";
    a.equation = post_ln;
    a.layers = config.size("num_hidden_layers", 12, 1);
    a.dim = config.size("hidden_size", 768, 1);
    a.heads = config.size("num_attention_heads", 12, 1);
    a.kv_heads = a.heads;
    a.head_dim = divided(config, "hidden_size", a.dim, a.heads);
    a.ffn_dim = config.size("intermediate_size", 3072, 1);
    a.vocab = config.size("vocab_size", 30522, 1);
    a.positions = config.size("max_position_embeddings", 512, 1);
    a.learned_positions = true;
    a.token_types = config.size("type_vocab_size", 2, 1);
    a.causal = false;
    a.embedding_norm = true;
    a.activation = activation_of(config, "hidden_act", "gelu");
    a.norm = "layernorm";
    a.eps = config.number("layer_norm_eps", 1e-12);
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    a.tied = false;
    a.has_head = false;
    return a;
}

Architecture read_vit(const ConfigReader& config, const HasTensor&) {
    refuse_general(config);
    Architecture a;
    a.family = "vit";
    a.equation = pre_ln;
    a.layers = config.size("num_hidden_layers", 12, 1);
    a.dim = config.size("hidden_size", 768, 1);
    a.heads = config.size("num_attention_heads", 12, 1);
    a.kv_heads = a.heads;
    a.head_dim =
        config.has("head_dim") ? config.size("head_dim", 1, 1) : divided(config, "hidden_size", a.dim, a.heads);
    a.ffn_dim = config.size("intermediate_size", 3072, 1);
    std::tie(a.patches.height, a.patches.width) = image_size(config, "image_size", 224);
    std::tie(a.patches.patch_height, a.patches.patch_width) = image_size(config, "patch_size", 16);
    a.patches.channels = config.size("num_channels", 3, 1);
    a.vocab = 0;
    a.positions = a.patches.count() + 1;
    a.learned_positions = true;
    a.causal = false;
    a.activation = activation_of(config, "hidden_act", "gelu");
    a.norm = "layernorm";
    a.eps = config.number("layer_norm_eps", 1e-12);
    a.qkv_bias = config.flag("qkv_bias", true);
    a.output_bias = a.ffn_bias = a.norm_bias = true;
    a.tied = false;
    a.has_head = false;
    return a;
}

}  // namespace flyball::model
