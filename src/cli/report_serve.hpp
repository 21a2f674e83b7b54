// `flyball report --serve`: the page of folders whose runs go on, for a browser on this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "cli/command.hpp"

namespace flyball::cli {

inline constexpr std::uint16_t usual_port = 7070;

// Says where the page is and serves it until Ctrl-C or SIGTERM.
ExitCode serve_report(const std::vector<std::filesystem::path>& folders, std::uint16_t port, const Common& common);

}  // namespace flyball::cli
