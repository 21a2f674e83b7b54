// What a preflight is told: the model that the block is meant for, and how it is started.
//
// Everything is measured on a narrow stand-in of `measured_width` channels. What a matrix does to the length of a
// vector depends on its deviation times the root of its width, so the stand-in's matrices are drawn with deviations
// that give them the gain that they would have at `width` (`init_for_width`), and the d and n of the equation are the
// user's (`on_stand_in`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/setting_field.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::check {

struct Settings {
    std::size_t depth = 24;   // blocks; the L of the equation
    std::size_t width = 512;  // channels; the d of the equation
    std::size_t tokens = 64;  // the n of the equation
    std::string init;         // KEY=EXPR,.. as train/initial.hpp reads it; empty: as the scheme's source prescribes
    std::string norm = "layernorm";
    double dt = 1;
    std::size_t steps = 300;  // of the short training runs
    std::uint64_t seed = 1;

    static constexpr std::size_t measured_width = 32;
    static constexpr std::size_t measured_heads = 2;
};

using SettingField = flyball::SettingField<Settings>;
const std::vector<SettingField>& setting_fields();

// Throws Error(usage) with a sentence where a setting makes no sense.
void check(const Settings& settings);

// The start of the stand-in as text for train: the scheme's own deviations, or those of `settings.init`, times
// sqrt(width/measured_width).
std::string init_for_width(const scheme::Scheme& scheme, const Settings& settings);

}  // namespace flyball::check
