// Models that come with Flyball: builtin:NAME is the folder NAME of data/models.
//
// Found from any directory: in $FLYBALL_DATA/models alone if that is set; otherwise where `cmake --install` puts them
// beside the running program (../share/flyball/models from its folder), then in the source tree it was built from, then
// in the share folder of the prefix it was configured for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::model {

inline constexpr std::string_view builtin_prefix = "builtin:";

// Sorted. Of the first of those folders that has any; none is no error.
std::vector<std::string> builtin_models();

// The folder of one of them; Error(usage) lists those that are there, with the nearest name as a hint.
std::filesystem::path builtin_model(const std::string& name);

// The text that they were trained on: text/shakespeare.txt beside that folder. It need not be there.
std::filesystem::path builtin_text();

}  // namespace flyball::model
