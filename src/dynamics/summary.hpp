// What runs came to, in one to three sentences: who moves first, who collapses, who lasts.
#pragma once

#include <string>
#include <vector>

#include "dynamics/document.hpp"

namespace flyball::dynamics {

// Of runs from the same start. Sentences end with a point; empty where nothing was measured. Collapse is a mean cosine
// above 0.999, as in Record::collapse_time; one token alone has nothing to collapse with. Runs that ended for numerical
// reasons are named with theirs and take no part in the comparison.
std::string summary(const std::vector<SchemeRun>& runs, std::size_t tokens);

}  // namespace flyball::dynamics
