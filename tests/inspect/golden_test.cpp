// Every number of a depth report against a second computation: golden/make_reports.py ran the same checkpoints in
// transformers, in double, and wrote the formulas of docs/inspect.md out in numpy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "inspect/inspection.hpp"
#include "measure/growth.hpp"
#include "places.hpp"

namespace flyball::inspect {
namespace {

using GoldenJson = nlohmann::json;

std::filesystem::path tests_folder() {
    return std::filesystem::path(flyball::test::source_folder) / "tests";
}

GoldenJson golden_json(const std::string& name) {
    std::ifstream file(tests_folder() / "inspect" / "golden" / (name + ".json"));
    return GoldenJson::parse(file);
}

std::vector<std::string> golden_reports() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(tests_folder() / "inspect" / "golden")) {
        if (entry.path().extension() == ".json" && entry.path().stem() != "growth") {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

// Checkpoints that only these tests need are beside their reports.
std::filesystem::path checkpoint_of(const std::string& name) {
    const std::filesystem::path own = tests_folder() / "inspect" / "golden" / name;
    return std::filesystem::exists(own) ? own : tests_folder() / "model" / "golden" / name;
}

// null is NaN and nothing else. `scale` is the size of what the number is a difference or a mean of.
void expect_golden(double got, const GoldenJson& want, double scale, const std::string& what) {
    if (want.is_null()) {
        EXPECT_TRUE(std::isnan(got)) << what << " is " << got << " and cannot be measured";
        return;
    }
    const double expected = want.get<double>();
    EXPECT_NEAR(got, expected, 1e-5 * std::fabs(expected) + 1e-6 * scale) << what;
}

class GoldenReport : public testing::TestWithParam<std::string> {
  protected:
    static Report run(const GoldenJson& expected) {
        const model::Model<float> model = model::load_model(checkpoint_of(GetParam()));
        Settings settings;
        settings.drop = model.architecture().has_head;
        settings.lens = model.architecture().has_head;
        const auto ids = expected.at("ids").get<std::vector<std::int32_t>>();
        return inspect(model, model::Batch(expected.at("sequences"), expected.at("tokens")), ids, settings);
    }
};

TEST_P(GoldenReport, EqualsTransformersAndNumpy) {
    const GoldenJson expected = golden_json(GetParam());
    const Report report = run(expected);
    const bool encoder = expected.at("loss").is_null();
    const double loss_scale = encoder ? 1 : expected.at("loss").get<double>();
    expect_golden(report.loss, expected.at("loss"), 0, "loss");
    EXPECT_EQ(report.ids, expected.at("ids").get<std::vector<std::int32_t>>());
    EXPECT_EQ(report.sequences, expected.at("sequences").get<std::size_t>());
    EXPECT_EQ(report.tokens, expected.at("tokens").get<std::size_t>());

    for (const LayerField& field : stream_fields()) {
        const double scale = std::string(field.name) == "gradient" ? 0 : 1;
        expect_golden(report.embedding.*field.value, expected.at("embedding").at(field.name), scale,
                      std::string("embedding ") + field.name);
    }
    ASSERT_EQ(report.layers.size(), expected.at("layers").size());
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        const GoldenJson& layer = expected.at("layers").at(l);
        EXPECT_EQ(layer_fields().size(), layer.size()) << "fields of which one side knows nothing";
        for (const LayerField& field : layer_fields()) {
            const std::string name = field.name;
            const double scale = name == "gradient" ? 0 : name == "drop" ? loss_scale : 1;
            expect_golden(report.layers[l].*field.value, layer.at(name), scale,
                          "block " + std::to_string(l) + " " + name);
        }
    }
}

TEST_P(GoldenReport, HeadsEqualTransformers) {
    const GoldenJson expected = golden_json(GetParam());
    const Report report = run(expected);
    ASSERT_EQ(report.heads.size(), expected.at("heads").size());
    for (std::size_t l = 0; l < report.heads.size(); ++l) {
        ASSERT_EQ(report.heads[l].size(), expected.at("heads").at(l).size());
        for (std::size_t h = 0; h < report.heads[l].size(); ++h) {
            const GoldenJson& head = expected.at("heads").at(l).at(h);
            const std::string what = "block " + std::to_string(l) + " head " + std::to_string(h);
            expect_golden(report.heads[l][h].entropy, head.at("entropy"), 1, what + " entropy");
            expect_golden(report.heads[l][h].first_weight, head.at("sink"), 1, what + " sink");
            expect_golden(report.heads[l][h].largest_score, head.at("largest_logit"), 1, what + " largest score");
        }
    }
}

TEST_P(GoldenReport, GainsEqualTransformers) {
    const GoldenJson expected = golden_json(GetParam());
    const Report report = run(expected);
    EXPECT_EQ(report.gains.size(), expected.at("gains").size());
    for (const GoldenJson& want : expected.at("gains")) {
        const std::string norm = want.at("norm");
        // A checkpoint's names may have a prefix that transformers' have not, and the other way round.
        const auto found = std::find_if(report.gains.begin(), report.gains.end(), [&](const GainReport& gain) {
            return norm.ends_with(gain.norm) || gain.norm.ends_with(norm);
        });
        ASSERT_NE(found, report.gains.end()) << norm;
        EXPECT_EQ(found->layer, want.at("layer").get<std::size_t>()) << norm;
        expect_golden(found->mean, want.at("mean"), 1, norm + " mean");
        expect_golden(found->deviation, want.at("deviation"), 1, norm + " deviation");
        expect_golden(found->largest, want.at("largest"), 1, norm + " largest");
    }
}

TEST_P(GoldenReport, MassiveActivationsTopTokensAndGrowthEqual) {
    const GoldenJson expected = golden_json(GetParam());
    const Report report = run(expected);
    ASSERT_EQ(report.massive.size(), expected.at("massive").size());
    for (std::size_t i = 0; i < report.massive.size(); ++i) {
        const GoldenJson& want = expected.at("massive").at(i);
        EXPECT_EQ(report.massive[i].layer, want.at("layer").get<std::size_t>());
        EXPECT_EQ(report.massive[i].sequence, want.at("sequence").get<std::size_t>());
        EXPECT_EQ(report.massive[i].token, want.at("token").get<std::size_t>());
        EXPECT_EQ(report.massive[i].channel, want.at("channel").get<std::size_t>());
        expect_golden(report.massive[i].value, want.at("value"), 0, "massive activation");
    }
    const auto lens_top = expected.at("lens_top").get<std::vector<std::int32_t>>();
    EXPECT_EQ(report.lens_top, std::vector<std::optional<std::int32_t>>(lens_top.begin(), lens_top.end()));
    EXPECT_EQ(report.final_top.has_value(), !expected.at("final_top").is_null());
    if (report.final_top) {
        EXPECT_EQ(*report.final_top, expected.at("final_top").get<std::int32_t>());
    }
    EXPECT_EQ(report.first_not_finite, report.layers.size());
    EXPECT_EQ(name(report.bound), expected.at("bound").get<std::string>());
    const GoldenJson& growth = expected.at("growth");
    EXPECT_EQ(measure::name(report.growth.kind), growth.at("class").get<std::string>());
    expect_golden(report.growth.rate, growth.at("rate"), 0, "rate");
    expect_golden(report.growth.rate_error, growth.at("rate_error"), 0, "rate_error");
    expect_golden(report.growth.exponent, growth.at("exponent"), 0, "exponent");
}

INSTANTIATE_TEST_SUITE_P(All, GoldenReport, testing::ValuesIn(golden_reports()), [](const auto& tested) {
    std::string name = tested.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

// Curves whose law is known, and numpy's least squares.
TEST(GoldenGrowth, CurvesOfAKnownLawAreNamedAndFitted) {
    const GoldenJson curves = golden_json("growth");
    EXPECT_GE(curves.size(), 14U);
    for (const GoldenJson& curve : curves) {
        const std::string what = curve.at("name");
        const measure::Growth got = measure::growth(curve.at("lengths").get<std::vector<double>>());
        const GoldenJson& want = curve.at("growth");
        EXPECT_EQ(measure::name(got.kind), want.at("class").get<std::string>()) << what;
        expect_golden(got.rate, want.at("rate"), 1e-3, what + ": rate");
        expect_golden(got.rate_error, want.at("rate_error"), 1e-3, what + ": rate_error");
        expect_golden(got.exponent, want.at("exponent"), 1e-3, what + ": exponent");
    }
}

}  // namespace
}  // namespace flyball::inspect
