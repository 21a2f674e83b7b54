// The program with several threads says what it says with one; ThreadSanitizer watches it here.
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

TEST(ProgramThreads, DoNotShowInClaims) {
    const std::string flags =
        "reproduce --quick --json --only dynamics-table-peri-ln --only dynamics-headline-frozen "
        "--only dynamics-causal-pre-ln --threads ";
    const auto measured = [](const Outcome& outcome) {
        std::string all;
        const Json document = parse_json(outcome.out, "json");
        for (const Json& claim : document["claims"]) {
            all += dump_json(claim["measured"]) + dump_json(claim["note"]) + "\n";
        }
        return all;
    };
    const Outcome one = run_program(flags + "1");
    ASSERT_EQ(one.exit, 0) << one.err;
    EXPECT_EQ(measured(run_program(flags + "3")), measured(one));
}

TEST(ProgramThreads, DoNotShowInRuns) {
    const std::string flags =
        "simulate --scheme peri-ln --tokens 40 --dim 6 --time 1 --samples 5 --systems 3 --json --threads ";
    const auto samples = [](const Outcome& outcome) { return dump_json(parse_json(outcome.out, "json")["samples"]); };
    const Outcome one = run_program(flags + "1");
    ASSERT_EQ(one.exit, 0) << one.err;
    EXPECT_EQ(samples(run_program(flags + "4")), samples(one));
}

TEST(ProgramThreads, DoNotShowInAForwardPass) {
    const std::string folder = std::string(flyball::test::source_folder) + "/tests/model/golden/llama-gqa";
    const std::string flags = "forward '" + folder + "' --ids 1,2,3,4,5,6 --json --threads ";
    const auto loss = [](const Outcome& outcome) { return dump_json(parse_json(outcome.out, "json")["loss"]); };
    const Outcome one = run_program(flags + "1");
    ASSERT_EQ(one.exit, 0) << one.err;
    EXPECT_EQ(loss(run_program(flags + "4")), loss(one));
}

}  // namespace
}  // namespace flyball::cli::test
