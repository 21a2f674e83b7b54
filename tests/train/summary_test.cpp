// summary.json and TensorBoard's events, field by field.
#include "train/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/error.hpp"
#include "core/file.hpp"
#include "train/events.hpp"

namespace flyball::train {
namespace {

Summary every_field() {
    Summary s;
    s.name = "own-7";
    s.scheme = "own";
    s.equation = "x + dt*f(x) | norm(x)";
    s.seed = 7;
    s.dt = 0.25;
    s.outcome = Outcome::exploded;
    s.failure = Failure{Outcome::exploded, 12, 3, "stream"};
    s.steps = 11;
    s.loss = 1.5;
    s.validation_loss = 2.5;
    s.entropy_floor = 0.75;
    s.language = EntropyFloor{};
    s.language->mean = 0.5;
    s.language->error = 0.01;
    s.language->cold = 0.625;
    s.language->cold_error = 0.02;
    s.language->rate = 0.4375;
    s.parameters = 1234;
    s.tokens_per_second = 5000;
    s.memory = 1e6;
    s.growth = 8;
    s.smallest_gradient = 0.125;
    s.largest_gradient = 16;
    s.notes = {"one", "two"};
    return s;
}

const char* const written =
    R"json({"name": "own-7", "scheme": "own", "equation": "x + dt*f(x) | norm(x)", "seed": 7, "outcome": "exploded",
        "failure": {"outcome": "exploded", "step": 12, "layer": 3, "quantity": "stream"}, "steps": 11,
        "parameters": 1234, "loss": 1.5, "validation_loss": 2.5, "tokens_per_second": 5000.0, "dt": 0.25, "growth": 8.0,
        "smallest_gradient": 0.125, "largest_gradient": 16.0, "memory": 1000000.0, "entropy_floor": 0.75,
        "language": {"mean": 0.5, "error": 0.01, "cold": 0.625, "cold_error": 0.02, "rate": 0.4375},
        "notes": ["one", "two"]})json";

TEST(Summary, HasEveryFieldUnderItsName) {
    EXPECT_EQ(to_json(every_field()), parse_json(written, "written"));
}

TEST(Summary, IsReadBackWithEveryField) {
    const Summary s = read_summary(parse_json(written, "written"), "written");
    ASSERT_TRUE(s.failure);
    EXPECT_EQ(s.failure->outcome, Outcome::exploded);
    EXPECT_EQ(s.failure->step, 12U);
    EXPECT_EQ(s.failure->layer, 3U);
    EXPECT_EQ(s.failure->quantity, "stream");
    EXPECT_EQ(to_json(s), parse_json(written, "written"));
}

TEST(Summary, OfAnotherKindIsRefused) {
    Json json = parse_json(written, "written");
    json["outcome"] = "well";
    EXPECT_THROW(read_summary(json, "file"), Error);
    json.erase("outcome");
    EXPECT_THROW(read_summary(json, "file"), Error);
}

TEST(Summary, ThatIsNoneIsRefusedWithWhatItShouldBe) {
    const auto refusal = [](const Json& json) -> std::string {
        try {
            read_summary(json, "runs/own-7");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    Json json = parse_json(written, "written");
    json["outcome"] = "well";
    EXPECT_NE(refusal(json).find("got the outcome 'well', expected one that a training run has"), std::string::npos)
        << refusal(json);
    json["outcome"] = "done";
    EXPECT_EQ(refusal(json), "");
    json["failure"]["outcome"] = "ill";
    EXPECT_NE(refusal(json).find("got the outcome 'ill', expected one that a training run has"), std::string::npos);
    json.erase("seed");
    EXPECT_NE(refusal(json).find("got 'runs/own-7', expected the summary of a training run"), std::string::npos)
        << refusal(json);
    EXPECT_NE(refusal(json).find("start anew with force"), std::string::npos) << refusal(json);
}

TEST(Summary, EveryOutcomeIsReadBack) {
    for (const char* const outcome : {"done", "interrupted", "nan", "exploded", "spike"}) {
        Json json = parse_json(written, "written");
        json["outcome"] = outcome;
        EXPECT_EQ(to_json(read_summary(json, "written")).at("outcome"), outcome);
    }
}

// The loss itself is in no layer.
TEST(Lines, OfAStepThatIsNotRecordedAreItsFourNumbersAndItsFailure) {
    StepReport report;
    report.step = 3;
    report.loss = 1.5;
    report.rate = 0.25;
    report.gradient_norm = 2;
    EXPECT_EQ(to_json(report), parse_json(R"({"step": 3, "loss": 1.5, "lr": 0.25, "gradient_norm": 2.0})", "wanted"));
    report.failure = Failure{Outcome::spike, 2, std::nullopt, "loss"};
    const Json failure = to_json(report).at("failure");
    EXPECT_EQ(failure, parse_json(R"({"outcome": "spike", "step": 2, "layer": null, "quantity": "loss"})", "wanted"));
    EXPECT_EQ(read_failure(failure).layer, std::nullopt);
    EXPECT_EQ(read_failure(failure).step, 2U);
}

TEST(Lines, HaveWhatIsKnownOfTheEmbeddingAndEveryLayer) {
    StepReport report;
    report.layers.resize(2);
    report.layers[1].norm = 7;
    report.embedding.norm = 1;
    report.embedding.mean_abs = 2;
    report.embedding.entry_variance = 3;
    report.embedding.data_variance = 4;
    report.embedding.gradient = 5;
    const Json line = to_json(report);
    const Json wanted = {
        {"norm", 1.0}, {"mean_abs", 2.0}, {"entry_variance", 3.0}, {"data_variance", 4.0}, {"gradient", 5.0}};
    EXPECT_EQ(line.at("embedding"), wanted);
    EXPECT_EQ(line.at("layers")[1].at("layer"), 2);
    EXPECT_EQ(line.at("layers")[1].at("norm"), 7);
}

std::string events_of(const Json& line) {
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "flyball-events";
    {
        record::EventFile events(file);
        write_events(line, events);
        events.flush();
    }
    std::string contents = read_text_file(file, 1U << 20U);
    std::filesystem::remove(file);
    return contents;
}

// The four bytes (event.proto: field 2, a float) behind a tag (field 1), of which there is one; nothing where there is
// none.
std::optional<float> value_of(const std::string& contents, const std::string& tag) {
    const std::string before = std::string("\x0a") + static_cast<char>(tag.size()) + tag + "\x15";
    const std::size_t at = contents.find(before);
    if (at == std::string::npos || contents.find(before, at + 1) != std::string::npos) {
        return std::nullopt;
    }
    float value = 0;
    std::memcpy(&value, contents.data() + at + before.size(), sizeof(value));
    return value;
}

// A run that goes on writes lines as it has them, one that was taken up as JSON has them: null where a number is lost.
TEST(Events, HaveLostNumbersAsNan) {
    StepReport report;
    report.step = 3;
    report.loss = std::nan("");
    report.gradient_norm = 2.5;
    report.layers.resize(1);
    report.layers[0].norm = HUGE_VAL;
    report.layers[0].angle = 0.25;
    const Json line = to_json(report);
    for (const bool read_back : {false, true}) {
        SCOPED_TRACE(read_back);
        const std::string contents = events_of(read_back ? parse_json(dump_json(line), "line") : line);
        EXPECT_TRUE(std::isnan(value_of(contents, "loss").value_or(0)));
        EXPECT_EQ(value_of(contents, "gradient_norm"), 2.5F);
        EXPECT_TRUE(std::isnan(value_of(contents, "norm/layer-01").value_or(0)));
        EXPECT_TRUE(std::isnan(value_of(contents, "gradient/layer-01").value_or(0)));
        EXPECT_EQ(value_of(contents, "angle/layer-01"), 0.25F);
    }
}

TEST(Events, HaveTheLayersOfALineUnderTheirNumbers) {
    StepReport report;
    report.step = 3;
    report.layers.resize(2);
    const std::string contents = events_of(to_json(report));
    for (const char* tag : {"loss", "lr", "gradient_norm", "norm/layer-01", "norm/layer-02", "angle_ratio/layer-02"}) {
        EXPECT_NE(contents.find(tag), std::string::npos) << tag;
    }
    EXPECT_EQ(contents.find("layer-00"), std::string::npos);
    EXPECT_EQ(contents.find("layer-03"), std::string::npos);
}

}  // namespace
}  // namespace flyball::train
