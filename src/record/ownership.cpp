#include "record/ownership.hpp"

#include <algorithm>
#include <system_error>

#include "core/error.hpp"
#include "core/file.hpp"
#include "record/folder.hpp"
#include "record/sealed.hpp"

namespace flyball::record {

namespace {

constexpr std::size_t largest_description = std::size_t{1} << 24U;  // config.toml, provenance.json

bool is_file(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

// Also a link to one.
bool is_empty_folder(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored) && names_in(path).empty();
}

// Letter by letter as we write it, for a command of ours.
bool is_configuration_of_ours(const std::filesystem::path& file) {
    try {
        const std::string text = read_regular_file(file, largest_description);
        const std::vector<ConfigEntry> entries = parse_toml_config(text, file.string());
        return std::find(folder_commands.begin(), folder_commands.end(), table_of(entries)) != folder_commands.end() &&
               to_toml(entries) == text;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

std::string not_ours(const std::filesystem::path& folder) {
    std::vector<std::string> others = names_in(folder);
    others.erase(std::remove_if(others.begin(), others.end(),
                                [&](const std::string& name) {
                                    return (name == "work" || name == spent) && is_empty_folder(folder / name);
                                }),
                 others.end());
    const auto has = [&](const char* name) { return std::find(others.begin(), others.end(), name) != others.end(); };
    const bool configured = is_configuration_of_ours(folder / "config.toml");
    bool ours = others.empty() || is_provenance_as_written(provenance_in(folder));
    for (const char* const name : {"work", spent}) {
        const bool sealed = is_work_of_ours(folder / name);
        if (has(name) && !sealed && !(configured && is_file(folder / name / "run.json"))) {
            return "holds a folder " + std::string(name) + "/ that is not of flyball";
        }
        ours = ours || has(name);
    }
    // A configuration alone is what a kill before the run had begun leaves.
    ours = ours || (configured && (others.size() == 1 || has("provenance.json")));
    return ours ? "" : "holds files that are not of flyball";
}

bool is_work_of_ours(const std::filesystem::path& work) {
    try {
        read_sealed_json_of_any_run(work / "run.json", "run");
        return true;
    } catch (const Error&) {
        return false;
    }
}

void remove_work(const std::filesystem::path& work) {
    std::error_code ignored;
    if (std::filesystem::is_directory(std::filesystem::symlink_status(work, ignored))) {
        try {
            for (const std::string& name : names_in(work)) {
                if (name != "run.json") {
                    std::filesystem::remove_all(work / name, ignored);
                }
            }
        } catch (const Error&) {
            return;  // what cannot be looked into stays, as what cannot be deleted does
        }
    }
    std::filesystem::remove_all(work, ignored);
}

std::string table_of(const std::vector<ConfigEntry>& entries) {
    std::string table;
    for (const ConfigEntry& entry : entries) {
        const std::size_t dot = entry.key.find('.');
        const std::string own = dot == std::string::npos ? "" : entry.key.substr(0, dot);
        if (own.empty() || (!table.empty() && table != own)) {
            return "";
        }
        table = own;
    }
    return table;
}

Json provenance_in(const std::filesystem::path& folder) {
    try {
        return parse_json(read_regular_file(folder / "provenance.json", largest_description), "provenance.json");
    } catch (const Error&) {
        return {};
    }
}

}  // namespace flyball::record
