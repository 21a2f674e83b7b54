// What an inspection of a model is, beside the model and the text.
//
// `setting_fields()` is the one list of what a user can set: flags and configuration files walk it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/setting_field.hpp"
#include "model/architecture.hpp"

namespace flyball::inspect {

struct Settings {
    std::optional<std::size_t> length = {};     // tokens of a window
    std::optional<std::size_t> sequences = {};  // windows
    bool drop = false;                          // also the loss without each block
    bool lens = false;                          // also what each block's stream would predict
    bool gradient = true;                       // also the gradient after each block
};

using SettingField = flyball::SettingField<Settings>;
const std::vector<SettingField>& setting_fields();

// How the text is cut. Without a word of the user: windows of 256 tokens, or what the model has positions for, and as
// many as make 1024 tokens together. Error(input) for windows that are longer than the model's positions.
struct Windows {
    std::size_t length = 0;
    std::size_t most = 0;
};
Windows windows_for(const Settings& settings, const model::Architecture& architecture);

}  // namespace flyball::inspect
