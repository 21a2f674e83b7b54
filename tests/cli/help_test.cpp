// Help, man page and completions are one list: every command and every flag stands in each of them. And what is printed
// fits the terminal it is printed on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>
#include <set>

#include "core/file.hpp"
#include "program.hpp"
#include "report/utf8.hpp"

namespace flyball::cli::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    bool inside = false;
    for (const std::string& line : lines_of(run_program("help").out)) {
        inside = line == "commands:" || (inside && !line.empty());
        if (inside && line.starts_with("  ") && !line.starts_with("   ")) {
            names.push_back(line.substr(2, line.find(' ', 2) - 2));
        }
    }
    return names;
}

// Of the entries of a page: "  SCHEME..., --scheme NAME   ..", "  -h, --help   ..".
std::set<std::string> flags_in(const std::string& page) {
    std::set<std::string> flags;
    const std::regex flag("--?[a-z][a-z0-9-]*");
    bool inside = false;
    for (const std::string& line : lines_of(page)) {
        inside = line == "examples:" ? false : line.ends_with(":") && !line.starts_with(" ") ? true : inside;
        if (!inside || !line.starts_with("  ") || line.starts_with("   ")) {
            continue;
        }
        const std::string entry = line.substr(2, line.find("  ", 2) - 2);
        for (auto at = std::sregex_iterator(entry.begin(), entry.end(), flag); at != std::sregex_iterator(); ++at) {
            flags.insert(at->str());
        }
    }
    return flags;
}

std::size_t widest(const std::string& text) {
    std::size_t most = 0;
    for (const std::string& line : lines_of(text)) {
        most = std::max(most, report::columns(line));
    }
    return most;
}

TEST(Help, OfEveryCommandBeginsWithASentenceUsageAndExamples) {
    const std::vector<std::string> names = command_names();
    EXPECT_GE(names.size(), 11U);
    for (const std::string& name : names) {
        SCOPED_TRACE(name);
        const Outcome page = run_program("help " + name, "COLUMNS=80");
        EXPECT_EQ(page.exit, 0) << page.err;
        EXPECT_EQ(page.out, run_program(name + " --help", "COLUMNS=80").out);
        const std::size_t usage = page.out.find("\nusage: flyball " + name);
        const std::size_t examples = page.out.find("\nexamples:\n  flyball " + name);
        ASSERT_NE(usage, std::string::npos) << page.out;
        ASSERT_NE(examples, std::string::npos) << page.out;
        EXPECT_LT(usage, examples);
        EXPECT_EQ(page.out.substr(usage - 2, 2), ".\n") << "one sentence or two come first";
        EXPECT_TRUE(std::isupper(static_cast<unsigned char>(page.out[0])) != 0) << page.out;
        // Every flag stands below a heading of its own kind.
        EXPECT_EQ(page.out.find("\nflags:"), std::string::npos) << page.out;
        EXPECT_EQ(page.out.find("\nOptions:"), std::string::npos) << page.out;
        EXPECT_NE(page.out.find("\noutput:\n"), std::string::npos);
        EXPECT_NE(page.out.find("\nprogram:\n"), std::string::npos);
        EXPECT_LE(widest(page.out), 80U) << page.out;
        for (const char* flag : {"--json", "--quiet", "--threads", "--config", "--help", "-h"}) {
            EXPECT_TRUE(flags_in(page.out).contains(flag)) << flag;
        }
    }
    EXPECT_GE(flags_in(run_program("help simulate").out).size(), 35U);
    EXPECT_LE(widest(run_program("help", "COLUMNS=80").out), 80U);
}

// Texts begin in column 24, two blanks behind the name at least; this name would leave one.
TEST(Help, NamesThatReachTheTextStandAbove) {
    const std::string name = "  DIR..., --folder NAME";
    ASSERT_EQ(name.size(), 23U);
    const std::string page = run_program("help report", "COLUMNS=80").out;
    EXPECT_NE(page.find("\n" + name + "\n" + std::string(24, ' ')), std::string::npos) << page;
}

// A text in quotes that went on below would be another text.
TEST(Help, ExamplesThatAreTooLongGoOnWithAFlag) {
    std::size_t continued = 0;
    for (const std::string& name : command_names()) {
        for (const char* columns : {"60", "80"}) {
            const std::vector<std::string> page =
                lines_of(run_program("help " + name, std::string("COLUMNS=") + columns).out);
            for (std::size_t i = 0; i + 1 < page.size(); ++i) {
                if (page[i].ends_with(" \\")) {
                    ++continued;
                    EXPECT_TRUE(page[i + 1].starts_with("      --")) << page[i] << "\n" << page[i + 1];
                }
            }
        }
    }
    EXPECT_GT(continued, 5U);
}

TEST(Help, ExplainsEveryExitCode) {
    const std::string page = run_program("help").out;
    const std::size_t begin = page.find("\nexit codes:\n");
    ASSERT_NE(begin, std::string::npos);
    for (const char* code : {"0", "1", "2", "3", "130"}) {
        EXPECT_NE(page.find(std::string("\n  ") + code + "  ", begin), std::string::npos) << code;
    }
    for (const char* way : {"", "--help", "-h", "help --help"}) {
        EXPECT_EQ(run_program(way).out, page) << way;
    }
}

TEST(ManPage, HasEveryCommandAndFlagAndIsSound) {
    const Outcome page = run_program("help --man");
    ASSERT_EQ(page.exit, 0) << page.err;
    std::string plain = page.out;
    for (std::size_t at = plain.find("\\-"); at != std::string::npos; at = plain.find("\\-", at)) {
        plain.erase(at, 1);
    }
    for (const std::string& name : command_names()) {
        const std::size_t begin = plain.find("\n.SS flyball " + name + " ");
        ASSERT_NE(begin, std::string::npos) << name;
        const std::string section = plain.substr(begin, plain.find("\n.S", begin + 4) - begin);
        for (const std::string& flag : flags_in(run_program("help " + name).out)) {
            EXPECT_TRUE(std::regex_search(section, std::regex("\\.B [^\\n]*" + flag + "\\b"))) << name << " " << flag;
        }
    }
    for (const char* code : {"0", "1", "2", "3", "130"}) {
        EXPECT_NE(plain.find(std::string(".B ") + code + "\n", plain.find(".SH EXIT STATUS")), std::string::npos);
    }
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("flyball-" + std::to_string(getpid()) + ".1");
    write_file_atomically(file, page.out);
    const std::string said = file.string() + ".said";
    const std::string shown = file.string() + ".shown";
    EXPECT_EQ(std::system(("LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l '" + file.string() + "' >'" + shown + "' 2>'" +
                           said + "'")
                              .c_str()),
              0)
        << "man-db, a package of [test], shows the page";
    EXPECT_EQ(read_text_file(said, 1 << 20), "");
    EXPECT_NE(read_text_file(shown, 1 << 20).find("SIGTERM"), std::string::npos);
    for (const std::string& one : {file.string(), said, shown}) {
        std::filesystem::remove(one);
    }
}

TEST(Completion, HasEveryCommandAndFlagInEveryShell) {
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const Outcome script = run_program(std::string("help --completion ") + shell);
        ASSERT_EQ(script.exit, 0) << script.err;
        const bool is_fish = std::string(shell) == "fish";
        for (const std::string& name : command_names()) {
            SCOPED_TRACE(shell + (" " + name));
            const std::string head =
                is_fish ? "__fish_seen_subcommand_from " + name + "'" : "\n        " + name + ")\n";
            const std::size_t begin = script.out.find(head);
            ASSERT_NE(begin, std::string::npos);
            const std::size_t end = is_fish ? script.out.size() : script.out.find(";;", begin);
            const std::string part = script.out.substr(begin, end - begin);
            for (const std::string& flag : flags_in(run_program("help " + name).out)) {
                const std::string word =
                    is_fish ? head + (flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1)) + " "
                            : flag;
                EXPECT_NE((is_fish ? script.out : part).find(word), std::string::npos) << flag;
            }
        }
    }
}

TEST(Completion, OfBashOffersCommandsFlagsAndSchemes) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("flyball-complete-" + std::to_string(getpid()));
    write_file_atomically(file, run_program("help --completion bash").out);
    const auto offered = [&](const std::string& words) {
        const std::string out = file.string() + ".out";
        const std::string script = "source '" + file.string() + "'; COMP_WORDS=(flyball " + words +
                                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _flyball; echo \"${COMPREPLY[*]}\"";
        write_file_atomically(file.string() + ".sh", script);
        EXPECT_EQ(std::system(("bash '" + file.string() + ".sh' >'" + out + "'").c_str()), 0) << words;
        const std::string text = read_text_file(out, 1 << 16);
        std::filesystem::remove(out);
        return text.substr(0, text.size() - 1);
    };
    EXPECT_EQ(offered("sim"), "simulate");
    EXPECT_EQ(offered("simulate --tok"), "--tokens");
    EXPECT_EQ(offered("simulate --log"), "--log-time");
    EXPECT_EQ(offered("simulate peri"), "peri-ln");
    EXPECT_EQ(offered("simulate peri-ln --scheme hybridnorm-"), "hybridnorm-star");
    EXPECT_EQ(offered("simulate --out peri"), "") << "the value of a flag is a file's name";
    EXPECT_EQ(offered("check peri"), "peri-ln");
    EXPECT_EQ(offered("inspect peri"), "") << "it takes models";
    EXPECT_EQ(offered("help ins"), "inspect");
    EXPECT_EQ(offered("help --completion f"), "fish");
    for (const char* end : {"", ".sh"}) {
        std::filesystem::remove(file.string() + end);
    }
}

TEST(Terminal, OutputFitsItsColumns) {
    const std::vector<std::string> all = {"simulate --tokens 64 --time 2 --samples 9",
                                          "simulate 'ngpt:alpha=1/(1+t)' "
                                          "--equation 'x + dt*norm(f(norm(x)))*sqrt(1+t)/(1+t) | norm(x)' --tokens 8 "
                                          "--time 1 --samples 3",
                                          "theory",
                                          "theory --beta 0.1,10 --cosine 0.5,0.9,0.99,0.999 pre-ln ngpt",
                                          "schemes",
                                          "schemes mix-ln hybridnorm-star"};
    for (const std::string& arguments : all) {
        for (const char* columns : {"60", "80", "200"}) {
            const Outcome outcome = run_program(arguments, std::string("COLUMNS=") + columns);
            EXPECT_EQ(outcome.exit, 0) << outcome.err;
            const bool has_laws = arguments.starts_with("theory");  // numbers are not cut
            EXPECT_LE(widest(outcome.out),
                      has_laws ? std::max<std::size_t>(80, std::stoul(columns)) : std::stoul(columns))
                << arguments << "\n"
                << outcome.out;
        }
    }
    const std::string narrow = run_program(all[0], "COLUMNS=80").out;
    const std::string wide = run_program(all[0], "COLUMNS=200").out;
    EXPECT_EQ(narrow.find("kernel"), std::string::npos) << narrow;
    EXPECT_NE(wide.find("kernel"), std::string::npos) << wide;
    EXPECT_GT(widest(wide), 150U) << "the plot uses the width there is";
    EXPECT_EQ(run_program(all[0], "env -u COLUMNS").out.size() > 0, true);
    EXPECT_LE(widest(run_program(all[0], "env -u COLUMNS").out), 80U) << "80 where there is no terminal";
}

TEST(Terminal, TheSizeOfTheWindowCounts) {
    // `script` gives the program a terminal; stty its size.
    const std::string run = std::string(flyball::test::program) + " simulate --tokens 8 --time 1 --samples 3";
    for (const auto& [columns, least, most] :
         std::vector<std::tuple<std::string, std::size_t, std::size_t>>{{"80", 70, 80}, {"180", 170, 180}}) {
        const std::filesystem::path file =
            std::filesystem::temp_directory_path() / ("flyball-tty-" + std::to_string(getpid()));
        const std::string command = "env -u COLUMNS NO_COLOR=1 script -qec \"stty cols " + columns + " rows 24; " +
                                    run + "\" /dev/null >'" + file.string() + "' </dev/null";
        ASSERT_EQ(std::system(command.c_str()), 0);
        std::string text = std::regex_replace(read_text_file(file, 1 << 20), std::regex("\x1b\\[[0-9;]*[A-Za-z]"), "");
        std::erase(text, '\r');
        text.erase(0, text.find("n = 8"));
        std::filesystem::remove(file);
        EXPECT_LE(widest(text), most) << text;
        EXPECT_GE(widest(text), least) << text;
    }
}

TEST(Quiet, LeavesNothingOnStderr) {
    const std::string sample = "sample builtin:pre-ln --prompt 'a' --tokens 3";
    EXPECT_NE(run_program(sample).err, "") << "it says how fast it was";
    EXPECT_EQ(run_program(sample + " --quiet").err, "");
    EXPECT_EQ(run_program(sample + " --quiet").out, run_program(sample).out);
    const std::string train = "train --steps 12 --layers 1 --dim 16 --heads 2 --context 16 --batch 2 --tokens 4096";
    EXPECT_NE(run_program(train).err, "") << "it says where it is";
    EXPECT_EQ(run_program(train + " --quiet").err, "");
    EXPECT_EQ(run_program("simulate --quiet --beta x").exit, 2);
    EXPECT_NE(run_program("simulate --quiet --beta x").err, "") << "errors remain";
}

TEST(Numbers, AreWrittenOut) {
    const std::string text = run_program("simulate peri-ln --tokens 1024 --dim 64 --time 0.01 --samples 2").out;
    EXPECT_NE(text.find(" 1024 "), std::string::npos) << text;
    EXPECT_EQ(text.find("e+"), std::string::npos) << text;
}

}  // namespace
}  // namespace flyball::cli::test
