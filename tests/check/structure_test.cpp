// Does every part of an equation act? Answers are typed by hand from what the text says.
#include "check/structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <set>

#include "check/beginning.hpp"

namespace flyball::check {
namespace {

std::set<std::string> ids_of(const std::string& equation, std::size_t depth = 24) {
    Settings settings;
    settings.depth = depth;
    std::set<std::string> ids;
    for (const Finding& finding : structure(scheme::Program::parse(equation), settings)) {
        ids.insert(finding.id);
    }
    return ids;
}

struct StructureCase {
    const char* equation;
    std::set<std::string> ids;
};

TEST(Structure, FindsWhatNeverActsAndNothingElse) {
    const std::vector<StructureCase> cases = {
        // Sound blocks.
        {"x + dt*f(norm(x)) | norm(x)", {}},
        {"norm(x + dt*f(x))", {}},
        {"x + dt*norm(f(norm(x))) | norm(x)", {}},
        {"norm(a*x + dt*f(x)) where a = (2*L)^0.25", {}},
        {"x + dt*f(norm(x))/sqrt(t+1) | norm(x)", {}},
        {"x + dt*g*f(norm(x)) | norm(x) where ~g = 0", {}},
        {"x + dt*g*f(norm(x)) | norm(x) where g = 1", {}},
        {"x + 1*dt*f(norm(x)) | norm(x)", {}},
        {"x + dt^(1/L)*f(norm(x)) | norm(x)", {}},  // 1 at a step of 1 only
        {"depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)", {}},
        {"t < 1 ? x + dt*f(norm(x)) : x + dt*norm(f(norm(x))) | norm(x)", {}},
        {"attn: x + dt*f(norm(x)); ffn: x + dt*norm(f(x)) | norm(x)", {}},
        {"x + dt*unit(lambda*f(norm(x))) | norm(x) where ~lambda[d] = 1", {}},  // channels differ: directions change
        {"attn: norm(x + dt*f(x)); ffn: x + dt*f(norm(x)) | norm(x)", {}},      // each section has its own way through
        {"x + dt*f(norm(x)) | L > 4 ? norm(x) : x", {}},                        // a readout has one block
        {"x = x + dt*f(norm(y)); y = 0.9*y + 0.1*x | norm(x)", {}},             // sub-layers read another stream
        {"g*x + dt*f(norm(x)) | norm(x) where ~g = 0", {}},                     // a gate may open
        // A branch that no block takes.
        {"depth > 2 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)", {"branch-never-taken"}},
        {"x + dt*(t < 0 ? 2 : 0.5)*f(norm(x)) | norm(x)", {"branch-never-taken"}},
        {"depth <= 1 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)", {"branch-never-taken"}},
        // Factors of depth that are 1.
        {"x + dt*f(norm(x))/sqrt(t+1)^0 | norm(x)", {"factor-always-one"}},
        {"x + dt*f(norm(x))*max(1, 1-t) | norm(x)", {"factor-always-one"}},
        {"x + dt*s*f(norm(x)) | norm(x) where s = L/L", {"factor-always-one"}},
        {"x + dt*exp(0*depth)*f(norm(x)) | norm(x)", {"factor-always-one"}},
        // Scales that a norm takes out.
        {"x + dt*norm(f(norm(x))/sqrt(t+1)) | norm(x)", {"scale-removed-by-norm"}},
        {"x + norm(dt*f(norm(x))) | norm(x)", {"scale-removed-by-norm"}},
        {"norm(2*(x + dt*f(x)))", {"scale-removed-by-norm"}},
        {"x + dt*f(norm(x)) | norm(3*x)", {"scale-removed-by-norm"}},
        // Terms without effect.
        {"x + dt*f(norm(x)) + 0*t*x | norm(x)", {"part-never-acts"}},
        {"x + dt*f(norm(x)) + ((x + norm(x)) - norm(x))*0 | norm(x)", {"part-never-acts"}},
        {"norm(((x + dt*f(x)) - 2*x) + 3*x)", {}},
        {"o = f(norm(x)); y = y + dt*o; x = x + dt*o | norm(x)", {"part-never-acts"}},
        {"m = norm(x + dt*f(x)); x = x + dt*f(norm(x)) | norm(x)", {"name-never-read"}},
        // Parameters without effect.
        {"x + dt*p*q*f(norm(x)) | norm(x) where ~p = 0, ~q = 0", {"parameter-without-effect"}},
        {"x + dt*unit(g*f(norm(x))) | norm(x) where ~g = 1", {"scale-removed-by-norm", "parameter-without-effect"}},
        {"x + dt*f(norm(x)) + k*x - k*x | norm(x) where k = 3", {"parameter-without-effect"}},
        // No way through.
        {"dt*f(norm(x)) | norm(x)", {"no-residual-path", "scale-removed-by-norm"}},
        {"x0 + dt*f(norm(x)) | norm(x)", {"no-residual-path"}},
        {"x + dt*f(norm(x)) - x0 - (x - x0) | norm(x)", {"no-residual-path", "scale-removed-by-norm"}},
        // at a step of 1
        {"(1-dt)*x + dt*f(norm(x)) | norm(x)", {"no-residual-path", "part-never-acts", "scale-removed-by-norm"}},
        {"attn: x + dt*f(norm(x)); ffn: dt*f(norm(x)) | norm(x)", {"no-residual-path"}},
        {"depth <= 0.5 ? x + dt*f(norm(x)) : f(norm(x)) | norm(x)", {"no-residual-path"}},
        // Sub-layers.
        {"x + dt*detach(f(norm(x))) | norm(x)", {"sub-layer-learns-nothing"}},
        {"attn: o = f(norm(x)); x = x + dt*detach(o); ffn: x + dt*f(norm(x)) | norm(x)", {"sub-layer-learns-nothing"}},
        {"o = f(norm(x)); x = x + dt*o - dt*detach(o)/2 | norm(x)", {}},
        {"depth <= 0.5 ? x + dt*detach(f(norm(x))) : x + dt*f(norm(x)) | norm(x)", {}},  // half of the blocks learn
        {"x + dt*f(norm(x0)) | norm(x)", {"branch-ignores-stream"}},
        {"x + dt*attn(norm(x)) | norm(x)", {"sub-layer-not-called"}},
        // A norm in the stream.
        {"norm(x) + dt*f(norm(x))", {"norm-in-stream"}},
        {"attn: x + dt*f(norm(x)); ffn: norm(x) + dt*f(norm(x)) | norm(x)", {"norm-in-stream"}},
        {"attn: norm(x) + dt*f(norm(x)); ffn: x + dt*f(norm(x)) | norm(x)", {"norm-in-stream"}},
        {"w = norm(x); x = w + dt*f(w) | norm(x)", {"norm-in-stream"}},
        {"tanh(x) + dt*f(norm(x)) | norm(x)", {"norm-in-stream"}},
        {"x/2 + norm(x)/2 + dt*f(norm(x)) | norm(x)", {}},
        {"norm(x)/2 + norm(x + dt*f(x))/2 | norm(x)", {}},  // norms come last
    };
    for (const StructureCase& one : cases) {
        EXPECT_EQ(ids_of(one.equation), one.ids) << one.equation;
    }
}

TEST(Structure, WhatStandsInsideADeadPartNeedsNoSentenceOfItsOwn) {
    const auto findings =
        structure(scheme::Program::parse("x + dt*f(norm(x)) + 0*(2*x + 3*norm(x)) | norm(x)"), Settings{});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, "part-never-acts");
    EXPECT_NE(findings[0].message.find("`0*(2*x + 3*norm(x))`"), std::string::npos) << findings[0].message;
}

// What is carried on alone after block 12 keeps its direction: a norm takes out its size, over an even number of blocks its
// sign cancels, and still it acts.
TEST(Structure, WhatIsCarriedOnIsNotSaidNeverToAct) {
    for (const Finding& finding :
         structure(scheme::Program::parse("t >= 12 ? x + 0*dt*f(norm(x)) : x + dt*f(norm(x)) | norm(x)"), Settings{})) {
        if (finding.id == "part-never-acts") {
            EXPECT_EQ(finding.message.rfind("`0*dt*f(norm(x))` never acts", 0), 0U) << finding.message;
        }
    }
}

// Nothing can be divided by 0: a divisor whose size a norm takes out, and whose sign cancels, is not said never to act.
TEST(Structure, ADivisorThatCannotBeTriedCountsAsActing) {
    const auto findings = structure(
        scheme::Program::parse("t >= 12 ? (x + 0*dt*f(norm(x)))/2 : x + dt*f(norm(x)) | norm(x)"), Settings{});
    EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                            [](const Finding& finding) {
                                return finding.id == "scale-removed-by-norm" &&
                                       finding.message.rfind("The factor `2` cannot matter", 0) == 0;
                            }),
              1);
    for (const Finding& finding : findings) {
        EXPECT_EQ(finding.message.find("`2` never acts"), std::string::npos) << finding.message;
    }
}

TEST(Structure, SubLayersAreCountedInTheBlocksThatCallThem) {
    const auto evidence_of = [](const std::string& attention, const std::string& id) -> std::string {
        const std::string others = "x + dt*ffn(norm(x))";
        for (const Finding& finding : structure(scheme::Program::parse("depth <= 0.5 ? " + others + " + dt*" +
                                                                       attention + " : " + others + " | norm(x)"),
                                                Settings{})) {
            if (finding.id == id) {
                return finding.evidence;
            }
        }
        return "";
    };
    EXPECT_EQ(evidence_of("attn(norm(x0))", "branch-ignores-stream"), "called in 12 blocks, with a stream in none");
    EXPECT_EQ(evidence_of("detach(attn(norm(x)))", "sub-layer-learns-nothing"),
              "called in 12 blocks, with a gradient in none");
}

TEST(Structure, AResidualMayComeFromAnotherStream) {
    EXPECT_EQ(ids_of("o = f(norm(x)); x = y + dt*o; y = y + dt*o | norm(x)").count("no-residual-path"), 0U);
}

TEST(Structure, BlocksWithoutAResidualAreCountedFromTheFirst) {
    const auto findings =
        structure(scheme::Program::parse("depth <= 0.5 ? x + dt*f(norm(x)) : f(norm(x)) | norm(x)"), Settings{});
    const auto at = std::find_if(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.id == "no-residual-path"; });
    ASSERT_NE(at, findings.end());
    EXPECT_EQ(at->evidence, "in 12 of 24 blocks, the first of them block 13");
}

TEST(Structure, BranchesAreJudgedAtTheDepthThatIsAskedFor) {
    const std::string equation = "t >= 30 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)";
    EXPECT_EQ(ids_of(equation, 24), std::set<std::string>{"branch-never-taken"});
    EXPECT_EQ(ids_of(equation, 48), std::set<std::string>{});
}

TEST(Structure, AFactorThatIsOneAtOneDepthOnlyIsNoMistake) {
    EXPECT_EQ(ids_of("x + dt*(L/24)*f(norm(x)) | norm(x)", 24), std::set<std::string>{});
}

TEST(Structure, AConditionOnTheModelsSizeIsForTheUserToKnow) {
    Settings settings;
    const auto findings =
        structure(scheme::Program::parse("d > 100 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)"), settings);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, "branch-never-taken");
    EXPECT_EQ(findings[0].severity, Severity::caution);
}

TEST(Structure, ConditionsKnowTokensFromChannels) {
    Settings settings;
    settings.width = 512;
    settings.tokens = 8;
    const auto has_no_way_through = [&](const std::string& equation) {
        const auto findings = structure(scheme::Program::parse(equation), settings);
        return std::any_of(findings.begin(), findings.end(),
                           [](const Finding& f) { return f.id == "no-residual-path"; });
    };
    EXPECT_FALSE(has_no_way_through("d > 100 ? x + dt*f(norm(x)) : dt*f(norm(x)) | norm(x)"));
    EXPECT_TRUE(has_no_way_through("n > 100 ? x + dt*f(norm(x)) : dt*f(norm(x)) | norm(x)"));
}

TEST(Structure, SentencesNameThePartAndItsNumber) {
    Settings settings;
    const auto findings =
        structure(scheme::Program::parse("depth > 2 ? norm(x + dt*f(x)) : x + dt*norm(f(norm(x))/sqrt(t+1)) | norm(x)"),
                  settings);
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_NE(findings[0].message.find("`norm(x + dt*f(x))`"), std::string::npos) << findings[0].message;
    EXPECT_NE(findings[0].message.find("`depth > 2` is false in every block"), std::string::npos)
        << findings[0].message;
    EXPECT_EQ(findings[0].value, 24);
    EXPECT_NE(findings[1].message.find("`sqrt(t+1)`"), std::string::npos) << findings[1].message;
    EXPECT_LT(findings[1].value, 1e-9);
}

// What a norm takes the size of is a term where something is added to it, and a factor where it multiplies.
TEST(Structure, TermsAndFactorsAreCalledWhatTheyAre) {
    std::set<std::string> messages;
    for (const Finding& finding :
         structure(scheme::Program::parse("x + dt*norm(3*f(norm(x)) + 0*x) | norm(x)"), Settings{})) {
        messages.insert(finding.message);
    }
    EXPECT_EQ(messages.count("The size of `3*f(norm(x))` cannot matter: a norm that follows removes it."), 1U);
    messages.clear();
    for (const Finding& finding : structure(scheme::Program::parse("norm(3*(x + dt*f(x)))"), Settings{})) {
        messages.insert(finding.message);
    }
    EXPECT_EQ(messages.count("The factor `3` cannot matter: a norm that follows removes it."), 1U);
}

// Block l is at depth l/24: the first six are at a quarter or before it.
TEST(Structure, ANormInTheStreamIsCountedInTheBlocksWhoseConditionHolds) {
    const auto findings = structure(
        scheme::Program::parse("depth <= 0.25 ? norm(x) + dt*f(norm(x)) : x + dt*f(norm(x)) | norm(x)"), Settings{});
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].id, "norm-in-stream");
    EXPECT_EQ(findings[0].evidence, "in 6 of 24 blocks");
    EXPECT_EQ(findings[0].value, 6);
}

// t is 0 in the first block only, and a readout stands behind the last.
TEST(Structure, AReadoutIsBehindTheLastBlock) {
    EXPECT_EQ(ids_of("x + dt*f(norm(x)) | norm(x + p*t*x0) where ~p = 1"), std::set<std::string>{});
    EXPECT_EQ(ids_of("x + dt*f(norm(x)) | norm(x + p*max(0, t-99)*x0) where ~p = 1").count("parameter-without-effect"),
              1U);
}

TEST(Structure, NoSchemeOfTheCatalogueIsMalformed) {
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const scheme::Scheme scheme = scheme::find_scheme(entry.name);
        for (const std::size_t depth : {std::size_t{8}, std::size_t{24}, std::size_t{48}}) {
            Settings settings;
            settings.depth = depth;
            for (const Finding& finding : structure(trained_program(scheme, settings), settings)) {
                EXPECT_NE(finding.severity, Severity::malformed) << entry.name << ": " << finding.message;
            }
        }
    }
}

}  // namespace
}  // namespace flyball::check
