// A sentence or two at the head of each folder's part of the page: what was run, and what came out, for a reader who knows
// neither the command nor the papers. They are made from the same files as everything else there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "results/parts.hpp"

namespace flyball::results {

// One run of a simulation as its sentences need it.
struct SimulatedEnd {
    std::string name, outcome;
    double cosine = 0;         // mean over pairs, at the end
    double collapse_time = 0;  // NaN where it was not reached
    double groups = 0;         // of tokens that point almost the same way, at the end; NaN where not known
    double end = 0;            // the last time
};
void say_simulation(Reader& reader, const std::vector<SimulatedEnd>& runs);
void say_claims(Reader& reader, const Json& claims);
// The papers of claims by the first word of their ids; an empty title where that is none that is known.
std::map<std::string, std::string> papers_of(const Json& claims);
void say_training(Reader& reader, const Json& summaries);
void say_inspection(Reader& reader, const Json& models);
void say_limits(Reader& reader, const Json& document);
void say_checks(Reader& reader, const Json& checks);

// The last part of a model's path; "builtin:peri-ln" as it is.
std::string short_model_name(const std::string& name);
// The same of several, unless two of them would then be called alike.
std::vector<std::string> short_model_names(std::vector<std::string> names);

}  // namespace flyball::results
