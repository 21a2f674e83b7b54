// The configuration of models of our own: config.json with model_type "flyball", which spells out the architecture and
// the equation. save.hpp writes such models, load_model reads them back like any other family.
#pragma once

#include "model/model.hpp"

namespace flyball::model {

Json architecture_json(const Architecture& architecture);
Architecture read_native(const ConfigReader& config, const HasTensor& has);

}  // namespace flyball::model
