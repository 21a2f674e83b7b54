// What a preflight found, as its JSON document.
#pragma once

#include "check/preflight.hpp"

namespace flyball::check {

// Of one block: {"equation","verdict","growth","bound","suggested_dt","findings",..}. Of several:
// {"checks":[..],"difference"}.
Json document(const PreflightReport& report);

}  // namespace flyball::check
