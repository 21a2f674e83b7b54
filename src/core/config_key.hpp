// Shared by the readers and the writer of configurations; used by core's own sources only.
#pragma once

#include <string_view>

namespace flyball {

// Throws unless `key` could be the name of an option. A dot would make "a.b" ambiguous.
void check_config_key(std::string_view key, std::string_view location);

}  // namespace flyball
