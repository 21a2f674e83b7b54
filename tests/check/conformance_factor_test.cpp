// Factors that are wrong by a few per cent, in both sub-layers or in one, in types that round by half a per cent; norms
// that serve twice. And right runs of the same kinds, which have to pass.
#include <gtest/gtest.h>

#include <random>

#include "check/conformance_factors.hpp"
#include "hand_made_runs.hpp"
#include "saved_runs.hpp"

namespace flyball::check::against_test {
namespace {

using Severity = ConformanceFinding::Severity;

Conformance judged_by_hand(const HandMade& how) {
    return conformance(scheme_named(how.scheme), HandMadeRun(how).file());
}

bool reads_as_right(const HandMade& how) {
    const HandMadeRun run(how);
    return read_as(run.file(), Hypothesis(scheme_named(how.scheme).program, run.file())).conforms;
}

// The answer of a run with this factor on one sub-layer or on both.
struct NamedFactor {
    const char* finding;
    HandMade how;
};
std::vector<NamedFactor> with_factor(const std::string& scheme, Dtype type, double factor) {
    HandMade how;
    how.scheme = scheme;
    how.type = type;
    HandMade attention = how;
    attention.attention = factor;
    HandMade ffn = how;
    ffn.ffn = factor;
    HandMade both = attention;
    both.ffn = factor;
    return {{"factor-of-attention", attention}, {"factor-of-ffn", ffn}, {"factor-of-resid", both}};
}

TEST(ConformanceOfSmallFactors, FivePerCentAreFoundAndNamedInBf16) {
    for (const char* const scheme : {"pre-ln", "peri-ln", "post-ln"}) {
        for (const double wrong : {1.05, 0.95}) {
            for (const auto& [id, how] : with_factor(scheme, Dtype::bf16, wrong)) {
                const HandMadeRun run(how);
                const Hypothesis plain(scheme_named(scheme).program, run.file());
                const Reading reading = read_as(run.file(), plain);
                ASSERT_FALSE(reading.conforms) << scheme << " " << id << " " << wrong;
                const auto named = branch_factors(run.file(), plain, reading, {0, 1});
                ASSERT_TRUE(named) << scheme << " " << id << " " << wrong;
                ASSERT_EQ(named->findings.size(), 1U) << scheme << " " << id << " " << wrong;
                EXPECT_EQ(named->findings[0].id, id) << scheme << " " << wrong;
                for (const double one : named->findings[0].evidence.at("factors").get<std::vector<double>>()) {
                    EXPECT_NEAR(one, wrong, 0.012) << scheme << " " << id;
                }
            }
        }
    }
}

// What docs/conformance.md says of each type, for runs of 64 rows of 64 whose sub-layers add half of the stream.
TEST(ConformanceOfSmallFactors, TheSmallestThatAreFoundAreThoseOfTheManual) {
    for (const auto& [type, found] :
         {std::pair(Dtype::bf16, 0.03), std::pair(Dtype::f16, 0.004), std::pair(Dtype::f32, 5e-7)}) {
        for (const char* const scheme : {"pre-ln", "peri-ln", "post-ln"}) {
            for (const auto& [id, how] : with_factor(scheme, type, 1 + found)) {
                EXPECT_FALSE(reads_as_right(how)) << scheme << " " << id << " " << found;
            }
        }
    }
}

// One block of attention alone, whose numbers are half of the distance of neighbouring ones in the stream (4 from 512
// on). With an estimate of u |x| (1 + 3 + 1)^(1/2) = 6 for the errors of x, of x + f(x) and of the file, four standard
// errors of a factor over 16384 numbers of size 2 are a tenth: the roundings of the stream average out.
TEST(ConformanceOfSmallFactors, AFactorIsFoundBelowTheRoundingOfALargeStream) {
    const auto resid_of = [](double factor) {
        RunFile run;
        run.rows = run.file_rows = run.tokens = 256;
        run.dim = 64;
        run.has_ffn = false;
        run.stored = Dtype::bf16;
        SavedBlock block;
        std::mt19937_64 random(3);
        std::normal_distribution<double> normal;
        const auto rounded = [](double x) { return HandMade::nearest(Dtype::bf16, x); };
        for (std::size_t i = 0; i < run.rows * run.dim; ++i) {
            const double x = (normal(random) < 0 ? -1 : 1) * (640 + 4.0 * static_cast<double>(i % 32));
            const double out = rounded(2 * normal(random));
            run.embed.values.push_back(x);
            block.attention_in.values.push_back(x);
            block.attention_out.values.push_back(out);
            block.resid.values.push_back(rounded(x + rounded(factor * out)));
        }
        run.readout = block.resid;
        for (SavedRows* rows : {&run.embed, &block.attention_in, &block.attention_out, &block.resid, &run.readout}) {
            rows->stored = rows->computed = HandMade::unit(Dtype::bf16);
        }
        run.blocks = {block};
        return read_as(run, Hypothesis(scheme::Program::parse("x + dt*f(x)"), run)).blocks[0].at(Place::resid);
    };
    EXPECT_TRUE(resid_of(1).conforms());
    const PlaceReading wrong = resid_of(0.65);
    EXPECT_FALSE(wrong.conforms());
    EXPECT_EQ(wrong.wrong_rows, 0U) << "no row shows it by itself";
}

TEST(ConformanceOfSmallFactors, RightRunsPassHoweverLargeTheirStreamIs) {
    int runs = 0;
    for (const char* const scheme : {"pre-ln", "peri-ln", "post-ln"}) {
        for (const Dtype type : {Dtype::bf16, Dtype::f16, Dtype::f32}) {
            for (const double embedding : {0.03, 1.0, 20.0, 100.0, 1000.0}) {
                for (const bool wide : {false, true}) {
                    HandMade how;
                    how.scheme = scheme;
                    how.type = type;
                    how.embedding = embedding;
                    how.computed_wide = wide;
                    how.seed = static_cast<std::uint64_t>(++runs);
                    EXPECT_TRUE(reads_as_right(how)) << scheme << " " << embedding << " " << wide << " " << name(type);
                }
            }
        }
    }
}

TEST(ConformanceOfOneSubLayer, AFactorOfAttentionAloneIsNamedAndExplains) {
    for (const char* const scheme : {"pre-ln", "peri-ln", "post-ln"}) {
        HandMade how;
        how.scheme = scheme;
        how.type = Dtype::f32;
        how.attention = 0.5;
        how.rows = how.dim = 12;
        const Conformance result = judged_by_hand(how);
        const ConformanceFinding* factor = finding(result, "factor-of-attention");
        ASSERT_NE(factor, nullptr) << scheme;
        EXPECT_NEAR(factor->evidence.at("factors").get<std::vector<double>>()[0], 0.5, 1e-5) << scheme;
        const ConformanceFinding* why = finding(result, "one-branch-scaled");
        ASSERT_NE(why, nullptr) << scheme;
        EXPECT_EQ(why->message,
                  "What attention adds is multiplied by 0.5 in the run; what the feed-forward adds is as the equation "
                  "says.");
    }
    HandMade each;
    each.type = Dtype::f32;
    each.rows = each.dim = 12;
    each.attention = 0.5;
    each.ffn = 2;
    const Conformance both = judged_by_hand(each);
    ASSERT_NE(finding(both, "factor-of-attention"), nullptr);
    ASSERT_NE(finding(both, "factor-of-ffn"), nullptr);
    EXPECT_NEAR(finding(both, "factor-of-ffn")->evidence.at("factors").get<std::vector<double>>()[1], 2, 1e-5);
}

// Whatever stands in two rows, a gain and a bias per channel make of it.
TEST(ConformanceOfFewRows, GainsThatWereNotSavedDoNotExplainAnyInput) {
    for (const std::size_t rows : {1U, 2U, 7U, 12U}) {
        HandMade how;
        how.type = Dtype::f32;
        how.rows = rows;
        how.dim = 12;
        HandMadeRun run(how);
        for (SavedBlock& block : run.file().blocks) {
            for (std::size_t i = 0; i < block.attention_in.values.size(); ++i) {
                block.attention_in.values[i] += std::sin(static_cast<double>(7 * i + 1));
            }
        }
        const Conformance result = conformance(scheme_named("pre-ln"), run.file());
        EXPECT_FALSE(result.conforms);
        EXPECT_NE(finding(result, "attn.in"), nullptr);
        EXPECT_EQ(finding(result, "gains-not-saved"), nullptr) << rows;
    }
}

TEST(ConformanceOfSharedNorms, ANormThatServesBothSubLayersIsSavedOnce) {
    HandMade how;
    how.type = Dtype::f32;
    how.one_norm = true;
    how.rows = how.dim = 12;
    HandMadeRun run(how);
    ASSERT_EQ(run.file().blocks[0].norms.size(), 1U);
    const Conformance result = conformance(scheme_named("pre-ln"), run.file());
    EXPECT_TRUE(result.conforms);
    EXPECT_EQ(ids(result, Severity::note), std::vector<std::string>{"gains-shared"});
    // A file with gains of a second norm, which the block did not use: that is the one explanation.
    for (SavedBlock& block : run.file().blocks) {
        block.norms.push_back(block.norms[0]);
        for (double& gain : block.norms[1].gain) {
            gain = 2 - gain;
        }
    }
    const Conformance other = conformance(scheme_named("pre-ln"), run.file());
    EXPECT_EQ(ids(other, Severity::explanation), std::vector<std::string>{"gains-of-another-norm"});
    EXPECT_NE(finding(other, "gains-of-another-norm")->message.find("norm 1 has those of norm 0"), std::string::npos);
}

}  // namespace
}  // namespace flyball::check::against_test
