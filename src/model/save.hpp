// Models on disk, in the layout of Hugging Face: a folder with config.json and model.safetensors.
//
// A model that is exactly what a published family computes is written as that family, so that transformers opens the
// folder and gives the same logits: gpt2 and llama. All others have model_type "flyball" and their equation in
// config.json; load_model opens those, and transformers refuses them by name. It is never guessed: a block is compared
// with the family's as lowered code with the numbers of its coefficients, whatever its text looks like.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "model/model.hpp"

namespace flyball::model {

// "gpt2": Pre-LN in every block and a norm at the end, LayerNorm with gains and biases, biases everywhere, learned
// positions, a plain FFN of any width. "llama": the same wiring, RMSNorm, rotary positions on whole heads, a gated FFN
// with silu, no biases. Both: causal softmax over all tokens, no norms on q, k or v, a head, tied or not. The family a
// model was loaded as plays no part.
std::optional<std::string> published_family(const Architecture& architecture);

enum class Storage { f32, f16 };

// Writes the two files into an existing folder, each replaced as a whole. Any model may be given, with whatever names.
// f16 rounds every number; Error(input) where one is too large for it.
void save_model(const Model<float>& model, const std::filesystem::path& folder, Storage storage = Storage::f32);

}  // namespace flyball::model
