// Training beside torch: golden/make_goldens.py made the models that runs start from, and what 20 steps of each are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"
#include "scheme/catalogue.hpp"
#include "train/run.hpp"

namespace flyball::train {
namespace {

std::filesystem::path golden_folder() {
    return std::filesystem::path(flyball::test::source_folder) / "tests/train/golden";
}

class Golden : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        const std::filesystem::path folder = golden_folder() / GetParam();
        expected_ = parse_json(read_text_file(folder / "expected.json", 1U << 20U), "expected.json");
        settings_.from = folder.string();
        settings_.data = (golden_folder() / "text.txt").string();
        settings_.encoding = "chars";
        for (const auto& [key, value] : expected_["settings"].items()) {
            if (key != "scheme") {
                set(key, value.dump());
            }
        }
        corpus_ = load_corpus(corpus_settings(settings_));
    }

    void set(const std::string& key, const std::string& value) {
        const auto& fields = setting_fields();
        const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& row) { return row.key == key; });
        ASSERT_NE(field, fields.end()) << key;
        field->parse(value, settings_);
    }

    Trainer trainer() const {
        return {settings_, scheme::find_scheme(expected_["settings"]["scheme"].get<std::string>()), corpus_};
    }

    Json expected_;
    Settings settings_;
    Corpus corpus_;
};

// Relative to the larger of the two, which is what single precision promises.
void expect_close(const Json& got, const Json& expected, double bound, const std::string& what) {
    const auto a = got.get<double>();
    const auto b = expected.get<double>();
    EXPECT_NEAR(a, b, bound * std::max(std::fabs(a), std::fabs(b))) << what;
}

// Everything that is expected is there and agrees.
void expect_record(const Json& got, const Json& expected, const std::string& where) {
    for (const auto& [key, value] : expected.items()) {
        const std::string what = where + "." + key;
        ASSERT_TRUE(got.contains(key)) << what;
        if (value.is_object()) {
            expect_record(got[key], value, what);
        } else {
            expect_close(got[key], value, 1e-4, what);
        }
    }
}

TEST_P(Golden, LossesRatesAndGradientsOfTwentyStepsAreTorchs) {
    Trainer training = trainer();
    for (const Json& step : expected_["steps"]) {
        const StepReport report = training.step();
        EXPECT_NEAR(report.loss, step["loss"].get<double>(), 1e-5) << "step " << report.step;
        expect_close(report.rate, step["lr"], 1e-12, "rate");
        expect_close(report.gradient_norm, step["gradient_norm"], 1e-4,
                     "gradient of step " + std::to_string(report.step));
    }
    EXPECT_TRUE(training.finished());
    EXPECT_NEAR(training.validate(1000).loss, expected_["validation_loss"].get<double>(), 1e-5);
}

TEST_P(Golden, TheRecordOfTheFirstStepIsTorchs) {
    const StepReport report = trainer().step();
    ASSERT_EQ(report.layers.size(), expected_["layers"].size());
    expect_record(to_json(report.embedding), expected_["embedding"], "embedding");
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        const Json record = to_json(report.layers[l]);
        expect_record(record, expected_["layers"][l], "layer " + std::to_string(l + 1));
        for (const LayerField& field : layer_fields()) {
            EXPECT_TRUE(expected_["layers"][l].contains(field.name)) << "nobody compares " << field.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Train, Golden,
                         testing::Values("pre-ln", "post-ln", "peri-ln", "ngpt", "mix-ln", "sqrt-scaling", "llama"),
                         [](const auto& golden) {
                             std::string name = golden.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace flyball::train
