// Everything the reduced law says of one equation, and the JSON document of several: what `theory --json` prints.
#pragma once

#include <optional>
#include <vector>

#include "core/json.hpp"
#include "scheme/catalogue.hpp"
#include "theory/theory.hpp"

namespace flyball::theory {

struct Prediction {
    scheme::Scheme scheme;
    Settings settings;
    double initial_velocity = 0;
    std::vector<Point> points;
    std::vector<std::optional<double>> times_to_cosine;  // one for each cosine asked for
    Law law;
};

Prediction predict(const scheme::Scheme& scheme, const Settings& settings, const std::vector<double>& times,
                   const std::vector<double>& cosines);

// `cosines` are those that all of the predictions were asked for. A run says which beta it has, or which its heads
// have. log_consensus_constant is the document's when all runs have one beta, and each run's when they differ.
Json document(const std::vector<Prediction>& predictions, const std::vector<double>& cosines);

}  // namespace flyball::theory
