// What predictions came to, in one to three sentences: who starts first, who gets together first, who lasts.
#pragma once

#include <string>
#include <vector>

#include "theory/prediction.hpp"

namespace flyball::theory {

// `names` has one for each prediction; `cosines` are those that all were asked for. Sentences end with a point.
std::string summary(const std::vector<Prediction>& predictions, const std::vector<std::string>& names,
                    const std::vector<double>& cosines);

}  // namespace flyball::theory
