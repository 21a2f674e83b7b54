// What to say of a text that was to be a whole number (parse_whole, number.hpp) and is none, or is below `least`: also
// why, where it looks like one but is too large.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flyball {

std::string expected_whole(std::string_view text, std::uint64_t least);

}  // namespace flyball
