// What a preflight says: its JSON document, and the paragraphs for people.
#pragma once

#include <string>

#include "check/preflight.hpp"

namespace flyball::check {

// Of one block: {"equation","verdict","growth","bound","suggested_dt","findings",..}. Of several:
// {"checks":[..],"difference"}.
Json document(const PreflightReport& report);

// What a designer can act on: "Beside Peri-LN your block .."; one paragraph.
std::string advice(const BlockReport& block, const PreflightReport& report);

// How two blocks differ, in one paragraph.
std::string difference(const BlockReport& a, const BlockReport& b);

}  // namespace flyball::check
