#include "model/family.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
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
        .buffers = {".attn.bias", ".attn.masked_bias"},
        .other_heads = {"score.", "classifier.", "qa_outputs.", "multiple_choice_head.", "v_head."}};
    return names;
}

const Names& llama_names() {
    static const Names names = {.prefixes = {"model.", "transformer."},
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
                                .buffers = {"rotary_emb.inv_freq"},
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
    static const std::vector<Family> table = {
        {"gpt2", "GPT-2", gpt2_names(), read_gpt2},
        {"llama", "Llama 1, 2, 3", llama_names(), read_llama_like},
        {"mistral", "Mistral", llama_names(), read_llama_like},
        {"qwen2", "Qwen 2, 2.5", llama_names(), read_llama_like},
        {"bert", "BERT encoders", bert_names(), read_bert},
        {"vit", "Vision Transformers", vit_names(), read_vit},
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

}  // namespace flyball::model
