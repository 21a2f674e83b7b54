#include "cli/flags.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "core/error.hpp"
#include "core/expected_whole.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "dynamics/settings.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

Flag Flag::type_name(const std::string& name) const {
    option_->type_name(name);
    return *this;
}

Flag Flag::default_str(const std::string& text) const {
    option_->default_str(text);
    return *this;
}

Flag Flag::capture_default_str() const {
    option_->capture_default_str();
    return *this;
}

Flag Flag::required() const {
    option_->required();
    return *this;
}

Flag Flag::whole_number(std::uint64_t least, std::optional<std::uint64_t> most) const {
    const auto written_out = [least, most](std::string& text) {
        const auto value = parse_whole(text);
        if (most && parse_double(text).value_or(0) > static_cast<double>(*most)) {
            return fmt::format("{}, expected a whole number from {} to {}", text, std::max<std::uint64_t>(1, least),
                               *most);
        }
        if (!value || *value < least) {
            return fmt::format("{}, expected {}", text, expected_whole(text, least));
        }
        text = std::to_string(*value);
        return std::string();
    };
    option_->transform(CLI::Validator(written_out, ""));
    return *this;
}

Flag Flag::not_empty(const std::string& expected) const {
    const auto check = [expected](const std::string& text) {
        return text.empty() ? fmt::format("{}, expected {}", text, expected) : std::string();
    };
    option_->check(CLI::Validator(check, ""));
    return *this;
}

bool Flag::given() const {
    return option_->count() > 0;
}

template <class Value>
Flag add_option(CLI::App& app, const std::string& name, Value& value, const std::string& help) {
    return Flag(app.add_option(name, value, help));
}

Flag add_read(CLI::App& app, const std::string& name, std::function<void(const std::string&)> read,
              const std::string& help) {
    return Flag(app.add_option_function<std::string>(name, read, help));
}

void add_called(CLI::App& app, const std::string& name, std::function<void()> call, const std::string& help) {
    app.add_flag_callback(name, std::move(call), help)->disable_flag_override();
}

void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& help) {
    app.add_flag(name, value, help)->disable_flag_override();  // --json=5 is refused
}

Flag add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help) {
    return Flag(app.add_option(name, values, help)->take_all()->expected(1)->allow_extra_args(false));
}

void add_names(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& help) {
    app.add_option(name, values, help)->type_name("NAME")->take_all()->expected(1)->allow_extra_args();
}

bool was_given(const CLI::App& app, const std::string& name) {
    return app.count(name) > 0;
}

void begin_group(CLI::App& app, const std::string& title) {
    app.option_defaults()->group(title);
}

record::Identity identity_of(const std::vector<ConfigEntry>& configuration) {
    record::Identity identity = record::program_identity();
    for (const ConfigEntry& entry : configuration) {
        identity.emplace_back(entry.key.substr(entry.key.find('.') + 1),  // without the command's name
                              fmt::format("{}", fmt::join(entry.values, " ")));
    }
    return identity;
}

double number_of(const std::string& flag, const std::string& text) {
    const auto value = parse_double(text);
    if (!value) {
        throw Error(ErrorKind::usage, "cli.flags", setting(flag, flyball::quoted(text)),
                    "a finite number, for example 0.5 or 1e-3");
    }
    return *value;
}

std::vector<double> numbers_of(const std::string& flag, const std::vector<std::string>& texts) {
    std::vector<double> values;
    for (const std::string& text : texts) {
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t comma = std::min(text.find(',', begin), text.size());
            values.push_back(number_of(flag, text.substr(begin, comma - begin)));
            begin = comma + 1;
        }
    }
    return values;
}

void SchemeFlags::declare(CLI::App& app, const std::string& without) {
    begin_group(app, "schemes");
    add_names(app, "SCHEME...,--scheme", schemes,
              fmt::format("schemes, NAME or NAME:k=v,.., or equations ({})", without));
    add_list(app, "--equation", equations,
             "an equation of your own (docs/equation.md), named for tables and figures; may be repeated")
        .type_name("[NAME=]TEXT");
}

std::vector<scheme::Scheme> SchemeFlags::chosen() const {
    return scheme::find_schemes(schemes, equations);
}

std::vector<scheme::Scheme> SchemeFlags::chosen_or_six() const {
    static const std::vector<std::string> six = {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"};
    return empty() ? scheme::find_schemes(six, {}) : chosen();
}

void FolderFlags::declare(CLI::App& app, const std::string& what) {
    begin_group(app, "output");
    app.add_option("--out", out, fmt::format("write {} to this folder", what))->type_name("DIR");
    add_flag(app, "--resume", resume, "go on with the run in --out");
    add_flag(app, "--force", force, "replace the results in --out");
    figures.declare(app);
}

record::FolderUse FolderFlags::use(const std::string& command) const {
    return record::folder_use(out, resume, force, "cli." + command);
}

namespace {

// A quote inside ends the quoted part, stands escaped, and begins the next.
std::string shell_quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) {
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return quoted + "'";
}

}  // namespace

std::string program_called() {
    const char* const given = std::getenv("FLYBALL_CALLED_AS");  // ./flyball says what it was called as
    const std::string name = given == nullptr || *given == '\0' ? "flyball" : given;
    const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("_./+-").find(static_cast<char>(c)) != std::string_view::npos;
    });
    return is_plain ? name : shell_quoted(name);
}

std::string FolderFlags::resume_command(const std::string& command) const {
    const std::filesystem::path folder = out.value_or("");
    return fmt::format("{} {} --config {} --out {} --resume{}", program_called(), command,
                       shell_quoted((folder / "config.toml").string()), shell_quoted(folder.string()),
                       figures.arguments());
}

void declare_seed(CLI::App& app, std::uint64_t& seed) {
    const auto& fields = dynamics::setting_fields();
    const auto field = std::find_if(fields.begin(), fields.end(), [](const dynamics::SettingField& row) {
        return std::string_view(row.key) == "seed";
    });
    add_read(
        app, "--seed",
        [field, &seed](const std::string& text) {
            dynamics::Settings settings;
            field->parse(text, settings);
            seed = settings.seed;
        },
        field->help)
        .type_name(field->type)
        .default_str(std::to_string(seed));
}

std::vector<std::int32_t> ids_of(std::string_view where, const std::string& given) {
    constexpr std::size_t largest_file = std::size_t{64} << 20;
    const bool is_file = given.starts_with("@");
    const std::string text = is_file ? read_text_file(given.substr(1), largest_file) : given;
    std::vector<std::int32_t> ids;
    constexpr std::string_view between = ", \t\r\n[]";
    for (std::size_t begin = text.find_first_not_of(between); begin != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(between, begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const auto id = parse_integer(word);
        if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) {
            throw Error(ErrorKind::usage, where, fmt::format("the token id {}", flyball::quoted(word)),
                        "whole numbers with commas or spaces between them", "--ids 1,2,3 or --ids @FILE");
        }
        ids.push_back(static_cast<std::int32_t>(*id));
        begin = text.find_first_not_of(between, end);
    }
    if (ids.empty()) {
        throw Error(ErrorKind::usage, where, fmt::format("no token ids in {}", flyball::quoted(given)), "at least one",
                    "--ids 1,2,3 or --ids @FILE");
    }
    return ids;
}

template Flag add_option(CLI::App&, const std::string&, std::string&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::optional<std::string>&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::size_t&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, int&, const std::string&);

}  // namespace flyball::cli
