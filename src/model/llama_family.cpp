#include "model/llama_family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace flyball::model {

namespace {

using scheme::AttentionNorm;
using Biases = LlamaRelative::Biases;
using Windows = LlamaRelative::Windows;

const LlamaRelative& relative_of(const ConfigReader& config) {
    const std::string type = config.text("model_type", "");
    return *std::find_if(llama_relatives().begin(), llama_relatives().end(),
                         [&](const LlamaRelative& relative) { return relative.model_type == type; });
}

double number_above_0(const ConfigReader& config, const NumberKey& number) {
    const double value = config.number(number.key, number.standard);
    if (!(value > 0)) {
        config.fail(number.key, "a number above 0");
    }
    return value;
}

double number_not_0(const ConfigReader& config, const NumberKey& number) {
    const double value = config.number(number.key, number.standard);
    if (value == 0) {
        config.fail(number.key, "a number other than 0");
    }
    return value;
}

double cap_of(const ConfigReader& config, const NumberKey& cap) {
    return cap.key == nullptr || config.is_null(cap.key) || (!config.has(cap.key) && cap.standard == 0)
               ? 0
               : number_above_0(config, cap);
}

void read_sizes(const ConfigReader& config, const LlamaRelative& relative, Architecture& a) {
    a.layers = config.size("num_hidden_layers", relative.layers, 1);
    a.dim = config.size("hidden_size", relative.dim, 1);
    a.heads = config.size("num_attention_heads", relative.heads, 1);
    const std::size_t kv_heads = relative.kv_heads == 0 ? a.heads : relative.kv_heads;
    a.kv_heads = relative.kv_heads_may_be_null ? config.size_or_null("num_key_value_heads", kv_heads, a.heads)
                                               : config.size("num_key_value_heads", kv_heads, 1);
    // A head's channels need not fill the stream, but some relatives want a stream that could be cut into its heads.
    const std::size_t part = relative.dim_is_multiple_of_heads ? divided(config, "hidden_size", a.dim, a.heads)
                                                               : std::max<std::size_t>(1, a.dim / a.heads);
    const std::size_t head_dim = relative.head_dim == 0 ? part : relative.head_dim;
    a.head_dim = relative.head_dim_may_be_null ? config.size_or_null("head_dim", head_dim, part)
                                               : config.size("head_dim", head_dim, 1);
    a.ffn_dim = config.size("intermediate_size", relative.ffn_dim, 1);
    a.vocab = config.size("vocab_size", relative.vocab, 1);
    a.positions = config.size("max_position_embeddings", relative.positions, 1);
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

void read_windows(const ConfigReader& config, const LlamaRelative& relative, Architecture& a) {
    std::vector<bool> sliding = sliding_layers(config, a.layers);
    const bool used = relative.windows == Windows::late ? config.flag("use_sliding_window", false)
                                                        : relative.windows != Windows::none;
    const std::size_t window = used ? config.size_or_null("sliding_window", 4096, 0) : 0;
    const std::size_t first = relative.windows == Windows::late ? config.size("max_window_layers", 28) : 0;
    const std::size_t full_every = relative.full_every_key == nullptr
                                       ? relative.full_every
                                       : config.size(relative.full_every_key, relative.full_every, 1);
    const std::size_t known = std::min<std::size_t>(a.layers, 100'000);  // check() refuses more
    for (std::size_t l = sliding.size(); used && l < known; ++l) {
        sliding.push_back(relative.windows == Windows::mostly ? (l + 1) % full_every != 0 : l >= first);
    }
    const bool asked = config.has("layer_types") && !config.is_null("layer_types");
    const bool some = std::find(sliding.begin(), sliding.end(), true) != sliding.end();
    if (window == 0) {
        if (some && asked) {
            config.fail("layer_types", "full_attention alone",
                        relative.windows == Windows::none ? "this family has no windows"
                                                          : "the configuration has no window in use for the others");
        }
        if (some && relative.windows == Windows::mostly) {
            config.fail("sliding_window", "a number above 0, for the blocks that have a window");
        }
        return;
    }
    a.windows.assign(known, 0);
    for (std::size_t l = 0; l < known; ++l) {
        a.windows[l] = sliding[l] ? window : 0;
    }
}

void read_rope(const ConfigReader& config, const LlamaRelative& relative, Architecture& a) {
    if (!relative.window_rope) {
        a.rope = rope_of(config, relative.rope, a.head_dim, a.positions);
        return;
    }
    LayerRopes ropes = layer_ropes_of(config, relative.rope, *relative.window_rope, a.head_dim, a.positions);
    a.rope = ropes.full;
    a.window_rope = ropes.sliding;
}

void read_numbers(const ConfigReader& config, const LlamaRelative& relative, Architecture& a) {
    if (relative.embedding_times_root) {
        a.embedding_scale = static_cast<double>(static_cast<float>(std::sqrt(static_cast<double>(a.dim))));
    }
    if (relative.embedding_multiplier.key != nullptr) {
        a.embedding_scale = config.number(relative.embedding_multiplier.key, relative.embedding_multiplier.standard);
    }
    if (relative.residual_multiplier.key != nullptr) {
        a.dt = number_not_0(config, relative.residual_multiplier);
    }
    if (relative.attention_multiplier.key != nullptr) {
        a.score_factor = number_above_0(config, relative.attention_multiplier);
    }
    if (relative.query_pre_attn_scalar.key != nullptr) {
        a.score_factor = 1 / std::sqrt(number_above_0(config, relative.query_pre_attn_scalar));
    }
    if (relative.logits_divisor.key != nullptr) {
        a.logit_scale = 1 / number_not_0(config, relative.logits_divisor);
    }
    a.score_cap = cap_of(config, relative.score_cap);
    a.logit_cap = cap_of(config, relative.logit_cap);
}

}  // namespace

// What a row does not say is as LlamaRelative has it.
const std::vector<LlamaRelative>& llama_relatives() {
    static const std::vector<std::string_view> peri_norms = {"input_layernorm", "post_attention_layernorm",
                                                             "pre_feedforward_layernorm", "post_feedforward_layernorm"};
    static const std::vector<std::string_view> output_norms = {"post_attention_layernorm",
                                                               "post_feedforward_layernorm"};
    static const LlamaRelative gemma3 = {.model_type = "gemma3_text",
                                         .title = "Gemma 3",
                                         .equation = peri_ln,
                                         .norms = peri_norms,
                                         .gains_less_one = true,
                                         .query_key_norm = AttentionNorm::Over::head,
                                         .layers = 26,
                                         .dim = 2304,
                                         .heads = 8,
                                         .kv_heads = 4,
                                         .head_dim = 256,
                                         .ffn_dim = 9216,
                                         .vocab = 262208,
                                         .positions = 131072,
                                         .tied = true,
                                         .activation_key = "hidden_activation",
                                         .activation = "gelu_pytorch_tanh",
                                         .kv_heads_may_be_null = false,
                                         .dim_is_multiple_of_heads = true,
                                         .windows = Windows::mostly,
                                         .full_every = 6,
                                         .full_every_key = "sliding_window_pattern",
                                         .rope = {.standard_theta = 1e6},
                                         .window_rope = RopeKeys{.theta = "rope_local_base_freq"},
                                         .embedding_times_root = true,
                                         .query_pre_attn_scalar = {"query_pre_attn_scalar", 256},
                                         .logit_cap = {"final_logit_softcapping", 0}};
    static const auto gemma3_with_images = [] {
        LlamaRelative relative = gemma3;
        relative.model_type = "gemma3";
        relative.title = "Gemma 3, its language model";
        relative.inside = "text_config";
        relative.logit_cap = {};  // its class does not look at the key
        relative.prefixes = {"language_model.model.", "model.language_model."};
        relative.other_parts = {"vision_tower.", "multi_modal_projector.", "model.vision_tower.",
                                "model.multi_modal_projector."};
        return relative;
    };
    static const std::vector<LlamaRelative> table = {
        {.model_type = "llama",
         .title = "Llama 1, 2, 3",
         .head_dim_may_be_null = true,
         .dim_is_multiple_of_heads = true,
         .ffn_biases_by_key = true},
        {.model_type = "mistral",
         .title = "Mistral",
         .kv_heads = 8,
         .ffn_dim = 14336,
         .positions = 131072,
         .head_dim_may_be_null = true,
         .biases = Biases::none,
         .windows = Windows::everywhere},
        {.model_type = "qwen2",
         .title = "Qwen 2, 2.5",
         .kv_heads = 32,
         .ffn_dim = 22016,
         .vocab = 151936,
         .positions = 32768,
         .biases = Biases::query_key_value,
         .windows = Windows::late},
        {.model_type = "qwen3",
         .title = "Qwen 3",
         .query_key_norm = AttentionNorm::Over::head,
         .kv_heads = 32,
         .head_dim = 128,
         .ffn_dim = 22016,
         .vocab = 151936,
         .positions = 32768,
         .windows = Windows::late},
        {.model_type = "granite",
         .title = "Granite 3, 4 (dense)",
         .ffn_biases_by_key = true,
         .embedding_multiplier = {"embedding_multiplier", 1},
         .residual_multiplier = {"residual_multiplier", 1},
         .attention_multiplier = {"attention_multiplier", 1},
         .logits_divisor = {"logits_scaling", 1}},
        {.model_type = "olmo2",
         .title = "OLMo 2",
         .equation = output_ln,
         .norms = output_norms,
         .query_key_norm = AttentionNorm::Over::projection,
         .vocab = 50304,
         .eps = 1e-5},
        {.model_type = "olmo3",
         .title = "OLMo 3",
         .equation = output_ln,
         .norms = output_norms,
         .query_key_norm = AttentionNorm::Over::projection,
         .vocab = 50304,
         .eps = 1e-5,
         .windows = Windows::mostly,
         .full_every = 4,
         .rope = {.standard_theta = 500000},
         .window_rope = RopeKeys{.theta = nullptr, .standard_theta = 500000}},
        {.model_type = "gemma2",
         .title = "Gemma 2",
         .equation = peri_ln,
         .norms = peri_norms,
         .gains_less_one = true,
         .layers = 26,
         .dim = 2304,
         .heads = 8,
         .kv_heads = 4,
         .head_dim = 256,
         .ffn_dim = 9216,
         .vocab = 256000,
         .positions = 8192,
         .tied = true,
         .activation_key = "hidden_activation",
         .activation = "gelu_pytorch_tanh",
         .kv_heads_may_be_null = false,
         .dim_is_multiple_of_heads = true,
         .windows = Windows::mostly,
         .full_every = 2,
         .embedding_times_root = true,
         .query_pre_attn_scalar = {"query_pre_attn_scalar", 256},
         .score_cap = {"attn_logit_softcapping", 50},
         .logit_cap = {"final_logit_softcapping", 30}},
        gemma3,
        gemma3_with_images(),
    };
    return table;
}

Names llama_names(const LlamaRelative& relative) {
    Names names = {.prefixes = relative.prefixes,
                   .tokens = "embed_tokens",
                   .positions = "",
                   .types = "",
                   .embedding_norm = "",
                   .block = "layers.{}.",
                   .qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                   .attention_output = "self_attn.o_proj",
                   .ffn_in = {"mlp.gate_proj", "mlp.up_proj"},
                   .ffn_out = "mlp.down_proj",
                   .norms = relative.norms,
                   .readout_norms = {"norm"},
                   .attention_norms = {"self_attn.q_norm", "self_attn.k_norm", "self_attn.v_norm"},
                   .head = "lm_head",
                   .other_head = relative.inside == nullptr ? "" : "language_model.lm_head",
                   .gains_less_one = relative.gains_less_one,
                   .buffers = {"rotary_emb.inv_freq"},
                   .other_heads = {"score.", "qa_outputs.", "v_head."}};
    names.other_heads.insert(names.other_heads.end(), relative.other_parts.begin(), relative.other_parts.end());
    return names;
}

Architecture read_llama_like(const ConfigReader& file, const HasTensor& has) {
    const LlamaRelative& relative = relative_of(file);
    const ConfigReader config = relative.inside == nullptr ? file : file.object(relative.inside);
    for (const ConfigReader& one : {file, config}) {
        refuse_general(one);
        refuse_bidirectional(one);
    }
    Architecture a;
    a.family = relative.model_type;
    a.equation = relative.equation;
    read_sizes(config, relative, a);
    read_rope(config, relative, a);
    a.activation = activation_of(config, relative.activation_key, relative.activation);
    a.gated = true;
    a.norm = "rmsnorm";
    a.eps = config.number("rms_norm_eps", relative.eps);
    if (relative.query_key_norm) {
        a.attention_norm = {.norm = "rmsnorm", .query = true, .key = true, .over = *relative.query_key_norm};
        a.attention_norm.gains = *relative.query_key_norm == AttentionNorm::Over::head ? AttentionNorm::Gains::head
                                                                                       : AttentionNorm::Gains::channel;
    }
    const bool biases = relative.biases == Biases::by_key && config.flag("attention_bias", false);
    a.qkv_bias = biases || relative.biases == Biases::query_key_value;
    a.output_bias = biases;
    a.ffn_bias = relative.ffn_biases_by_key && config.flag("mlp_bias", false);
    a.tied = file.flag("tie_word_embeddings", relative.tied);
    a.has_head = a.tied || has("lm_head.weight") || has("language_model.lm_head.weight") || needs_head(file);
    read_windows(config, relative, a);
    read_numbers(config, relative, a);
    return a;
}

}  // namespace flyball::model
