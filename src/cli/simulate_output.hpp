// What `flyball simulate` shows in the terminal.
#pragma once

#include <string>
#include <vector>

#include "dynamics/run_folder.hpp"

namespace flyball::cli {

// A table of the ends and a plot of the cosine.
std::string simulate_text(const dynamics::Settings& settings, const std::vector<dynamics::SchemeRun>& runs,
                          const dynamics::RunFolder* folder);

// The settings in one line, for captions.
std::string describe(const dynamics::Settings& settings);

}  // namespace flyball::cli
