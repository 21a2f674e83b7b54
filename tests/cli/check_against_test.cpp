// `flyball check EQUATION --against RUN`: its JSON contract, its text, its errors.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"
#include "program.hpp"

namespace flyball::cli::test::check_against_test {
namespace {

std::string golden(const std::string& name) {
    return " --against '" + std::string(flyball::test::source_folder) + "/tests/check/golden/" + name + ".safetensors'";
}

TEST(CheckAgainst, JsonFollowsTheContract) {
    const Outcome right = run_program("check pre-ln --json" + golden("pre-ln-bf16"));
    EXPECT_EQ(right.exit, 0);
    EXPECT_EQ(right.err, "");
    const Json conforms = parse_json(right.out, "check --json");
    EXPECT_EQ(conforms.at("equation"), "x + dt*f(norm(x)) | norm(x)");
    EXPECT_EQ(conforms.at("verdict"), "conforms");
    EXPECT_EQ(conforms.at("blocks").size(), 4U);
    EXPECT_EQ(conforms.at("findings"), Json::array());
    EXPECT_EQ(conforms.at("nearest").at("scheme"), "pre-ln");

    const Outcome wrong = run_program("check peri-ln --json" + golden("wrong-peri-without-output-norm-f32"));
    EXPECT_EQ(wrong.exit, 1);
    EXPECT_EQ(wrong.err, "");
    const Json differs = parse_json(wrong.out, "check --json");
    EXPECT_EQ(differs.at("verdict"), "differs");
    for (std::size_t l = 0; l < 4; ++l) {
        EXPECT_EQ(differs.at("blocks")[l].at("block"), l);
        EXPECT_EQ(differs.at("blocks")[l].at("where"), "ffn.in");
        EXPECT_GT(differs.at("blocks")[l].at("error").get<double>(), differs.at("blocks")[l].at("tolerance"));
    }
    EXPECT_EQ(differs.at("nearest").at("scheme"), "pre-ln");
}

TEST(CheckAgainst, TextSaysWhichTermWhichBlocksAndWhy) {
    const Outcome outcome = run_program("check ln-scaling" + golden("wrong-ln-scaling-is-one-f32"));
    EXPECT_EQ(outcome.exit, 1);
    for (const char* const part :
         {"The input of attention differs in blocks 1 to 3", "multiplied by 1.414, 1.732, 2 ", "l^0.5",
          "a factor that should change with depth does not", "The run is as pre-ln says: x + dt*f(norm(x)) | norm(x)",
          "verdict: differs; nearest in the catalogue: pre-ln"}) {
        EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
    }
    const Outcome right = run_program("check --scheme ln-scaling" + golden("ln-scaling-f32"));
    EXPECT_EQ(right.exit, 0);
    EXPECT_NE(right.out.find("verdict: conforms"), std::string::npos);
    EXPECT_EQ(right.out.find('*', right.out.find("block  ")), right.out.find("* is more than rounding explains"));
}

TEST(CheckAgainst, TheTableHasTheErrorOfEveryPlaceInItsColumn) {
    for (const std::string& call :
         {"check peri-ln" + golden("wrong-peri-without-output-norm-f32"), "check pre-ln" + golden("pre-ln-bf16")}) {
        const Json blocks = parse_json(run_program(call + " --json").out, "json").at("blocks");
        std::vector<std::vector<std::string>> expected;
        for (const Json& block : blocks) {
            expected.push_back({std::to_string(block.at("block").get<int>())});
            for (const char* place : {"attn.in", "ffn.in", "resid"}) {
                expected.back().push_back(fmt::format("{:.1e}", block.at("errors").at(place).get<double>()));
            }
            expected.back().push_back(fmt::format("{:.1e}", block.at("tolerance").get<double>()));
            EXPECT_NE(expected.back()[1], expected.back()[2]) << "columns that can be told apart are needed here";
        }
        std::vector<std::vector<std::string>> found;
        std::istringstream text(run_program(call).out);
        for (std::string line; std::getline(text, line);) {
            std::istringstream words(line);
            std::vector<std::string> row;
            for (std::string word; words >> word;) {
                if (word != "*") {  // more than rounding explains
                    row.push_back(word);
                }
            }
            if (row.size() == 5 && std::isdigit(static_cast<unsigned char>(row[0][0])) != 0) {
                found.push_back(row);
            }
        }
        EXPECT_EQ(found, expected) << call;
    }
}

TEST(CheckAgainst, EquationsOfOnesOwnAreTaken) {
    EXPECT_EQ(run_program("check 'x + dt*attn(norm(x)) + dt*ffn(norm(x)) | norm(x)'" + golden("parallel-f32")).exit, 0);
    EXPECT_EQ(run_program("check --equation 'mine=x + f(norm(x)) | norm(x)'" + golden("parallel-f32")).exit, 1);
    EXPECT_EQ(run_program("check 'deepnorm:a=(2*L)^0.5'" + golden("wrong-deepnorm-exponent-bf16")).exit, 0);
}

TEST(CheckAgainst, BadFilesAreOneSentenceAndExitTwo) {
    const std::string whole = read_regular_file(
        std::string(flyball::test::source_folder) + "/tests/check/golden/pre-ln-f32.safetensors", 1 << 20);
    const std::string file = std::filesystem::temp_directory_path() / ("flyball-against-" + std::to_string(getpid()));
    const auto outcome_of = [&](const std::string& contents) {
        write_file_atomically(file, contents);
        Outcome outcome = run_program("check pre-ln --against '" + file + "'");
        std::filesystem::remove(file);
        return outcome;
    };
    std::string nameless = whole;
    nameless.replace(nameless.find("\"norm\""), 6, "\"morn\"");
    for (const Outcome& outcome :
         {outcome_of(whole.substr(0, whole.size() / 2)), outcome_of(whole.substr(0, 5)), outcome_of(""),
          outcome_of(nameless), run_program("check pre-ln --against /no/such/file"),
          run_program("check pre-ln --against /tmp"), run_program("check nothing-ln" + golden("pre-ln-f32")),
          run_program("check" + golden("pre-ln-f32")), run_program("check pre-ln post-ln" + golden("pre-ln-f32")),
          run_program("check 'x + f(x) + f(norm(x))'" + golden("pre-ln-f32"))}) {
        EXPECT_EQ(outcome.exit, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
}

// The run was made at its own sizes: a flag that would be without effect is refused, not ignored.
TEST(CheckAgainst, SizesBesideASavedRunAreRefused) {
    const Outcome outcome = run_program("check pre-ln --depth 9" + golden("pre-ln-f32"));
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("got --depth and --against, expected one of them"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace flyball::cli::test::check_against_test
