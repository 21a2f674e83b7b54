// Flags that several commands have: declared here once, so that they are spelled, read and explained alike.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/setting_field.hpp"
#include "record/folder.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli {

// A flag that may be repeated; every time it takes one value.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                      const std::string& help);

// The check of a flag that takes a whole number, `least` or more. (CLI11's own answers with the largest double, digit
// by digit.)
CLI::Validator whole_number(long long least);

// "1,2.5" and repeated flags alike; an Error names the flag.
double number_of(const std::string& flag, const std::string& text);
std::vector<double> numbers_of(const std::string& flag, const std::vector<std::string>& texts);

// Every setting of a list is a flag; what a user types goes through the setting's own reader.
template <class Settings>
void declare_settings(CLI::App& app, const std::vector<SettingField<Settings>>& fields,
                      const std::shared_ptr<Settings>& settings) {
    const Settings standard = *settings;
    for (const SettingField<Settings>& field : fields) {
        const std::string flag = std::string("--") + field.key;
        if (field.is_switch()) {
            app.add_flag_callback(
                flag, [settings, &field] { field.parse("true", *settings); }, field.help);
            continue;
        }
        CLI::Option* const option =
            app.add_option_function<std::string>(
                   flag, [settings, &field](const std::string& text) { field.parse(text, *settings); }, field.help)
                ->type_name(field.type);
        if (const auto text = field.text(standard)) {
            option->default_str(*text);
        }
    }
}

// --ids: token ids with commas or spaces between them, or @FILE; an Error of `where` for none or others.
std::vector<std::int32_t> ids_of(std::string_view where, const std::string& given);

// SCHEME.., --scheme, --equation.
struct SchemeFlags {
    std::vector<std::string> schemes;    // of the catalogue, or equations
    std::vector<std::string> equations;  // "TEXT" or "NAME=TEXT"

    void declare(CLI::App& app, const std::string& without);  // what happens when none is given
    bool empty() const { return schemes.empty() && equations.empty(); }
    std::vector<scheme::Scheme> chosen() const;
    // The six that "Normalization in Attention Dynamics" compares where none is chosen.
    std::vector<scheme::Scheme> chosen_or_six() const;
};

// --out, --resume, --force.
struct FolderFlags {
    std::optional<std::string> out;
    bool resume = false;
    bool force = false;

    void declare(CLI::App& app, const std::string& what);  // what is written to --out
    record::FolderUse use(const std::string& command) const;
    // `flyball NAME --config 'DIR/config.toml' --out 'DIR' --resume`, quoted for a shell.
    std::string resume_command(const std::string& command) const;
};

// --seed, as the settings of particle runs have it.
void declare_seed(CLI::App& app, std::uint64_t& seed);

}  // namespace flyball::cli
