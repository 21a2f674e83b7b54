#include "cli/folder.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <fstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/isa.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"

namespace flyball::cli {

namespace {

std::string machine_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.rfind("model name", 0) == 0) {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown";
}

}  // namespace

FolderUse folder_use(const std::string& out, bool resume, bool force, std::string_view where) {
    if (out.empty() && resume) {
        throw Error(ErrorKind::usage, where, "--resume without --out", "the folder of the run", "add --out DIR");
    }
    return resume ? FolderUse::resume : force ? FolderUse::force : FolderUse::fresh;
}

void open_folder(const std::filesystem::path& path, FolderUse use, const std::string& configuration,
                 const std::string& resume_with, std::string_view where) {
    const auto fail = [&](std::string_view what, std::string_view expected, std::string_view hint = {}) {
        throw Error(ErrorKind::usage, where, fmt::format("--out {}, {}", flyball::quoted(path.string()), what),
                    expected, hint);
    };
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(path, error);
    if (std::filesystem::exists(path, error) && !is_folder) {
        fail("which is a file", "a folder");
    }
    if (is_folder && !std::filesystem::is_empty(path, error) && use == FolderUse::fresh) {
        fail("which is not empty", "a new or empty folder", "give --force to overwrite its files, --resume to go on");
    }
    if (use == FolderUse::resume) {
        if (!std::filesystem::exists(path / "config.toml", error)) {
            fail("which holds no run", "the folder of a run to take up");
        }
        if (read_text_file(path / "config.toml", std::size_t{1} << 20U) != configuration) {
            fail("whose run has other settings", "the settings of its config.toml", fmt::format("use {}", resume_with));
        }
    }
    std::filesystem::create_directories(path / "work", error);
    if (error) {
        fail(fmt::format("'{}'", error.message()), "a folder that can be made and written to");
    }
    if (use == FolderUse::force) {
        std::filesystem::remove_all(path / "work", error);
        std::filesystem::create_directories(path / "work", error);
    }
    write_file_atomically(path / "config.toml", configuration);
}

std::string resume_command(std::string_view command, const std::filesystem::path& path) {
    return fmt::format("flyball {0} --config '{1}/config.toml' --out '{1}' --resume", command, path.string());
}

Json provenance(std::uint64_t seed) {
    Json result;
    result["version"] = version;
    result["seed"] = seed;
    result["threads"] = threads();
    result["isa"] = name(active_isa());
    result["machine"] = machine_name();
    const std::time_t now = std::time(nullptr);
    std::array<char, 32> stamp{};
    std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    result["finished"] = stamp.data();
    return result;
}

}  // namespace flyball::cli
