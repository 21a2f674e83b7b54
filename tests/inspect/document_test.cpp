// Every number of a report under its own name, in documents and tables.
//
// Of made_report(3), block l has in field number k of layer_fields() the value 0.14 + 0.32*l + 0.01*k, and the
// embedding 0.01 + 0.01*k.
#include "inspect/document.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <sstream>

#include "inspect/reports.hpp"

namespace flyball::inspect::test {
namespace {

// As docs/inspect.md lists them.
const std::vector<std::string> of_the_stream = {
    "norm",   "norm_low",       "norm_median",       "norm_high", "mean_abs",   "entry_variance", "data_variance",
    "cosine", "effective_rank", "collapse_residual", "largest",   "median_abs", "gradient"};
const std::vector<std::string> of_the_block = {
    "attention_norm",   "attention_ratio",   "attention_cosine", "ffn_norm",     "ffn_ratio", "ffn_cosine",
    "angular_distance", "angular_predicted", "angular_ratio",    "influence",    "entropy",   "sink",
    "sink_heads",       "largest_logit",     "gain_mean",        "gain_largest", "drop",      "lens_loss",
    "lens_agreement"};

std::vector<std::string> all_fields() {
    std::vector<std::string> all = of_the_stream;
    all.insert(all.end(), of_the_block.begin(), of_the_block.end());
    return all;
}

std::string token_text(std::int32_t id) {
    return "t" + std::to_string(id);
}

std::vector<std::vector<std::string>> cells_of(const std::string& table) {
    std::istringstream text(table);
    std::vector<std::vector<std::string>> cells;
    for (std::string line; std::getline(text, line);) {
        std::istringstream fields(line + ",");  // getline drops an empty cell at the end
        cells.emplace_back();
        for (std::string field; std::getline(fields, field, ',');) {
            cells.back().push_back(field);
        }
    }
    return cells;
}

// What a member that is in no list would leave: a report has nothing but doubles, each of them in the list once.
TEST(LayerFields, HaveEveryMemberOnce) {
    EXPECT_EQ(sizeof(LayerReport), layer_fields().size() * sizeof(double));
    LayerReport report;
    double number = 1;
    for (const LayerField& field : layer_fields()) {
        EXPECT_TRUE(std::isnan(report.*field.value)) << field.name << " is in the list twice, or begins as a number";
        report.*field.value = number++;
    }
    std::set<std::string> names;
    std::set<std::string> titles;
    for (const LayerField& field : layer_fields()) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_TRUE(titles.insert(field.title).second) << field.title;
    }
}

// A name stands for the member of that name.
TEST(LayerFields, NamesAreThoseOfTheMembers) {
    using R = LayerReport;
    const std::vector<double R::*> members = {
        &R::norm,
        &R::norm_low,
        &R::norm_median,
        &R::norm_high,
        &R::mean_abs,
        &R::entry_variance,
        &R::data_variance,
        &R::cosine,
        &R::effective_rank,
        &R::collapse_residual,
        &R::largest,
        &R::median_abs,
        &R::gradient,
        &R::attention_norm,
        &R::attention_ratio,
        &R::attention_cosine,
        &R::ffn_norm,
        &R::ffn_ratio,
        &R::ffn_cosine,
        &R::angular_distance,
        &R::angular_predicted,
        &R::angular_ratio,
        &R::influence,
        &R::entropy,
        &R::sink,
        &R::sink_heads,
        &R::largest_logit,
        &R::gain_mean,
        &R::gain_largest,
        &R::drop,
        &R::lens_loss,
        &R::lens_agreement,
    };
    const std::vector<std::string> names = all_fields();
    ASSERT_EQ(layer_fields().size(), names.size());
    ASSERT_EQ(stream_fields().size(), of_the_stream.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        EXPECT_EQ(layer_fields()[k].name, names[k]);
        EXPECT_EQ(layer_fields()[k].value, members[k]) << names[k];
        if (k < of_the_stream.size()) {
            EXPECT_STREQ(stream_fields()[k].name, layer_fields()[k].name);
            EXPECT_EQ(stream_fields()[k].value, layer_fields()[k].value);
        }
    }
}

TEST(Document, HasEveryNumberUnderItsName) {
    Report report = made_report(3);
    report.dim = 77;
    Json model = Json::object();
    model["name"] = "made";
    const Json json = document(model, report, token_text);
    EXPECT_EQ(json.at("model"), model);
    EXPECT_EQ(json.at("loss"), 2.5);
    EXPECT_EQ(json.at("tokens"), 6);
    EXPECT_EQ(json.at("sequences"), 2);
    EXPECT_EQ(json.at("length"), 3);
    ASSERT_EQ(json.at("embedding").size(), 13U);
    for (std::size_t k = 0; k < of_the_stream.size(); ++k) {
        EXPECT_NEAR(json.at("embedding").at(of_the_stream[k]).get<double>(), 0.01 + 0.01 * static_cast<double>(k),
                    1e-9);
    }
    ASSERT_EQ(json.at("layers").size(), 3U);
    for (std::size_t l = 0; l < 3; ++l) {
        const Json& layer = json.at("layers")[l];
        EXPECT_EQ(layer.size(), 35U);  // its number, 32 fields, and the token of the lens in two forms
        EXPECT_EQ(layer.at("layer"), l);
        const std::vector<std::string> names = all_fields();
        for (std::size_t k = 0; k < names.size(); ++k) {
            const double made = 0.14 + 0.32 * static_cast<double>(l) + 0.01 * static_cast<double>(k);
            EXPECT_NEAR(layer.at(names[k]).get<double>(), l == 2 && names[k] == "lens_agreement" ? 1 : made, 1e-9)
                << names[k];
        }
        EXPECT_EQ(layer.at("lens_top"), 20 + l);
        EXPECT_EQ(layer.at("lens_top_text"), "t2" + std::to_string(l));
    }
    EXPECT_EQ(json.at("summary"), summary(report, token_text));
    EXPECT_EQ(json.size(), 12U);
}

TEST(Document, HasHeadsMassiveActivationsGainsAndGrowth) {
    const Json json = document(Json::object(), made_report(3), token_text);
    // After block l the running number of made_report is 0.46 + 0.32*l.
    ASSERT_EQ(json.at("heads").size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
        const Json& head = json.at("heads")[i];
        const double from = 0.46 + 0.32 * static_cast<double>(i / 2) + 3 * static_cast<double>(i % 2);
        EXPECT_EQ(head.at("layer"), i / 2);
        EXPECT_EQ(head.at("head"), i % 2);
        EXPECT_NEAR(head.at("entropy").get<double>(), from, 1e-9);
        EXPECT_NEAR(head.at("largest_logit").get<double>(), from + 1, 1e-9);
        EXPECT_NEAR(head.at("sink").get<double>(), from + 2, 1e-9);
        EXPECT_EQ(head.size(), 5U);
    }
    ASSERT_EQ(json.at("massive").size(), 2U);
    const Json& first = json.at("massive")[0];
    EXPECT_EQ(first.at("layer"), 1);
    EXPECT_EQ(first.at("sequence"), 1);
    EXPECT_EQ(first.at("token"), 2);
    EXPECT_EQ(first.at("id"), 15);
    EXPECT_EQ(first.at("text"), "t15");
    EXPECT_EQ(first.at("channel"), 5);
    EXPECT_EQ(first.at("value"), -321);
    EXPECT_NEAR(first.at("times_median").get<double>(), 321 / 0.57, 1e-6);
    EXPECT_EQ(json.at("massive")[1].at("id"), 11);
    EXPECT_NEAR(json.at("massive")[1].at("times_median").get<double>(), 432 / 0.89, 1e-6);
    EXPECT_EQ(dump_json(json.at("gains")),
              R"([{"layer":0,"norm":"blocks.0.norms.0","mean":1.5,"deviation":0.25,"largest":2.5}])");
    EXPECT_EQ(dump_json(json.at("growth")),
              R"({"class":"linear","rate":2.0,"rate_error":0.1,"exponent":0.9,"exponent_error":0.05,"factor":4.0,)"
              R"("error":0.02,"bound":"linear"})");
}

TEST(Document, SaysNullForWhatWasNotMeasured) {
    Report report = made_report(3);
    report.loss = not_measured;
    report.layers[1].drop = not_measured;
    report.layers[2].largest_logit = HUGE_VAL;
    report.embedding.data_variance = not_measured;
    report.lens_top.clear();
    report.growth = {};
    const Json json = parse_json(dump_json(document(Json::object(), report, {})), "document");
    EXPECT_TRUE(json.at("loss").is_null());
    EXPECT_TRUE(json.at("layers")[1].at("drop").is_null());
    EXPECT_TRUE(json.at("layers")[2].at("largest_logit").is_null());
    EXPECT_TRUE(json.at("embedding").at("data_variance").is_null());
    EXPECT_FALSE(json.at("layers")[0].contains("lens_top"));
    EXPECT_TRUE(json.at("massive")[0].at("text").is_null());
    EXPECT_EQ(json.at("growth").at("class"), "unknown");
    for (const char* const key : {"rate", "rate_error", "exponent", "exponent_error", "factor", "error"}) {
        EXPECT_TRUE(json.at("growth").at(key).is_null()) << key;
    }
    const Json with_lens = document(Json::object(), made_report(3), {});
    EXPECT_EQ(with_lens.at("layers")[0].at("lens_top"), 20);
    EXPECT_TRUE(with_lens.at("layers")[0].at("lens_top_text").is_null());
}

TEST(LayersTable, HasEveryFieldOfEveryBlock) {
    Report report = made_report(3);
    report.layers[1].drop = not_measured;
    report.layers[1].entropy = HUGE_VAL;
    const auto cells = cells_of(layers_table(report));
    ASSERT_EQ(cells.size(), 5U);
    const std::vector<std::string> names = all_fields();
    std::vector<std::string> header = {"layer"};
    header.insert(header.end(), names.begin(), names.end());
    EXPECT_EQ(cells[0], header);
    EXPECT_EQ(cells[1][0], "embedding");
    for (std::size_t row = 1; row < 5; ++row) {
        ASSERT_EQ(cells[row].size(), 33U) << row;
        for (std::size_t k = 0; k < names.size(); ++k) {
            const std::string& cell = cells[row][k + 1];
            if (row == 1 && k >= of_the_stream.size()) {
                EXPECT_EQ(cell, "") << names[k];
            } else if (row == 3 && (names[k] == "drop" || names[k] == "entropy")) {
                EXPECT_EQ(cell, "") << names[k];
            } else if (!(row == 4 && names[k] == "lens_agreement")) {
                const double from = row == 1 ? 0.01 : 0.14 + 0.32 * static_cast<double>(row - 2);
                EXPECT_NEAR(std::stod(cell), from + 0.01 * static_cast<double>(k), 1e-9) << names[k];
            }
        }
        if (row > 1) {
            EXPECT_EQ(cells[row][0], std::to_string(row - 2));
        }
    }
    EXPECT_EQ(cells[4].back(), "1");
}

TEST(HeadsTable, HasOneLineAHead) {
    Report report = made_report(3);
    report.heads = {{{0.5, 7.25, 0.125}, {1.5, -2, 0.75}}, {{model::not_measured, 3, 0}}};
    EXPECT_EQ(heads_table(report),
              "layer,head,entropy,sink,largest_logit\n"
              "0,0,0.5,0.125,7.25\n"
              "0,1,1.5,0.75,-2\n"
              "1,0,,0,3\n");
}

TEST(GainsTable, HasOneLineANorm) {
    Report report = made_report(3);
    report.gains.push_back({2, "a,b", 0.5, 0.0625, NAN});
    EXPECT_EQ(gains_table(report),
              "layer,norm,mean,deviation,largest\n"
              "0,blocks.0.norms.0,1.5,0.25,2.5\n"
              "2,\"a,b\",0.5,0.0625,\n");
}

}  // namespace
}  // namespace flyball::inspect::test
