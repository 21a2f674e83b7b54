// `flyball theory` as a user meets it: defaults, JSON contract, figures, wrong input.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <sstream>
#include <utility>
#include <vector>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

TEST(Theory, AloneShowsTheSixSchemesOfThePaperWithTheirLaws) {
    const Outcome outcome = run_program("theory");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    for (const char* part : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling", "C exp(-2 t)", "C t^-3",
                             "C t^-0.5 exp(-4 t^0.5)", "gamma'(0)", "t(0.99)"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
    }
}

// Numbers end where their heading ends, words begin where it begins. By (gamma' at 0) = 2/(e^beta + n - 1).
TEST(Theory, HeadingsStandAboveWhatTheyName) {
    std::istringstream text(run_program("theory post-ln --tokens 32 --beta 1").out);
    std::string head;
    std::string row;
    for (std::string line; std::getline(text, line) && row.empty();) {
        head = line.starts_with("scheme ") ? line : head;
        row = line.starts_with("post-ln ") ? line : row;
    }
    const std::string start = "gamma'(0)";
    const std::size_t end = head.find(start) + start.size();
    ASSERT_GT(row.size(), end) << head << "\n" << row;
    EXPECT_EQ(row[end], ' ') << row;
    const std::size_t begin = row.rfind(' ', end - 1) + 1;
    EXPECT_NEAR(std::stod(row.substr(begin, end - begin)), 2 / (std::exp(1.0) + 31), 1e-6) << row;
    EXPECT_EQ(head.find("gamma' for large t"), row.find("exponential  C exp(-2 t)")) << head << "\n" << row;
}

TEST(Theory, LogTimesGoFromAThousandthToTheEndByEqualFactors) {
    for (const auto& [end, expected] : {std::pair("1000", std::vector<double>{0, 1e-3, 1e-1, 10, 1e3}),
                                        std::pair("0.01", std::vector<double>{0, 1e-5, 1e-4, 1e-3, 1e-2})}) {
        const Outcome outcome =
            run_program(fmt::format("theory --scheme post-ln --time {} --log-time --samples 5 --json", end));
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const Json times = parse_json(outcome.out, "json")["runs"][0]["t"];
        ASSERT_EQ(times.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_NEAR(times[i].get<double>(), expected[i], 1e-12 * expected[i]) << i;
        }
    }
}

TEST(Theory, JsonFollowsTheContract) {
    const Outcome outcome = run_program(
        "theory --scheme sqrt-scaling --scheme pre-ln --equation 'norm(x + dt*f(x)*exp(-t))' --tokens 256 --beta 5 "
        "--time 20 --samples 5 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    ASSERT_EQ(document["runs"].size(), 3U);
    for (const Json& run : document["runs"]) {
        for (const char* key : {"t", "gamma", "radius"}) {
            ASSERT_EQ(run[key].size(), 5U) << key;
        }
        EXPECT_EQ(run["t"][0], 0.0);
        EXPECT_EQ(run["t"][4], 20.0);
        for (const char* key :
             {"law", "rate", "p", "power", "time", "exponent", "constant", "log_constant", "limit", "note"}) {
            EXPECT_TRUE(run["terminal"].contains(key)) << key;
        }
        EXPECT_NEAR(run["initial_velocity"].get<double>(), 2 / (std::exp(5.0) + 255), 1e-15);
    }
    const Json& stretched = document["runs"][0]["terminal"];
    EXPECT_EQ(stretched["law"], "stretched");
    EXPECT_NEAR(stretched["rate"].get<double>(), 4, 1e-9);
    EXPECT_NEAR(stretched["p"].get<double>(), 0.5, 1e-9);
    EXPECT_NEAR(stretched["power"].get<double>(), -0.5, 1e-9);
    EXPECT_TRUE(stretched["time"].is_null());
    EXPECT_TRUE(stretched["exponent"].is_null());
    EXPECT_TRUE(stretched["limit"].is_null());
    const Json& power = document["runs"][1]["terminal"];
    EXPECT_EQ(power["law"], "power");
    EXPECT_NEAR(power["exponent"].get<double>(), -3, 1e-9);
    EXPECT_TRUE(power["rate"].is_null());
    // C = 2 K r0^2, and K is there too, by quadrature.
    EXPECT_NEAR(power["log_constant"].get<double>(), std::log(2.0) + document["log_consensus_constant"].get<double>(),
                1e-9);
    EXPECT_EQ(document["runs"][2]["scheme"], "equation");
    EXPECT_EQ(document["runs"][2]["terminal"]["law"], "frozen");
    EXPECT_LT(document["runs"][2]["terminal"]["limit"].get<double>(), 1);
}

TEST(Theory, AConstantThatOverflowsIsNullAndItsLogarithmIsNot) {
    const Outcome outcome = run_program("theory --scheme post-ln --tokens 2 --beta 20 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json terminal = parse_json(outcome.out, "json")["runs"][0]["terminal"];
    EXPECT_EQ(terminal["law"], "exponential");
    EXPECT_TRUE(terminal["constant"].is_null());
    EXPECT_GT(terminal["log_constant"].get<double>(), 1e7);
}

TEST(Theory, TellsPowersOfTimeAndStreamsThatEnd) {
    const std::string flags =
        "theory --tokens 8 --beta 0 --samples 3 --equation 'o = f(x); y = y + dt*(o - y); x = norm(x + dt*y)' "
        "--equation 'x + dt*f(norm(x)) - 2*dt*norm(x) | norm(x)'";
    const Outcome text = run_program(flags);
    ASSERT_EQ(text.exit, 0) << text.err;
    EXPECT_NE(text.out.find("exponential  C t^2 exp(-2 t), C = "), std::string::npos) << text.out;
    // int_0^1 sqrt(z^2 + (1-z^2)/8) dz, see tests/theory/families_test.cpp
    EXPECT_NE(text.out.find("extinct at t = 0.613589"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("x reaches zero"), std::string::npos) << text.out;
    const Outcome outcome = run_program(flags + " --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json runs = parse_json(outcome.out, "json")["runs"];
    EXPECT_EQ(runs[0]["terminal"]["law"], "exponential");
    EXPECT_EQ(runs[0]["terminal"]["p"], 1.0);
    EXPECT_EQ(runs[0]["terminal"]["power"], 2.0);
    EXPECT_EQ(runs[1]["terminal"]["law"], "extinct");
    EXPECT_NEAR(runs[1]["terminal"]["time"].get<double>(), 0.6135888478903762, 1e-11);
    EXPECT_TRUE(runs[1]["terminal"]["rate"].is_null());
    EXPECT_TRUE(runs[1]["gamma"][2].is_null());
}

TEST(Theory, ALimitThatRoundsToOneIsSaidByItsLogarithm) {
    const std::string flags = "theory --equation 'x + dt*f(x)/(1+t) - dt*x/(1+t)^2 | norm(x)' --tokens 10";
    EXPECT_NE(run_program(flags).out.find("frozen at gamma = 1 - exp(-46.0609)"), std::string::npos);
    const Json run = parse_json(run_program(flags + " --json").out, "json")["runs"][0];
    EXPECT_NEAR(run["terminal"]["log_one_minus_limit"].get<double>(), -46.06090018521183, 1e-9);
    EXPECT_NE(run_program("theory 'ngpt:alpha=exp(-t)'").out.find("frozen at gamma = 0."), std::string::npos);
    const std::string sharp = run_program("theory post-ln --beta 700").out;
    EXPECT_NE(sharp.find("not reached: gamma = 1.97194e-204 at the end"), std::string::npos) << sharp;
}

TEST(Theory, ExtremeSettingsGiveNumbers) {
    const Outcome outcome = run_program("theory --tokens 1000000 --beta 700 --time 1e100 --log-time --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    for (const Json& run : document["runs"]) {
        EXPECT_EQ(run["terminal"]["law"], "frozen") << run["scheme"];
        // gamma' = 2 e^-700/s falls below the smallest number where s does grow.
        const bool slower = run["terminal"]["note"].get<std::string>().find("more slowly") != std::string::npos;
        EXPECT_EQ(slower, run["scheme"] != "post-ln" && run["scheme"] != "ngpt") << run["scheme"];
        for (std::size_t i = 0; i < run["gamma"].size(); ++i) {
            const Json& gamma = run["gamma"][i];
            ASSERT_TRUE(gamma.is_number() || (slower && run["t"][i] > 1e4)) << run["scheme"] << " " << run["t"][i];
            if (gamma.is_number()) {
                EXPECT_GE(gamma.get<double>(), 0);
                EXPECT_LT(gamma.get<double>(), 1);
            }
        }
        EXPECT_TRUE(slower ? run["gamma"].back().is_null()
                           : std::abs(run["gamma"].back().get<double>() / (2e100 * std::exp(-700.0)) - 1) < 1e-8)
            << run["gamma"].back();
    }
}

TEST(Theory, SeveralBetasAreOneRunEach) {
    const Outcome outcome = run_program("theory post-ln pre-ln --beta 0.1,1 --beta 10 --samples 3 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    const Json& runs = document["runs"];
    ASSERT_EQ(runs.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
        const double beta = std::vector<double>{0.1, 1, 10}[i % 3];
        EXPECT_EQ(runs[i]["scheme"], i < 3 ? "post-ln" : "pre-ln");
        EXPECT_EQ(runs[i]["beta"], beta);
        EXPECT_NEAR(runs[i]["initial_velocity"].get<double>(), 2 / (std::exp(beta) + 31), 1e-15);
        const Outcome alone = run_program(fmt::format("theory post-ln --beta {} --samples 3 --json", beta));
        EXPECT_EQ(runs[i]["log_consensus_constant"], parse_json(alone.out, "json")["log_consensus_constant"]) << beta;
    }
    EXPECT_NE(runs[0]["log_consensus_constant"], runs[1]["log_consensus_constant"]);
    EXPECT_FALSE(document.contains("log_consensus_constant"));
    const Outcome text = run_program("theory peri-ln --beta 0.1,10");
    EXPECT_TRUE(text.out.starts_with("n = 32 orthonormal tokens, beta = 0.1, 10, r0 = 1, T = 10\n")) << text.out;
    EXPECT_NE(text.out.find("peri-ln, beta = 0.1 "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("peri-ln, beta = 10 "), std::string::npos) << text.out;
}

TEST(Theory, HeadsHaveAFlagOfTheirOwnAndSeveralCosinesAreColumns) {
    const Outcome outcome =
        run_program("theory --scheme post-ln --heads-beta 1,4 --cosine 0.25 --cosine 0.75 --samples 3 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json run = parse_json(outcome.out, "json")["runs"][0];
    EXPECT_NEAR(run["initial_velocity"].get<double>(), 1 / (std::exp(1.0) + 31) + 1 / (std::exp(4.0) + 31), 1e-15);
    EXPECT_EQ(run["heads_beta"], Json({1.0, 4.0}));
    EXPECT_FALSE(run.contains("beta"));
    const Outcome text = run_program("theory post-ln --heads-beta 1,4 --samples 3");
    EXPECT_TRUE(text.out.starts_with("n = 32 orthonormal tokens, heads of beta = 1, 4, r0 = 1, T = 10\n")) << text.out;
    const Outcome negative = run_program("theory --heads-beta -1,4");
    EXPECT_NE(negative.err.find("got --heads-beta -1"), std::string::npos) << negative.err;
    const Outcome both = run_program("theory --beta 1 --heads-beta 1,4");
    EXPECT_EQ(both.exit, 2);
    EXPECT_NE(both.err.find("--beta and --heads-beta together"), std::string::npos) << both.err;
    ASSERT_EQ(run["time_to_cosine"].size(), 2U);
    EXPECT_EQ(run["time_to_cosine"][1]["cosine"], 0.75);
    EXPECT_GT(run["time_to_cosine"][1]["t"], run["time_to_cosine"][0]["t"]);
}

TEST(Theory, PlotsThreeFiguresAndTheirNumbers) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-theory-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const Outcome outcome = run_program("theory --scheme peri-ln --plot '" + (folder / "law.svg").string() + "'");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    for (const char* name :
         {"law.svg", "law-radius.svg", "law-velocity.svg", "law.csv", "law-radius.csv", "law-velocity.csv"}) {
        ASSERT_TRUE(std::filesystem::exists(folder / name)) << name;
        EXPECT_NE(read_text_file(folder / name, 1 << 20).find("peri-ln"), std::string::npos) << name;
    }
    EXPECT_NE(outcome.out.find("law-velocity.svg"), std::string::npos);
    // The last line of each table is the end of the solution.
    const Outcome json = run_program("theory --scheme peri-ln --json");
    const Json run = parse_json(json.out, "json")["runs"][0];
    for (const auto& [name, key] :
         {std::pair{"law.csv", "gamma"}, {"law-radius.csv", "radius"}, {"law-velocity.csv", "velocity"}}) {
        const std::string table = read_text_file(folder / name, 1 << 20);
        const std::string end = table.substr(table.rfind("\n", table.size() - 2) + 1);
        const double shown = std::stod(end.substr(end.find_last_of(',', end.find_last_not_of(",\n")) + 1));
        EXPECT_NEAR(shown, run[key].back().get<double>(), 1e-9 * shown) << name << ": " << end;
    }
    std::filesystem::remove_all(folder);
}

TEST(Theory, LeavesAFolderWithItsPage) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-theory-out-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    const std::string flags = "theory pre-ln 'mine=norm(x + dt*f(x)/(1+t))' --beta 1,4 --tokens 16 --samples 5 ";
    const std::string out = "--out '" + folder.string() + "' ";
    const Outcome outcome = run_program(flags + out);
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("report.html in a browser"), std::string::npos) << outcome.out;
    const Outcome json = run_program(flags + "--json");
    EXPECT_EQ(read_text_file(folder / "theory.json", 1 << 24), json.out);
    const Json document = parse_json(json.out, "json");
    ASSERT_EQ(document["runs"].size(), 4U);
    EXPECT_NE(outcome.out.find(document["summary"].get<std::string>().substr(0, 30)), std::string::npos);
    for (const auto& [name, key] : {std::pair{"cosine", "gamma"}, {"radius", "radius"}, {"velocity", "velocity"}}) {
        const std::string table = read_text_file(folder / (std::string(name) + ".csv"), 1 << 20);
        const std::string end = table.substr(table.rfind("\n", table.size() - 2) + 1);
        EXPECT_NEAR(std::stod(end.substr(end.rfind(',') + 1)), document["runs"][3][key].back().get<double>(), 1e-12)
            << name;
        EXPECT_TRUE(std::filesystem::exists(folder / (std::string(name) + ".svg")));
    }
    EXPECT_NE(read_text_file(folder / "report.html", 1 << 24).find("right angles"), std::string::npos);
    // What is finished is shown again, from its own configuration too; another question is refused.
    const std::string again = "theory --config '" + (folder / "config.toml").string() + "' " + out + "--resume";
    EXPECT_EQ(run_program(again + " --json").out, json.out);
    EXPECT_EQ(run_program("theory --config '" + (folder / "config.toml").string() + "' --json").out, json.out)
        << "computed anew, from the configuration alone";
    EXPECT_EQ(run_program(flags + out).exit, 2) << "the folder is not empty";
    const std::filesystem::path plot = folder.string() + "-plot/law.svg";
    std::filesystem::create_directories(plot.parent_path());
    const Outcome drawn = run_program(again + " --plot '" + plot.string() + "'");
    EXPECT_EQ(drawn.exit, 0) << drawn.err;
    EXPECT_TRUE(std::filesystem::exists(plot)) << "a finished folder has no plot of its own";
    EXPECT_NE(drawn.out.find("written: " + plot.string()), std::string::npos) << drawn.out;
    std::filesystem::remove_all(plot.parent_path());
    EXPECT_EQ(run_program("theory pre-ln --beta 2 " + out + "--resume").exit, 2) << "results of another question";
    std::filesystem::remove_all(folder);
}

// An equation with d in it would be another one without it.
TEST(Theory, TheConfigurationHasTheDimOfTheEquation) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-theory-dim-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    const Outcome outcome =
        run_program("theory peri-ln --tokens 4 --samples 2 --time 1 --dim 7 --out '" + folder.string() + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const std::string configuration = read_text_file(folder / "config.toml", 1 << 20);
    EXPECT_NE(configuration.find("\ndim = 7\n"), std::string::npos) << configuration;
    std::filesystem::remove_all(folder);
}

// Its numbers are others than those of the same line without --dim.
TEST(Theory, TheLineAboveTheTableTellsTheDimOfTheEquation) {
    const std::string flags = "theory --equation 'x + dt*f(norm(x))/d | norm(x)' --tokens 4 --samples 2 --time 1";
    const Outcome given = run_program(flags + " --dim 7");
    EXPECT_EQ(given.out.substr(0, given.out.find('\n')), "n = 4 orthonormal tokens, d = 7, beta = 1, r0 = 1, T = 1");
    const Outcome usual = run_program(flags);
    EXPECT_EQ(usual.out.substr(0, usual.out.find('\n')), "n = 4 orthonormal tokens, beta = 1, r0 = 1, T = 1");
    EXPECT_NE(given.out.substr(given.out.find('\n')), usual.out.substr(usual.out.find('\n')));
}

TEST(Theory, ReadsAConfigurationFile) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("flyball-theory-" + std::to_string(getpid()) + ".toml");
    write_file_atomically(file, "[theory]\nscheme = [\"post-ln\"]\ntokens = 2\nbeta = 0\njson = true\n");
    const Outcome outcome = run_program("theory --config '" + file.string() + "'");
    std::filesystem::remove(file);
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NEAR(parse_json(outcome.out, "json")["runs"][0]["initial_velocity"].get<double>(), 1, 1e-15);
}

TEST(Theory, WrongInputGetsOneSentenceAndExitTwo) {
    for (const char* flags : {"--tokens 0",
                              "--tokens 1",
                              "--tokens 2.5",
                              "--tokens many",
                              "--beta inf",
                              "--beta nan",
                              "--beta -1",
                              "--beta 1,-0.5",
                              "--beta 1,,2",
                              "--beta ''",
                              "--r0 0",
                              "--r0 -1",
                              "--r0 nan",
                              "--time 0",
                              "--time -1",
                              "--time 1e200",
                              "--dim 3",
                              "--samples 1",
                              "--samples 1000000000",
                              "--cosine 1",
                              "--cosine x",
                              "--scheme prenrom",
                              "--scheme dyt",
                              "--equation 'x + f(x)'",
                              "--equation 'x + dt*tanh(f(x))'",
                              "--equation 'x +'",
                              "--plot law.png",
                              "--plot .svg",
                              "--plot /nowhere/at/all/law.svg"}) {
        const Outcome outcome = run_program(std::string("theory ") + flags);
        EXPECT_EQ(outcome.exit, 2) << flags;
        EXPECT_EQ(outcome.out, "") << flags;
        EXPECT_EQ(outcome.err.rfind("flyball: [", 0), 0U) << flags << ": " << outcome.err;
        EXPECT_NE(outcome.err.find("expected"), std::string::npos) << flags << ": " << outcome.err;
    }
    EXPECT_NE(run_program("theory --scheme dyt").err.find("tanh(alpha*x)"), std::string::npos);
    EXPECT_NE(run_program("theory --tokens 1").err.find("no cosine"), std::string::npos);
    // As `simulate --beta -2` says it.
    EXPECT_NE(run_program("theory --beta -2").err.find("got --beta -2, expected a finite number, 0 or more"),
              std::string::npos);
}

}  // namespace
}  // namespace flyball::cli::test
