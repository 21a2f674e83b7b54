// The folder behind --out: who may write to it, and what every folder says about where its numbers come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace flyball::cli {

enum class FolderUse { fresh, force, resume };

// How the flags --out, --resume and --force mean a folder to be used; --resume without --out is an Error.
FolderUse folder_use(const std::string& out, bool resume, bool force, std::string_view where);

// Makes the folder and its work/ and writes config.toml, which also shows that it can be written to before hours of
// work. A folder that is not empty is refused unless it is to be overwritten or taken up, and taken up only with the
// settings it was made with. `where` is for messages ("cli.simulate").
void open_folder(const std::filesystem::path& path, FolderUse use, const std::string& configuration,
                 const std::string& resume_command, std::string_view where);

// `flyball NAME --config 'DIR/config.toml' --out 'DIR' --resume`.
std::string resume_command(std::string_view command, const std::filesystem::path& path);

// Version, seed, threads, instruction set, machine and time.
Json provenance(std::uint64_t seed);

}  // namespace flyball::cli
