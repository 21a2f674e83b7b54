// Whose a folder is, before anything in it is deleted.
//
// Somebody else may have a config.toml, a provenance.json and a folder called work/ too. Ours are known by what only we
// write: seals (sealed.hpp), the checksum in provenance.json, and the exact form of config.toml.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/json.hpp"

namespace flyball::record {

inline constexpr const char* spent = "work.finished";  // what work/ is called while it is being deleted

// The commands that leave folders: the one table in a config.toml is called as one of them.
inline constexpr std::array<std::string_view, 7> folder_commands = {"simulate", "theory", "reproduce", "train",
                                                                    "inspect",  "limits", "check"};

// Why nothing in this folder may be replaced ("holds files that are not of flyball"); "" where it may. What is damaged
// counts as ours where its neighbours say so.
std::string not_ours(const std::filesystem::path& folder);

// Whether a work/ has a run.json as we wrote it.
bool is_work_of_ours(const std::filesystem::path& work);

// Deletes a work/, its run.json last: until then what is left says whose it is. Of a link, the link goes.
void remove_work(const std::filesystem::path& work);

// The one table that every setting is in; "" where there is none, or several.
std::string table_of(const std::vector<ConfigEntry>& entries);

// Nothing for one that is damaged, or not there.
Json provenance_in(const std::filesystem::path& folder);

}  // namespace flyball::record
