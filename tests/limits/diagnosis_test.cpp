// What is said about heads and models in words.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "limits/analysis.hpp"
#include "limits/diagnosis.hpp"
#include "limits/document.hpp"
#include "model/tiny.hpp"

namespace flyball::limits::diagnosis_test {
namespace {

constexpr std::size_t tokens = 30;

model::Architecture small() {
    model::Architecture a = model::test::tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.layers = 2;
    a.positions = 40;
    return a;
}

std::vector<std::int32_t> some_ids() {
    std::vector<std::int32_t> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
        ids[i] = static_cast<std::int32_t>((i * i + 3 * i) % 11);
    }
    return ids;
}

TEST(Diagnosis, FollowsItsThresholds) {
    HeadResult head;
    head.temperature = 2;
    head.active_share = 0.06;
    head.sink = 0.3;
    head.spectral = 0.125;  // half of 1/(2T)
    SeparationMeans at20;
    at20.n = 20;
    at20.ratio = 0.8;
    head.separation = {at20};
    head.told_n = 20;
    const Diagnosis yes = diagnose(head);
    EXPECT_TRUE(yes.selective && yes.saturated && yes.sink && yes.sensitive);
    head.active_share = 0.061;
    head.sink = 0.29;
    head.spectral = 0.12;
    head.separation[0].ratio = 0.81;
    const Diagnosis no = diagnose(head);
    EXPECT_FALSE(no.selective || no.saturated || no.sink || no.sensitive);
    EXPECT_NE(no.text.find("no sink"), std::string::npos);
    EXPECT_NE(no.text.find("N_s/N = 0.81 at N = 20: not saturated"), std::string::npos) << no.text;
}

SeparationMeans ratio_at(std::size_t n, double ratio) {
    SeparationMeans at;
    at.n = n;
    at.ratio = ratio;
    return at;
}

// One N for all heads: a head behind a window of eight keys is not compared at another N than the rest.
TEST(Diagnosis, IsAtTheLargestNUpToTwentyThatSomeHeadHas) {
    const double none = std::nan("");
    HeadResult wide;
    HeadResult narrow;
    wide.separation = {ratio_at(5, 0.9), ratio_at(16, 0.7), ratio_at(20, none), ratio_at(32, none)};
    narrow.separation = {ratio_at(5, 0.8), ratio_at(16, none), ratio_at(20, none), ratio_at(32, none)};
    EXPECT_EQ(diagnosis_n({wide, narrow}), 16U);
    EXPECT_EQ(diagnosis_n({narrow}), 5U);
    EXPECT_EQ(diagnosis_n({}), 0U);
    wide.separation[3].ratio = 0.6;  // above 20
    EXPECT_EQ(diagnosis_n({wide, narrow}), 16U);
    wide.told_n = narrow.told_n = 16;
    EXPECT_EQ(diagnose(wide).separation, 0.7);
    EXPECT_TRUE(diagnose(wide).saturated);
    EXPECT_TRUE(std::isnan(diagnose(narrow).separation));
    EXPECT_FALSE(diagnose(narrow).saturated);
    EXPECT_NE(diagnose(wide).text.find("N_s/N = 0.70 at N = 16: saturated"), std::string::npos);
    EXPECT_NE(diagnose(narrow).text.find("N_s/N is not known"), std::string::npos);
}

TEST(Diagnosis, SaysTheNOfAShortText) {
    const model::Model<float> model = model::test::tiny_model<float>(small(), 5);
    const std::vector<Result> results = analyse(model, some_ids(), {}, {12});
    EXPECT_EQ(results[0].heads[0].told_n, 10U);  // of 1, 2, 4, 5, 8, 10, 16, ..
    EXPECT_EQ(summary(results)[3].rfind("Of its 10 heaviest keys a head tells ", 0), 0U) << summary(results)[3];
    const Json json = document({}, 12, {}, results, {});
    EXPECT_EQ(json.at("heads")[0].at("separation_n"), 10);
    for (const HeadMeasure& measure : head_measures()) {
        if (std::string_view(measure.name) == "separation") {
            EXPECT_EQ(measure.title(results[0]), "Of its 10 heaviest keys, those a head tells from all others");
        }
    }
    EXPECT_NE(heads_table(results).find(",separation_n,"), std::string::npos);
    Result empty = results[0];
    for (HeadResult& head : empty.heads) {
        head.separation.clear();
    }
    EXPECT_NE(summary({empty})[3].find("-, no query sees enough"), std::string::npos);
    EXPECT_EQ(guidance({empty}).find("heads"), std::string::npos) << "of what a head tells nothing is known";
}

TEST(Diagnosis, HasOneNWhateverAWindowHides) {
    model::Architecture a = small();
    a.windows = {0, 8};
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    const Result result = analyse(model, some_ids(), {}, {tokens}).front();
    EXPECT_EQ(result.heads.front().told_n, 20U);
    EXPECT_EQ(result.heads.back().told_n, 20U);
    EXPECT_TRUE(std::isnan(diagnose(result.heads.back()).separation));
}

TEST(Diagnosis, SaysThatNoChoiceLooksRandom) {
    const model::Model<float> model = model::test::tiny_model<float>(small(), 5);
    std::vector<Result> results = analyse(model, some_ids(), {}, {tokens});
    results[0].critical.back().by_distance = {};
    EXPECT_EQ(summary(results)[2], "At 30 tokens the N heaviest keys of a head differ from N random ones for every N.");
    results[0].critical.back().by_distance.n = 6;
    EXPECT_EQ(
        summary(results)[2],
        "At 30 tokens the N heaviest keys of a head first look like N random ones at N = 6 (20 % of the tokens).");
    EXPECT_NE(guidance(results).find("let no head rely on 6 keys or more"), std::string::npos);
}

// No row behind a window of eight keys selects eight: of larger N nothing is known.
TEST(Diagnosis, SaysUpToWhichNHeadsCouldBeCompared) {
    model::Architecture a = small();
    a.windows = {0, 8};
    std::vector<Result> results = analyse(model::test::tiny_model<float>(a, 5), some_ids(), {}, {tokens});
    results[0].critical.back().by_distance = {};
    EXPECT_EQ(summary(results)[2],
              "At 30 tokens the N heaviest keys of a head differ from N random ones for every N up to 7.");
    EXPECT_NE(guidance(results).find("every N up to 7 selects what a random choice would not"), std::string::npos)
        << guidance(results);
}

// Over one length nothing is kept or lost, and of kinds that keep the same none keeps more.
TEST(Diagnosis, ComparesKindsOverSeveralLengthsOnly) {
    const model::Model<float> model = model::test::tiny_model<float>(small(), 5);
    Result one = analyse(model, some_ids(), {}, {10, tokens}).front();
    Result other = one;
    other.attention = "another";
    EXPECT_NE(guidance({one, other}).find("no less than under any other kind"), std::string::npos)
        << guidance({one, other});
    other.by_length.back().share *= 0.5;
    EXPECT_NE(guidance({one, other}).find("more than under any other kind"), std::string::npos);
    one.by_length.erase(one.by_length.begin());
    other.by_length.erase(other.by_length.begin());
    EXPECT_EQ(guidance({one, other}).find("under any other kind"), std::string::npos);
}

// Attention in the first block alone: of the second block's heads there is nothing to say, and nothing is said of them.
TEST(Diagnosis, CountsOnlyHeadsThatCouldBeMeasured) {
    model::Architecture a = small();
    const std::vector<Result> whole = analyse(model::test::tiny_model<float>(a, 5), some_ids(), {}, {tokens});
    a.equation = "depth <= 0.5 ? x + dt*attn(norm(x)) : x + dt*ffn(norm(x)) | norm(x)";
    const std::vector<Result> half = analyse(model::test::tiny_model<float>(a, 5), some_ids(), {}, {tokens});
    ASSERT_EQ(half[0].heads.size(), 4U);
    EXPECT_GT(half[0].heads[1].rows, 0U);
    EXPECT_EQ(half[0].heads[2].rows, 0U);
    const std::vector<std::string> lines = summary(half);
    EXPECT_NE(lines[0].find(" of 2 heads are selective"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("The other 2 could not be measured."), std::string::npos) << lines[0];
    // Shares of heads are of those that could be measured: an answer of both of them is all.
    std::vector<Result> saturated = half;
    for (HeadResult& head : saturated[0].heads) {
        for (SeparationMeans& row : head.separation) {
            row.ratio = head.rows > 0 ? 0.5 : row.ratio;
        }
    }
    bool told = false;
    for (const std::string& line : summary(saturated)) {
        told = told || line.find("; 100 % of heads are saturated") != std::string::npos;
        EXPECT_EQ(line.find("; 50 % of heads"), std::string::npos) << line;
    }
    EXPECT_TRUE(told);
    EXPECT_EQ(summary(whole)[0].find("could not"), std::string::npos);
    // The two heads of the first block are what the two samples of each N are made of.
    std::vector<double> distance;
    std::vector<double> expected;
    for (const HeadResult& head : {half[0].heads[0], half[0].heads[1]}) {
        distance.push_back(head.by_n[2].distance);
        expected.push_back(head.by_n[2].expected);
    }
    const std::size_t n = half[0].heads[0].by_n[2].n;
    EXPECT_EQ(half[0].critical[0].distances[n - 1], ks_distance(distance, expected));
    for (const KsCurve& curve : half[0].critical) {
        if (curve.by_level.n) {
            EXPECT_EQ(curve.by_level.p, ks_p_value(curve.by_level.distance, 2, 2));
        }
    }
}

TEST(Diagnosis, SaysNothingOfHeadsWhereNothingWasMeasured) {
    std::vector<Result> results = analyse(model::test::tiny_model<float>(small(), 5), some_ids(), {}, {tokens});
    for (HeadResult& head : results[0].heads) {
        head.rows = 0;
    }
    EXPECT_EQ(summary(results),
              std::vector<std::string>{
                  "Nothing could be measured: no row of any head has finite scores and vectors and three keys."});
    EXPECT_EQ(guidance(results), "");
}

TEST(Diagnosis, ANThatWasNeverComparedIsNoDifference) {
    std::vector<Result> results = analyse(model::test::tiny_model<float>(small(), 5), some_ids(), {}, {tokens});
    for (double& distance : results[0].critical.back().distances) {
        distance = std::nan("");
    }
    results[0].critical.back().by_distance = {};
    EXPECT_EQ(summary(results)[2], "At 30 tokens there is no N at which all heads could be compared with random keys.");
    EXPECT_EQ(guidance(results).find("every N selects"), std::string::npos) << guidance(results);
}

TEST(Diagnosis, RefusesAModelWithoutAttention) {
    model::Architecture a = small();
    a.equation = "x + dt*ffn(norm(x)) | norm(x)";
    const model::Model<float> model = model::test::tiny_model<float>(a, 5);
    try {
        analyse(model, some_ids(), {}, {tokens});
        FAIL() << "nothing there can be analysed";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("a model whose blocks call no attention"), std::string::npos);
    }
}

}  // namespace
}  // namespace flyball::limits::diagnosis_test
