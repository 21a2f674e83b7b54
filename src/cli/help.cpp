#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/invocation.hpp"
#include "report/text.hpp"
#include "report/utf8.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t name_columns = 24;  // names of flags; their help stands to the right
constexpr std::size_t widest_page = 110;  // longer lines are hard to read

// One entry of a list: the name, and what it means, wrapped to the right of all names.
std::string entry_text(const std::string& name, const std::string& meaning, std::size_t columns) {
    const std::string indent(name_columns, ' ');
    const std::string first = "  " + name;
    if (report::columns(first) + 2 > name_columns) {
        return first + "\n" + report::text_lines(meaning, columns, indent, indent);
    }
    return report::text_lines(meaning, columns, first + std::string(name_columns - report::columns(first), ' '),
                              indent);
}

// Commands that are too long for the page go on below, as a shell reads them; only flags begin a line.
std::string example_lines(const std::string& examples, std::size_t columns) {
    std::string text;
    std::string rest = "  " + examples;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        std::string line = rest.substr(0, end);
        rest.erase(0, end + 1);
        while (report::columns(line) > columns) {
            const std::size_t at = line.rfind(" --", columns - 3);
            if (at == std::string::npos || line.find_first_not_of(' ') > at) {
                break;
            }
            text += line.substr(0, at) + " \\\n";
            line = "     " + line.substr(at);
        }
        text += line + "\n";
    }
    return text;
}

std::size_t page_columns(std::size_t columns) {
    return std::clamp<std::size_t>(columns, 60, widest_page);
}

}  // namespace

std::string FlagHelp::shown() const {
    std::vector<std::string> parts;
    if (!positional.empty()) {
        parts.push_back(positional);
    }
    parts.insert(parts.end(), names.begin(), names.end());
    return fmt::format("{}{}{}", fmt::join(parts, ", "), names.empty() || type.empty() ? "" : " ",
                       names.empty() ? "" : type);
}

std::string CommandHelp::usage() const {
    std::string text = "flyball " + command->name;
    for (const FlagGroup& group : groups) {
        for (const FlagHelp& flag : group.flags) {
            if (!flag.positional.empty()) {
                text += flag.required ? " " + flag.positional : fmt::format(" [{}]", flag.positional);
            }
        }
    }
    return text + " [FLAGS]";
}

CommandHelp help_of(const Command& command, const CLI::App& app) {
    CommandHelp help;
    help.command = &command;
    for (const CLI::Option* option : app.get_options()) {
        FlagHelp flag;
        for (const std::string& name : option->get_snames()) {
            flag.names.push_back("-" + name);
        }
        for (const std::string& name : option->get_lnames()) {
            flag.names.push_back("--" + name);
        }
        flag.positional = option->get_positional() ? option->get_name(true) : "";
        flag.type = option->get_items_expected_max() == 0 ? "" : option->get_type_name();
        flag.help = option->get_description();
        if (!option->get_default_str().empty() && !flag.type.empty()) {
            flag.help += fmt::format(" (default: {})", option->get_default_str());
        }
        flag.required = option->get_required();
        const std::string& title = option->get_group();
        auto group = std::find_if(help.groups.begin(), help.groups.end(),
                                  [&](const FlagGroup& one) { return one.title == title; });
        if (group == help.groups.end()) {
            group = help.groups.insert(help.groups.end(), {title, {}});
        }
        group->flags.push_back(std::move(flag));
    }
    return help;
}

CommandHelp help_of(const Command& command) {
    const Invocation invocation(command);
    return help_of(command, invocation.app());
}

std::vector<CommandHelp> help_of_all() {
    std::vector<CommandHelp> all;
    for (const Command& command : commands()) {
        all.push_back(help_of(command));
    }
    return all;
}

const std::vector<ExitMeaning>& exit_meanings() {
    static const std::vector<ExitMeaning> table = {
        {ExitCode::done, "done, and a verdict, where there is one, is good"},
        {ExitCode::bad_verdict,
         "done, and a verdict is bad: a block would not train, or a claim did not come out as recorded"},
        {ExitCode::bad_input, "bad usage or input; one sentence says what was got, what was expected and what to do"},
        {ExitCode::bug, "a bug of ours"},
        {ExitCode::interrupted,
         "interrupted by Ctrl-C or SIGTERM; a run with --out DIR can be continued with --resume"}};
    return table;
}

std::string help_text(const CommandHelp& help, std::size_t columns) {
    columns = page_columns(columns);
    std::string text = report::text_lines(help.command->about, columns) + "\nusage: " + help.usage() +
                       "\n\nexamples:\n" + example_lines(help.command->example, columns);
    for (const FlagGroup& group : help.groups) {
        text += "\n" + group.title + ":\n";
        for (const FlagHelp& flag : group.flags) {
            text += entry_text(flag.shown(), flag.help, columns);
        }
    }
    return text;
}

std::string program_help(std::size_t columns) {
    columns = page_columns(columns);
    std::string text = report::text_lines(
        "Flyball is a laboratory for normalization in transformers: write the equation of a residual block, and it "
        "simulates it, predicts its law, trains it, and says whether it is stable.",
        columns);
    text +=
        "\nusage: flyball COMMAND [FLAGS]\n"
        "       flyball help COMMAND\n\n"
        "examples:\n"
        "  flyball theory\n"
        "  flyball simulate peri-ln\n"
        "  flyball check 'x + dt*norm(f(norm(x))) | norm(x)'\n\n"
        "commands:\n";
    for (const Command& command : commands()) {
        text +=
            report::text_lines(command.summary, columns, fmt::format("  {:<12} ", command.name), std::string(15, ' '));
    }
    text += "\nflags:\n";
    text += entry_text("--help", "this page; flyball COMMAND --help has that of a command", columns);
    text += entry_text("--version", "the version", columns);
    text += entry_text("help --man", "the manual as a man page", columns);
    text += entry_text("help --completion SHELL", "a script that completes commands and flags, for bash, zsh or fish",
                       columns);
    text += "\nexit codes:\n";
    for (const ExitMeaning& row : exit_meanings()) {
        text += entry_text(std::to_string(static_cast<int>(row.code)), row.meaning, columns);
    }
    return text;
}

}  // namespace flyball::cli
