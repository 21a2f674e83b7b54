// The catalogue made readable: for terminals, programs and the documentation.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli {

Json schemes_json(const std::vector<scheme::Scheme>& schemes);
std::string schemes_table(const std::vector<scheme::Scheme>& schemes);
std::string scheme_details(const scheme::Scheme& scheme);
std::string schemes_markdown(const std::vector<scheme::Scheme>& schemes);

}  // namespace flyball::cli
