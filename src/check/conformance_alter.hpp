// Mistakes that are made in blocks, planted in a block's code: what a run is compared with to name the mistake.
#pragma once

#include "check/conformance_reading.hpp"
#include "scheme/code.hpp"

namespace flyball::check {

// False where the code has nothing of the kind.
bool alter_code(const Hypothesis& hypothesis, scheme::Code& code);

}  // namespace flyball::check
