// A mistake in one block of a run whose other blocks are right; hand_made_runs.hpp writes the blocks out.
#include <gtest/gtest.h>

#include "check/conformance.hpp"
#include "hand_made_runs.hpp"
#include "saved_runs.hpp"

namespace flyball::check::against_test {
namespace {

using Severity = ConformanceFinding::Severity;
using Names = std::vector<std::string>;

HandMade four_blocks(const std::string& scheme) {
    HandMade how;
    how.scheme = scheme;
    how.type = Dtype::f32;
    how.rows = 12;
    how.dim = 12;
    how.layers = 4;
    return how;
}

Conformance judged_as(const std::string& equation, const RunFile& run) {
    return conformance(scheme_named(equation), run);
}

TEST(ConformanceOfSomeBlocks, ANormThatIsMissingInOneBlockIsNamedWithTheBlock) {
    HandMade how = four_blocks("peri-ln");
    EXPECT_TRUE(judged_as("peri-ln", HandMadeRun(how).file()).conforms);
    how.without_last_norm = 2;
    const Conformance result = judged_as("peri-ln", HandMadeRun(how).file());
    EXPECT_FALSE(result.conforms);
    ASSERT_EQ(ids(result, Severity::explanation), Names{"norm-missing"});
    const ConformanceFinding& found = *finding(result, "norm-missing");
    EXPECT_EQ(
        found.message,
        "The norm of `norm(f(norm(x)))`, the outermost one there, is missing from the feed-forward in block 2; the "
        "other blocks are as the equation says.");
    EXPECT_EQ(found.evidence.at("blocks"), Json({2}));
}

TEST(ConformanceOfSomeBlocks, ASkipFromTheWrongPlaceInOneBlockIsNamedWithTheBlock) {
    HandMade how = four_blocks("pre-ln");
    how.skip_after_norm = 1;
    const Conformance result = judged_as("pre-ln", HandMadeRun(how).file());
    EXPECT_FALSE(result.conforms);
    ASSERT_EQ(ids(result, Severity::explanation), Names{"skip-after-norm"});
    EXPECT_NE(finding(result, "skip-after-norm")->message.find("in block 1; the other blocks are as"),
              std::string::npos)
        << finding(result, "skip-after-norm")->message;
}

TEST(ConformanceOfSomeBlocks, GainsThatWereExchangedBetweenBlocksAreFound) {
    for (const char* const scheme : {"pre-ln", "peri-ln"}) {
        HandMadeRun run(four_blocks(scheme));
        std::swap(run.file().blocks[1].norms, run.file().blocks[3].norms);
        const Conformance result = judged_as(scheme, run.file());
        EXPECT_FALSE(result.conforms);
        ASSERT_EQ(ids(result, Severity::explanation), Names{"gains-of-another-block"}) << scheme;
        const ConformanceFinding& found = *finding(result, "gains-of-another-block");
        EXPECT_EQ(found.evidence.at("gains_of"), Json({3, 1}));
        EXPECT_NE(found.message.find("block 1 has those that are saved of block 3, block 3 has those that are saved of "
                                     "block 1"),
                  std::string::npos)
            << found.message;
    }
}

// Of the same size in both: what a norm of BF16 would do, and what an eps does. Only the first is left to guess.
TEST(ConformanceOfSomeBlocks, NarrowArithmeticIsGuessedWhereNothingElseExplainsIt) {
    HandMadeRun noise(four_blocks("pre-ln"));
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (double& value : noise.file().blocks[2].ffn_in.values) {
        value *= 1 + 0.003 * normal(random);
    }
    const Conformance guessed = judged_as("pre-ln", noise.file());
    EXPECT_FALSE(guessed.conforms);
    EXPECT_NE(finding(guessed, "narrow-arithmetic"), nullptr);
    for (const double eps : {1e-3, 1e-4}) {
        HandMadeRun run(four_blocks("pre-ln"));
        run.file().eps = eps;  // it ran with 1e-5
        const Conformance explained = judged_as("pre-ln", run.file());
        EXPECT_FALSE(explained.conforms);
        EXPECT_NE(finding(explained, "other-eps"), nullptr) << eps;
        EXPECT_EQ(finding(explained, "narrow-arithmetic"), nullptr) << eps;
    }
}

}  // namespace
}  // namespace flyball::check::against_test
