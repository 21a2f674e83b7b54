// What the sentences and the document of `check --against` say about runs with a known answer.
#include <gtest/gtest.h>

#include "check/conformance.hpp"
#include "check/conformance_explain.hpp"
#include "hand_made_runs.hpp"
#include "saved_runs.hpp"

namespace flyball::check::against_test {
namespace {

using NoteSeverity = ConformanceFinding::Severity;

bool says(const Conformance& result, const std::string& id, const std::string& words) {
    const ConformanceFinding* const found = finding(result, id);
    return found != nullptr && found->message.find(words) != std::string::npos;
}

TEST(ConformanceWords, BlocksAreListedAsAReaderWould) {
    EXPECT_EQ(blocks_text({3}), "block 3");
    EXPECT_EQ(blocks_text({1, 2}), "blocks 1 and 2");
    EXPECT_EQ(blocks_text({1, 2, 3}), "blocks 1 to 3");
    EXPECT_EQ(blocks_text({0, 2, 4}), "blocks 0, 2 and 4");
    EXPECT_EQ(blocks_text({0, 1, 2, 5, 7, 8}), "blocks 0 to 2, 5, 7 and 8");
}

TEST(ConformanceWords, WhereABlockIsWorst) {
    BlockReading block;
    for (std::size_t i = 0; i < place_count; ++i) {
        block.places[i].checked = true;
        block.places[i].tolerance = 1;
        block.places[i].error = std::vector<double>{0.1, 0.3, 0.2}[i];
    }
    EXPECT_EQ(block.where(), Place::ffn_in);
    block.places[2].tolerance = 0.1;  // the first that does not conform, however small its error
    EXPECT_EQ(block.where(), Place::resid);
}

TEST(ConformanceWords, NotesCountWhatTheFileHasAndWhatWasUsed) {
    const RunFile some = EditedRun("pre-ln-f32").read((2 + 5 * 4) * 12 * 4);  // room for four rows of eight
    EXPECT_TRUE(says(conformance(scheme_named("pre-ln"), some), "some-rows", "Of 8 rows 4 were looked at"));
    EditedRun few("peri-ln-f32");
    std::erase_if(few.tensors, [](const auto& one) { return one.first.find("norms.3") != std::string::npos; });
    EXPECT_TRUE(
        says(few.judged("peri-ln"), "gains",
             "Block 0 has gains for 3 norms, and the equation evaluates 4 there: the others were taken to have no "
             "gains."));
    EXPECT_TRUE(says(judged("post-ln", "peri-ln-f32"), "gains",
                     "4 norms, and the equation evaluates 2 there: the others "
                     "were not used."));
    EXPECT_TRUE(says(judged("siamesenorm", "siamesenorm-f32"), "carried-streams", "the equation carries y on from"));
}

TEST(ConformanceWords, ADifferenceNamesTheSubLayerAndListsItsFactors) {
    EXPECT_TRUE(
        says(judged("pre-ln", "wrong-one-norm-missing-f32"), "norm-missing", "from the run in the feed-forward."));
    EXPECT_TRUE(says(judged("ln-scaling", "wrong-ln-scaling-is-one-f32"), "factor-of-attn.in",
                     "multiplied by 1.414, 1.732, 2 beside"));
}

// Of a readout that was saved twice as large, half is unexplained: 0.5 of what was saved.
TEST(ConformanceWords, ADifferenceOfTheReadoutIsToldBeforeItsTolerance) {
    EditedRun run("pre-ln-f32");
    for (float& value : run.at("readout")) {
        value *= 2;
    }
    const Conformance result = run.judged("pre-ln");
    EXPECT_TRUE(says(result, "readout", "The readout differs by 0.5 of its size, where rounding explains "));
    EXPECT_FALSE(says(result, "readout", "explains 0.5"));
}

TEST(ConformanceWords, NarrowValuesInAWideFileAreCalledByTheirType) {
    for (const auto& [run, type] : {std::pair("pre-ln-bf16", "BF16"), std::pair("pre-ln-f16", "F16")}) {
        EXPECT_TRUE(says(EditedRun(run).judged("pre-ln"), "narrow-values",
                         std::string("The tensors are stored as F32 and hold ") + type +
                             " values; the tolerance is that of " + type + "."))
            << type;
    }
}

HandMade scaled(double factor) {
    HandMade how;
    how.type = Dtype::f32;
    how.rows = how.dim = 12;
    how.attention = how.ffn = factor;
    return how;
}

// A number that nobody would write is told where nothing else explains the run, and as all of the explanation.
TEST(ConformanceWords, AStrangeStepIsAnExplanationWhereItIsTheOnlyOne) {
    const Conformance strange = conformance(scheme_named("pre-ln"), HandMadeRun(scaled(0.793125)).file());
    ASSERT_NE(finding(strange, "other-dt"), nullptr);
    EXPECT_NEAR(finding(strange, "other-dt")->evidence.at("dt").get<double>(), 0.793125, 1e-5);
    EXPECT_FALSE(says(strange, "other-dt", "so it is not all"));
    const Conformance large = conformance(scheme_named("pre-ln"), HandMadeRun(scaled(8)).file());
    ASSERT_NE(finding(large, "other-dt"), nullptr);
    EXPECT_NEAR(finding(large, "other-dt")->evidence.at("dt").get<double>(), 8, 1e-4);
}

TEST(ConformanceWords, TheDocumentHasTheNumbersOfThePlaceThatIsNamed) {
    const Conformance result = judged("ln-scaling", "wrong-ln-scaling-is-one-f32");
    const Json block = document(result).at("blocks")[3];
    EXPECT_EQ(block.at("where"), "attn.in");
    EXPECT_EQ(block.at("tolerance").get<double>(), result.reading.blocks[3].at(Place::attention_in).tolerance);
    EXPECT_NE(block.at("tolerance").get<double>(), result.reading.blocks[3].at(Place::resid).tolerance);
    // Post-LN gives the stream as it is to its sub-layer: an error of nothing is an error.
    const Json post = document(judged("post-ln", "post-ln-f32")).at("blocks")[1].at("errors");
    EXPECT_EQ(post.at("attn.in"), 0);
    EXPECT_EQ(post.size(), 3U);
}

TEST(ConformanceWords, TheDocumentCountsTheRowsThatWereRead) {
    const RunFile some = EditedRun("pre-ln-f32").read((2 + 5 * 4) * 12 * 4);  // room for four rows of eight
    const Json run = document(conformance(scheme_named("pre-ln"), some)).at("run");
    EXPECT_EQ(run.at("rows"), 8);
    EXPECT_EQ(run.at("rows_read"), 4);
}

// norm(x + c*f(x)) is norm(x/c + f(x)) but for eps: DeepNorm with a number changed so that a = 1/c is very near. Nobody
// would write that number, so it is not what the run is said to be like.
TEST(ConformanceWords, NearestHasNoContrivedNumber) {
    HandMade how = scaled(0.793125);
    how.scheme = "post-ln";
    const Conformance result = conformance(scheme_named("post-ln"), HandMadeRun(how).file());
    EXPECT_FALSE(result.conforms);
    EXPECT_FALSE(result.nearest.changed) << result.nearest.equation;
    EXPECT_FALSE(result.nearest.conforms) << result.nearest.equation;
}

// The catalogue's entry is compared as it was asked for, with its parameter changed.
TEST(ConformanceWords, NearestIsTheSchemeWithTheSettingsThatWereGiven) {
    scheme::Scheme asked = scheme_named("deepnorm");
    asked.program = scheme::Program::parse("norm(a*x + dt*f(x)) where a = (2*L)^0.5");
    const Conformance result =
        conformance(asked, read_run(SafeTensors::open(golden_run("wrong-deepnorm-exponent-f32"))));
    EXPECT_TRUE(result.conforms);
    EXPECT_EQ(result.nearest.scheme, "deepnorm");
    EXPECT_TRUE(result.nearest.conforms);
    EXPECT_FALSE(result.nearest.changed);
}

// x0 is the embedding, in every block: a tenth of it is added behind the feed-forward of the last one.
TEST(ConformanceWords, TheEmbeddingOfTheEquationIsThatOfTheRun) {
    EditedRun run("pre-ln-f32");
    for (std::size_t i = 0; i < run.at("embed").size(); ++i) {
        run.at("blocks.3.resid")[i] += 0.1F * run.at("embed")[i];
    }
    const RunFile file = run.read();
    const auto last_conforms = [&](const char* equation) {
        return read_as(file, Hypothesis(scheme::Program::parse(equation), file)).blocks[3].conforms();
    };
    EXPECT_TRUE(last_conforms("attn: x + dt*f(norm(x)); ffn: x + dt*f(norm(x)) + 0.1*x0 | norm(x)"));
    EXPECT_FALSE(last_conforms("attn: x + dt*f(norm(x)); ffn: x + dt*f(norm(x)) | norm(x)"));
}

TEST(ConformanceWords, ANormWithoutASavedAlphaHasTheUsualOne) {
    EditedRun run("pre-ln-f32");
    run.metadata["norm"] = "dyt";
    EXPECT_EQ(run.read().blocks[0].norms[0].alpha, 0.5);
}

}  // namespace
}  // namespace flyball::check::against_test
