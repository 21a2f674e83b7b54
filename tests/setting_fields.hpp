// The row of a list of settings that has this key.
#pragma once

#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/setting_field.hpp"

namespace flyball::test {

template <class Settings>
const SettingField<Settings>& field_named(const std::vector<SettingField<Settings>>& fields, const std::string& key) {
    for (const SettingField<Settings>& field : fields) {
        if (field.key == key) {
            return field;
        }
    }
    throw std::logic_error("no such setting: " + key);
}

// The keys of a list that no page says as a flag, with a space after each. A page: the text of a file of docs.
template <class Settings>
std::string not_in_the_manual(const std::vector<SettingField<Settings>>& fields, const std::string& page) {
    std::string missing;
    for (const SettingField<Settings>& field : fields) {
        const std::regex flag(std::string("--") + field.key + "(?![a-z0-9-])");
        missing += std::regex_search(page, flag) ? "" : std::string(field.key) + " ";
    }
    return missing;
}

}  // namespace flyball::test
