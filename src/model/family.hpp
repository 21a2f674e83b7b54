// Families of published models: how a config.json becomes an Architecture, and what its tensors are called.
//
// A family is a row of data; the transformer knows none of them. Supported as published on Hugging Face: gpt2 (with and
// without biases), llama, mistral, qwen2, bert; and what native.hpp writes. Anything else is an Error that lists these.
#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "model/architecture.hpp"
#include "model/config_reader.hpp"

namespace flyball::model {

// Names of modules; a tensor is "NAME.weight" or "NAME.bias". "{}" in `block` is the number of the block from 0.
struct Names {
    std::vector<std::string_view> prefixes;  // one of them may stand in front of every name but the head's
    std::string_view tokens;
    std::string_view positions;
    std::string_view types;
    std::string_view embedding_norm;
    std::string_view block;
    std::vector<std::string_view> qkv;  // one matrix for all, or query, key, value
    std::string_view attention_output;
    std::vector<std::string_view> ffn_in;  // up; or gate, up
    std::string_view ffn_out;
    std::vector<std::string_view> norms;  // of a block, in the order its equation evaluates them
    std::vector<std::string_view> readout_norms;
    std::array<std::string_view, 3> attention_norms = {"attn.query_norm", "attn.key_norm", "attn.value_norm"};
    std::string_view ffn_gain = "ffn.gain";
    std::string_view logit_gain = "head.gain";
    std::string_view patches = "";      // of an image
    std::string_view class_token = "";  // in front of them; a tensor without `.weight`, and so are positions then
    std::string_view head;
    bool in_out = false;  // matrices are stored [in, out], otherwise [out, in]
    // Tensors that are left out: buffers, whose names end so, and heads for other tasks than the next token, whose
    // names begin so after the prefix.
    std::vector<std::string_view> buffers;
    std::vector<std::string_view> other_heads;
};

using HasTensor = std::function<bool(std::string_view)>;  // by name without the prefix

struct Family {
    std::string_view model_type;  // in config.json
    std::string_view title;
    Names names;
    Architecture (*read)(const ConfigReader& config, const HasTensor& has);
};
const std::vector<Family>& families();

// What config.json says to each family; a missing key has the default of the family's own class in transformers 5.
Architecture read_gpt2(const ConfigReader& config, const HasTensor& has);
Architecture read_llama_like(const ConfigReader& config, const HasTensor& has);  // llama, mistral, qwen2
Architecture read_bert(const ConfigReader& config, const HasTensor& has);
Architecture read_vit(const ConfigReader& config, const HasTensor& has);

// The family a configuration names; throws with the list of those that are supported.
const Family& family_of(const ConfigReader& config);

// Names for models of our own.
const Names& native_names();

// By its name in published files; one function may have several.
Activation activation_of(const ConfigReader& config, const char* key, const std::string& fallback);

// The rotary positions a Llama-like configuration asks for.
Rope rope_of(const ConfigReader& config, std::size_t head_dim, std::size_t positions);

}  // namespace flyball::model
