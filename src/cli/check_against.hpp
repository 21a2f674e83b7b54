// `flyball check EQUATION --against RUN.safetensors`.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli {

// Prints the answer; a run that differs is ExitCode::bad_verdict.
ExitCode run_check_against(const scheme::Scheme& scheme, const std::string& file, const Common& common);

}  // namespace flyball::cli
