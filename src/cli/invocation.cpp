#include "cli/invocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/flags.hpp"
#include "cli/help.hpp"
#include "cli/terminal.hpp"
#include "core/parallel.hpp"
#include "core/suggest.hpp"

namespace flyball::cli {

namespace {

constexpr std::uint64_t most_threads = 1024;  // as set_threads has it

// What other programs and papers call a flag of ours; of use where a command has the flag.
struct OtherFlag {
    const char* word;
    const char* flag;
};
constexpr auto other_flags = std::to_array<OtherFlag>({
    {"--n", "--tokens"},
    {"-n", "--tokens"},
    {"--length", "--tokens"},
    {"--seq-len", "--tokens"},
    {"--d", "--dim"},
    {"-d", "--dim"},
    {"--width", "--dim"},
    {"--dim", "--width"},
    {"--depth", "--layers"},
    {"--layers", "--depth"},
    {"--temperature", "--beta"},
    {"--model", "--weights"},
    {"--lr", "--rate"},
    {"--learning-rate", "--rate"},
    {"--epochs", "--steps"},
    {"--batch-size", "--batch"},
    {"--output", "--out"},
    {"-o", "--out"},
    {"-q", "--quiet"},
    {"--silent", "--quiet"},
    {"-j", "--threads"},
    {"--jobs", "--threads"},
});

std::string see_help(const Command& command) {
    return fmt::format("see {} {} --help", program_called(), command.name);
}

std::string nearest_flag(const CLI::App& app, const std::string& given) {
    std::vector<std::string> flags;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            flags.push_back("--" + name);
        }
    }
    const auto has = [&](const std::string& flag) {
        return std::find(flags.begin(), flags.end(), flag) != flags.end();
    };
    for (const OtherFlag& row : other_flags) {
        if (given == row.word && has(row.flag)) {
            return row.flag;
        }
    }
    std::string near = nearest(given, flags);
    if (!near.empty()) {
        return near;
    }
    const auto begins = [&](const std::string& flag) { return given.size() > 4 && flag.starts_with(given); };
    const auto found = std::find_if(flags.begin(), flags.end(), begins);
    return found == flags.end() ? "" : *found;
}

// The hint stands right behind what was got, where a reader looks first.
[[noreturn]] void fail_unknown(const CLI::App& app, const Command& command, const std::vector<std::string>& rest) {
    const auto is_flag = [](const std::string& text) { return text.size() > 1 && text[0] == '-'; };
    const auto first = std::find_if(rest.begin(), rest.end(), is_flag);
    const std::string given = first != rest.end() ? *first : rest.empty() ? "" : rest.front();
    if (!is_flag(given)) {
        throw Error(ErrorKind::usage, fmt::format("cli.{}", command.name),
                    fmt::format("{}, which is one argument too many", flyball::quoted(given)),
                    fmt::format("what `{} {} --help` describes", program_called(), command.name),
                    "put a text with blanks in quotes");
    }
    const std::string flag = given.substr(0, given.find('='));
    const std::string near = nearest_flag(app, flag);
    throw Error(ErrorKind::usage, fmt::format("cli.{}", command.name),
                fmt::format("the unknown flag {}{}", flyball::quoted(flag),
                            near.empty() ? "" : fmt::format(" (did you mean {}?)", near)),
                fmt::format("a flag that `{} {} --help` lists", program_called(), command.name));
}

// "--flag: VALUE, expected WHAT", as whole_number() says it through CLI11.
[[noreturn]] void fail_check(const Command& command, const std::string& message) {
    constexpr std::string_view middle = ", expected ";
    const std::size_t colon = std::min(message.find(": "), message.size());
    const std::size_t expected = message.rfind(middle);
    const bool ours = colon < message.size() && expected != std::string::npos && expected > colon;
    throw Error(ErrorKind::usage, fmt::format("cli.{}", command.name),
                ours ? fmt::format("{} {}", message.substr(0, colon),
                                   flyball::quoted(message.substr(colon + 2, expected - colon - 2)))
                     : flyball::quoted(message, 200),
                ours ? message.substr(expected + middle.size()) : "flags as described", see_help(command));
}

// CLI11 says "--beta: 1 required B missing", "--beta: At Most 1 required but received 2" and "MODEL is required".
[[noreturn]] void fail_count(const CLI::App& app, const Command& command, std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    const std::string name = message.substr(0, message.find_first_of(": "));
    const CLI::Option* option = app.get_option_no_throw(name);
    option = option == nullptr ? app.get_option_no_throw("--" + name) : option;  // "json was given a disallowed .."
    const std::string where = fmt::format("cli.{}", command.name);
    if (option == nullptr) {
        for (const CLI::Option* one : app.get_options()) {
            option = one->get_name(true) == name ? one : option;
        }
    }
    if (option == nullptr) {
        throw Error(ErrorKind::usage, where, flyball::quoted(message, 200), "flags as described", see_help(command));
    }
    const std::string what = fmt::format("{}: {}", option->get_type_name(), option->get_description());
    if (message.ends_with("is required")) {
        throw Error(ErrorKind::usage, where, fmt::format("no {}", name), option->get_description(), see_help(command));
    }
    if (message.ends_with("missing")) {
        throw Error(ErrorKind::usage, where, fmt::format("{} without a value", name), fmt::format("{} {}", name, what),
                    see_help(command));
    }
    if (message.find("received") != std::string::npos) {
        throw Error(ErrorKind::usage, where, fmt::format("{} several times", name), "it once", see_help(command));
    }
    if (option->get_items_expected_max() == 0) {
        throw Error(ErrorKind::usage, where, fmt::format("{} with a value", option->get_name()), "it alone",
                    see_help(command));
    }
    throw Error(ErrorKind::usage, where, flyball::quoted(message, 200), fmt::format("{} {}", name, what),
                see_help(command));
}

// "--name=" as "--name" and "", where a value is wanted: CLI11 would take the argument behind it for the value.
std::vector<std::string> with_empty_values(const CLI::App& app, const std::vector<std::string>& arguments) {
    std::vector<std::string> all;
    bool is_value = false;  // of the flag before it, whatever it looks like
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& one = arguments[i];
        if (one == "--" && !is_value) {  // no flags from here on
            all.insert(all.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
            break;
        }
        const std::string name = one.substr(0, one.find('='));
        const CLI::Option* const option = !is_value && one.starts_with('-') ? app.get_option_no_throw(name) : nullptr;
        const bool wants_value = option != nullptr && option->get_items_expected_max() > 0;
        all.push_back(wants_value && one.size() == name.size() + 1 ? name : one);
        if (all.back() != one) {
            all.emplace_back();
        }
        is_value = wants_value && one == name;
    }
    return all;
}

}  // namespace

Invocation::Invocation(const Command& command) : command_(command), app_(command.summary, command.name) {
    begin_group(app_, "flags");
    action_ = command.declare(app_);
    begin_group(app_, "output");
    add_flag(app_, "--json", common_.json, "print one JSON document");
    add_flag(app_, "--quiet", common_.quiet, "show no progress and no notes; errors and results remain");
    begin_group(app_, "program");
    add_option(app_, "--threads", common_.threads, "threads (default: the CPUs there are); results do not depend on it")
        .type_name("N")
        .whole_number(0, most_threads);
    add_option(app_, "--config", configuration_, "read flags from a TOML or JSON file; flags given here win")
        .type_name("FILE")
        .not_empty("the name of a file");
    app_.set_help_flag("-h,--help", "this page");
}

bool Invocation::parse(std::vector<std::string> arguments) {
    arguments = with_empty_values(app_, arguments);
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
        app_.parse(arguments);
    } catch (const CLI::CallForHelp&) {
        print_out(help_text(help_of(command_, app_), output_columns()));
        return false;
    } catch (const CLI::ExtrasError&) {
        fail_unknown(app_, command_, app_.remaining());
    } catch (const CLI::ValidationError& error) {
        fail_check(command_, error.what());
    } catch (const CLI::ParseError& error) {
        fail_count(app_, command_, error.what());
    }
    return true;
}

ExitCode Invocation::run() const {
    if (common_.threads > 0) {
        set_threads(common_.threads);
    }
    set_quiet(common_.quiet);
    return action_(common_);
}

const Command& find_command(const std::string& name) {
    std::vector<std::string> names;
    for (const Command& command : commands()) {
        if (command.name == name) {
            return command;
        }
        names.push_back(command.name);
    }
    const std::string near = nearest(name, names);
    throw Error(ErrorKind::usage, "cli.main",
                fmt::format("the unknown command {}{}", flyball::quoted(name),
                            near.empty() ? "" : fmt::format(" (did you mean {}?)", near)),
                fmt::format("one of {}", fmt::join(names, ", ")), fmt::format("see {} --help", program_called()));
}

}  // namespace flyball::cli
