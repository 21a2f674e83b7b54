#include "model/family.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "model/native.hpp"

namespace flyball::model {

namespace {

constexpr const char* pre_ln = "x + dt*f(norm(x)) | norm(x)";
constexpr const char* post_ln = "norm(x + dt*f(x))";

// What no family here can run, and would silently change the result.
void refuse(const ConfigReader& config, const char* key) {
    if (config.flag(key, false)) {
        config.fail(key, "false", "this part of the family is not supported");
    }
}

std::size_t head_size(const ConfigReader& config, std::size_t dim, std::size_t heads, const char* dim_key) {
    if (config.has("head_dim")) {
        return config.size("head_dim");
    }
    if (heads == 0 || dim % heads != 0) {
        config.fail(dim_key, fmt::format("a multiple of the {} heads", heads));
    }
    return dim / heads;
}

// A causal model that its own file calls a language model must bring a head.
bool needs_head(const ConfigReader& config) {
    const auto found = config.json().find("architectures");
    if (found == config.json().end() || !found->is_array() || found->empty() || !found->front().is_string()) {
        return false;
    }
    const auto& first = found->front().get_ref<const std::string&>();
    return first.find("LMHead") != std::string::npos || first.find("CausalLM") != std::string::npos;
}

Architecture read_gpt2(const ConfigReader& config, const HasTensor& has) {
    refuse(config, "add_cross_attention");
    Architecture a;
    a.family = "gpt2";
    a.equation = pre_ln;
    a.layers = config.size("n_layer");
    a.dim = config.size("n_embd");
    a.heads = config.size("n_head");
    a.kv_heads = a.heads;
    if (a.dim % a.heads != 0) {
        config.fail("n_embd", fmt::format("a multiple of the {} heads", a.heads));
    }
    a.head_dim = a.dim / a.heads;
    a.ffn_dim = config.size("n_inner", 4 * a.dim, 1);
    a.vocab = config.size("vocab_size", 50257, 1);
    a.positions = config.has("n_positions") ? config.size("n_positions") : config.size("n_ctx", 1024, 1);
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

void read_windows(const ConfigReader& config, Architecture& a, bool by_default) {
    const std::size_t window = config.size("sliding_window", 0, 1);
    if (window == 0 || !config.flag("use_sliding_window", by_default)) {
        return;
    }
    a.windows.assign(std::min<std::size_t>(a.layers, 100'000), window);
    const auto types = config.json().find("layer_types");
    const std::size_t full = a.family == "qwen2" ? config.size("max_window_layers", 28) : 0;
    for (std::size_t l = 0; l < a.windows.size(); ++l) {
        if (types != config.json().end() && types->is_array() && l < types->size()) {
            a.windows[l] = (*types)[l] == "sliding_attention" ? window : 0;
        } else if (l < full) {
            a.windows[l] = 0;
        }
    }
}

Architecture read_llama_like(const ConfigReader& config, const HasTensor& has) {
    Architecture a;
    a.family = config.text("model_type", "");
    a.equation = pre_ln;
    a.layers = config.size("num_hidden_layers");
    a.dim = config.size("hidden_size");
    a.heads = config.size("num_attention_heads");
    a.kv_heads = config.size("num_key_value_heads", a.heads, 1);
    a.head_dim = head_size(config, a.dim, a.heads, "hidden_size");
    a.ffn_dim = config.size("intermediate_size");
    a.vocab = config.size("vocab_size");
    a.positions = config.size("max_position_embeddings", 2048, 1);
    a.rope = rope_of(config, a.head_dim, a.positions);
    a.activation = activation_of(config, "hidden_act", "silu");
    a.gated = true;
    a.norm = "rmsnorm";
    a.eps = config.number("rms_norm_eps", 1e-6);
    const bool is_qwen = a.family == "qwen2";
    const bool is_llama = a.family == "llama";
    a.qkv_bias = is_qwen || (is_llama && config.flag("attention_bias", false));
    a.output_bias = is_llama && config.flag("attention_bias", false);
    a.ffn_bias = is_llama && config.flag("mlp_bias", false);
    a.tied = config.flag("tie_word_embeddings", false);
    a.has_head = a.tied || has("lm_head.weight") || needs_head(config);
    if (!is_llama) {
        read_windows(config, a, !is_qwen);
    }
    return a;
}

Architecture read_bert(const ConfigReader& config, const HasTensor&) {
    refuse(config, "add_cross_attention");
    refuse(config, "is_decoder");
    if (config.text("position_embedding_type", "absolute") != "absolute") {
        config.fail("position_embedding_type", "'absolute'");
    }
    Architecture a;
    a.family = "bert";
    a.equation = post_ln;
    a.layers = config.size("num_hidden_layers");
    a.dim = config.size("hidden_size");
    a.heads = config.size("num_attention_heads");
    a.kv_heads = a.heads;
    if (a.dim % a.heads != 0) {
        config.fail("hidden_size", fmt::format("a multiple of the {} heads", a.heads));
    }
    a.head_dim = a.dim / a.heads;
    a.ffn_dim = config.size("intermediate_size");
    a.vocab = config.size("vocab_size");
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

const Names& gpt2_names() {
    static const Names names = {.prefix = "transformer.",
                                .tokens = "wte",
                                .positions = "wpe",
                                .types = "",
                                .embedding_norm = "",
                                .block = "h.{}.",
                                .qkv = {"attn.c_attn"},
                                .attention_output = "attn.c_proj",
                                .ffn_in = {"mlp.c_fc"},
                                .ffn_out = "mlp.c_proj",
                                .norms = {"ln_1", "ln_2"},
                                .readout_norms = {"ln_f"},
                                .head = "lm_head",
                                .in_out = true,
                                .ignored = {".attn.bias", ".attn.masked_bias"}};
    return names;
}

const Names& llama_names() {
    static const Names names = {.prefix = "model.",
                                .tokens = "embed_tokens",
                                .positions = "",
                                .types = "",
                                .embedding_norm = "",
                                .block = "layers.{}.",
                                .qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                                .attention_output = "self_attn.o_proj",
                                .ffn_in = {"mlp.gate_proj", "mlp.up_proj"},
                                .ffn_out = "mlp.down_proj",
                                .norms = {"input_layernorm", "post_attention_layernorm"},
                                .readout_norms = {"norm"},
                                .head = "lm_head",
                                .in_out = false,
                                .ignored = {"rotary_emb.inv_freq"}};
    return names;
}

const Names& bert_names() {
    static const Names names = {.prefix = "bert.",
                                .tokens = "embeddings.word_embeddings",
                                .positions = "embeddings.position_embeddings",
                                .types = "embeddings.token_type_embeddings",
                                .embedding_norm = "embeddings.LayerNorm",
                                .block = "encoder.layer.{}.",
                                .qkv = {"attention.self.query", "attention.self.key", "attention.self.value"},
                                .attention_output = "attention.output.dense",
                                .ffn_in = {"intermediate.dense"},
                                .ffn_out = "output.dense",
                                .norms = {"attention.output.LayerNorm", "output.LayerNorm"},
                                .readout_norms = {},
                                .head = "",
                                .in_out = false,
                                .ignored = {"embeddings.position_ids", "embeddings.token_type_ids", "pooler.", "cls.",
                                            "classifier.", "qa_outputs."}};
    return names;
}

}  // namespace

const Names& native_names() {
    static const Names names = {.prefix = "",
                                .tokens = "embed.tokens",
                                .positions = "embed.positions",
                                .types = "embed.types",
                                .embedding_norm = "embed.norm",
                                .block = "blocks.{}.",
                                .qkv = {"attn.qkv"},
                                .attention_output = "attn.out",
                                .ffn_in = {"ffn.in"},
                                .ffn_out = "ffn.out",
                                .norms = {},
                                .readout_norms = {},
                                .head = "head",
                                .in_out = false,
                                .ignored = {}};
    return names;
}

const std::vector<Family>& families() {
    static const std::vector<Family> table = {
        {"gpt2", "GPT-2", gpt2_names(), read_gpt2},
        {"llama", "Llama 1, 2, 3", llama_names(), read_llama_like},
        {"mistral", "Mistral", llama_names(), read_llama_like},
        {"qwen2", "Qwen 2, 2.5", llama_names(), read_llama_like},
        {"bert", "BERT encoders", bert_names(), read_bert},
        {"flyball", "trained by flyball", native_names(), read_native},
    };
    return table;
}

const Family& family_of(const ConfigReader& config) {
    const std::string type = config.text("model_type", "");
    std::vector<std::string_view> known;
    for (const Family& family : families()) {
        if (family.model_type == type) {
            return family;
        }
        known.push_back(family.model_type);
    }
    const std::string got = type.empty()
                                ? fmt::format("no model_type in {}", config.what())
                                : fmt::format("the model family {} in {}", flyball::quoted(type), config.what());
    throw Error(ErrorKind::input, "model.family", got, fmt::format("one of {}", fmt::join(known, ", ")));
}

Activation activation_of(const ConfigReader& config, const char* key, const std::string& fallback) {
    const std::string text = config.text(key, fallback);
    if (text == "gelu") {
        return Activation::gelu;
    }
    if (text == "gelu_new" || text == "gelu_pytorch_tanh" || text == "gelu_fast") {
        return Activation::gelu_tanh;
    }
    if (text == "silu" || text == "swish") {
        return Activation::silu;
    }
    if (text == "relu") {
        return Activation::relu;
    }
    config.fail(key, "one of gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, silu, swish, relu");
}

}  // namespace flyball::model
