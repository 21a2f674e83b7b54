// Whether an equation looks at a quantity of the run, such as n, which a model meets anew with every text.
#pragma once

#include "scheme/program.hpp"

namespace flyball::scheme {

// Names must have been resolved.
bool asks_for(const Expression& expression, Quantity quantity);

// In any statement, in the readout, or in the start of a learned parameter.
bool asks_for(const Program& program, Quantity quantity);

}  // namespace flyball::scheme
