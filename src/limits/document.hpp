// An analysis as a document (JSON) and as tables (CSV).
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "limits/result.hpp"
#include "limits/settings.hpp"

namespace flyball::limits {

// The fields of the first result, and the others under "alternatives" in the same form. `model` says what the model is.
Json document(const Json& model, std::size_t tokens, const Settings& settings, const std::vector<Result>& results,
              const std::vector<std::string>& notes);

// One line a head and normaliser: its measures and its diagnosis.
std::string heads_table(const std::vector<Result>& results);
// One line a length and N: D(N).
std::string ks_table(const std::vector<Result>& results);

}  // namespace flyball::limits
