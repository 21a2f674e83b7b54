// Models of our own on disk: config.json with model_type "flyball", which spells out the architecture and the equation,
// and model.safetensors. load_model reads them back like any other family.
#pragma once

#include <filesystem>

#include "model/model.hpp"

namespace flyball::model {

Json architecture_json(const Architecture& architecture);
Architecture read_native(const ConfigReader& config, const HasTensor& has);

// Writes the two files into an existing folder, each replaced as a whole. For models with native names
// (initialise.hpp).
void save_model(const Model<float>& model, const std::filesystem::path& folder);

}  // namespace flyball::model
