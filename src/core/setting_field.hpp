// One setting of a command: what it is called, how it is written and how it is read.
//
// A module lists its settings once, as rows of SettingField; flags, configuration files, the identity of restart files
// and captions walk that list. The readers below turn what a user typed into values, or into an Error(usage) that says
// what was expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flyball {

template <class Settings>
struct SettingField {
    const char* key;   // the flag without its dashes, and the key in files
    const char* type;  // what stands for the value in help: "N", "EVENT"; empty for a switch
    const char* help;
    // As a user would type it, in the shortest form that is read back equal; nothing where it is not set or does not
    // matter to this run. A switch says "true" or "false".
    std::optional<std::string> (*text)(const Settings&);
    void (*parse)(const std::string& text, Settings&);  // Error(usage) with a sentence when it cannot be read
    // Of the first of several settings that belong together: what help writes above them. Empty: as the one before.
    const char* heading = "";

    bool is_switch() const { return *type == '\0'; }
};

// A table of words and what they mean.
template <class Value>
using NamedValues = std::vector<std::pair<const char*, Value>>;

template <class Value>
const char* name_of(Value value, const NamedValues<Value>& table) {
    for (const auto& [name, meant] : table) {
        if (meant == value) {
            return name;
        }
    }
    return "";
}

// "a, b or c" for the last word "or": what a help text says of a list.
std::string joined(const std::vector<std::string>& words, std::string_view last);

// Reads values for one module; `where` names it in messages ("dynamics.settings").
class SettingReader {
  public:
    explicit SettingReader(const char* where) : where_(where) {}

    [[noreturn]] void fail(std::string_view got, std::string_view expected, std::string_view hint = {}) const;

    // Whole numbers are written out ("1000000"); "1e6" is read too.
    std::uint64_t whole(const std::string& text, const char* key, std::uint64_t least) const;
    double real(const std::string& text, const char* key) const;
    // The same of a piece of a value; `shown` is what the message says was got.
    double number_in(std::string_view text, std::string_view shown, std::string_view expected) const;
    bool truth(const std::string& text, const char* key) const;

    // One of the words of a table, in capitals or not; the message suggests the nearest.
    template <class Value>
    Value named(const std::string& text, std::string_view what, const NamedValues<Value>& table) const {
        std::vector<std::string> names;
        for (const auto& [name, value] : table) {
            if (same_word(name, text)) {
                return value;
            }
            names.emplace_back(name);
        }
        fail_name(text, what, names);
    }

  private:
    static bool same_word(std::string_view name, std::string_view text);
    [[noreturn]] void fail_name(const std::string& text, std::string_view what,
                                const std::vector<std::string>& names) const;
    const char* where_;
};

}  // namespace flyball
