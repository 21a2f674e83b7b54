// Shell completion: commands, their flags, and the names of schemes where a command takes them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cli/help.hpp"
#include "report/utf8.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t longest_remark = 72;  // beside a flag, in shells that show one

std::vector<FlagHelp> flags_of(const CommandHelp& help) {
    std::vector<FlagHelp> flags;
    for (const FlagGroup& group : help.groups) {
        flags.insert(flags.end(), group.flags.begin(), group.flags.end());
    }
    return flags;
}

bool takes_schemes(const CommandHelp& help) {
    const std::vector<FlagHelp> flags = flags_of(help);
    return std::any_of(flags.begin(), flags.end(),
                       [](const FlagHelp& flag) { return flag.positional.starts_with("SCHEME"); });
}

std::string scheme_words() {
    std::vector<std::string_view> names;
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        names.push_back(entry.name);
    }
    return fmt::format("{}", fmt::join(names, " "));
}

// Every flag of a command that `wanted` picks, with blanks between them.
std::string words_of(const CommandHelp& help, const std::function<bool(const FlagHelp&)>& wanted) {
    std::vector<std::string> words;
    for (const FlagHelp& flag : flags_of(help)) {
        if (wanted(flag)) {
            words.insert(words.end(), flag.names.begin(), flag.names.end());
        }
    }
    return fmt::format("{}", fmt::join(words, " "));
}

// With a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
        out += (special.find(c) != std::string_view::npos ? "\\" : "") + std::string(1, c);
    }
    return out;
}

std::string command_words(const std::vector<CommandHelp>& all) {
    std::string words;
    for (const CommandHelp& help : all) {
        words += help.command->name + " ";
    }
    return words;
}

std::string bash_script(const std::vector<CommandHelp>& all) {
    const std::string names = command_words(all);
    std::string script =
        "# Completion for bash, made by `flyball help --completion bash`. Without a match, files are offered.\n"
        "_flyball() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]-} flags='' valued='' schemes=''\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then\n" +
        fmt::format("        mapfile -t COMPREPLY < <(compgen -W '{}help --help --version' -- \"$word\")\n", names) +
        "        return\n"
        "    fi\n"
        "    case ${COMP_WORDS[1]} in\n" +
        fmt::format("        help) flags='--man --completion {}' ;;\n", names);
    for (const CommandHelp& help : all) {
        script += fmt::format("        {})\n            flags='{}'\n            valued=' {} '\n{}            ;;\n",
                              help.command->name, words_of(help, [](const FlagHelp&) { return true; }),
                              words_of(help, [](const FlagHelp& flag) { return !flag.type.empty(); }),
                              takes_schemes(help) ? fmt::format("            schemes='{}'\n", scheme_words()) : "");
    }
    script +=
        "    esac\n"
        "    if [[ $before == --completion ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$word\")\n"
        "    elif [[ $word == -* || ${COMP_WORDS[1]} == help ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n"
        "    elif [[ $before == --scheme || $valued != *\" $before \"* ]]; then\n"
        "        mapfile -t COMPREPLY < <(compgen -W \"$schemes\" -- \"$word\")\n"
        "    fi\n"
        "}\n"
        "complete -o default -F _flyball flyball ./flyball\n";
    return script;
}

std::string zsh_script(const std::vector<CommandHelp>& all) {
    const auto remark = [](const std::string& text) {
        // Inside single quotes, and inside [ ] of _arguments.
        std::string out;
        for (const char c : escaped(report::shortened(text, longest_remark), "[]:\\")) {
            out += c == '\'' ? "'\\''" : std::string(1, c);
        }
        return out;
    };
    std::string script =
        "#compdef flyball ./flyball\n"
        "# Completion for zsh, made by `flyball help --completion zsh`: save it as _flyball in a folder of $fpath.\n"
        "_flyball() {\n"
        "    local -a commands\n"
        "    commands=(\n";
    for (const CommandHelp& help : all) {
        script += fmt::format("        '{}:{}'\n", help.command->name, remark(help.command->summary));
    }
    script +=
        "        'help:show help'\n"
        "    )\n"
        "    if ((CURRENT == 2)); then\n"
        "        _describe command commands\n"
        "        return\n"
        "    fi\n"
        "    local command=$words[2]\n"
        "    shift words\n"
        "    ((CURRENT--))\n"
        "    case $command in\n"
        "        help) _describe command commands ;;\n";
    for (const CommandHelp& help : all) {
        script += fmt::format("        {})\n            _arguments \\\n", help.command->name);
        for (const FlagHelp& flag : flags_of(help)) {
            for (const std::string& name : flag.names) {
                script += fmt::format("                '*{}[{}]{}' \\\n", name, remark(flag.help),
                                      flag.type.empty() ? "" : fmt::format(":{}:_files", remark(flag.type)));
            }
        }
        script += takes_schemes(help) ? fmt::format("                '*:scheme:({})'\n", scheme_words())
                                      : std::string("                '*:file:_files'\n");
        script += "            ;;\n";
    }
    return script + "    esac\n}\n_flyball \"$@\"\n";
}

std::string fish_script(const std::vector<CommandHelp>& all) {
    const auto remark = [](const std::string& text) { return escaped(report::shortened(text, longest_remark), "'\\"); };
    std::string script = "# Completion for fish, made by `flyball help --completion fish`.\n";
    for (const CommandHelp& help : all) {
        const std::string& name = help.command->name;
        script += fmt::format("complete -c flyball -n __fish_use_subcommand -f -a {} -d '{}'\n", name,
                              remark(help.command->summary));
        for (const FlagHelp& flag : flags_of(help)) {
            for (const std::string& word : flag.names) {
                const bool is_long = word.starts_with("--");
                script += fmt::format("complete -c flyball -n '__fish_seen_subcommand_from {}' -{} {}{} -d '{}'\n",
                                      name, is_long ? "l" : "s", word.substr(is_long ? 2 : 1),
                                      flag.type.empty() ? "" : " -r", remark(flag.help));
            }
        }
        if (takes_schemes(help)) {
            script +=
                fmt::format("complete -c flyball -n '__fish_seen_subcommand_from {}' -a '{}'\n", name, scheme_words());
        }
    }
    return script +
           fmt::format("complete -c flyball -n '__fish_seen_subcommand_from help' -f -a '{}'\n", command_words(all));
}

}  // namespace

std::string completion_script(const std::string& shell) {
    using Maker = std::string (*)(const std::vector<CommandHelp>&);
    const std::vector<std::pair<std::string, Maker>> makers = {
        {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
    for (const auto& [name, make] : makers) {
        if (name == shell) {
            return make(help_of_all());
        }
    }
    throw Error(ErrorKind::usage, "cli.help",
                shell.empty() ? "--completion without a shell" : fmt::format("the shell {}", flyball::quoted(shell)),
                "one of bash, zsh, fish", "flyball help --completion bash");
}

}  // namespace flyball::cli
