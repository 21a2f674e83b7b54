// `flyball check` as a user runs it: verdicts as exit codes, its document, its files, its errors.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"
#include "stored.hpp"

namespace flyball::cli::test::check_test {
namespace {

const std::string quick = " --depth 8 --steps 12";

class Check : public testing::Test {
  protected:
    Check() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~Check() override { std::filesystem::remove_all(folder_); }
    Check(const Check&) = delete;
    Check& operator=(const Check&) = delete;

    std::string out() const { return " --out '" + (folder_ / "run").string() + "'"; }
    std::string contents(const std::string& name) const { return read_text_file(folder_ / "run" / name, 1U << 26U); }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("flyball-check-" + std::to_string(getpid()));
};

TEST_F(Check, AStableBlockExitsWithZeroAndABrokenOneWithOne) {
    const Outcome good = run_program("check peri-ln --json" + quick);
    EXPECT_EQ(good.exit, 0) << good.err;
    EXPECT_EQ(parse_json(good.out, "out").at("verdict"), "stable");
    const Outcome bad = run_program("check 'dt*f(norm(x)) | norm(x)' --json" + quick);
    EXPECT_EQ(bad.exit, 1) << bad.err;
    EXPECT_EQ(parse_json(bad.out, "out").at("verdict"), "malformed");
    const Outcome unstable = run_program("check '1.1*x + dt*norm(f(norm(x))) | norm(x)' --json" + quick);
    EXPECT_EQ(unstable.exit, 1) << unstable.err;
    EXPECT_EQ(parse_json(unstable.out, "out").at("verdict"), "unstable");
    const Outcome careful = run_program("check 'norm(x) + dt*f(norm(x))' --json" + quick);
    EXPECT_EQ(careful.exit, 0) << careful.err;
    EXPECT_EQ(parse_json(careful.out, "out").at("verdict"), "caution");
}

TEST_F(Check, TheReportFitsATerminalAndEndsWithAdvice) {
    const Outcome outcome = run_program("check 'x + dt*norm(f(norm(x))/sqrt(t+1)) | norm(x)'" + quick);
    EXPECT_EQ(outcome.exit, 1);
    EXPECT_NE(outcome.out.find("MALFORMED"), std::string::npos);
    EXPECT_NE(outcome.out.find("[malformed] scale-removed-by-norm"), std::string::npos);
    EXPECT_NE(outcome.out.find("The factor `sqrt(t+1)` cannot matter"), std::string::npos);
    EXPECT_NE(outcome.out.find("Beside Peri-LN your block"), std::string::npos);
    std::size_t begin = 0;
    for (std::size_t end = outcome.out.find('\n'); end != std::string::npos; end = outcome.out.find('\n', begin)) {
        EXPECT_LE(end - begin, 80U) << outcome.out.substr(begin, end - begin);
        begin = end + 1;
    }
}

// Blocks under "Training loss": Peri-LN beside Pre-LN alone, another equation beside both.
TEST_F(Check, NoBlockIsShownBesideItself) {
    const auto named = [](const std::string& command) {
        std::istringstream lines(run_program(command + quick).out);
        std::vector<std::string> names;
        bool inside = false;
        for (std::string line; std::getline(lines, line) && !(inside && line.empty());) {
            if (inside) {
                std::istringstream words(line);
                words >> names.emplace_back();
            }
            inside = inside || line.rfind("Training loss", 0) == 0;
        }
        return names;
    };
    EXPECT_EQ(named("check peri-ln"), (std::vector<std::string>{"peri-ln", "pre-ln"}));
    EXPECT_EQ(named("check post-ln"), (std::vector<std::string>{"post-ln", "pre-ln", "peri-ln"}));
}

TEST_F(Check, TwoBlocksAreComparedAndEitherDecides) {
    const std::string command = "check pre-ln 'mine=dt*f(norm(x)) | norm(x)' --json" + quick + out();
    const Outcome outcome = run_program(command);
    EXPECT_EQ(outcome.exit, 1) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("checks")[0].at("verdict"), "stable");
    EXPECT_EQ(json.at("checks")[1].at("scheme"), "mine");
    EXPECT_NE(json.at("difference").get<std::string>().find("pre-ln is stable, mine is malformed"), std::string::npos);
    // The same with the broken one first, as the result of a run that is finished.
    Json turned = json;
    std::swap(turned["checks"][0], turned["checks"][1]);
    replace_result((folder_ / "run").string(), "check.json", dump_json(turned));
    const Outcome again = run_program(command + " --resume");
    EXPECT_EQ(again.exit, 1) << again.err;
    EXPECT_EQ(parse_json(again.out, "out").at("checks")[0].at("scheme"), "mine");
}

// docs/check.md: whatever the width, stand-ins have 32 channels.
TEST_F(Check, TheReportTellsTheWidthOfTheBlockFromThatOfItsStandIns) {
    const Outcome outcome = run_program("check pre-ln --depth 2 --steps 10 --width 640 --tokens 100");
    EXPECT_NE(outcome.out.find("\nfor 2 blocks x 640 channels, 100 tokens; measured on stand-ins of 32 channels\n"),
              std::string::npos)
        << outcome.out << outcome.err;
}

TEST_F(Check, AFolderHasTheReportAndIsReadAgain) {
    const std::string command = "check post-ln" + quick + out();
    const Outcome first = run_program(command + " --json");
    EXPECT_EQ(first.exit, 0) << first.err;
    EXPECT_EQ(contents("check.json"), first.out);
    EXPECT_NE(contents("report.txt").find("post-ln: norm(x + dt*f(x))"), std::string::npos);
    EXPECT_NE(contents("check.svg").find("Training loss at 8 blocks"), std::string::npos);
    EXPECT_NE(contents("check.csv").find("post-ln"), std::string::npos);
    const Outcome refused = run_program(command);
    EXPECT_EQ(refused.exit, 2);
    const Outcome again = run_program(command + " --resume --json");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(again.out, first.out);
    const Outcome other = run_program("check pre-ln" + quick + out() + " --resume");
    EXPECT_EQ(other.exit, 2);
}

// The page and the table show the numbers of the document.
TEST_F(Check, PageAndTableShowWhatWasMeasured) {
    const Outcome outcome = run_program("check peri-ln --json" + quick + out());
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    std::map<std::string, std::vector<double>> drawn;  // by panel, of the block
    std::istringstream lines(contents("check.csv"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t y = line.rfind(',');
        const std::size_t series = line.find(",peri-ln,");
        if (series != std::string::npos) {
            drawn[line.substr(0, series)].push_back(std::stod(line.substr(y + 1)));
        }
    }
    const Json& deepest = json.at("beginning").back();
    const auto stream = deepest.at("stream").get<std::vector<double>>();
    std::vector<double> gradient = deepest.at("gradient").get<std::vector<double>>();
    const double last = gradient.back();
    for (double& value : gradient) {
        value /= last;
    }
    ASSERT_EQ(stream.size(), 97U);
    EXPECT_EQ(drawn["Stream of a fresh model over depth"], stream);
    EXPECT_EQ(drawn["Gradient of a fresh model over depth"], gradient);
    for (const Json& run : json.at("training")) {
        const auto& losses = drawn["Training loss at " + std::to_string(run.at("depth").get<int>()) + " blocks"];
        ASSERT_EQ(losses.size(), 12U);
        EXPECT_EQ(losses.front(), run.at("first"));
        EXPECT_EQ(losses.back(), run.at("last"));  // a tenth of 12 steps is one
    }
    // Steps count from 1 to 12; there is no step 0.
    const std::string losses_at_8 = "\nTraining loss at 8 blocks,peri-ln,";
    EXPECT_NE(contents("check.csv").find(losses_at_8 + "12,"), std::string::npos);
    EXPECT_EQ(contents("check.csv").find(losses_at_8 + "0,"), std::string::npos);
    const std::string report = contents("report.txt");
    for (const Json& curve : json.at("beginning")) {
        const auto of = curve.at("stream").get<std::vector<double>>();
        const auto back = curve.at("gradient").get<std::vector<double>>();
        char row[80];
        std::snprintf(row, sizeof row, "  %6d  %10.3g  %10.3g  %10.3g\n", curve.at("depth").get<int>(), of[1],
                      of.back(), back[1] / back.back());
        EXPECT_NE(report.find(row), std::string::npos) << row;
    }
}

// A script that takes up its checks must not read success where the first call said that the block is broken.
TEST_F(Check, ABadVerdictIsStillOneWhenReadFromItsFolder) {
    const std::string command = "check 'dt*f(norm(x)) | norm(x)' --json" + quick + out();
    const Outcome first = run_program(command);
    EXPECT_EQ(first.exit, 1) << first.err;
    const Outcome again = run_program(command + " --resume");
    EXPECT_EQ(again.exit, 1) << again.err;
    EXPECT_EQ(again.out, first.out);
}

TEST_F(Check, WrongCallsAreOneSentence) {
    for (const std::string call :
         {"check", "check a b c", "check pre-ln post-ln peri-ln", "check perlin", "check 'x + f(norm(x)'",
          "check pre-ln --depth 1", "check pre-ln --depth 100000", "check pre-ln --width 3",
          "check pre-ln --init foo=1", "check pre-ln --init output=1/0", "check pre-ln --norm nrm",
          "check pre-ln --dt 0", "check pre-ln --steps 0", "check pre-ln --tokens 1"}) {
        const Outcome outcome = run_program(call + out());
        EXPECT_EQ(outcome.exit, 2) << call << outcome.out;
        EXPECT_EQ(outcome.out, "") << call;
        EXPECT_FALSE(std::filesystem::exists(folder_ / "run")) << call;
    }
}

}  // namespace
}  // namespace flyball::cli::test::check_test
