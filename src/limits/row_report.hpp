// Everything about one row of one head, as a document.
#pragma once

#include "core/json.hpp"
#include "limits/settings.hpp"
#include "model/input.hpp"

namespace flyball::limits {

// settings.head and settings.row are set. Error(usage) for a block, a head or a token that is not there, or a row that
// sees fewer than three keys. Weights are those of the first of settings.attention.
Json row_document(const model::Model<float>& model, const model::Input& given, const Settings& settings);

}  // namespace flyball::limits
