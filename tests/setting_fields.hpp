// The row of a list of settings that has this key.
#pragma once

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

}  // namespace flyball::test
