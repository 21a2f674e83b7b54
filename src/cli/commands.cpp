#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "cli/command.hpp"
#include "core/config.hpp"
#include "core/number.hpp"
#include "core/suggest.hpp"

namespace flyball::cli {

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {reproduce_command(), simulate_command(), theory_command(),
                                               schemes_command(),   forward_command(),  tokenize_command()};
    return table;
}

std::vector<scheme::Scheme> chosen_schemes(const std::vector<std::string>& names,
                                           const std::vector<std::string>& equations) {
    static const std::vector<std::string> six = {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"};
    std::vector<scheme::Scheme> schemes;
    for (const std::string& name : names.empty() && equations.empty() ? six : names) {
        schemes.push_back(scheme::find_scheme(name));
    }
    for (const std::string& equation : equations) {
        schemes.push_back(scheme::scheme_of_equation(equation));
    }
    return schemes;
}

namespace {

int output_error = 0;  // what the system said when it first refused to take output

}  // namespace

void print_out(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && output_error == 0) {
        output_error = errno;
    }
}

void print_error(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
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

bool is_given(const std::vector<std::string>& arguments, const std::string& flag) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
        return argument == flag || argument.rfind(flag + "=", 0) == 0;
    });
}

std::string configuration_file(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].rfind("--config=", 0) == 0) {
            return arguments[i].substr(std::strlen("--config="));
        }
        if (arguments[i] == "--config" && i + 1 < arguments.size()) {
            return arguments[i + 1];
        }
    }
    return "";
}

void append_flag(const CLI::App& app, const ConfigEntry& entry, const std::string& key,
                 std::vector<std::string>& flags) {
    const CLI::Option* option = nullptr;
    std::vector<std::string> known;
    for (const CLI::Option* candidate : app.get_options()) {
        for (const std::string& name : candidate->get_lnames()) {
            known.push_back(name);
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

CLI::Validator whole_number(long long least) {
    const auto check = [least](const std::string& text) {
        const auto value = parse_integer(text);
        std::uint64_t large = 0;  // seeds may use all 64 bits
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), large);
        const bool fits = value ? *value >= least : error == std::errc() && end == text.data() + text.size();
        return fits ? std::string() : fmt::format("{}, expected a whole number, {} or more", text, least);
    };
    return CLI::Validator(check, "");
}

std::vector<std::string> with_configuration(const CLI::App& app, const std::vector<std::string>& arguments) {
    const std::string path = configuration_file(arguments);
    if (path.empty()) {
        return arguments;
    }
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
        if (!is_given(arguments, "--" + key)) {
            append_flag(app, entry, key, all);
        }
    }
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

}  // namespace flyball::cli
