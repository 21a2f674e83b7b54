// What every command of the program shares: how it is registered, where it prints, how configuration files become
// flags.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

// Reading CLI11's header takes seconds: whoever declares flags includes it.
namespace CLI {
class App;
}

namespace flyball::cli {

// What every command understands; declared in invocation.cpp, together with --config.
struct Common {
    bool json = false;
    bool quiet = false;
    int threads = 0;  // 0: as many as there are CPUs; set before the command runs
};

struct Command {
    std::string name;
    std::string summary;  // one line in `flyball --help`
    std::string about;    // a sentence or two for someone who has read none of the papers: what help begins with
    std::string example;  // shown in `flyball NAME --help`
    // Declares the flags of its own and returns what to run once all are parsed.
    using Action = std::function<ExitCode(const Common&)>;
    std::function<Action(CLI::App&)> declare;
};

// All commands that work. A new one is a file with one function and a line in commands.cpp.
const std::vector<Command>& commands();

Command schemes_command();
Command simulate_command();
Command theory_command();
Command reproduce_command();
Command tokenize_command();
Command forward_command();
Command train_command();
Command sample_command();
Command limits_command();
Command inspect_command();
Command check_command();
Command report_command();

// Writes to stdout and remembers failure; the program's last act is to check it.
void print_out(std::string_view text);
void flush_out();
// Writes to stderr. A failure there is ignored: nobody is left to be told. Needs no memory.
void print_error(std::string_view text) noexcept;
// The same for what is good to know and not an error; nothing after --quiet.
void print_note(std::string_view text) noexcept;
void set_quiet(bool quiet) noexcept;
bool is_quiet() noexcept;

// How a user starts the program, ready for a shell: "flyball", or what the launcher was called as ("./flyball").
std::string program_called();

// The arguments of a command with the keys of the configuration file `path` put in front of them as flags. Keys of a
// table named like the command and top-level keys count. `app` has parsed the arguments alone: what they give, as a
// flag or as a positional, wins over the file.
std::vector<std::string> with_configuration(const CLI::App& app, const std::string& path,
                                            const std::vector<std::string>& arguments);

}  // namespace flyball::cli
