// The program: finds the command, parses its flags, turns what goes wrong into one sentence and an exit code.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/terminal.hpp"
#include "core/blas_core.hpp"
#include "core/parallel.hpp"
#include "core/suggest.hpp"
#include "core/version.hpp"

namespace flyball::cli {

namespace {

std::string program_help() {
    std::string text =
        "Flyball, a laboratory for normalization in transformers.\n\n"
        "usage: flyball COMMAND [FLAGS]\n       flyball COMMAND --help\n\ncommands:\n";
    for (const Command& command : commands()) {
        text += fmt::format("  {:<12} {}\n", command.name, command.summary);
    }
    text +=
        "\nflags:\n  --help       this page\n  --version    the version\n\n"
        "exit codes: 0 done, 1 a verdict is bad, 2 bad usage or input, 3 a bug of ours\n\n"
        "examples:\n  flyball reproduce --quick\n  flyball simulate peri-ln\n  flyball schemes peri-ln\n";
    return text;
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
    throw Error(ErrorKind::usage, "cli.main", fmt::format("the unknown command {}", flyball::quoted(name)),
                fmt::format("one of {}", fmt::join(names, ", ")),
                near.empty() ? "see flyball --help" : fmt::format("did you mean {}?", near));
}

// CLI11 names the flag it does not know; we add the nearest that exists.
[[noreturn]] void fail_unknown_flag(const CLI::App& app, const std::string& given) {
    std::vector<std::string> flags;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            flags.push_back("--" + name);
        }
    }
    const std::string near = nearest(given.substr(0, given.find('=')), flags);
    throw Error(
        ErrorKind::usage, fmt::format("cli.{}", app.get_name()),
        fmt::format("the unknown argument {}", flyball::quoted(given)),
        fmt::format("one of {}", fmt::join(flags, ", ")),
        near.empty() ? fmt::format("see flyball {} --help", app.get_name()) : fmt::format("did you mean {}?", near));
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
                ours ? message.substr(expected + middle.size()) : "flags as described",
                fmt::format("see flyball {} --help", command.name));
}

// A command with its flags, its own and those that all have.
class Invocation {
  public:
    explicit Invocation(const Command& command) : command_(command), app_(command.summary, command.name) {
        app_.get_formatter()->column_width(32);
        app_.footer("example:\n  " + command.example + "\n");
        action_ = command.declare(app_);
        add_flag(app_, "--json", common_.json, "print one JSON document");
        add_option(app_, "--threads", common_.threads,
                   "threads (default: the CPUs there are); results do not depend on it")
            .type_name("N")
            .whole_number(0);
        add_option(app_, "--config", configuration_, "read flags from a TOML or JSON file; flags given here win")
            .type_name("FILE");
    }

    // False when help was asked for and printed.
    bool parse(std::vector<std::string> arguments) {
        std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
        try {
            app_.parse(arguments);
        } catch (const CLI::CallForHelp&) {
            print_out(app_.help("flyball"));  // CLI11 adds the name of the command
            return false;
        } catch (const CLI::ExtrasError&) {
            const std::vector<std::string> rest = app_.remaining();
            fail_unknown_flag(app_, rest.empty() ? "" : rest.front());
        } catch (const CLI::ValidationError& error) {
            fail_check(command_, error.what());
        } catch (const CLI::ParseError& error) {
            std::string message = error.what();
            std::replace(message.begin(), message.end(), '\n', ' ');
            throw Error(ErrorKind::usage, fmt::format("cli.{}", command_.name), flyball::quoted(message, 200),
                        "flags as described", fmt::format("see flyball {} --help", command_.name));
        }
        return true;
    }

    ExitCode run() const {
        if (common_.threads > 0) {
            set_threads(common_.threads);
        }
        return action_(common_);
    }

    const CLI::App& app() const { return app_; }
    const std::string& configuration() const { return configuration_; }

  private:
    const Command& command_;
    CLI::App app_;
    Common common_;
    std::string configuration_;
    Command::Action action_;
};

ExitCode run_command(const Command& command, const std::vector<std::string>& given) {
    Invocation alone(command);
    if (!alone.parse(given)) {
        return ExitCode::done;
    }
    if (alone.configuration().empty()) {
        return alone.run();
    }
    Invocation configured(command);
    configured.parse(with_configuration(alone.app(), alone.configuration(), given));
    return configured.run();
}

ExitCode run(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
        print_out(program_help());
        return ExitCode::done;
    }
    if (arguments[0] == "--version") {
        print_out(fmt::format("flyball {}\n", version));
        return ExitCode::done;
    }
    return run_command(find_command(arguments[0]), {std::next(arguments.begin()), arguments.end()});
}

// One line on stderr, put together without asking for memory: there may be none left.
void say(std::string_view before, std::string_view text) noexcept {
    print_error(before);
    print_error(text);
    print_error("\n");
}

// The library names settings; here they are flags.
void say_with_flags(const Error& error) noexcept {
    try {
        say("flyball: ", error.sentence({"--", " "}));
    } catch (const std::bad_alloc&) {
        say("flyball: ", error.what());
    }
}

int no_memory() noexcept {
    say("flyball: ", "[cli.main] got too little memory, expected enough for what was asked.");
    return static_cast<int>(ExitCode::bad_input);
}

// Where even tidying up needs memory that is not there (the destructor of a JSON value does), no exception gets
// through.
[[noreturn]] void on_terminate() noexcept {
    int code = static_cast<int>(ExitCode::bug);
    try {
        if (const std::exception_ptr failure = std::current_exception()) {
            std::rethrow_exception(failure);
        }
        say("flyball: a bug of ours: ", "terminated");
    } catch (const std::bad_alloc&) {
        code = no_memory();
    } catch (const std::exception& error) {
        say("flyball: a bug of ours: ", error.what());
    } catch (...) {
        say("flyball: a bug of ours: ", "an unknown exception");
    }
    _exit(code);
}

int guarded(int count, char** values) {
    try {
        choose_blas_core();
        const ExitCode code = run({values + std::min(1, count), values + count});
        flush_out();
        return static_cast<int>(code);
    } catch (const Error& error) {
        std::fflush(stdout);
        say_with_flags(error);
        if (!error.detail().empty()) {
            say("", error.detail());
        }
        return static_cast<int>(exit_code(error.kind()));
    } catch (const std::bad_alloc&) {
        return no_memory();
    } catch (const std::length_error&) {  // more elements than any memory holds
        return no_memory();
    } catch (const std::system_error& error) {  // a file, a folder or a thread that the system refused
        print_error("flyball: [cli.main] got '");
        print_error(error.what());
        say("'", ", expected a system that grants what was asked.");
        return static_cast<int>(ExitCode::bad_input);
    } catch (const std::exception& error) {
        say("flyball: a bug of ours: ", error.what());
        return static_cast<int>(ExitCode::bug);
    }
}

}  // namespace

}  // namespace flyball::cli

int main(int count, char** values) {
    std::set_terminate(flyball::cli::on_terminate);
    flyball::cli::settle_in();
    return flyball::cli::guarded(count, values);
}
