// Runs with the schemes they are of, and the JSON document of them: what `simulate --json` prints and result.json
// holds.
#pragma once

#include <vector>

#include "core/json.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics {

struct SchemeRun {
    scheme::Scheme scheme;
    Record record;
};

Json document(const Settings& settings, const std::vector<SchemeRun>& runs);

}  // namespace flyball::dynamics
