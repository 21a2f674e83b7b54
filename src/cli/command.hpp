// What every command of the program shares: how it is registered, where it prints, how configuration files become
// flags.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli {

struct Command {
    std::string name;
    std::string summary;  // one line in `flyball --help`
    std::string example;  // shown at the end of `flyball NAME --help`
    // Declares the flags and returns what to run once they are parsed.
    std::function<std::function<ExitCode()>(CLI::App&)> declare;
};

// All commands that work. A new one is a file with one function and a line in commands.cpp.
const std::vector<Command>& commands();

Command schemes_command();
Command simulate_command();
Command theory_command();
Command reproduce_command();
Command tokenize_command();
Command forward_command();

// What --scheme and --equation name; the six schemes that "Normalization in Attention Dynamics" compares if neither
// does.
std::vector<scheme::Scheme> chosen_schemes(const std::vector<std::string>& names,
                                           const std::vector<std::string>& equations);

// The check of a flag that takes a whole number, `least` or more. (CLI11's own answers with the largest double, digit
// by digit.)
CLI::Validator whole_number(long long least);

// Writes to stdout and remembers failure; the program's last act is to check it.
void print_out(std::string_view text);
void flush_out();
// Writes to stderr. A failure there is ignored: nobody is left to be told. Needs no memory.
void print_error(std::string_view text) noexcept;

// The arguments of a command with the keys of its `--config FILE` put in front of them as flags. Keys of a table named
// like the command and top-level keys count; a key that is also given as a flag gives way to the flag.
std::vector<std::string> with_configuration(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace flyball::cli
