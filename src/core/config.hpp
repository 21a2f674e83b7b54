// Configuration files: TOML or JSON to a flat list of options, and back.
//
// Every key is an option's name without dashes; a table named like a command holds that command's options. Values
// become the text a user would have typed after the flag, so that one parser serves both. Promises: at most 1 MiB, no
// deep nesting, errors say file and line; to_toml writes what load_config reads back equal. Which keys exist, and what
// their values mean, is the business of whoever asks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace flyball {

struct ConfigEntry {
    std::string key;                  // "tokens", or "simulate.tokens" from a table
    std::vector<std::string> values;  // one per element of an array; true and false for booleans
    std::string location;             // "run.toml:3", for messages

    // Where an entry stands does not matter to what it says.
    bool operator==(const ConfigEntry& other) const { return key == other.key && values == other.values; }
};

// By extension, .toml or .json; entries in the order of the file.
std::vector<ConfigEntry> load_config(const std::filesystem::path& path);

// The two readers behind load_config; `name` stands for the file in messages.
std::vector<ConfigEntry> parse_toml_config(std::string_view text, const std::string& name);
std::vector<ConfigEntry> parse_json_config(std::string_view text, const std::string& name);

// Options without a table first, as TOML requires, then table by table in order of appearance.
std::string to_toml(const std::vector<ConfigEntry>& entries);

}  // namespace flyball
