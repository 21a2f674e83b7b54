// The whole preflight, with short runs that are shorter still; verdicts are known beforehand.
#include "check/preflight.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "check/advice.hpp"
#include "check/document.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::check {
namespace {

scheme::Scheme block_of(const std::string& text) {
    return scheme::looks_like_equation(text) ? scheme::scheme_of_equation(text) : scheme::find_scheme(text);
}

PreflightReport quick_preflight(const std::vector<std::string>& texts, const std::string& init = "") {
    Settings settings;
    settings.depth = 8;
    settings.steps = 12;
    settings.init = init;
    std::vector<scheme::Scheme> blocks;
    for (const std::string& text : texts) {
        blocks.push_back(block_of(text));
    }
    return preflight(blocks, settings, {});
}

const Finding* find(const BlockReport& block, const std::string& id) {
    const auto at = std::find_if(block.findings.begin(), block.findings.end(),
                                 [&](const Finding& finding) { return finding.id == id; });
    return at == block.findings.end() ? nullptr : &*at;
}

TEST(Preflight, TheGravestFindingIsTheVerdict) {
    EXPECT_EQ(verdict_of({}), Verdict::stable);
    EXPECT_EQ(verdict_of({{"a", Severity::note, "", "", 0}}), Verdict::stable);
    EXPECT_EQ(verdict_of({{"a", Severity::caution, "", "", 0}, {"b", Severity::note, "", "", 0}}), Verdict::caution);
    EXPECT_EQ(verdict_of({{"a", Severity::caution, "", "", 0}, {"b", Severity::unstable, "", "", 0}}),
              Verdict::unstable);
    EXPECT_EQ(verdict_of({{"a", Severity::malformed, "", "", 0}, {"b", Severity::unstable, "", "", 0}}),
              Verdict::malformed);
}

TEST(Preflight, PeriLnIsStableAndItsStepKeepsTheStreamNearOne) {
    const PreflightReport report = quick_preflight({"peri-ln"});
    const BlockReport& peri = report.blocks.front();
    EXPECT_EQ(peri.verdict, Verdict::stable);
    EXPECT_EQ(peri.growth(), "sqrt");
    EXPECT_EQ(peri.beginning.bound.name(), "linear");
    // 16 branches of unit size in random directions: 1/sqrt(16).
    ASSERT_TRUE(peri.suggested_dt);
    EXPECT_NEAR(*peri.suggested_dt, 0.25, 0.03);
    ASSERT_EQ(peri.runs.size(), 2U);
    EXPECT_EQ(peri.runs[0].depth, 2U);
    EXPECT_EQ(peri.runs[1].depth, 8U);
    EXPECT_EQ(peri.runs[1].losses.size(), 12U);
    EXPECT_EQ(peri.runs[1].first, peri.runs[1].losses.front());
    EXPECT_EQ(peri.runs[1].last, peri.runs[1].losses.back());  // a tenth of 12 steps is one
    // The yardstick of the same name has seen the same.
    EXPECT_EQ(report.yardsticks[1].runs[1].losses, peri.runs[1].losses);
    ASSERT_EQ(report.yardsticks.size(), 2U);
    EXPECT_EQ(report.yardsticks[0].block.scheme.name, "pre-ln");
}

TEST(Preflight, BlocksAreTrainedAtTheirDepthAndAtAQuarterOfIt) {
    const auto depths = [](std::size_t depth) {
        Settings settings;
        settings.depth = depth;
        return trained_depths(settings);
    };
    using Depths = std::vector<std::size_t>;
    EXPECT_EQ(depths(96), (Depths{6, 24}));  // at most 24
    EXPECT_EQ(depths(24), (Depths{6, 24}));
    EXPECT_EQ(depths(12), (Depths{3, 12}));
    EXPECT_EQ(depths(8), (Depths{2, 8}));
    EXPECT_EQ(depths(5), (Depths{2, 5}));  // a model of one block has no depth
    EXPECT_EQ(depths(3), (Depths{2, 3}));
    EXPECT_EQ(depths(2), (Depths{2}));
}

TEST(Preflight, AShallowBlockIsTrainedOnceAtItsOwnDepth) {
    Settings settings;
    settings.depth = 2;
    settings.steps = 12;
    const PreflightReport report = preflight({block_of("peri-ln")}, settings, {});
    ASSERT_EQ(report.blocks[0].runs.size(), 1U);
    EXPECT_EQ(report.blocks[0].runs[0].depth, 2U);
    EXPECT_EQ(report.yardsticks[0].runs.size(), 1U);
    EXPECT_NE(advice(report.blocks[0], report).find("After 12 steps at 2 blocks its loss is"), std::string::npos);
}

TEST(Preflight, AFactorOnTheStreamIsUnstableWithItsRate) {
    const BlockReport block = quick_preflight({"1.1*x + dt*norm(f(norm(x))) | norm(x)"}).blocks.front();
    EXPECT_EQ(block.verdict, Verdict::unstable);
    EXPECT_EQ(block.growth(), "exponential");
    EXPECT_EQ(block.beginning.bound.name(), "exponential");
    const Finding* stream = find(block, "stream-grows-exponentially");
    ASSERT_NE(stream, nullptr);
    EXPECT_NEAR(stream->value, 2 * std::log(1.1), 0.02);
    const Finding* gradient = find(block, "gradient-explodes");
    ASSERT_NE(gradient, nullptr);
    EXPECT_GT(gradient->value, 1000);
    std::smatch said;
    ASSERT_TRUE(std::regex_search(gradient->message, said, std::regex("of 8 differ by a factor of ([0-9.]+)")));
    EXPECT_GT(std::stod(said[1]), 2);  // about 1.21^7
    EXPECT_FALSE(block.suggested_dt);  // the rate is the skip's: no step makes it smaller
}

TEST(Preflight, AStepThatTamesAnExponentialWasTried) {
    // Without a norm branches are in proportion to the stream, and so to dt.
    const BlockReport block = quick_preflight({"x + dt*f(x)"}, "matrices=0.03").blocks.front();
    EXPECT_EQ(block.growth(), "exponential");
    ASSERT_TRUE(block.suggested_dt);
    EXPECT_LT(*block.suggested_dt, 1);
}

TEST(Preflight, StepsAndPowersOfDepthAreNoExponentials) {
    const auto growth_of = [](const std::string& equation) { return quick_preflight({equation}).blocks.front(); };
    const BlockReport jump = growth_of("depth < 0.5 ? x + dt*f(norm(x)) : x + dt*norm(f(norm(x))) | norm(x)");
    EXPECT_EQ(jump.verdict, Verdict::stable);
    const BlockReport square = growth_of("x*(t+2)/(t+1) + dt*norm(f(norm(x))) | norm(x)");
    EXPECT_EQ(find(square, "stream-grows-exponentially"), nullptr);
    EXPECT_EQ(square.growth(), "linear");
    // One that shows between models only, and blocks that do nothing.
    const BlockReport deeper = growth_of("x + dt*exp(L/4)*norm(f(norm(x))) | norm(x)");
    ASSERT_NE(find(deeper, "stream-grows-exponentially"), nullptr);
    EXPECT_NEAR(find(deeper, "stream-grows-exponentially")->value, 0.25, 0.03);
    EXPECT_EQ(deeper.growth(), "exponential");
    const BlockReport idle = growth_of("x + dt*f(norm(x))*30^(-t) | norm(x)");
    ASSERT_NE(find(idle, "late-blocks-are-idle"), nullptr);
    EXPECT_EQ(idle.verdict, Verdict::caution);
    EXPECT_LT(find(idle, "late-blocks-are-idle")->value, 1e-6);  // 30^-6 in the last two of 8 blocks
    const BlockReport named = growth_of("x + dt*f(norm(x)) | norm(x)");
    ASSERT_NE(find(named, "known-equation"), nullptr);
    EXPECT_NE(find(named, "known-equation")->message.find("pre-ln"), std::string::npos);
}

TEST(Preflight, AStreamThatShrinksIsUnstableToo) {
    const BlockReport block = quick_preflight({"0.8*x + dt*f(0.001*x)"}).blocks.front();
    EXPECT_EQ(block.verdict, Verdict::unstable);
    const Finding* stream = find(block, "stream-shrinks-exponentially");
    ASSERT_NE(stream, nullptr);
    EXPECT_NEAR(stream->value, -2 * std::log(0.8), 0.05);
    // Two sub-layers leave 0.64 of it.
    std::smatch said;
    ASSERT_TRUE(std::regex_search(stream->message, said, std::regex("shrinks by ([0-9.]+) % a block")));
    EXPECT_NEAR(std::stod(said[1]), 36, 2);
    // Seven blocks follow the first, and what shrinks to 0.64^7 shrinks by a factor of 1/0.64^7 = 22.7.
    ASSERT_TRUE(
        std::regex_search(stream->message, said, std::regex("to the last of 8 blocks by a factor of ([0-9.]+)")))
        << stream->message;
    EXPECT_NEAR(std::log(std::stod(said[1])), -14 * std::log(0.8), 0.2) << stream->message;
}

// The first block makes a stream that is the longer the deeper the model is, and the others take a little away.
TEST(Preflight, AStreamThatIsLongerInDeeperModelsIsNotSaidToShrink) {
    const PreflightReport report =
        quick_preflight({"t < 1 ? exp(L/16)*x + dt*f(norm(x)) : 0.998*x + 0.001*dt*f(norm(x)) | norm(x)"});
    const BlockReport& block = report.blocks.front();
    EXPECT_TRUE(block.beginning.stream.falls) << "otherwise this test shows nothing";
    ASSERT_NE(find(block, "stream-grows-exponentially"), nullptr);
    const std::string said = advice(block, report);
    EXPECT_NE(said.find("a stream that grows exponentially with the number of blocks"), std::string::npos) << said;
    EXPECT_EQ(said.find("shrinks"), std::string::npos) << said;
}

// 0.5*0.5 a block: as a float the stream of 96 blocks is 0 after 75 of them, and that of 8 blocks is 4^-7 of its first.
TEST(Preflight, AStreamThatUnderflowsIsSaidToShrink) {
    const PreflightReport report = quick_preflight({"0.5*x + dt*0.1*f(x)"});
    const BlockReport& block = report.blocks.front();
    EXPECT_EQ(block.beginning.curves.back().stream.back(), 0) << "otherwise this test shows nothing";
    EXPECT_EQ(block.verdict, Verdict::unstable);
    EXPECT_EQ(block.growth(), "exponential");
    const Finding* stream = find(block, "stream-shrinks-exponentially");
    ASSERT_NE(stream, nullptr);
    EXPECT_NEAR(stream->value, std::log(4.0), 0.05);
    EXPECT_NE(stream->message.find("from the first to the last of 8 blocks by a factor of"), std::string::npos)
        << stream->message;
    EXPECT_NE(stream->evidence.find("after that it is too small for 32-bit numbers"), std::string::npos);
    EXPECT_FALSE(block.suggested_dt);  // the factor is that of x
    const std::string said = advice(block, report);
    EXPECT_NE(said.find("a stream that shrinks exponentially (root mean square"), std::string::npos) << said;
    EXPECT_EQ(said.find("stays of one size"), std::string::npos) << said;
    // In 8 blocks a gradient comes back: 4^-7 of it.
    EXPECT_EQ(said.find("no gradient reaches"), std::string::npos) << said;
    ASSERT_NE(find(block, "gradient-vanishes"), nullptr);
    EXPECT_NE(find(block, "gradient-vanishes")->message.find("first and last block of 8 differ by a factor of"),
              std::string::npos)
        << find(block, "gradient-vanishes")->message;
}

// Nothing of the gradient goes past a block whose x and whose branch are detached from what is before it: in every
// model, or in those alone that are deeper than the one that was asked for.
TEST(Preflight, AGradientThatDoesNotArriveIsToldOfTheModelThatLacksIt) {
    const std::string cut = "detach(x) + dt*f(detach(norm(x)))";
    const auto told_of = [](const std::string& equation) -> std::string {
        const BlockReport block = quick_preflight({equation}).blocks.front();
        const Finding* const found = find(block, "gradient-vanishes");
        return found == nullptr ? "" : found->message;
    };
    EXPECT_EQ(told_of(cut + " | norm(x)"),
              "No gradient reaches the first block of a fresh model of 8 blocks: it cannot learn.");
    EXPECT_EQ(told_of("L < 90 ? x + dt*f(norm(x)) : " + cut + " | norm(x)"),
              "No gradient reaches the first block of a fresh model of 96 blocks: it cannot learn.");
}

// 10*10 a block: floats end after 19 blocks of it, so that models of 32 blocks are not finite, and that one says why.
TEST(Preflight, AStreamThatOverflowsIsSaidToGrow) {
    const BlockReport block = quick_preflight({"10*x + dt*f(norm(x)) | norm(x)"}).blocks.front();
    ASSERT_NE(find(block, "not-finite-at-start"), nullptr);
    const Finding* stream = find(block, "stream-grows-exponentially");
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(stream->severity, Severity::unstable);
    EXPECT_NEAR(stream->value, std::log(100.0), 0.05);
    EXPECT_NE(stream->evidence.find("after that it is too large for 32-bit numbers"), std::string::npos)
        << stream->evidence;
}

// Branches of 1/2 in 16 sub-layers add up to sqrt(16)/2 = 2: half of that step leaves 1.
TEST(Preflight, ASuggestedStepIsAShareOfTheStepThatWasChecked) {
    Settings settings;
    settings.depth = 8;
    settings.steps = 12;
    settings.dt = 0.5;
    settings.norm = "rmsnorm";
    const BlockReport peri = preflight({block_of("peri-ln")}, settings, {}).blocks.front();
    ASSERT_TRUE(peri.suggested_dt);
    EXPECT_NEAR(*peri.suggested_dt, 0.25, 0.04);
}

TEST(Preflight, ShortRunsHaveTheNormThatWasAskedFor) {
    Settings settings;
    settings.depth = 2;
    settings.steps = 12;
    const auto first_loss = [&](const char* norm) {
        settings.norm = norm;
        return preflight({block_of("peri-ln")}, settings, {}).blocks.front().runs.back().first;
    };
    EXPECT_NE(first_loss("layernorm"), first_loss("rmsnorm"));
}

// The equation of Pre-LN with a start that was given: how Pre-LN would start by its name is no longer asked.
TEST(Preflight, AKnownEquationWithAStartOfItsOwnIsNotNoted) {
    EXPECT_EQ(find(quick_preflight({"x + dt*f(norm(x)) | norm(x)"}, "matrices=0.03").blocks.front(), "known-equation"),
              nullptr);
}

TEST(Preflight, DeepNormWithTheInverseGainIsUnstable) {
    const std::string wrong =
        "value=sqrt(1/d)*(8*L)^0.25,output=sqrt(1/d)*(8*L)^0.25,ffn-in=sqrt(0.4/d)*(8*L)^0.25,"
        "ffn-out=sqrt(0.4/d)*(8*L)^0.25";
    const BlockReport broken = quick_preflight({"deepnorm"}, wrong).blocks.front();
    EXPECT_EQ(broken.verdict, Verdict::unstable);
    EXPECT_NE(find(broken, "stream-is-overwritten"), nullptr);
    const Finding& overwritten = *find(broken, "stream-is-overwritten");
    EXPECT_LT(overwritten.value, 1e-6);
    // What is left after all blocks is what each of them leaves, as often as there are blocks.
    std::smatch said;
    ASSERT_TRUE(std::regex_search(overwritten.message, said,
                                  std::regex("replaces (\\d+) % of it, so that after (\\d+) blocks")));
    EXPECT_NEAR(std::stod(said[1]), 100 * (1 - std::pow(overwritten.value, 1 / std::stod(said[2]))), 0.51);
    // .. and is the cosine of its turn; one below 1/4 is a turn by more than 75 degrees.
    const double left = std::pow(overwritten.value, 1 / std::stod(said[2]));
    ASSERT_TRUE(std::regex_search(overwritten.evidence, said, std::regex("turns the stream by (\\d+) degrees")));
    EXPECT_GT(std::stod(said[1]), 75);
    EXPECT_NEAR(std::cos(std::stod(said[1]) * std::acos(-1) / 180), left, 0.01);
    EXPECT_EQ(quick_preflight({"deepnorm"}).blocks.front().verdict, Verdict::stable);
}

TEST(Preflight, YardsticksStartAsTheirSourcesSay) {
    const PreflightReport usual = quick_preflight({"pre-ln"});
    const PreflightReport deviating = quick_preflight({"pre-ln"}, "matrices=0.1");
    EXPECT_NE(deviating.blocks[0].runs[1].losses, usual.blocks[0].runs[1].losses);
    EXPECT_EQ(deviating.yardsticks[0].runs[1].losses, usual.yardsticks[0].runs[1].losses);
}

TEST(Preflight, AMissingResidualIsMalformed) {
    const BlockReport block = quick_preflight({"dt*f(norm(x)) | norm(x)"}).blocks.front();
    EXPECT_EQ(block.verdict, Verdict::malformed);
    EXPECT_EQ(block.findings.front().severity, Severity::malformed);  // gravest first
}

TEST(Preflight, NumbersThatAreNotFiniteAreAFindingAndNoCrash) {
    const BlockReport block = quick_preflight({"1e30*x + dt*f(norm(x))"}).blocks.front();
    EXPECT_EQ(block.verdict, Verdict::unstable);
    EXPECT_NE(find(block, "not-finite-at-start"), nullptr);
    EXPECT_TRUE(block.runs.back().failed());
    EXPECT_EQ(block.growth(), "exponential");
    EXPECT_FALSE(block.suggested_dt);
}

TEST(Preflight, ATextWithoutDtHasNoStepToSuggest) {
    EXPECT_FALSE(quick_preflight({"x + norm(f(norm(x))) | norm(x)"}).blocks.front().suggested_dt);
}

TEST(Preflight, GrowthIsNamedByThePowerOfDepth) {
    // Branches of size c_l in random directions: sigma_L^2 is the sum of their squares.
    const auto growth_of = [](const std::string& equation) {
        return quick_preflight({equation}).blocks.front().growth();
    };
    EXPECT_EQ(growth_of("x + dt*norm(f(norm(x))) | norm(x)"), "sqrt");               // L
    EXPECT_EQ(growth_of("x + dt*norm(f(norm(x)))/sqrt(t+1) | norm(x)"), "bounded");  // log L, which hardly grows
    EXPECT_EQ(growth_of("x + dt*norm(f(norm(x)))*sqrt(t+1) | norm(x)"), "linear");   // L^2
    EXPECT_EQ(growth_of("norm(x + dt*f(x))"), "bounded");
}

TEST(Preflight, AWeakBlockIsCautioned) {
    const BlockReport block = quick_preflight({"norm(x + 0.01*dt*f(x))"}).blocks.front();
    const Finding* weak = find(block, "weak-early-movement");
    ASSERT_NE(weak, nullptr);
    EXPECT_EQ(weak->severity, Severity::caution);
    EXPECT_NEAR(weak->value, 100, 1e-6);  // s of theta' = P A/s
    // A gate that is learned may open.
    const BlockReport gated = quick_preflight({"x + dt*g*f(norm(x)) | norm(x) where ~g = 0"}).blocks.front();
    ASSERT_NE(find(gated, "weak-early-movement"), nullptr);
    EXPECT_EQ(find(gated, "weak-early-movement")->severity, Severity::note);
}

// A step of a quarter is a factor of a quarter on every branch.
TEST(Preflight, ShortRunsHaveTheStepThatWasAskedFor) {
    Settings settings;
    settings.depth = 8;
    settings.steps = 12;
    settings.dt = 0.25;
    const auto stepped = preflight({block_of("x + dt*f(norm(x)) | norm(x)")}, settings, {}).blocks.front();
    settings.dt = 1;
    const auto typed = preflight({block_of("x + dt*0.25*f(norm(x)) | norm(x)")}, settings, {}).blocks.front();
    const auto whole = preflight({block_of("x + dt*f(norm(x)) | norm(x)")}, settings, {}).blocks.front();
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(stepped.runs[i].last, typed.runs[i].last, 1e-4) << i;
        EXPECT_GT(std::fabs(stepped.runs[i].last - whole.runs[i].last), 1e-3) << "otherwise this test shows nothing";
    }
}

TEST(Preflight, ShortRunsHaveTheSizesThatWereAskedFor) {
    Settings settings;
    settings.depth = 2;
    settings.steps = 12;
    settings.width = 1024;
    settings.tokens = 100;
    const auto written = preflight({block_of("x + dt*f(norm(x))*n/d | norm(x)")}, settings, {}).blocks.front();
    const auto typed = preflight({block_of("x + dt*f(norm(x))*0.09765625 | norm(x)")}, settings, {}).blocks.front();
    EXPECT_NEAR(written.runs[0].last, typed.runs[0].last, 1e-4);
    const auto whole = preflight({block_of("x + dt*f(norm(x)) | norm(x)")}, settings, {}).blocks.front();
    EXPECT_GT(std::fabs(written.runs[0].last - whole.runs[0].last), 1e-3) << "otherwise this test shows nothing";
}

// Logits a tenth as large learn slowly. Each depth is judged by the slower yardstick of the same depth: below 0.8 of what it gains.
TEST(Preflight, ASlowStartIsMeasuredAgainstTheYardsticksOfItsDepth) {
    const PreflightReport report = quick_preflight({"x + dt*f(norm(x)) | norm(x)/10"});
    const BlockReport& block = report.blocks.front();
    ASSERT_EQ(block.runs.size(), 2U);
    std::size_t told = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto gain = [&](const BlockReport& of) { return of.runs[i].losses.front() - of.runs[i].losses.back(); };
        const double share = gain(block) / std::min(gain(report.yardsticks[0]), gain(report.yardsticks[1]));
        for (const Finding& finding : block.findings) {
            const std::string at = "at " + std::to_string(block.runs[i].depth) + " blocks a short training run";
            if (finding.id == "slow-start" && finding.message.find(at) != std::string::npos) {
                ++told;
                EXPECT_EQ(finding.severity, Severity::caution);
                EXPECT_LT(share, 0.8);
                EXPECT_NEAR(finding.value, share, 1e-12) << at;
            }
        }
        EXPECT_LT(share, 0.8) << "otherwise this test shows nothing";
    }
    EXPECT_EQ(told, 2U);
    const double shallow = report.yardsticks[0].runs[0].losses.back();
    EXPECT_GT(std::fabs(shallow - report.yardsticks[0].runs[1].losses.back()), 1e-3) << "depths differ";
}

TEST(Preflight, MotionIsThatOfTheory) {
    // Pre-LN and Post-LN begin alike; Pre-LN ends as t^-3, Post-LN exponentially (Theorem 4.1 of the dynamics paper).
    const PreflightReport report = quick_preflight({"pre-ln", "post-ln"});
    EXPECT_NEAR(report.blocks[0].motion.speed_factor, 1, 1e-9);
    EXPECT_EQ(report.blocks[0].motion.law.kind, theory::LawKind::power);
    EXPECT_NEAR(report.blocks[0].motion.law.exponent.value_or(0), -3, 1e-3);
    EXPECT_EQ(report.blocks[1].motion.law.kind, theory::LawKind::exponential);
    EXPECT_NEAR(report.blocks[1].motion.law.rate.value_or(0), 2, 1e-3);
    const Json json = document(report);
    EXPECT_EQ(json["checks"].size(), 2U);
    EXPECT_NE(json["difference"].get<std::string>().find("pre-ln is"), std::string::npos);
}

// 1/|A| of orthonormal tokens, as in motion_test: with 1024 tokens (e + 1023)/sqrt(e^2 + 1023) = 31.95.
TEST(Preflight, OfTwoBlocksTheSecondIsComparedWithTheFirst) {
    Settings settings;
    settings.depth = 8;
    settings.steps = 12;
    settings.tokens = 1024;
    const std::string said =
        document(preflight({block_of("post-ln"), block_of("peri-ln")}, settings, {}))["difference"].get<std::string>();
    EXPECT_NE(said.find("peri-ln turns tokens 32 times as fast as post-ln at the start"), std::string::npos) << said;
}

TEST(Preflight, TheDocumentHasEveryFieldOfTheContract) {
    const PreflightReport report = quick_preflight({"norm(x) + dt*f(norm(x))"});
    const Json json = document(report);
    EXPECT_EQ(json["equation"], "norm(x) + dt*f(norm(x))");
    EXPECT_EQ(json["verdict"], "caution");
    EXPECT_EQ(json["growth"], "bounded");
    EXPECT_EQ(json["bound"], "none");
    EXPECT_TRUE(json["suggested_dt"].is_number());
    ASSERT_FALSE(json["findings"].empty());
    EXPECT_EQ(json["findings"][0]["id"], "norm-in-stream");
    EXPECT_EQ(json["findings"][0]["severity"], "caution");
    EXPECT_EQ(json["findings"][0]["value"], 8);
    EXPECT_FALSE(json["findings"][0]["message"].get<std::string>().empty());
    EXPECT_EQ(json["findings"][0]["evidence"], "in 8 of 8 blocks");
    EXPECT_EQ(json["training"][1]["depth"], 8);
    const ShortRun& run = report.blocks[0].runs[1];
    ASSERT_NE(run.losses.front(), run.losses.back()) << "otherwise this test shows nothing";
    EXPECT_EQ(json["training"][1]["first"], run.losses.front());
    EXPECT_EQ(json["training"][1]["last"], run.losses.back());  // a tenth of 12 steps is one
    EXPECT_EQ(json["yardsticks"].size(), 4U);
    EXPECT_EQ(json["beginning"].size(), 6U);  // 8 is one of the depths
    EXPECT_EQ(json["settings"]["depth"], "8");
    EXPECT_NE(json["advice"].get<std::string>().find("Beside Peri-LN your block"), std::string::npos);
}

TEST(Preflight, TheSameBitsAtAnyNumberOfThreads) {
    const int before = threads();
    set_threads(1);
    const PreflightReport one = quick_preflight({"peri-ln"});
    set_threads(3);
    const PreflightReport three = quick_preflight({"peri-ln"});
    set_threads(before);
    EXPECT_EQ(one.blocks[0].runs[1].losses, three.blocks[0].runs[1].losses);
    EXPECT_EQ(one.blocks[0].beginning.curves.back().gradient, three.blocks[0].beginning.curves.back().gradient);
}

TEST(Preflight, SettingsThatMakeNoSenseAreRefused) {
    Settings settings;
    settings.depth = 5000;
    EXPECT_THROW(preflight({block_of("pre-ln")}, settings, {}), Error);
    settings = {};
    settings.dt = 0;
    EXPECT_THROW(preflight({block_of("pre-ln")}, settings, {}), Error);
    settings = {};
    settings.norm = "layer";
    EXPECT_THROW(preflight({block_of("pre-ln")}, settings, {}), Error);
}

// By their own check, before anything is made of them that could fail for another reason.
TEST(Preflight, AStepIsANumberAboveNothing) {
    Settings settings;
    for (const double dt : {0.0, -0.0, -1.0, HUGE_VAL, std::nan("")}) {
        settings.dt = dt;
        EXPECT_THROW(check(settings), Error) << dt;
    }
    for (const double dt : {1e-300, 1.0, 100.0}) {
        settings.dt = dt;
        EXPECT_NO_THROW(check(settings)) << dt;
    }
}

TEST(Preflight, AStopIsHonoured) {
    const std::atomic<bool> stop{true};
    Settings settings;
    settings.steps = 12;
    EXPECT_THROW(preflight({block_of("pre-ln")}, settings, {&stop, {}}), Stopped);
}

}  // namespace
}  // namespace flyball::check
