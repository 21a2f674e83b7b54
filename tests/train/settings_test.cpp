#include "train/settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "places.hpp"
#include "setting_fields.hpp"
#include "train/run.hpp"
#include "train/small.hpp"

namespace flyball::train {
namespace {

// A value of every setting that is not its default.
const std::map<std::string, std::string>& other_values() {
    static const std::map<std::string, std::string> values = {{"data", "book.txt"},
                                                              {"encoding", "chars"},
                                                              {"tokenizer", "gpt2"},
                                                              {"validation", "0.2"},
                                                              {"tokens", "50000"},
                                                              {"layers", "3"},
                                                              {"dim", "32"},
                                                              {"heads", "2"},
                                                              {"ffn", "48"},
                                                              {"context", "16"},
                                                              {"positions", "rope"},
                                                              {"norm", "rmsnorm"},
                                                              {"activation", "swiglu"},
                                                              {"qk-norm", "head"},
                                                              {"attention", "sparsemax"},
                                                              {"untied", "true"},
                                                              {"dt", "0.5,0.25"},
                                                              {"init", "embedding=1"},
                                                              {"from", "gpt2"},
                                                              {"dropout", "0.25"},
                                                              {"batch", "3"},
                                                              {"accumulate", "2"},
                                                              {"steps", "7"},
                                                              {"rate", "0.01"},
                                                              {"final-rate", "0.5"},
                                                              {"warm-up", "5"},
                                                              {"weight-decay", "0.01"},
                                                              {"clip", "0.5"},
                                                              {"beta1", "0.8"},
                                                              {"beta2", "0.99"},
                                                              {"epsilon", "1e-6"},
                                                              {"record", "5"},
                                                              {"validate", "9"},
                                                              {"spike", "2"},
                                                              {"save", "3"},
                                                              {"seed", "18446744073709551615"},
                                                              {"storage", "f16"}};
    return values;
}

const SettingField& field_named(const std::string& key) {
    return flyball::test::field_named(setting_fields(), key);
}

TEST(TrainSettings, EachIsReadBackAsItIsWritten) {
    std::set<std::string> tried;
    for (const auto& [key, text] : other_values()) {
        Settings settings;
        EXPECT_NE(field_named(key).text(settings), text) << key << ": the default, so nothing is tested";
        field_named(key).parse(text, settings);
        EXPECT_EQ(field_named(key).text(settings), text) << key;
        tried.insert(key);
    }
    for (const SettingField& field : setting_fields()) {
        EXPECT_EQ(tried.count(field.key), 1U) << "give " << field.key << " a value in other_values()";
    }
}

TEST(TrainSettings, EachIsExplainedInTheManual) {
    std::string pages;
    for (const char* const page : {"train.md", "data.md"}) {
        pages += read_text_file(std::string(flyball::test::source_folder) + "/docs/" + page, 1 << 20);
    }
    EXPECT_EQ(flyball::test::not_in_the_manual(setting_fields(), pages), "") << "say what they do in docs/train.md";
}

TEST(TrainSettings, EachCountsInTheIdentityOfARun) {
    const Corpus corpus = test::small_corpus();
    const auto identity = [&](const Settings& settings) {
        return identity_of({"pre-ln-1", settings, scheme::find_scheme("pre-ln")}, corpus);
    };
    const record::Identity standard = identity({});
    for (const auto& [key, text] : other_values()) {
        Settings settings;
        field_named(key).parse(text, settings);
        if (key == "from") {
            continue;  // needs a model: the contents are part of the identity
        }
        EXPECT_NE(identity(settings), standard) << key;
    }
    Corpus other = corpus;
    other.checksum = "fedcba9876543210";
    EXPECT_NE(identity_of({"pre-ln-1", {}, scheme::find_scheme("pre-ln")}, other), standard);
    EXPECT_NE(identity_of({"pre-ln-1", {}, scheme::find_scheme("peri-ln")}, corpus), standard);
}

TEST(TrainSettings, ThatMakeNoSenseAreRefused) {
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"heads", "7"},        {"dt", "0"},           {"dt", "1,-1"},         {"dropout", "1"},
        {"dropout", "-0.1"},   {"validation", "0"},   {"validation", "1"},    {"rate", "0"},
        {"rate", "-1"},        {"final-rate", "2"},   {"beta1", "1"},         {"beta2", "1"},
        {"epsilon", "0"},      {"spike", "-1"},       {"save", "-1"},         {"weight-decay", "-1"},
        {"clip", "-1"},        {"warm-up", "501"},    {"norm", "layernrm"},   {"attention", "x"},
        {"steps", "0"},        {"batch", "0"},        {"context", "1"},       {"record", "0"},
        {"encoding", "words"}, {"positions", "sine"}, {"activation", "tanh"}, {"qk-norm", "yes"},
        {"rate", "fast"},      {"dt", "1,,2"}};
    for (const auto& [key, text] : wrong) {
        Settings settings;
        EXPECT_THROW(
            {
                field_named(key).parse(text, settings);
                check(settings);
            },
            Error)
            << key << " " << text;
    }
    EXPECT_NO_THROW(check({}));
}

TEST(TrainSettings, ThatAreTooLargeAreToldTheLargest) {
    const auto message = [](const std::string& key, const std::string& text) -> std::string {
        Settings settings;
        try {
            field_named(key).parse(text, settings);
            check(settings);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message("rate", "1e9").find("from 1e-12 to 1000"), std::string::npos) << message("rate", "1e9");
    EXPECT_NE(message("dt", "1e13").find("from 1e-12 to 1e12"), std::string::npos) << message("dt", "1e13");
    EXPECT_NE(message("weight-decay", "1e4").find("from 0 to 1000"), std::string::npos);
    EXPECT_NE(message("spike", "1e7").find("from 0 to 1e6"), std::string::npos);
}

TEST(TrainSettings, AreDescribedInTheSingularWhereThereIsOne) {
    Settings settings;
    settings.layers = settings.heads = settings.steps = 1;
    EXPECT_EQ(describe(settings), "1 layer x 64, 1 head, context 64, 1024 tokens a step, 1 step");
    settings.layers = settings.heads = settings.steps = 2;
    EXPECT_EQ(describe(settings), "2 layers x 64, 2 heads, context 64, 1024 tokens a step, 2 steps");
}

TEST(TrainSettings, TokensAreOfSyntheticTextAlone) {
    Settings settings;
    settings.tokens = 5000;
    EXPECT_NO_THROW(check(settings));
    EXPECT_EQ(corpus_settings(settings).tokens, 5000U);
    settings.data = "book.txt";
    EXPECT_THROW(check(settings), Error);
}

TEST(TrainSettings, OfHeadsWithAnOddNumberOfChannelsCannotTurn) {
    Settings settings;
    settings.dim = 12;
    settings.heads = 4;
    EXPECT_NO_THROW(check(settings));
    settings.positions = Positions::rope;
    EXPECT_THROW(check(settings), Error);
}

TEST(TrainSettings, FollowFromTheWidthWhereNothingIsSaid) {
    Settings settings;
    settings.dim = 128;
    EXPECT_DOUBLE_EQ(settings.largest_rate(), 1e-3);
    EXPECT_EQ(settings.ffn_width(), 512U);
    settings.dim = 32;
    EXPECT_DOUBLE_EQ(settings.largest_rate(), 2e-3);
    settings.ffn_kind = Ffn::swiglu;
    EXPECT_EQ(settings.ffn_width(), 88U);  // 8/3 * 32 = 85.3, up to a multiple of 8
    settings.steps = 250;
    EXPECT_EQ(settings.validation_interval(), 25U);
    settings.batch = 3;
    settings.accumulate = 5;
    settings.context = 7;
    EXPECT_EQ(settings.tokens_per_step(), 105U);
}

}  // namespace
}  // namespace flyball::train
