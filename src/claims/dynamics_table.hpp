// The experiment behind the rows of Table 2, with the program as an argument so that tests can pass a wrong one.
#pragma once

#include "claims/claim.hpp"
#include "claims/paper.hpp"
#include "scheme/program.hpp"

namespace flyball::claims {

// Velocities of `program` at random states against the formula of the row.
Measurement compare_with_row(const PaperRow& row, const scheme::Program& program, const Context& context);

}  // namespace flyball::claims
