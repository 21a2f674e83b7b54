// Families of published models: how a config.json becomes an Architecture, and what its tensors are called.
//
// A family is a row of data; the transformer knows none of them. families() lists those that are supported as published
// on Hugging Face, and what native.hpp writes; anything else is an Error that names them. Most decoders are relatives
// of Llama: one row of the table in llama_family.cpp.
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
    std::string_view other_head = "";  // what the head may be called instead
    bool in_out = false;               // matrices are stored [in, out], otherwise [out, in]
    bool gains_less_one = false;       // gains g of norms are stored as g - 1
    bool qkv_by_head = false;          // the one matrix has query, key, value of the first head, of the second, ..
    bool may_lack_biases = false;      // biases that are not there are 0
    std::size_t unused_positions = 0;  // rows at the front of the table of positions that belong to no token
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
Architecture read_gpt_neox(const ConfigReader& config, const HasTensor& has);
Architecture read_opt(const ConfigReader& config, const HasTensor& has);
Architecture read_bert(const ConfigReader& config, const HasTensor& has);
Architecture read_vit(const ConfigReader& config, const HasTensor& has);

// The family a configuration names; throws with the list of those that are supported.
const Family& family_of(const ConfigReader& config);

// Names for models of our own.
const Names& native_names();

}  // namespace flyball::model
