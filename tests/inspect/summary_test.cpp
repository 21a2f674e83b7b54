// Every kind of sentence of a summary, typed here for reports whose numbers are typed in reports.hpp or here.
//
// Of made_report(3), block l has in field number k of layer_fields() the value 0.14 + 0.32*l + 0.01*k.
#include "inspect/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"
#include "inspect/reports.hpp"

namespace flyball::inspect::test {
namespace {

using measure::GrowthClass;
using model::StreamBound;
using Lines = std::vector<std::string>;

std::string spelled(std::int32_t id) {
    return "t" + std::to_string(id);
}

// The sentence that holds `part`; empty where none does.
std::string sentence_with(const Report& report, const std::string& part, const Spelling& spelling = {}) {
    for (const std::string& line : summary(report, spelling)) {
        if (line.find(part) != std::string::npos) {
            return line;
        }
    }
    return "";
}

std::string promise_of(const Report& report) {
    return sentence_with(report, "The equation ");
}

TEST(Summary, SaysEverythingInTenSentences) {
    EXPECT_EQ(
        summary(made_report(3), spelled),
        (Lines{"Loss 2.5000 nats a token over 2 windows of 3 tokens.",
               "The stream grows linearly (by 2 +- 0.1 a block): the median token is 0.03 long at the embedding, 0.16 "
               "after the first block and 0.8 after the last.",
               "The equation allows linear growth at most, for gains of one size: each branch passes a norm before it "
               "is added. It holds.",
               "Block 2 turns the stream most (0.97 of half a turn). The equation and its gains predict the turn of 1 "
               "of 3 blocks to 20 %; measured over predicted is 0.67 in the median and 0.35 at worst (block 0).",
               "No block turns the stream much less than the others do. Leaving out block 0 costs least (0.43 nats), "
               "block 2 most "
               "(1.07).",
               "Tokens do not collapse: the mean cosine of two of them goes from 0.08 at the embedding to 0.85 after "
               "the last block, where they fill 0.86 directions of 3.",
               "Massive activations after blocks 1 and 2: the largest is 432 in channel 6 at token 1 ('t11'), 485 "
               "times the median entry.",
               "4 of 6 heads give the first token more than 30 % of their weight; the largest attention score is 1.04 "
               "(block 2).",
               "Going back, the gradient is 0.289 times as long after the first block as after the last; it is longest "
               "after block 2 (0.9).",
               "Through the lens, half of the model's own predictions are there after block 1 of 0 to 2; the first "
               "block would have a loss of 0.44, and the text would go on with 't22'."}));
}

TEST(Summary, LeavesOutWhatWasNotMeasured) {
    Report report = made_report(3);
    report.lens_top.clear();
    report.final_top.reset();
    report.massive.clear();
    for (LayerReport& layer : report.layers) {
        layer.drop = layer.lens_loss = layer.lens_agreement = layer.gradient = not_measured;
    }
    report.sequences = 1;
    const Lines lines = summary(report, {});
    ASSERT_EQ(lines.size(), 8U);
    EXPECT_EQ(lines[0], "Loss 2.5000 nats a token over 1 window of 3 tokens.");
    EXPECT_EQ(lines[4], "No block turns the stream much less than the others do.");
    EXPECT_EQ(lines[6], "No massive activations (entries above 100 and a thousand times the median).");
    EXPECT_EQ(lines[7].find("Going back"), std::string::npos);
}

TEST(Summary, OfAnEncoderHasNoLoss) {
    Report report = made_report(3);
    report.loss = not_measured;
    EXPECT_EQ(summary(report, {})[0], "2 windows of 3 tokens; no loss.");
}

TEST(Summary, EndsWhereTheStreamIsNotFinite) {
    Report report = made_report(3);
    report.first_not_finite = 1;
    EXPECT_EQ(summary(report, spelled),
              (Lines{"Loss 2.5000 nats a token over 2 windows of 3 tokens.",
                     "The stream is not finite after block 1: what follows it cannot be measured."}));
}

TEST(Summary, NamesEachKindOfGrowth) {
    Report report = made_report(3);
    const std::string lengths =
        ": the median token is 0.03 long at the embedding, 0.16 after the first block and 0.8 after the last.";
    const auto sentence = [&](GrowthClass kind, double rate, double error) {
        report.growth.kind = kind;
        report.growth.rate = rate;
        report.growth.rate_error = error;
        return summary(report, {})[1];
    };
    EXPECT_EQ(sentence(GrowthClass::bounded, 0.01, 0.002), "The stream does not keep growing" + lengths);
    EXPECT_EQ(sentence(GrowthClass::sqrt, 12.345, 0.0678),
              "The stream grows like the root of depth (its square by 12.3 +- 0.0678 a block)" + lengths);
    EXPECT_EQ(sentence(GrowthClass::linear, -0.5, 0.25),
              "The stream grows linearly (by -0.5 +- 0.25 a block)" + lengths);
    // exp(log 1.5) - 1 = 50 %; an error of 0.02 of the logarithm is one of 1.5 * 0.02 of the factor.
    EXPECT_EQ(sentence(GrowthClass::exponential, 0.405465108, 0.02),
              "The stream grows exponentially (by 50.0 +- 3.0 % a block)" + lengths);
    EXPECT_EQ(
        sentence(GrowthClass::unknown, not_measured, not_measured),
        "The stream cannot be classified by its growth, which takes four blocks or more and no length of 0" + lengths);
}

TEST(Summary, SaysWhereTheStreamIsLongest) {
    Report report = made_report(3);
    report.layers[1].norm_median = 0.89;  // 1.1 times 0.8 is 0.88
    EXPECT_EQ(summary(report, {})[1],
              "The stream grows linearly (by 2 +- 0.1 a block): the median token is 0.03 long at the embedding, 0.16 "
              "after the first block and 0.8 after the last, 0.89 at its longest after block 1.");
    report.layers[1].norm_median = 0.87;
    EXPECT_EQ(summary(report, {})[1].find("longest"), std::string::npos);
}

TEST(Summary, SaysWhatTheEquationPromisesAndWhetherItHolds) {
    Report report = made_report(3);
    const std::string bounded =
        "The equation promises a bound: every block ends in a norm, so only gains set the length. ";
    report.bound = StreamBound::bounded;
    report.growth.kind = GrowthClass::bounded;
    EXPECT_EQ(promise_of(report), bounded + "It holds.");
    report.growth.kind = GrowthClass::unknown;
    EXPECT_EQ(promise_of(report), bounded + "These blocks are too few to see it.");
    for (const GrowthClass kind : {GrowthClass::sqrt, GrowthClass::linear, GrowthClass::exponential}) {
        report.growth.kind = kind;
        EXPECT_EQ(promise_of(report),
                  bounded + "What grows here are those gains (mean 0.41 in the first block, 1.05 in the last).");
    }
    report.bound = StreamBound::linear;
    EXPECT_EQ(
        promise_of(report),
        "The equation allows linear growth at most, for gains of one size: each branch passes a norm before it is "
        "added. It grows faster because the gains do (mean 0.41 in the first block, 1.05 in the last).");
    report.growth.kind = GrowthClass::unknown;
    EXPECT_TRUE(promise_of(report).ends_with("before it is added. These blocks are too few to see it."));
    for (const GrowthClass kind : {GrowthClass::bounded, GrowthClass::sqrt, GrowthClass::linear}) {
        report.growth.kind = kind;
        EXPECT_TRUE(promise_of(report).ends_with("before it is added. It holds.")) << promise_of(report);
    }
    report.bound = StreamBound::exponential;
    EXPECT_EQ(promise_of(report),
              "The equation allows exponential growth: a block multiplies the stream by a number above 1.");
    report.bound = StreamBound::none;
    EXPECT_EQ(promise_of(report),
              "The equation sets no limit of its own: what a branch adds is as long as the weights make it.");
}

TEST(Summary, CountsPredictionsWithinAFifth) {
    Report report = made_report(5);
    const std::vector<double> ratios = {0.81, 0.79, 1.19, 1.5, 0.6};
    for (std::size_t l = 0; l < 5; ++l) {
        report.layers[l].angular_ratio = ratios[l];
        report.layers[l].angular_distance = 0.1;
    }
    report.layers[3].angular_distance = 0.2;
    // 0.6 is farther from 1 than 1.5: 1/0.6 is 1.67.
    EXPECT_EQ(
        sentence_with(report, "turns the stream most"),
        "Block 3 turns the stream most (0.2 of half a turn). The equation and its gains predict the turn of 2 of 5 "
        "blocks to 20 %; measured over predicted is 0.81 in the median and 0.6 at worst (block 4).");
    report.layers[2].angular_ratio = not_measured;
    EXPECT_EQ(sentence_with(report, "turns the stream most"), "");
}

// Blocks that call no attention: their measures of heads are no numbers.
TEST(Summary, CountsHeadsOfBlocksWithAttentionOnly) {
    Report report = made_report(3);
    const double none = std::nan("");
    report.layers[2].sink_heads = report.layers[2].largest_logit = none;
    report.layers[0].sink_heads = 0.5;
    report.layers[1].sink_heads = 1;
    report.layers[0].largest_logit = 7;
    EXPECT_EQ(sentence_with(report, "of their weight"),
              "3 of 4 heads give the first token more than 30 % of their weight; the largest attention score is 7 "
              "(block 0).");
    report.layers[0].sink_heads = report.layers[0].largest_logit = none;
    EXPECT_EQ(sentence_with(report, "of their weight"),
              "2 of 2 heads give the first token more than 30 % of their weight; the largest attention score is " +
                  format_short(report.layers[1].largest_logit, 3) + " (block 1).");
    report.layers[1].sink_heads = report.layers[1].largest_logit = none;
    EXPECT_EQ(sentence_with(report, "of their weight"), "");
}

TEST(Summary, NamesQuietBlocks) {
    Report report = made_report(8);
    const auto set = [&](const std::vector<double>& turns) {
        for (std::size_t l = 0; l < 8; ++l) {
            report.layers[l].angular_distance = turns[l];
            report.layers[l].drop = not_measured;
        }
    };
    const auto sentence = [&] { return sentence_with(report, "of what the median block does."); };
    set({0.4, 0.4, 0.4, 0.19, 0.4, 0.4, 0.4, 0.21});
    EXPECT_EQ(quiet_blocks(report), std::vector<std::size_t>{3});
    EXPECT_EQ(sentence(), "Block 3 does least: it turns the stream by less than half of what the median block does.");
    set({0.4, 0.1, 0.1, 0.4, 0.4, 0.4, 0.4, 0.4});
    EXPECT_EQ(sentence(),
              "Blocks 1 and 2 do least: they turn the stream by less than half of what the median block does.");
    set({0.1, 0.4, 0.1, 0.4, 0.1, 0.4, 0.4, 0.4});
    EXPECT_EQ(quiet_blocks(report), (std::vector<std::size_t>{0, 2, 4}));
    EXPECT_EQ(sentence(),
              "Blocks 0, 2 and 4 do least: they turn the stream by less than half of what the median block does.");
    set({0.4, 0.4, 0.4, 0.4, 0.4, 0.1, 0.1, 0.1});
    EXPECT_EQ(sentence(),
              "Blocks 5 to 7 do least: they turn the stream by less than half of what the median block does.");
    // The median of four ones and four halves of one is three quarters, and half of it 0.375.
    set({1, 1, 1, 1, 0.5, 0.5, 0.5, 0.374});
    EXPECT_EQ(quiet_blocks(report), std::vector<std::size_t>{7});
    report.layers[0].angular_distance = not_measured;
    EXPECT_TRUE(quiet_blocks(report).empty());
}

TEST(Summary, SaysWhetherTokensCollapse) {
    Report report = made_report(3);
    report.layers[2].cosine = 0.91;
    EXPECT_EQ(sentence_with(report, "mean cosine"),
              "Tokens collapse: the mean cosine of two of them goes from 0.08 at the embedding to 0.91 after the last "
              "block, where they fill 0.86 directions of 3.");
    report.dim = 2;  // three tokens of two channels
    EXPECT_NE(sentence_with(report, "mean cosine").find("fill 0.86 directions of 2."), std::string::npos);
    report.dim = 4;
    report.layers[2].cosine = 0.5;
    report.layers[1].cosine = 0.95;
    report.layers[2].effective_rank = not_measured;  // too large to compute
    EXPECT_EQ(sentence_with(report, "mean cosine"),
              "Tokens come together at block 1 and part again: the mean cosine of two of them goes from 0.08 at the "
              "embedding to 0.5 after the last block.");
    report.embedding.cosine = not_measured;
    EXPECT_EQ(sentence_with(report, "mean cosine"), "");
}

TEST(Summary, NamesTheLargestMassiveActivation) {
    Report report = made_report(3);
    report.massive = {{1, 1, 2, 5, -1321.0}, {1, 0, 0, 4, 600.0}};
    report.layers[1].median_abs = 0.5;
    EXPECT_EQ(sentence_with(report, "Massive"),
              "Massive activations after block 1: the largest is -1321 in channel 5 at token 2, 2642 times the "
              "median entry.");
    EXPECT_EQ(sentence_with(report, "Massive", spelled),
              "Massive activations after block 1: the largest is -1321 in channel 5 at token 2 ('t15'), 2642 times "
              "the median entry.");
}

TEST(Summary, AMassiveActivationAmongZerosIsNotInfinitelyLarge) {
    Report report = made_report(3);
    report.massive = {{1, 1, 2, 5, -1321.0}};
    report.layers[1].median_abs = 0;
    EXPECT_EQ(sentence_with(report, "Massive"),
              "Massive activations after block 1: the largest is -1321 in channel 5 at token 2, where half of the "
              "entries are 0.");
}

TEST(Summary, SaysWhereLeavingABlockOutLowersTheLoss) {
    Report report = made_report(3);
    report.layers[1].drop = -0.25;
    EXPECT_EQ(
        sentence_with(report, "Leaving out"),
        "No block turns the stream much less than the others do. Leaving out block 1 even lowers the loss (by 0.25 "
        "nats); block 2 costs most (1.07).");
}

TEST(Summary, DoesNotJudgeTurnsThatWereNotMeasured) {
    Report report = made_report(3);
    report.layers[1].angular_distance = not_measured;
    EXPECT_EQ(sentence_with(report, "No block turns"), "");
    EXPECT_EQ(sentence_with(report, "Leaving out"),
              "Leaving out block 0 costs least (0.43 nats), block 2 most (1.07).");
    report.layers[0].drop = not_measured;
    EXPECT_EQ(sentence_with(report, "Leaving out"), "");
    EXPECT_EQ(summary(report, {}).size(), 8U);
}

TEST(Summary, WithoutATokenizerTheLensNamesNoToken) {
    Report report = made_report(3);
    report.layers[0].lens_agreement = 0.5;
    EXPECT_EQ(
        sentence_with(report, "Through the lens"),
        "Through the lens, half of the model's own predictions are there after block 0 of 0 to 2; the first block "
        "would have a loss of 0.44.");
}

TEST(Summary, IsNeverLongerThanTenSentences) {
    for (const std::size_t layers : {3U, 4U, 48U}) {
        EXPECT_EQ(summary(made_report(layers), spelled).size(), 10U);
    }
}

}  // namespace
}  // namespace flyball::inspect::test
