// A depth report as JSON and as tables.
#pragma once

#include <string>

#include "core/json.hpp"
#include "inspect/report.hpp"
#include "inspect/summary.hpp"

namespace flyball::inspect {

// `model` says what the model is (model/recorder.hpp).
Json document(const Json& model, const Report& report, const Spelling& spelling);

// One line a block, all of layer_fields(); the embedding is the line before block 0.
std::string layers_table(const Report& report);
std::string heads_table(const Report& report);
std::string gains_table(const Report& report);

}  // namespace flyball::inspect
