// The catalogue made readable: for terminals and the documentation; for programs, scheme/document.hpp.
#pragma once

#include <string>
#include <vector>

#include "scheme/catalogue.hpp"

namespace flyball::cli {

std::string schemes_table(const std::vector<scheme::Scheme>& schemes);
std::string scheme_details(const scheme::Scheme& scheme);
std::string schemes_markdown(const std::vector<scheme::Scheme>& schemes);

}  // namespace flyball::cli
