// The JSON document of schemes, what `schemes --json` prints, and what it shares with pages for people.
#pragma once

#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::scheme {

// What the catalogue says of a parameter; empty for an equation of one's own.
std::string_view parameter_help(const Scheme& scheme, std::string_view parameter);

Json document(const std::vector<Scheme>& schemes);

}  // namespace flyball::scheme
