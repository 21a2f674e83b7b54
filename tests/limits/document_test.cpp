// Every number of an analysis under its own name, in documents, tables and sentences: a result by hand in which no two
// numbers are the same.
#include "limits/document.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "limits/diagnosis.hpp"

namespace flyball::limits {
namespace {

DistanceMeans distance_at(std::size_t length, std::size_t n, double from) {
    return {length, n, from + 0.01, from + 0.02, from + 0.03, from + 0.04, from + 0.05, from + 0.06};
}

SeparationMeans separation_at(std::size_t n, double from) {
    return {n,           from + 0.01, from + 0.02, from + 0.03, from + 0.04, from + 0.05, from + 0.06,
            from + 0.07, from + 0.08, from + 0.09, from + 0.10, from + 0.11, from + 0.12};
}

HeadResult head_at(std::size_t layer, std::size_t head) {
    HeadResult h;
    h.layer = layer;
    h.head = head;
    h.rows = 62;
    h.temperature = 2;
    h.entropy = 1.25;
    h.entropy_share = 0.35;
    h.active = 3.5;
    h.active_share = 0.055;
    h.peak = 0.45;
    h.sink = 0.25;
    h.sink_key = 7;
    h.told_n = 20;
    h.spectral = 0.15;
    h.infinity = 0.21;
    h.infinity_to_one = {0.31, 0.32};
    h.by_length = {distance_at(32, 5, 0.1), distance_at(64, 5, 0.2)};
    h.by_n = {distance_at(64, 1, 0.3)};
    h.separation = {separation_at(10, 0.6), separation_at(20, 0.82), separation_at(50, 0.7)};
    return h;
}

Result by_hand() {
    Result result;
    result.attention = "softmax";
    result.heads = {head_at(0, 0), head_at(0, 1), head_at(1, 0), head_at(1, 1)};
    result.heads[1].active_share = 0.07;        // not selective
    result.heads[2].sink = 0.4;                 // a sink
    result.heads[3].sink = 0.3;                 // another
    result.heads[3].spectral = 0.1;             // 0.4 of 1/(2T): not sensitive
    result.heads[3].separation[1].ratio = 0.5;  // saturated
    result.by_length = {distance_at(32, 5, 0.4), distance_at(64, 5, 0.25)};
    result.by_n = {distance_at(64, 1, 0.5)};
    KsCurve curve;
    curve.length = 32;
    curve.distances = {0.5, 0.125};
    curve.by_level = {2, 0.125, 0.75, false};
    curve.by_distance = {2, 0.125, 0.75, false};
    result.critical.push_back(curve);
    curve.length = 64;
    curve.distances = {0.75, 0.25, 0.0625};
    curve.by_level = {16, 0.25, 0.5, true};
    curve.by_distance = {24, 0.0625, 0.875, false};
    result.critical.push_back(curve);
    result.separation = {separation_at(10, 0.3), separation_at(20, 0.42)};
    const std::vector<double>& steps = step_sizes();
    for (const double temperature : {0.1, 2.0}) {
        for (std::size_t e = 0; e < steps.size(); ++e) {
            result.sensitivity.push_back({temperature, steps[e], temperature + 0.01 * static_cast<double>(e)});
        }
        result.jacobian.push_back({temperature, temperature + 0.5, temperature + 0.6, temperature + 0.7});
    }
    result.coverage = {{1, 2, 0.25, 0.4375, 0.4}};
    result.rows_left_out = 3;
    return result;
}

Json document_by_hand() {
    return document({}, 64, {}, {by_hand()}, {});
}

void expect_fields(const Json& json, const std::map<std::string, double>& fields) {
    for (const auto& [name, value] : fields) {
        EXPECT_NEAR(json.at(name).get<double>(), value, 1e-12) << name;
    }
}

TEST(Document, HasEveryMeanUnderItsName) {
    const Json json = document_by_hand();
    expect_fields(json.at("distance_by_length")[1], {{"length", 64},
                                                     {"n", 5},
                                                     {"true", 0.26},
                                                     {"expected", 0.27},
                                                     {"expected_rms", 0.28},
                                                     {"bound", 0.29},
                                                     {"share", 0.30},
                                                     {"uniformity", 0.31}});
    const std::map<std::string, double> separation = {{"n", 20},
                                                      {"ratio", 0.43},
                                                      {"lower", 0.44},
                                                      {"upper", 0.45},
                                                      {"upper_patched", 0.46},
                                                      {"lower_exact", 0.47},
                                                      {"upper_exact", 0.48},
                                                      {"lower_distinct", 0.49},
                                                      {"upper_distinct", 0.50}};
    expect_fields(json.at("separation")[1], separation);
    expect_fields(json.at("separation")[1].at("rows_breaking"),
                  {{"lower", 0.51}, {"upper", 0.52}, {"upper_patched", 0.53}, {"exact", 0.54}});
    expect_fields(json.at("coverage")[0],
                  {{"layer", 1}, {"heads", 2}, {"share", 0.25}, {"predicted", 0.4375}, {"measured", 0.4}});
    EXPECT_EQ(json.at("rows_left_out"), 3);
}

TEST(Document, HasEveryOtherKindAmongItsAlternatives) {
    Result second = by_hand();
    second.attention = "sparsemax";
    second.rows_left_out = 4;
    Result third = by_hand();
    third.attention = "ssmax";
    third.rows_left_out = 5;
    const Json json = document({}, 64, {}, {by_hand(), second, third}, {});
    EXPECT_EQ(json.at("attention"), "softmax");
    ASSERT_EQ(json.at("alternatives").size(), 2U);
    EXPECT_EQ(json.at("alternatives")[0].at("attention"), "sparsemax");
    EXPECT_EQ(json.at("alternatives")[0].at("rows_left_out"), 4);
    EXPECT_EQ(json.at("alternatives")[1].at("attention"), "ssmax");
    EXPECT_EQ(json.at("alternatives")[1].at("rows_left_out"), 5);
}

TEST(Document, HasEveryNumberOfAHeadUnderItsName) {
    const Json head = document_by_hand().at("heads")[1];
    expect_fields(head, {{"layer", 0},
                         {"head", 1},
                         {"rows", 62},
                         {"temperature", 2},
                         {"active", 3.5},
                         {"active_share", 0.07},
                         {"entropy", 1.25},
                         {"entropy_share", 0.35},
                         {"peak", 0.45},
                         {"sink", 0.25},
                         {"sink_key", 7},
                         {"separation_ratio", 0.83},
                         {"separation_n", 20},
                         {"spectral", 0.15},
                         {"infinity", 0.21}});
    expect_fields(head.at("infinity_to_one"), {{"lower", 0.31}, {"upper", 0.32}});
    EXPECT_FALSE(head.at("selective").get<bool>() || head.at("saturated").get<bool>() ||
                 head.at("is_sink").get<bool>());
    EXPECT_TRUE(head.at("sensitive").get<bool>());
    EXPECT_EQ(head.at("diagnosis"),
              "3.5 keys, 7 % of those it sees, hold 90 % of the weight: not selective; entropy 1.25 nats, 35 % of "
              "uniform; N_s/N = 0.83 at N = 20: not saturated; key 7 gets 25 % of the weight: no sink; its weights "
              "move at 60 % of "
              "the speed that softmax can reach: sensitive");
}

TEST(Document, HasCriticalNOfBothKinds) {
    const Json json = document_by_hand();
    expect_fields(json.at("critical_n")[1], {{"length", 64}, {"n", 16}, {"fraction", 0.25}, {"ks", 0.25}, {"p", 0.5}});
    EXPECT_TRUE(json.at("critical_n")[1].at("differs_later").get<bool>());
    expect_fields(json.at("critical_n_fixed").at("lengths")[1],
                  {{"length", 64}, {"n", 24}, {"fraction", 0.375}, {"ks", 0.0625}, {"p", 0.875}});
    EXPECT_EQ(json.at("ks")[1].at("d"), (std::vector<double>{0.75, 0.25, 0.0625}));
}

// 1/(2T) = 5 and 0.25, but two points of the simplex are never further apart than sqrt 2: sqrt 2/10 for the largest
// step.
TEST(Document, HasTheNormsOfTheTemperatureBesideItsSensitivities) {
    const Json rows = document_by_hand().at("sensitivity");
    ASSERT_EQ(rows.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
        const double temperature = i < 3 ? 0.1 : 2;
        expect_fields(rows[i], {{"temperature", temperature},
                                {"max", temperature + 0.01 * static_cast<double>(i % 3)},
                                {"bound", i % 3 == 2 ? 0.1414213562373095
                                          : i < 3    ? 5
                                                     : 0.25},
                                {"bound_paper", i < 3 ? 1.4142135623730951 : 0.125},
                                {"spectral", temperature + 0.5},
                                {"spectral_largest", temperature + 0.6},
                                {"infinity", temperature + 0.7}});
    }
}

TEST(Tables, HaveARowForEachHeadAndForEachN) {
    std::istringstream heads(heads_table({by_hand()}));
    std::string line;
    std::getline(heads, line);
    EXPECT_EQ(line,
              "attention,layer,head,active,entropy,peak,sink,separation,sensitivity,distance,separation_n,"
              "is_selective,is_saturated,is_sink,is_sensitive,diagnosis");
    std::vector<std::string> lines;
    while (std::getline(heads, line)) {
        lines.push_back(line.substr(0, line.find(",\"")));
    }
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[1].rfind("softmax,0,1,0.07,0.35,0.45,0.25,0.83,0.6,0.21", 0), 0U) << lines[1];
    EXPECT_TRUE(lines[1].ends_with(",20,false,false,false,true")) << lines[1];
    EXPECT_TRUE(lines[2].ends_with(",20,true,false,true,true")) << lines[2];
    EXPECT_TRUE(lines[3].ends_with(",20,true,true,true,false")) << lines[3];
    EXPECT_EQ(ks_table({by_hand()}),
              "attention,length,n,d\nsoftmax,32,1,0.5\nsoftmax,32,2,0.125\nsoftmax,64,1,0.75\nsoftmax,64,2,0.25\n"
              "softmax,64,3,0.0625\n");
}

TEST(Summary, SaysTheNumbersOfTheWholeModel) {
    EXPECT_EQ(summary({by_hand()}),
              (std::vector<std::string>{"3 of 4 heads are selective (90 % of the weight on 6 % of the keys or less).",
                                        "The 5 heaviest keys hold 45 % of the weight at 32 tokens, 30 % at 64.",
                                        "At 64 tokens the N heaviest keys of a head first look like N random ones at N "
                                        "= 24 (37.5 % of the tokens).",
                                        "Of its 20 heaviest keys a head tells 43 % from all others; 25 % of heads are "
                                        "saturated: they tell at most 80 %.",
                                        "50 % of heads are sinks: one key gets 30 % of their weight or more. 75 % sit "
                                        "near a tie of two keys, where weights move fastest."}));
}

TEST(Guidance, NamesTheKindThatKeepsTheMostAndTheTemperature) {
    Result kept = by_hand();  // 0.36 of 0.45
    kept.attention = "sparsemax";
    kept.by_length[1].share = 0.36;
    Result lost = by_hand();
    lost.attention = "ssmax";
    lost.by_length[1].share = 0.09;
    EXPECT_EQ(
        guidance({by_hand(), kept, lost}),
        "At 64 tokens let no head rely on 24 keys or more: such a choice cannot be told from a random one. "
        "Most heads still tell their heaviest keys from the rest. "
        "What its scores are divided by (the temperature), 2, is above 0.1, below which weights begin to jump. "
        "From 32 to 64 tokens the 5 heaviest keys keep 80 % of their share of the weight under sparsemax, more than "
        "under any other kind compared here (66.7 % under softmax).");
    // "Most" is more than half of the heads.
    Result saturated = by_hand();
    const HeadResult not_saturated = [&] {
        HeadResult head = saturated.heads[0];
        for (SeparationMeans& row : head.separation) {
            row.ratio = 0.9;
        }
        return head;
    }();
    HeadResult all_used = not_saturated;
    for (SeparationMeans& row : all_used.separation) {
        row.ratio = 0.1;
    }
    saturated.heads = {all_used, not_saturated, all_used, not_saturated};
    EXPECT_NE(guidance({saturated}).find("Most heads still tell"), std::string::npos);
    saturated.heads.push_back(all_used);
    EXPECT_NE(guidance({saturated}).find("Most heads are saturated"), std::string::npos);
    Result cold = by_hand();
    cold.heads[2].temperature = 0.05;
    EXPECT_NE(guidance({cold}).find("(the temperature), 0.05, is in the range (0.1 and below)"), std::string::npos);
    cold.heads[2].temperature = 0.5;
    EXPECT_NE(guidance({cold}).find("(the temperature), 0.5, is above 0.1"), std::string::npos);
}

}  // namespace
}  // namespace flyball::limits
