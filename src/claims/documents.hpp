// What is written of claims: the ledger as a page and a list, and the results of a run as JSON, CSV and a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "claims/groups.hpp"
#include "claims/judge.hpp"
#include "core/json.hpp"

namespace flyball::claims {

// The ledger without measurements: docs/claims.md, with a part for each group, and ids for the terminal.
std::string ledger_page(std::string_view head, const std::vector<Group>& groups);
std::string ledger_list(const std::vector<Claim>& claims);

Json results_json(const std::vector<Judged>& results);
std::string results_csv(const std::vector<Judged>& results);
std::string results_page(const std::vector<Judged>& results);

// As the files have them: null and an empty cell where nothing was run.
Json json_of(const Value& value);
Value value_of(const Json& json, Verdict verdict);  // and back; null is NaN where something was run

// A sentence for each reason why claims were skipped: which claims, what is not there and how to get it.
std::vector<std::string> skipped_because(const std::vector<Judged>& results);

// Sources of claims or results in their order, each once.
std::vector<std::string> sources_of(const std::vector<Claim>& claims);

}  // namespace flyball::claims
