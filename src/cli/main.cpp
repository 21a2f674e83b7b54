// The program: finds the command, parses its flags, turns what goes wrong into one sentence and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/invocation.hpp"
#include "cli/process.hpp"
#include "cli/terminal.hpp"
#include "core/blas_core.hpp"
#include "core/version.hpp"

namespace flyball::cli {

namespace {

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

// `flyball help`, `help COMMAND`, `help --man`, `help --completion SHELL`.
ExitCode run_help(const std::vector<std::string>& arguments) {
    const std::string& first = arguments.empty() ? "" : arguments[0];
    const bool of_shell = first == "--completion";
    if (arguments.size() > (of_shell ? 2U : 1U)) {
        throw Error(ErrorKind::usage, "cli.help", flyball::quoted(arguments.back()),
                    "one command, --man, or --completion SHELL");
    }
    if (first.empty() || first == "--help" || first == "-h") {
        print_out(program_help(output_columns()));
    } else if (first == "--man") {
        print_out(man_page());
    } else if (of_shell) {
        print_out(completion_script(arguments.size() == 2 ? arguments[1] : ""));
    } else {
        print_out(help_text(help_of(find_command(first)), output_columns()));
    }
    return ExitCode::done;
}

ExitCode run(const std::vector<std::string>& arguments) {
    const std::string first = arguments.empty() ? "help" : arguments[0];
    const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
    if (first == "--help" || first == "-h" || first == "help") {
        return run_help(rest);
    }
    if (first == "--version") {
        print_out(fmt::format("flyball {}\n", version));
        return ExitCode::done;
    }
    return run_command(find_command(first), rest);
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
    return flyball::cli::with_a_large_stack(flyball::cli::guarded, count, values);
}
