// `flyball schemes` and what every command promises: exit codes, one sentence, clean stdout.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli::test {
namespace {

TEST(Schemes, ListsEveryScheme) {
    const Outcome outcome = run_program("schemes");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        EXPECT_NE(outcome.out.find(std::string(entry.name)), std::string::npos) << entry.name;
    }
}

// Where lines are broken, blanks alone come in; with blanks and line ends as one blank every equation is whole.
TEST(Schemes, EquationsThatAreBrokenLoseNothing) {
    std::string joined;
    const std::string table = run_program("schemes", "COLUMNS=60").out;
    for (const char c : table) {
        const bool is_blank = c == ' ' || c == '\n';
        if (!is_blank || (!joined.empty() && joined.back() != ' ')) {
            joined += is_blank ? ' ' : c;
        }
    }
    EXPECT_NE(table.find(",\n"), std::string::npos) << "no equation is broken at a comma:\n" << table;
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const std::string text = scheme::find_scheme(entry.name).program.text();
        EXPECT_NE(joined.find(" " + text + " "), std::string::npos) << text << "\n" << table;
    }
}

TEST(Schemes, JsonFollowsTheContract) {
    const Outcome outcome = run_program("schemes --json");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    const Json list = parse_json(outcome.out, "schemes --json");
    ASSERT_EQ(list.size(), scheme::catalogue().size());
    for (const Json& row : list) {
        for (const char* key : {"name", "title", "equation", "readout", "reference"}) {
            EXPECT_TRUE(row.at(key).is_string()) << key;
        }
        EXPECT_TRUE(row.at("ode").is_boolean());
        EXPECT_TRUE(row.at("plane").is_boolean());
        for (const Json& parameter : row.at("parameters")) {
            EXPECT_TRUE(parameter.at("name").is_string());
            EXPECT_TRUE(parameter.at("default").is_string());
            EXPECT_TRUE(parameter.at("learned").is_boolean());
            EXPECT_TRUE(parameter.at("help").is_string());
        }
        EXPECT_NO_THROW(scheme::Program::parse(row.at("equation").get<std::string>()));
    }
    const auto pre = std::find_if(list.begin(), list.end(), [](const Json& row) { return row["name"] == "pre-ln"; });
    ASSERT_NE(pre, list.end());
    EXPECT_EQ((*pre)["equation"], "x + dt*f(norm(x)) | norm(x)");
    EXPECT_EQ((*pre)["readout"], "norm(x)");
}

TEST(Schemes, NamesOfASchemeAndModelsWiredSoAreToldApart) {
    const Outcome outcome = run_program("schemes peri-ln");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("\n  also called     sandwich, sandwich-ln\n"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("\n  models          Gemma 2, Gemma 3, "), std::string::npos) << outcome.out;
}

TEST(Schemes, PageInDocsIsNotStale) {
    const Outcome outcome = run_program("schemes --markdown");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.out, read_text_file(std::string(flyball::test::source_folder) + "/docs/schemes.md", 1 << 20))
        << "run ./flyball schemes --markdown > docs/schemes.md";
}

TEST(Schemes, ExplainsAnEquationOfTheUsersOwn) {
    const Outcome good = run_program("schemes --equation 'norm(x)+dt*f( norm(x) )'");
    EXPECT_EQ(good.exit, 0);
    EXPECT_NE(good.out.find("norm(x) + dt*f(norm(x))"), std::string::npos);
    const Outcome none = run_program("schemes 'x + f(x)'");
    EXPECT_EQ(none.exit, 0);
    EXPECT_NE(none.out.find("no: f(x) is not multiplied by anything that vanishes with dt"), std::string::npos);
    const Outcome setting = run_program("schemes --scheme 'ngpt:alpha=1/(1+t)' --json");
    EXPECT_EQ(parse_json(setting.out, "json")[0]["equation"],
              "unit(x + dt*alpha*(unit(f(x)) - x)) where alpha = 1/(1+t)");
}

// By docs/equation.md particles without an FFN leave the section `ffn:` out: attention alone has a limit here, as its
// term is multiplied by dt; the FFN's is not, and its jumps stay.
TEST(Schemes, TellsWhereALimitIsLostThroughTheFfn) {
    const Outcome outcome = run_program("schemes --equation 'attn: x + dt*f(norm(x)); ffn: x + f(norm(x)) | norm(x)'");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("\n  ODE limit       yes\n"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("\n    with an FFN   no: f(norm(x)) is not multiplied by anything that vanishes"),
              std::string::npos)
        << outcome.out;
    const Outcome both = run_program("schemes --equation 'x + dt*f(norm(x)) | norm(x)'");
    EXPECT_EQ(both.out.find("with an FFN"), std::string::npos) << both.out;
}

TEST(Schemes, WrongEquationExitsTwoWithACaretAndNothingOnStdout) {
    for (const char* equation : {"x + dt*f(norm(x)", "x*f(x)", "x + dt*g(x)", "", "x + 1/0*f(x)", "norm("}) {
        const Outcome outcome = run_program("schemes --equation '" + std::string(equation) + "'");
        EXPECT_EQ(outcome.exit, 2) << equation;
        EXPECT_EQ(outcome.out, "") << equation;
        EXPECT_EQ(outcome.err.rfind("flyball: [scheme.parse] got ", 0), 0U) << outcome.err;
        EXPECT_NE(outcome.err.find("^"), std::string::npos) << equation;
        EXPECT_NE(outcome.err.find("expected"), std::string::npos) << equation;
    }
}

TEST(Program, BadUsageExitsTwoWithOneSentence) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"scheme", "did you mean schemes?"},
        {"schemes --jsn", "did you mean --json?"},
        {"schemes --jsn=1", "the unknown flag '--jsn' (did you mean --json?)"},  // the value is no part of the name
        {"schemes --json --markdown", "got --json and --markdown together"},
        {"schemes --scheme peri", "did you mean peri-ln?"},
        {"schemes --scheme ngpt:beta=1", "expected one of alpha"},
        {"schemes --scheme", "see flyball schemes --help"},
        {"schemes --config /nonexistent.toml", "/nonexistent.toml"},
        {"--frobnicate", "the unknown command"},
    };
    for (const auto& [arguments, says] : cases) {
        const Outcome outcome = run_program(arguments);
        EXPECT_EQ(outcome.exit, 2) << arguments;
        EXPECT_EQ(outcome.out, "") << arguments;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << arguments << ": " << outcome.err;
    }
}

TEST(Program, HelpAndVersionGoToStdout) {
    for (const char* arguments : {"", "--help", "schemes --help"}) {
        const Outcome outcome = run_program(arguments);
        EXPECT_EQ(outcome.exit, 0) << arguments;
        EXPECT_NE(outcome.out.find("example"), std::string::npos) << arguments;
        EXPECT_EQ(outcome.err, "");
    }
    EXPECT_EQ(run_program("--version").out.rfind("flyball ", 0), 0U);
    EXPECT_NE(run_program("forward --help").out.find("usage: flyball forward MODEL [FLAGS]\n"), std::string::npos);
}

TEST(Program, ConfigurationKeysAreFlagsAndFlagsWin) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("flyball-config-" + std::to_string(getpid()) + ".toml")).string();
    write_file_atomically(path, "json = true\n[schemes]\nscheme = [\"peri-ln\", \"ngpt\"]\n[simulate]\ntokens = 4\n");
    const Outcome both = run_program("schemes --config " + path);
    EXPECT_EQ(both.exit, 0) << both.err;
    EXPECT_EQ(parse_json(both.out, "json").size(), 2U);
    for (const char* given : {"--scheme post-ln", "--scheme=post-ln", "post-ln"}) {
        const Outcome wins = run_program("schemes " + std::string(given) + " --config=" + path);
        EXPECT_EQ(parse_json(wins.out, "json").size(), 1U) << given;
    }
    write_file_atomically(path, "jsn = true\n");
    const Outcome wrong = run_program("schemes --config " + path);
    EXPECT_EQ(wrong.exit, 2);
    EXPECT_NE(wrong.err.find("did you mean json?"), std::string::npos) << wrong.err;
    for (const char* const flag : {"help", "config"}) {
        write_file_atomically(path, std::string(flag) + " = \"true\"\n");
        const Outcome no_key = run_program("schemes --config " + path);
        EXPECT_EQ(no_key.exit, 2) << flag;
        EXPECT_EQ(no_key.out, "") << flag;
        EXPECT_NE(no_key.err.find("the unknown key '" + std::string(flag) + "' in "), std::string::npos) << no_key.err;
        EXPECT_EQ(no_key.err.find("did you mean " + std::string(flag)), std::string::npos) << no_key.err;
    }
    write_file_atomically(path, "json = \n");
    EXPECT_EQ(run_program("schemes --config " + path).exit, 2);
    std::filesystem::remove(path);
}

TEST(Program, SaysWhenItsOutputCannotBeWritten) {
    const Outcome outcome = run_program("schemes --json > /dev/full");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.err.find("writable standard output"), std::string::npos) << outcome.err;
}

TEST(Program, RefusesAnUnknownInstructionSet) {
    const Outcome outcome = run_program("schemes", "FLYBALL_ISA=avx9");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.err.find("FLYBALL_ISA"), std::string::npos) << outcome.err;
}

TEST(Program, DoesNotDependOnTheLocale) {
    EXPECT_EQ(run_program("schemes --json", "LC_ALL=de_DE.UTF-8").out, run_program("schemes --json", "LC_ALL=C").out);
}

}  // namespace
}  // namespace flyball::cli::test
