// Equations of one's own through the commands: named, told apart, never in the colours of the catalogue.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli::test {
namespace {

const std::string two = "--equation 'mine=norm(x + dt*f(x))' --equation 'x + dt*f(norm(x)) | norm(x)' ";

TEST(OwnEquations, AreNamedInEveryDocument) {
    for (const std::string command : {"simulate --tokens 4 --time 1 --samples 3 ", "theory --samples 3 "}) {
        const Outcome outcome = run_program(command + "--json peri-ln " + two);
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const Json runs = parse_json(outcome.out, "json")["runs"];
        ASSERT_EQ(runs.size(), 3U);
        EXPECT_EQ(runs[0]["scheme"], "peri-ln");
        EXPECT_EQ(runs[1]["scheme"], "mine");
        EXPECT_EQ(runs[1]["equation"], "norm(x + dt*f(x))");
        EXPECT_EQ(runs[2]["scheme"], "equation-2");
    }
    const Json list = parse_json(run_program("schemes --json peri-ln " + two).out, "json");
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[1]["name"], "mine");
    EXPECT_EQ(list[2]["name"], "equation-2");
    std::set<std::string> colours;
    for (const Json& row : list) {
        EXPECT_TRUE(colours.insert(row["colour"].get<std::string>()).second) << row["colour"];
    }
    EXPECT_EQ(run_program("schemes " + two).out.rfind("mine: an equation of your own\n", 0), 0U);
    EXPECT_EQ(run_program("schemes 'x + dt*f(x)'").out.rfind("equation of your own\n", 0), 0U);
}

TEST(OwnEquations, HaveSeriesColoursAndFilesOfTheirOwn) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-own-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    const Outcome outcome =
        run_program("simulate --tokens 4 --dim 3 --time 1 --samples 3 peri-ln " + two + "--out " + folder.string());
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const auto text = [&](const char* name) { return read_text_file(folder / name, 1 << 22); };
    for (const char* series : {"\"peri-ln\",", "\"mine\",", "\"equation-2\","}) {
        EXPECT_NE(text("samples.csv").find(series), std::string::npos) << series;
    }
    for (const char* file : {"cosine.csv", "cosine.svg"}) {
        EXPECT_NE(text(file).find("mine"), std::string::npos) << file;
        EXPECT_NE(text(file).find("x + dt*f(norm(x))"), std::string::npos) << file;
    }
    for (const char* file : {"sphere-peri-ln-1.svg", "sphere-mine-2.svg", "sphere-equation-3.svg"}) {
        EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
    }
    EXPECT_NE(text("sphere-mine-2.svg").find(scheme::own_look(1).colour), std::string::npos);
    EXPECT_NE(text("config.toml").find("mine=norm(x + dt*f(x))"), std::string::npos) << text("config.toml");
    const Json about = parse_json(text("provenance.json"), "provenance");
    EXPECT_EQ(about["kernels"].size(), 3U);
    // What it wrote is the run, names included.
    const std::string csv = text("samples.csv");
    ASSERT_EQ(
        run_program("simulate --config " + (folder / "config.toml").string() + " --force --out " + folder.string())
            .exit,
        0);
    EXPECT_EQ(text("samples.csv"), csv);
    std::filesystem::remove_all(folder);
}

TEST(OwnEquations, WrongNamesAreRefused) {
    for (const auto& [flags, says] : std::vector<std::pair<std::string, std::string>>{
             {"--equation 'peri-ln=norm(x + dt*f(x))'", "the name 'peri-ln'"},
             {"--equation 'a=norm(x + dt*f(x))' --equation 'a=x + dt*f(x)'", "two equations with the name 'a'"},
             {"--equation 'mine=norm(x + dt*nrom(f(x)))'", "did you mean norm?"}}) {
        const Outcome outcome = run_program("simulate " + flags);
        EXPECT_EQ(outcome.exit, 2) << flags;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
    }
}

TEST(Simulate, LayersAreWholeBlocksUnlessDtSaysOtherwise) {
    const auto last = [](const std::string& flags) {
        const Outcome outcome = run_program("simulate peri-ln --tokens 4 --samples 2 --json " + flags);
        return parse_json(outcome.out, "json")["runs"][0]["t"][1].get<double>();
    };
    EXPECT_EQ(last("--layers 12"), 12);
    EXPECT_EQ(last("--layers 12 --dt 0.5"), 6);
    EXPECT_EQ(run_program("simulate peri-ln --tokens 4 --samples 2 --json --layers 12 --dt 1").out.substr(0, 300),
              run_program("simulate peri-ln --tokens 4 --samples 2 --json --layers 12").out.substr(0, 300));
}

TEST(Simulate, TheResumeCommandSurvivesAQuoteInThePath) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-it's-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    const Outcome outcome = run_program(
        "simulate post-ln --tokens 600 --dim 16 --layers 1000000 --samples 3 --out \"" + folder.string() + "\"",
        "timeout --foreground -s INT 2");
    const std::string at = "go on with: ";
    const std::size_t found = outcome.err.find(at);
    ASSERT_NE(found, std::string::npos) << outcome.err;
    // The shell takes it as it is printed; --json makes it end at once when it is not refused, as the program says.
    std::string command = outcome.err.substr(found + at.size());
    command = command.substr(std::string("flyball ").size(), command.find('\n') - std::string("flyball ").size());
    const Outcome again = run_program(command, "timeout --foreground -s INT 2");
    EXPECT_NE(again.err.find(at), std::string::npos) << again.err;
    EXPECT_NE(outcome.err.find("it'\\''s"), std::string::npos) << outcome.err;
    std::filesystem::remove_all(folder);
}

TEST(Program, EveryCommandHasTheFlagsThatAllShare) {
    for (const char* command : {"simulate", "theory", "schemes", "reproduce", "forward", "tokenize"}) {
        const std::string help = run_program(std::string(command) + " --help").out;
        for (const char* flag : {"--json", "--threads N", "--config FILE"}) {
            const std::size_t first = help.find(std::string("  ") + flag + " ");
            EXPECT_NE(first, std::string::npos) << command << " " << flag;
            EXPECT_EQ(help.find(std::string("  ") + flag + " ", first + 1), std::string::npos) << command << flag;
        }
    }
    for (const char* command : {"simulate", "theory", "schemes"}) {
        const std::string help = run_program(std::string(command) + " --help").out;
        for (const char* part : {"[SCHEME...]", "--scheme NAME", "--equation [NAME=]TEXT"}) {
            EXPECT_NE(help.find(part), std::string::npos) << command << " " << part << help;
        }
    }
}

}  // namespace
}  // namespace flyball::cli::test
