// What the configurations of several families have in common: keys that are read alike wherever they stand, and parts
// that are refused by name. For family_config.cpp, llama_family.cpp, rope_config.cpp and native.cpp.
#pragma once

#include <string>

#include "model/architecture.hpp"
#include "model/config_reader.hpp"

namespace flyball::model {

inline constexpr const char* pre_ln = "x + dt*f(norm(x)) | norm(x)";
inline constexpr const char* post_ln = "norm(x + dt*f(x))";
inline constexpr const char* peri_ln = "x + dt*norm(f(norm(x))) | norm(x)";
inline constexpr const char* output_ln = "x + dt*norm(f(x)) | norm(x)";
inline constexpr const char* parallel_pre_ln = "x + dt*attn(norm(x)) + dt*ffn(norm(x)) | norm(x)";

// What no family here can run, and would silently change the result.
void refuse(const ConfigReader& config, const char* key);
// The same for keys that any configuration may have.
void refuse_general(const ConfigReader& config);
// Decoders without their causal mask.
void refuse_bidirectional(const ConfigReader& config);

// dim / heads; an Error that names dim's key where it is no whole number.
std::size_t divided(const ConfigReader& config, const char* dim_key, std::size_t dim, std::size_t heads);

// Whether the file calls itself a language model, which must bring a head.
bool needs_head(const ConfigReader& config);

// By its name in published files; one function may have several.
Activation activation_of(const ConfigReader& config, const char* key, const std::string& fallback);

// Where a configuration keeps what rotary positions need.
struct RopeKeys {
    const char* theta = "rope_theta";  // outside of rope_parameters; null: nowhere
    double standard_theta = 10000;     // without a key
    const char* part = nullptr;        // the share of a head that turns; null: whole heads do
    double standard_part = 1;
};

// The rotary positions of all blocks. head_dim: of the heads, positions: max_position_embeddings.
Rope rope_of(const ConfigReader& config, const RopeKeys& keys, std::size_t head_dim, std::size_t positions);

// Where blocks with a window turn otherwise: rope_parameters has an object for each type of block.
struct LayerRopes {
    Rope full;
    Rope sliding;
};
LayerRopes layer_ropes_of(const ConfigReader& config, const RopeKeys& full, const RopeKeys& sliding,
                          std::size_t head_dim, std::size_t positions);

}  // namespace flyball::model
