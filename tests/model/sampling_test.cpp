// Probabilities by hand, and how often a token is chosen against how often it should be.
#include "model/sampling.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "../core/support.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/parallel.hpp"
#include "model/generate.hpp"
#include "model/sample.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> probabilities_of(const std::vector<double>& logits, double temperature, std::size_t top = 0) {
    return probabilities<double>(logits, {temperature, top});
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], 1e-15) << i;
    }
}

// Logits whose exponentials are 1, 2, 4, 8 times something, so that every probability is a fraction.
const double log_two = std::log(2.0);
const std::vector<double> doubling = {700.0, 700.0 + log_two, 700.0 + 2 * log_two, 700.0 + 3 * log_two};

TEST(Sampling, ProbabilitiesAreTheSoftmaxOfLogitsOverTemperature) {
    const auto expect = [](double temperature, const std::vector<double>& expected) {
        const auto got = probabilities_of(doubling, temperature);
        ASSERT_EQ(got.size(), 4U);
        for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_NEAR(got[i], expected[i], 1e-13) << temperature;
        }
    };
    expect(1, {1 / 15.0, 2 / 15.0, 4 / 15.0, 8 / 15.0});
    expect(0.5, {1 / 85.0, 4 / 85.0, 16 / 85.0, 64 / 85.0});  // squared
    const double root = std::sqrt(2.0);
    const double sum = 3 + 3 * root;
    expect(2, {1 / sum, root / sum, 2 / sum, 2 * root / sum});
    expect(1e18, {0.25, 0.25, 0.25, 0.25});
    expect(1e-300, {0, 0, 0, 1});
}

TEST(Sampling, TopKeepsTheLargestAndTheLowerIdOfEquals) {
    const std::vector<double> logits = {0, log_two, 0, log_two, -infinity};
    expect_near(probabilities_of(logits, 1, 3), {0.2, 0.4, 0, 0.4, 0});
    expect_near(probabilities_of(logits, 1, 1), {0, 1, 0, 0, 0});
    expect_near(probabilities_of(logits, 1, 4), {1 / 6.0, 2 / 6.0, 1 / 6.0, 2 / 6.0, 0});
    expect_near(probabilities_of(logits, 1, 99), {1 / 6.0, 2 / 6.0, 1 / 6.0, 2 / 6.0, 0});
}

TEST(Sampling, TemperatureZeroTakesTheLargestAndTheLowestIdOfEquals) {
    expect_near(probabilities_of({1, 3, 3, 2}, 0), {0, 1, 0, 0});
    expect_near(probabilities_of({1, 3, 3, 2}, 0, 2), {0, 1, 0, 0});
}

TEST(Sampling, WhatIsNoDistributionIsAnOutcome) {
    EXPECT_TRUE(probabilities_of({1, NAN}, 1).empty());
    EXPECT_TRUE(probabilities_of({1, infinity}, 0).empty());
    EXPECT_TRUE(probabilities_of({-infinity, -infinity}, 1).empty());
    EXPECT_FALSE(choose_token<double>(std::vector<double>{1, NAN}, {}, 1, 1).has_value());
    for (const double temperature : {-1.0, infinity, std::nan("")}) {
        EXPECT_THROW(probabilities_of({1, 2}, temperature), Error) << temperature;
    }
}

TEST(Sampling, ATokenIsWhereTheCumulativeProbabilityPassesU) {
    const std::vector<double> p = {0, 0.25, 0, 0.5, 0.25, 0};
    EXPECT_EQ(token_at(p, 0.1), 1);
    EXPECT_EQ(token_at(p, 0.25), 3);
    EXPECT_EQ(token_at(p, 0.74), 3);
    EXPECT_EQ(token_at(p, 0.76), 4);
    const std::vector<double> rounded = {0.3, 0.3, 0.399999, 0};
    EXPECT_EQ(token_at(rounded, 0.9999999), 2) << "never a token of probability 0";
}

// Pearson's chi-square with 5 degrees of freedom: below 20.5 but for one seed in a thousand; a probability that is off
// by a tenth gives about 100 here.
TEST(Sampling, TokensAreChosenAsOftenAsTheirProbabilitySays) {
    const std::vector<float> logits = {0.5F, -1, 2, 0, 1, 0.25F, -30};
    for (const Sampling sampling : {Sampling{1, 0}, Sampling{0.7, 0}, Sampling{1.5, 4}}) {
        const std::vector<double> p = probabilities<float>(logits, sampling);
        EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-14);
        constexpr std::size_t draws = 100000;
        std::vector<double> counts(p.size(), 0.0);
        double equal = 0;  // neighbours
        std::size_t before = p.size();
        for (std::size_t i = 0; i < draws; ++i) {
            const auto token = static_cast<std::size_t>(*choose_token<float>(logits, sampling, 11, i));
            counts[token] += 1;
            equal += token == before ? 1 : 0;
            before = token;
        }
        const double chance = std::inner_product(p.begin(), p.end(), p.begin(), 0.0);
        EXPECT_NEAR(equal / draws, chance, 0.01) << "one token does not depend on the one before";
        double chi_square = 0;
        for (std::size_t k = 0; k < p.size(); ++k) {
            const double expected = p[k] * draws;
            if (expected > 1) {
                chi_square += (counts[k] - expected) * (counts[k] - expected) / expected;
            } else {
                EXPECT_LE(counts[k], 1);
            }
        }
        EXPECT_LT(chi_square, 20.5) << "temperature " << sampling.temperature;
        EXPECT_GT(chi_square, 0.1) << "too good to be random";
    }
}

std::vector<std::int32_t> written_by(const Model<float>& model, const SampleSettings& settings,
                                     SampleResult* result = nullptr) {
    std::vector<std::int32_t> seen;
    const SampleResult got = sample(model, tiny_ids, settings, [&](std::int32_t id) {
        seen.push_back(id);
        return true;
    });
    EXPECT_EQ(got.ids, seen);
    if (result != nullptr) {
        *result = got;
    }
    return seen;
}

Model<float> roomy_model(std::size_t positions) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.positions = positions;
    return tiny_model<float>(a, 5);
}

// The loop by hand: every token from a whole pass over the text so far.
TEST(Sample, WritesWhatChoosingFromWholePassesWrites) {
    const Model<float> model = roomy_model(40);
    for (const double temperature : {0.0, 1.0}) {
        const SampleSettings settings{12, {temperature, 6}, 4, {}};
        SampleResult result;
        const auto got = written_by(model, settings, &result);
        std::vector<std::int32_t> text = tiny_ids;
        for (std::uint64_t i = 0; i < 12; ++i) {
            Generator<float> fresh(model);
            fresh.take(text);
            text.push_back(*choose_token<float>(fresh.logits(), settings.sampling, 4, i));
        }
        EXPECT_EQ(got,
                  std::vector<std::int32_t>(text.begin() + static_cast<std::ptrdiff_t>(tiny_ids.size()), text.end()));
        EXPECT_EQ(result.end, SampleEnd::tokens);
        EXPECT_TRUE(result.cached);
        EXPECT_EQ(result.forgotten, 0U);
        EXPECT_GT(result.tokens_per_second(), 0);
    }
    EXPECT_EQ(written_by(model, {20, {1, 0}, 1, {}}), written_by(model, {20, {1, 0}, 1, {}}));
    EXPECT_NE(written_by(model, {20, {1, 0}, 1, {}}), written_by(model, {20, {1, 0}, 2, {}}));
}

// Seven tokens of the prompt are within the ten that these positions were trained for, and three more. The last one that is
// written is never read, so four are cached too; of six one is read beyond, and from there on every token runs the whole text
// again.
TEST(Sample, SaysThatNothingWasKeptWhereTheTextGrewBeyondTheTrainedLength) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.rope.scaling = Rope::Scaling::dynamic;
    a.rope.factor = 2;
    a.rope.original_positions = 10;
    a.positions = 10;
    const Model<float> model = tiny_model<float>(a, 5);
    for (const std::size_t more : {1U, 3U, 4U, 5U, 6U}) {
        SampleResult result;
        written_by(model, {more, {0.0, 0}, 1, {}}, &result);
        EXPECT_EQ(result.ids.size(), more);
        EXPECT_EQ(result.cached, more <= 4) << more;
    }
}

// With 9 positions: 7 of the prompt and 2 more fill them; then the newest 4 take the place of all.
TEST(Sample, AtTheLastPositionTheNewestHalfGoesOn) {
    const Model<float> model = roomy_model(9);
    const SampleSettings settings{40, {0.0, 0}, 1, {}};
    SampleResult result;
    const auto got = written_by(model, settings, &result);
    std::vector<std::int32_t> context = tiny_ids;
    std::size_t forgotten = 0;
    for (const std::int32_t id : got) {
        Generator<float> fresh(model);
        fresh.take(context);
        EXPECT_EQ(id, *choose_token<float>(fresh.logits(), settings.sampling, 1, 0));
        context.push_back(id);
        if (context.size() > 9) {
            context.erase(context.begin(), context.end() - 4);
            ++forgotten;
        }
    }
    EXPECT_EQ(got.size(), 40U);
    EXPECT_EQ(result.forgotten, 7U);  // before tokens 3, 9, 15, .. 39 are taken; the last is not
    EXPECT_EQ(forgotten, 7U);
    EXPECT_EQ(result.cut_prompt, 0U);
}

TEST(Sample, ALongPromptLosesItsBeginning) {
    const Model<float> model = roomy_model(4);
    SampleResult result;
    Generator<float> fresh(model);
    fresh.take(std::span(tiny_ids).last(4));
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto got = written_by(model, {1, {2.0, 0}, seed, {}}, &result);
        EXPECT_EQ(got.front(), *choose_token<float>(fresh.logits(), {2.0, 0}, seed, 0));
    }
    EXPECT_EQ(result.cut_prompt, 3U);
    EXPECT_TRUE(std::isnan(result.tokens_per_second()));
}

TEST(Sample, EndsAfterTheTokenThatEndsATextOrWhenToldTo) {
    const Model<float> model = roomy_model(40);
    const auto all = written_by(model, {20, {1, 0}, 3, {}});
    const std::int32_t last = all[5];
    const auto first_of_it = std::find(all.begin(), all.end(), last);
    SampleResult result;
    const auto got = written_by(model, {20, {1, 0}, 3, {last}}, &result);
    EXPECT_EQ(got, std::vector<std::int32_t>(all.begin(), first_of_it + 1));
    EXPECT_EQ(result.end, SampleEnd::end_of_text);
    std::size_t count = 0;
    const SampleResult stopped =
        sample(model, tiny_ids, {20, {1, 0}, 3, {}}, [&](std::int32_t) { return ++count < 4; });
    EXPECT_EQ(stopped.ids.size(), 4U);
    EXPECT_EQ(stopped.end, SampleEnd::interrupted);
}

// 4 layers, keys and values of 8 channels in floats, twice: 512 bytes a token.
TEST(Sample, MemoryIsThatOfThePositionsThereAre) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.kv_heads = 2;
    a.positions = 100;
    EXPECT_EQ(sample_memory(a, 10, 60) - sample_memory(a, 10, 50), 5120);
    EXPECT_EQ(sample_memory(a, 10, 1000000) - sample_memory(a, 10, 90), 0);
    EXPECT_EQ(sample_memory(a, 5000, 10), sample_memory(a, 100, 10)) << "the prompt loses its beginning";
    a.rope.scaling = Rope::Scaling::dynamic;
    a.rope.original_positions = 2e6;
    EXPECT_EQ(sample_memory(a, 10, 1000000) - sample_memory(a, 10, 90), 512.0 * 999910);
    EXPECT_GT(sample_memory(a, 5000, 10), sample_memory(a, 100, 10) + 512 * 4900) << "and the pass of the prompt";
}

// The newest half at the last position is one pass, and a text of which nothing can be kept is one for every token.
TEST(Sample, MemoryHasTheLongestPassAndNotThatOfThePromptAlone) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.kv_heads = 2;
    a.positions = 100;
    EXPECT_EQ(sample_memory(a, 10, 1000), 512.0 * 100 + memory_estimate(a, 50, Keep::nothing));
    EXPECT_EQ(sample_memory(a, 70, 1000), 512.0 * 100 + memory_estimate(a, 70, Keep::nothing));
    EXPECT_EQ(sample_memory(a, 10, 80), 512.0 * 90 + memory_estimate(a, 10, Keep::nothing));
    a.equation = "x + dt*f(norm(x))/sqrt(n) | norm(x)";
    EXPECT_EQ(sample_memory(a, 10, 80), 512.0 * 90 + memory_estimate(a, 90, Keep::nothing));
}

TEST(Sample, StoppedInItsPromptSpentItsTimeOnThePrompt) {
    const Model<float> model = roomy_model(40);
    const std::atomic<bool> flag{true};
    const StopOn stop(&flag);
    const SampleResult result = sample(model, tiny_ids, {20, {1, 0}, 3, {}}, [](std::int32_t) { return true; });
    EXPECT_EQ(result.end, SampleEnd::interrupted);
    EXPECT_TRUE(result.ids.empty());
    EXPECT_GT(result.prompt_seconds, 0);
    EXPECT_EQ(result.seconds, 0);
}

// A text begins with bos_token_id, whichever key stands first in the file, and ends with either.
TEST(Sample, ATextBeginsWithItsBeginAndEndsWithEither) {
    const Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");  // 11 tokens
    const flyball::test::TemporaryFolder folder;
    const auto ends = [&](const char* config) {
        folder.put("config.json", config);
        return text_ends(folder.path(), a);
    };
    const TextEnds both = ends(R"({"eos_token_id": [2, 5], "bos_token_id": 1})");
    EXPECT_EQ(both.begin, 1);
    EXPECT_EQ(both.last, (std::vector<std::int32_t>{1, 2, 5}));
    // Of several the first that the vocabulary has, and a text ends with any of them.
    const TextEnds several = ends(R"({"bos_token_id": [99, 7, 3, 9], "eos_token_id": [2, 5]})");
    EXPECT_EQ(several.begin, 7);
    EXPECT_EQ(several.last, (std::vector<std::int32_t>{7, 3, 9, 2, 5}));
    EXPECT_FALSE(ends(R"({"eos_token_id": 2})").begin.has_value());
    EXPECT_EQ(ends(R"({"eos_token_id": 2})").last, (std::vector<std::int32_t>{2}));
    const TextEnds none = ends(R"({"eos_token_id": null, "bos_token_id": 11})");  // which the vocabulary lacks
    EXPECT_FALSE(none.begin.has_value());
    EXPECT_TRUE(none.last.empty());
}

TEST(Sample, LogitsThatAreNaNEndTheText) {
    Model<float> model = roomy_model(40);
    model.parameters()->at(model.layout().head)[3] = NAN;
    SampleResult result;
    EXPECT_TRUE(written_by(model, {20, {1, 0}, 3, {}}, &result).empty());
    EXPECT_EQ(result.end, SampleEnd::not_finite);
}

// A text whose eighth token spoils the logits has taken it in, unlike the last token of a text that ends by itself.
// Where frequencies are fixed up to the seventh token alone nothing was kept.
TEST(Sample, ATokenThatTheModelHasNoAnswerToWasTakenIn) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.rope.scaling = Rope::Scaling::dynamic;
    a.rope.factor = 2;
    for (const bool has_room : {false, true}) {
        a.rope.original_positions = has_room ? 8 : 7;
        Model<float> model = tiny_model<float>(a, 5);
        std::uint64_t seed = 0;
        const auto first = [&] { return written_by(model, {1, {3.0, 0}, seed, {}}).front(); };
        while (std::find(tiny_ids.begin(), tiny_ids.end(), first()) != tiny_ids.end()) {
            ASSERT_LT(++seed, 1000U) << "a token that the prompt does not have";
        }
        const std::int32_t spoilt = first();
        model.parameters()->at(model.layout().tokens)[static_cast<std::size_t>(spoilt) * a.dim] = NAN;
        SampleResult result;
        EXPECT_EQ(written_by(model, {20, {3.0, 0}, seed, {}}, &result), (std::vector<std::int32_t>{spoilt}));
        EXPECT_EQ(result.end, SampleEnd::not_finite);
        EXPECT_EQ(result.cached, has_room);
    }
    SampleResult two;
    two.ids = {4, 5};
    two.seconds = 0.5;
    EXPECT_EQ(two.tokens_per_second(), 2) << "one of them was taken in";
    two.end = SampleEnd::not_finite;
    EXPECT_EQ(two.tokens_per_second(), 4) << "both were";
}

// Dynamic rotary positions never end, but the table of learned ones beside them does.
TEST(Sample, LearnedPositionsEndBesideDynamicOnesToo) {
    Architecture a = tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.rope.scaling = Rope::Scaling::dynamic;
    a.rope.factor = 2;
    a.rope.original_positions = 9;
    a.learned_positions = true;  // 9 of them: 7 tokens of the prompt and 2 more, then the newest 4 are computed anew
    SampleResult result;
    written_by(tiny_model<float>(a, 5), {4, {0.0, 0}, 1, {}}, &result);
    EXPECT_EQ(result.ids.size(), 4U);
    EXPECT_EQ(result.forgotten, 1U);
    EXPECT_TRUE(result.cached);
    EXPECT_EQ(sample_memory(a, 10, 1000000), sample_memory(a, 9, 0)) << "no more positions, no more memory";
}

TEST(Sample, TheDocumentHasEveryFieldOnceAndInOrder) {
    SampleReport report;
    report.model = Json::object();
    report.prompt = "a";
    report.prompt_ids = {1, 2};
    report.text = "b";
    report.settings = {7, {0.5, 3}, 9, {}};
    report.result.ids = {4, 5, 6};
    report.result.end = SampleEnd::end_of_text;
    report.result.forgotten = 2;
    report.result.cut_prompt = 8;
    report.result.prompt_seconds = 0.25;
    report.result.seconds = 0.5;
    EXPECT_EQ(dump_json(document(report)),
              R"({"model":{},"prompt":"a","prompt_ids":[1,2],"text":"b","ids":[4,5,6],"end":"end-of-text",)"
              R"("temperature":0.5,"top":3,"seed":9,"cached":true,"forgotten":2,"cut_prompt":8,)"
              R"("prompt_seconds":0.25,"seconds":0.5,"tokens_per_second":4.0})");
    report.text.reset();
    EXPECT_TRUE(document(report).at("text").is_null());
    const std::string page = read_text_file(std::filesystem::path(flyball::test::source_folder) / "docs" / "sample.md",
                                            std::size_t{1} << 20);
    for (const SampleField& field : sample_fields()) {
        EXPECT_NE(page.find(std::string("`") + field.name + "`"), std::string::npos) << field.name;
    }
}

}  // namespace
}  // namespace flyball::model::test
