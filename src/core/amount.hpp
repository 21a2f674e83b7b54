// Times and sizes for people, in the unit they would choose and in two digits: "40 seconds", "2.5 hours", "3.2 GB".
#pragma once

#include <string>

namespace flyball {

// In a unit of which there are one and a half at least, up to years; below ninety seconds in whole seconds.
std::string duration_text(double seconds);
// In units of a million or a thousand million bytes.
std::string memory_text(double bytes);

}  // namespace flyball
