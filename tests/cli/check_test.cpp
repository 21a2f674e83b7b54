// `flyball check` as a user runs it: verdicts as exit codes, its document, its files, its errors.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"

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

TEST_F(Check, TwoBlocksAreComparedAndEitherDecides) {
    const Outcome outcome = run_program("check pre-ln 'mine=dt*f(norm(x)) | norm(x)' --json" + quick);
    EXPECT_EQ(outcome.exit, 1) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("checks")[0].at("verdict"), "stable");
    EXPECT_EQ(json.at("checks")[1].at("scheme"), "mine");
    EXPECT_NE(json.at("difference").get<std::string>().find("pre-ln is stable, mine is malformed"), std::string::npos);
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

TEST_F(Check, WrongCallsAreOneSentence) {
    for (const std::string call :
         {"check", "check a b c", "check pre-ln post-ln peri-ln", "check periln", "check 'x + f(norm(x)'",
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
