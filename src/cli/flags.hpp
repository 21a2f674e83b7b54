// Flags that several commands have: declared here once, so that they are spelled, read and explained alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/figure_flags.hpp"
#include "core/config.hpp"
#include "core/setting_field.hpp"
#include "record/folder.hpp"
#include "scheme/catalogue.hpp"

// Reading CLI11's header takes seconds: flags.cpp does it for every command.
namespace CLI {
class Option;
}

namespace flyball::cli {

// A flag that was declared, and what else there is to say of it. A handle: CLI11 owns the flag.
class Flag {
  public:
    explicit Flag(CLI::Option* option) : option_(option) {}
    Flag type_name(const std::string& name) const;    // what --help calls its value
    Flag default_str(const std::string& text) const;  // the default that --help shows
    Flag capture_default_str() const;                 // the same, from the value it was declared with
    Flag required() const;
    // Takes a whole number, `least` or more and at most `most`, also as 1e3. (CLI11's own check answers with the
    // largest double, digit by digit.)
    Flag whole_number(std::uint64_t least, std::optional<std::uint64_t> most = std::nullopt) const;
    // Refuses '', which would be taken for a flag that was not given; `expected` is what it should have been.
    Flag not_empty(const std::string& expected) const;
    bool given() const;

  private:
    CLI::Option* option_;
};

// Flags with a value, in CLI11's notation: "--name", or "NAME" for a positional, or both with a comma between them.
// Value is one of those at the end of flags.cpp.
template <class Value>
Flag add_option(CLI::App& app, const std::string& name, Value& value, const std::string& help);
// A flag whose text `read` is given; one without a value.
Flag add_read(CLI::App& app, const std::string& name, std::function<void(const std::string&)> read,
              const std::string& help);
void add_called(CLI::App& app, const std::string& name, std::function<void()> call, const std::string& help);
void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help);
// A flag that may be repeated; every time it takes one value.
Flag add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help);
// Names that stand alone, any number of them: "NAME...,--name".
void add_names(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help);
bool was_given(const CLI::App& app, const std::string& name);
// What is declared from here on stands below `title` in help.
void begin_group(CLI::App& app, const std::string& title);

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
        if (*field.heading != '\0') {
            begin_group(app, field.heading);
        }
        if (field.is_switch()) {
            add_called(
                app, flag, [settings, &field] { field.parse("true", *settings); }, field.help);
            continue;
        }
        const Flag option =
            add_read(
                app, flag, [settings, &field](const std::string& text) { field.parse(text, *settings); }, field.help)
                .type_name(field.type);
        if (const auto text = field.text(standard)) {
            option.default_str(*text);
        }
    }
}

// What a run was called with, for its config.toml: every setting that matters to it.
template <class Settings>
void add_configuration(const std::string& command, const std::vector<SettingField<Settings>>& fields,
                       const Settings& settings, std::vector<ConfigEntry>& entries) {
    for (const SettingField<Settings>& field : fields) {
        if (const auto text = field.text(settings)) {
            entries.push_back({command + "." + field.key, {*text}, ""});
        }
    }
}
// The program and that configuration: what a folder of results belongs to.
record::Identity identity_of(const std::vector<ConfigEntry>& configuration);

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

// --out, --resume, --force, and how the figures in the folder look.
struct FolderFlags {
    std::optional<std::string> out;
    bool resume = false;
    bool force = false;
    FigureFlags figures;

    void declare(CLI::App& app, const std::string& what);  // what is written to --out
    record::FolderUse use(const std::string& command) const;
    report::Sheet sheet(const std::string& command) const { return figures.sheet(out.has_value(), command); }
    // `flyball NAME --config 'DIR/config.toml' --out 'DIR' --resume`, quoted for a shell; see program_called().
    std::string resume_command(const std::string& command) const;
};

// --seed, as the settings of particle runs have it.
void declare_seed(CLI::App& app, std::uint64_t& seed);

}  // namespace flyball::cli
