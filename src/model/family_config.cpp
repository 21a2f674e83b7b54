// config.json of each family. Keys, their defaults and what wins when two disagree follow the configuration classes of
// transformers 5: a file that leaves a key out relies on them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "model/family.hpp"

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

// The same for keys that any configuration may have.
void refuse_general(const ConfigReader& config) {
    for (const char* const key : {"per_layer_config", "quantization_config"}) {
        if (config.has(key) && !config.is_null(key) && !config.object(key).json().empty()) {
            config.fail(key, "none", "this is not supported");
        }
    }
}

void refuse_bidirectional(const ConfigReader& config) {
    if (!config.flag("is_causal", true)) {
        config.fail("is_causal", "true", "a decoder without its causal mask is not supported");
    }
}

std::size_t divided(const ConfigReader& config, const char* dim_key, std::size_t dim, std::size_t heads) {
    if (dim % heads != 0) {
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

// GPT-2 knows four sizes by a second name, and the second name wins.
std::size_t gpt2_size(const ConfigReader& config, const char* second, const char* first, std::size_t fallback) {
    const std::size_t size = config.size(first, fallback, 1);
    return config.size(second, size, 1);
}

// What differs between the relatives of Llama when a key is missing.
struct LlamaDefaults {
    std::string_view model_type;
    std::size_t vocab;
    std::size_t ffn_dim;
    std::size_t kv_heads;  // 0: as many as heads
    std::size_t positions;
};
constexpr std::array<LlamaDefaults, 3> llama_defaults = {{
    {"llama", 32000, 11008, 0, 2048},
    {"mistral", 32000, 14336, 8, 131072},
    {"qwen2", 151936, 22016, 32, 32768},
}};

const LlamaDefaults& defaults_of(const std::string& model_type) {
    const auto* const found =
        std::find_if(llama_defaults.begin(), llama_defaults.end(),
                     [&](const LlamaDefaults& defaults) { return defaults.model_type == model_type; });
    return found == llama_defaults.end() ? llama_defaults.front() : *found;
}

// A head's channels need not fill the stream, but Llama wants a stream that could be cut into its heads.
std::size_t llama_head_dim(const ConfigReader& config, const Architecture& a) {
    const std::size_t usual = a.family == "llama" ? divided(config, "hidden_size", a.dim, a.heads)
                                                  : std::max<std::size_t>(1, a.dim / a.heads);
    return a.family == "qwen2" ? config.size("head_dim", usual, 1) : config.size_or_null("head_dim", usual, usual);
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

// By block: whether layer_types says sliding; nothing when the file does not say.
std::vector<bool> sliding_layers(const ConfigReader& config, std::size_t layers) {
    std::vector<bool> sliding;
    if (!config.has("layer_types") || config.is_null("layer_types")) {
        return sliding;
    }
    const Json& types = config.json().at("layer_types");
    const bool fits = types.is_array() && types.size() == layers;
    for (std::size_t l = 0; fits && l < layers; ++l) {
        const bool is_sliding = types[l] == "sliding_attention";
        if (!is_sliding && types[l] != "full_attention" && types[l] != "attention") {
            break;
        }
        sliding.push_back(is_sliding);
    }
    if (!fits || sliding.size() != layers) {
        config.fail("layer_types", fmt::format("a list of {} times full_attention or sliding_attention", layers));
    }
    return sliding;
}

// Llama has no windows. Qwen2 has them if use_sliding_window, in the blocks that layer_types names or, without it, from
// block max_window_layers on. Mistral has them in the blocks that layer_types names (which makes it a Ministral) or in
// all.
void read_windows(const ConfigReader& config, Architecture& a) {
    const std::vector<bool> sliding = sliding_layers(config, a.layers);
    const bool is_qwen = a.family == "qwen2";
    const bool used = a.family == "mistral" || (is_qwen && config.flag("use_sliding_window", false));
    const std::size_t window = used ? config.size_or_null("sliding_window", 4096, 0) : 0;
    const std::size_t first = is_qwen ? config.size("max_window_layers", 28) : 0;
    if (window == 0) {
        if (std::find(sliding.begin(), sliding.end(), true) != sliding.end()) {
            config.fail("layer_types", "full_attention alone",
                        a.family == "llama" ? "this family has no windows"
                                            : "the configuration has no window in use for the others");
        }
        return;
    }
    a.windows.assign(std::min<std::size_t>(a.layers, 100'000), 0);
    for (std::size_t l = 0; l < a.windows.size(); ++l) {
        a.windows[l] = (sliding.empty() ? l >= first : sliding[l]) ? window : 0;
    }
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

Architecture read_llama_like(const ConfigReader& config, const HasTensor& has) {
    refuse_general(config);
    refuse_bidirectional(config);
    Architecture a;
    a.family = config.text("model_type", "");
    const LlamaDefaults& defaults = defaults_of(a.family);
    a.equation = pre_ln;
    a.layers = config.size("num_hidden_layers", 32, 1);
    a.dim = config.size("hidden_size", 4096, 1);
    a.heads = config.size("num_attention_heads", 32, 1);
    a.kv_heads =
        config.size_or_null("num_key_value_heads", defaults.kv_heads == 0 ? a.heads : defaults.kv_heads, a.heads);
    a.head_dim = llama_head_dim(config, a);
    a.ffn_dim = config.size("intermediate_size", defaults.ffn_dim, 1);
    a.vocab = config.size("vocab_size", defaults.vocab, 1);
    a.positions = config.size("max_position_embeddings", defaults.positions, 1);
    a.rope = rope_of(config, a.head_dim, a.positions);
    a.activation = activation_of(config, "hidden_act", "silu");
    a.gated = true;
    a.norm = "rmsnorm";
    a.eps = config.number("rms_norm_eps", 1e-6);
    const bool is_llama = a.family == "llama";
    a.qkv_bias = a.family == "qwen2" || (is_llama && config.flag("attention_bias", false));
    a.output_bias = is_llama && config.flag("attention_bias", false);
    a.ffn_bias = is_llama && config.flag("mlp_bias", false);
    a.tied = config.flag("tie_word_embeddings", false);
    a.has_head = a.tied || has("lm_head.weight") || needs_head(config);
    read_windows(config, a);
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

Activation activation_of(const ConfigReader& config, const char* key, const std::string& fallback) {
    static constexpr std::array<std::pair<std::string_view, Activation>, 10> known = {{
        {"gelu", Activation::gelu},
        {"gelu_python", Activation::gelu},
        {"gelu_new", Activation::gelu_tanh},
        {"gelu_fast", Activation::gelu_tanh},
        {"gelu_accurate", Activation::gelu_tanh},
        {"gelu_pytorch_tanh", Activation::gelu_tanh},
        {"gelu_python_tanh", Activation::gelu_tanh},
        {"silu", Activation::silu},
        {"swish", Activation::silu},
        {"relu", Activation::relu},
    }};
    const std::string text = config.text(key, fallback);
    std::vector<std::string_view> names;
    for (const auto& row : known) {
        if (row.first == text) {
            return row.second;
        }
        names.push_back(row.first);
    }
    config.fail(key, fmt::format("one of {}", fmt::join(names, ", ")));
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
