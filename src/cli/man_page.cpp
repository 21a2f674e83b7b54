// flyball(1): the same list as help, in the language of man(7).
#include <fmt/format.h>

#include "cli/help.hpp"
#include "core/version.hpp"
#include "report/text.hpp"

namespace flyball::cli {

namespace {

constexpr const char* page_date =
    "2026-11-17";  // of the last change to what stands here; a clock would make each build differ
constexpr std::size_t source_columns = 78;

// Text of ours as roff reads it: a backslash is one, a hyphen is a minus that can be copied into a shell.
std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    }
    return out;
}

// Lines of a paragraph; one that begins with a point or a quote would be taken for a request.
std::string paragraph(std::string_view text) {
    std::string out;
    const std::string lines = report::text_lines(text, source_columns);
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin);
        const std::string line = lines.substr(begin, end - begin);
        out += (line.starts_with(".") || line.starts_with("'") ? "\\&" : "") + roff(line) + "\n";
        begin = end + 1;
    }
    return out;
}

std::string literal(std::string_view lines) {
    std::string out = ".PP\n.nf\n";
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        const std::string_view line = lines.substr(begin, end - begin);
        const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
        out += "\\&" + roff(line.substr(first)) + "\n";
        begin = end + 1;
    }
    return out + ".fi\n";
}

std::string tagged(const std::string& tag, std::string_view text) {
    return fmt::format(".TP\n.B {}\n{}", roff(tag), paragraph(text));
}

}  // namespace

std::string man_page() {
    std::string page = fmt::format(".TH FLYBALL 1 {} \"flyball {}\" \"User Commands\"\n", page_date, version);
    page += ".SH NAME\nflyball \\- a laboratory for normalization in transformers\n";
    page += ".SH SYNOPSIS\n.B flyball\nCOMMAND [FLAGS]\n.br\n.B flyball help\n[COMMAND]\n";
    page += ".SH DESCRIPTION\n" +
            paragraph(
                "Write the equation of a residual block once; Flyball simulates it as particles on a sphere, predicts "
                "its law, runs it in checkpoints, trains it, and says whether it is stable.");
    page += ".SH COMMANDS\n";
    for (const CommandHelp& help : help_of_all()) {
        page += fmt::format(".SS {}\n", roff(help.usage())) + paragraph(help.command->about);
        page += ".PP\nExamples:\n" + literal(help.command->example);
        for (const FlagGroup& group : help.groups) {
            page += ".PP\n" + paragraph(group.title + ":");
            for (const FlagHelp& flag : group.flags) {
                page += tagged(flag.shown(), flag.help);
            }
        }
    }
    page += ".SH EXIT STATUS\n";
    for (const ExitMeaning& row : exit_meanings()) {
        page += tagged(std::to_string(static_cast<int>(row.code)), row.meaning);
    }
    return page;
}

}  // namespace flyball::cli
