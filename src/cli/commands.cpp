#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command.hpp"
#include "core/config.hpp"
#include "core/suggest.hpp"

namespace flyball::cli {

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {reproduce_command(), simulate_command(), theory_command(),
                                               schemes_command(),   train_command(),    sample_command(),
                                               forward_command(),   tokenize_command(), limits_command(),
                                               inspect_command(),   check_command(),    report_command()};
    return table;
}

namespace {

int output_error = 0;  // what the system said when it first refused to take output
bool quiet_flag = false;

}  // namespace

void print_out(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && output_error == 0) {
        output_error = errno;
    }
}

void print_error(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_note(std::string_view text) noexcept {
    if (!quiet_flag) {
        print_error(text);
    }
}

void set_quiet(bool quiet) noexcept {
    quiet_flag = quiet;
}

bool is_quiet() noexcept {
    return quiet_flag;
}

void flush_out() {
    const bool flushed = std::fflush(stdout) == 0;
    if (!flushed && output_error == 0) {
        output_error = errno;
    }
    if (!flushed || std::ferror(stdout) != 0) {
        throw Error(ErrorKind::io, "cli.print",
                    fmt::format("'{}' while writing the output", std::strerror(output_error)),
                    "a writable standard output");
    }
}

namespace {

void append_flag(const CLI::App& app, const ConfigEntry& entry, const std::string& key,
                 std::vector<std::string>& flags) {
    const CLI::Option* option = nullptr;
    std::vector<std::string> known;
    for (const CLI::Option* candidate : app.get_options()) {
        for (const std::string& name : candidate->get_lnames()) {
            if (name != "config" && name != "help") {  // flags, and no keys
                known.push_back(name);
            }
            if (name == key) {
                option = candidate;
            }
        }
    }
    if (option == nullptr || key == "config" || key == "help") {
        const std::string near = nearest(key, known);
        throw Error(ErrorKind::usage, "cli.config",
                    fmt::format("the unknown key {} in {}", flyball::quoted(key), entry.location),
                    fmt::format("a flag of `flyball {}` without its dashes", app.get_name()),
                    near.empty() ? "" : fmt::format("did you mean {}?", near));
    }
    if (option->count() > 0) {
        return;  // given on the command line
    }
    const bool is_switch = option->get_items_expected_max() == 0;
    for (const std::string& value : entry.values) {
        if (is_switch && value != "true" && value != "false") {
            throw Error(ErrorKind::usage, "cli.config",
                        fmt::format("{} = {} in {}", key, flyball::quoted(value), entry.location), "true or false");
        }
        if (is_switch && value == "true") {
            flags.push_back("--" + key);
        } else if (!is_switch) {
            flags.push_back("--" + key + "=" + value);
        }
    }
}

}  // namespace

std::vector<std::string> with_configuration(const CLI::App& app, const std::string& path,
                                            const std::vector<std::string>& arguments) {
    std::vector<std::string> all;
    for (const ConfigEntry& entry : load_config(path)) {
        std::string key = entry.key;
        const std::size_t dot = key.find('.');
        if (dot != std::string::npos) {
            if (key.substr(0, dot) != app.get_name()) {
                continue;  // another command's table
            }
            key = key.substr(dot + 1);
        }
        append_flag(app, entry, key, all);
    }
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

}  // namespace flyball::cli
