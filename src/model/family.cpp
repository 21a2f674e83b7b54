#include "model/family.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "model/llama_family.hpp"
#include "model/native.hpp"

namespace flyball::model {

namespace {

const Names& gpt2_names() {
    static const Names names = {
        .prefixes = {"transformer."},
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
        .may_lack_biases = true,
        .buffers = {".attn.bias", ".attn.masked_bias"},
        .other_heads = {"score.", "classifier.", "qa_outputs.", "multiple_choice_head.", "v_head."}};
    return names;
}

const Names& gpt_neox_names() {
    static const Names names = {.prefixes = {"gpt_neox."},
                                .tokens = "embed_in",
                                .positions = "",
                                .types = "",
                                .embedding_norm = "",
                                .block = "layers.{}.",
                                .qkv = {"attention.query_key_value"},
                                .attention_output = "attention.dense",
                                .ffn_in = {"mlp.dense_h_to_4h"},
                                .ffn_out = "mlp.dense_4h_to_h",
                                .norms = {"input_layernorm", "post_attention_layernorm"},
                                .readout_norms = {"final_layer_norm"},
                                .head = "embed_out",
                                .other_head = "lm_head",
                                .qkv_by_head = true,
                                .buffers = {".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq"},
                                .other_heads = {"score.", "classifier.", "qa_outputs.", "v_head."}};
    return names;
}

const Names& opt_names() {
    static const Names names = {.prefixes = {"model.decoder.", "decoder."},
                                .tokens = "embed_tokens",
                                .positions = "embed_positions",
                                .types = "",
                                .embedding_norm = "",
                                .block = "layers.{}.",
                                .qkv = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"},
                                .attention_output = "self_attn.out_proj",
                                .ffn_in = {"fc1"},
                                .ffn_out = "fc2",
                                .norms = {"self_attn_layer_norm", "final_layer_norm"},
                                .readout_norms = {"final_layer_norm"},
                                .head = "lm_head",
                                .unused_positions = 2,
                                .buffers = {},
                                .other_heads = {"score.", "qa_outputs.", "v_head."}};
    return names;
}

const Names& bert_names() {
    static const Names names = {.prefixes = {"bert."},
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
                                .buffers = {"embeddings.position_ids", "embeddings.token_type_ids"},
                                .other_heads = {"pooler.", "cls.", "classifier.", "qa_outputs."}};
    return names;
}

const Names& vit_names() {
    static const Names names = {
        .prefixes = {"vit."},
        .tokens = "",
        .positions = "embeddings.position_embeddings",
        .types = "",
        .embedding_norm = "",
        .block = "encoder.layer.{}.",
        .qkv = {"attention.attention.query", "attention.attention.key", "attention.attention.value"},
        .attention_output = "attention.output.dense",
        .ffn_in = {"intermediate.dense"},
        .ffn_out = "output.dense",
        .norms = {"layernorm_before", "layernorm_after"},
        .readout_norms = {"layernorm"},
        .patches = "embeddings.patch_embeddings.projection",
        .class_token = "embeddings.cls_token",
        .head = "",
        .in_out = false,
        .buffers = {"embeddings.mask_token"},
        .other_heads = {"pooler.", "classifier.", "decoder."}};
    return names;
}

}  // namespace

const Names& native_names() {
    static const Names names = {.prefixes = {},
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
                                .patches = "embed.patches",
                                .class_token = "embed.class",
                                .head = "head",
                                .in_out = false,
                                .buffers = {},
                                .other_heads = {}};
    return names;
}

const std::vector<Family>& families() {
    static const std::vector<Family> table = [] {
        std::vector<Family> rows = {{"gpt2", "GPT-2", gpt2_names(), read_gpt2},
                                    {"gpt_neox", "GPT-NeoX, Pythia", gpt_neox_names(), read_gpt_neox},
                                    {"opt", "OPT", opt_names(), read_opt},
                                    {"bert", "BERT encoders", bert_names(), read_bert},
                                    {"vit", "Vision Transformers", vit_names(), read_vit}};
        for (const LlamaRelative& relative : llama_relatives()) {
            rows.push_back({relative.model_type, relative.title, llama_names(relative), read_llama_like});
        }
        rows.push_back({"flyball", "trained by flyball", native_names(), read_native});
        return rows;
    }();
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

}  // namespace flyball::model
