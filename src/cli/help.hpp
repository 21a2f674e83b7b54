// Help, the man page and shell completions: three ways to write down one list, the commands with their flags as they
// are declared. What a flag is called and does stands in its declaration alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace flyball::cli {

struct FlagHelp {
    std::vector<std::string> names;  // "--tokens"; "-h", "--help"; none for what stands by itself
    std::string positional;          // "MODEL", "SCHEME..."; empty for none
    std::string type;                // what --help calls its value; empty for a switch
    std::string help;                // with its default
    bool required = false;

    std::string shown() const;  // "SCHEME..., --scheme NAME"
};

struct FlagGroup {
    std::string title;
    std::vector<FlagHelp> flags;
};

struct CommandHelp {
    const Command* command = nullptr;
    std::vector<FlagGroup> groups;

    std::string usage() const;  // "flyball simulate [SCHEME...] [FLAGS]"
};

CommandHelp help_of(const Command& command, const CLI::App& app);
CommandHelp help_of(const Command& command);
// One for every command, in their order.
std::vector<CommandHelp> help_of_all();

struct ExitMeaning {
    ExitCode code;
    const char* meaning;
};
const std::vector<ExitMeaning>& exit_meanings();

// Pages for a terminal of `columns` columns.
std::string help_text(const CommandHelp& help, std::size_t columns);
std::string program_help(std::size_t columns);

// flyball(1), in the language of man(7).
std::string man_page();

// A script for the shell of that name; an Error names the shells there are.
std::string completion_script(const std::string& shell);

}  // namespace flyball::cli
