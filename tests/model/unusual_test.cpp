// Configurations that published files do have, though not the usual ones. unusual/make_unusual.py asked transformers
// what it makes of them; the defaults in the tables below are typed from its configuration classes (version 5.22.2).
#include <gtest/gtest.h>

#include "../core/support.hpp"
#include "core/json.hpp"
#include "model/family.hpp"
#include "support.hpp"

namespace flyball::model::test {
namespace {

using flyball::test::Caught;
using flyball::test::error_of;

std::filesystem::path unusual_folder() {
    return golden_folder().parent_path() / "unusual";
}

std::vector<std::string> unusual_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(unusual_folder())) {
        if (entry.is_directory()) {
            names.push_back(entry.path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Unusual : public testing::TestWithParam<std::string> {};

TEST_P(Unusual, IsReadAsTransformersReadsIt) {
    const std::filesystem::path folder = unusual_folder() / GetParam();
    const Model<float> model = load_model(folder);
    const SafeTensors expected = SafeTensors::open(folder / "expected.safetensors");
    const std::vector<std::int32_t> ids = read_ids(expected);
    Seen<float> seen;
    const Taps<float> taps = seen.taps(model.architecture(), ids.size());
    Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    EXPECT_LE(distance(pass.readout(), expected.read<double>("hidden")), 1e-5);
    ASSERT_EQ(model.architecture().has_head, expected.contains("logits"));
    if (expected.contains("logits")) {
        pass.loss(next_tokens(ids), taps);
        EXPECT_LE(distance(seen.tensors["logits"], expected.read<double>("logits")), 1e-5);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Unusual, testing::ValuesIn(unusual_names()), [](const auto& tested) {
    std::string name = tested.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

Architecture read(const Json& json) {
    const ConfigReader config(parse_json(dump_json(json), "config.json"), "config.json");
    return family_of(config).read(config, [](std::string_view) { return false; });
}

// The smallest configuration of the Llama-like families; tests add to it.
Json llama(const std::string& type, const Json& more = Json::object()) {
    Json json = {{"model_type", type}, {"hidden_size", 16}, {"num_attention_heads", 2}, {"num_key_value_heads", 2}};
    json.update(more);
    return json;
}

TEST(Config, MissingKeysHaveTheDefaultsOfTheirFamily) {
    const Architecture gpt2 = read({{"model_type", "gpt2"}});
    EXPECT_EQ(gpt2.vocab, 50257U);
    EXPECT_EQ(gpt2.dim, 768U);
    EXPECT_EQ(gpt2.layers, 12U);
    EXPECT_EQ(gpt2.heads, 12U);
    EXPECT_EQ(gpt2.ffn_dim, 3072U);
    EXPECT_EQ(gpt2.positions, 1024U);
    EXPECT_EQ(gpt2.eps, 1e-5);
    EXPECT_EQ(gpt2.activation, Activation::gelu_tanh);
    EXPECT_TRUE(gpt2.tied);

    const Architecture bert = read({{"model_type", "bert"}});
    EXPECT_EQ(bert.vocab, 30522U);
    EXPECT_EQ(bert.dim, 768U);
    EXPECT_EQ(bert.layers, 12U);
    EXPECT_EQ(bert.heads, 12U);
    EXPECT_EQ(bert.ffn_dim, 3072U);
    EXPECT_EQ(bert.positions, 512U);
    EXPECT_EQ(bert.token_types, 2U);
    EXPECT_EQ(bert.eps, 1e-12);
    EXPECT_EQ(bert.activation, Activation::gelu);

    struct Row {
        const char* type;
        std::size_t vocab, ffn_dim, kv_heads, positions;
        std::size_t window;  // of every block
    };
    for (const Row& row : std::vector<Row>{{"llama", 32000, 11008, 32, 2048, 0},
                                           {"mistral", 32000, 14336, 8, 131072, 4096},
                                           {"qwen2", 151936, 22016, 32, 32768, 0}}) {
        SCOPED_TRACE(row.type);
        const Architecture a = read({{"model_type", row.type}});
        EXPECT_EQ(a.vocab, row.vocab);
        EXPECT_EQ(a.dim, 4096U);
        EXPECT_EQ(a.layers, 32U);
        EXPECT_EQ(a.heads, 32U);
        EXPECT_EQ(a.kv_heads, row.kv_heads);
        EXPECT_EQ(a.head_dim, 128U);
        EXPECT_EQ(a.ffn_dim, row.ffn_dim);
        EXPECT_EQ(a.positions, row.positions);
        EXPECT_EQ(a.eps, 1e-6);
        EXPECT_EQ(a.activation, Activation::silu);
        EXPECT_EQ(a.rope.theta, 10000);
        EXPECT_EQ(a.rope.scaling, Rope::Scaling::none);
        EXPECT_EQ(a.window(0), row.window);
        EXPECT_EQ(a.window(31), row.window);
        EXPECT_FALSE(a.tied);
        EXPECT_EQ(a.qkv_bias, std::string(row.type) == "qwen2");
    }
}

TEST(Config, WindowsAreWhereTheFamilyHasThem) {
    const auto windows = [](const std::string& type, Json more) {
        more["num_hidden_layers"] = 3;
        const Architecture a = read(llama(type, more));
        return std::vector<std::size_t>{a.window(0), a.window(1), a.window(2)};
    };
    using List = std::vector<std::size_t>;
    const Json mixed = {"sliding_attention", "full_attention", "sliding_attention"};
    EXPECT_EQ(windows("llama", {{"sliding_window", 5}}), (List{0, 0, 0}));
    EXPECT_EQ(windows("mistral", {{"sliding_window", 5}, {"use_sliding_window", false}}), (List{5, 5, 5}));
    EXPECT_EQ(windows("mistral", {{"sliding_window", nullptr}}), (List{0, 0, 0}));
    EXPECT_EQ(windows("mistral", {{"sliding_window", 5}, {"layer_types", mixed}}), (List{5, 0, 5}));
    EXPECT_EQ(windows("qwen2", {{"sliding_window", 5}}), (List{0, 0, 0}));
    EXPECT_EQ(windows("qwen2", {{"use_sliding_window", true}, {"max_window_layers", 1}}), (List{0, 4096, 4096}));
    EXPECT_EQ(windows("qwen2", {{"use_sliding_window", true}, {"sliding_window", 5}}), (List{0, 0, 0}));
    EXPECT_EQ(windows("qwen2", {{"use_sliding_window", true}, {"sliding_window", 5}, {"layer_types", mixed}}),
              (List{5, 0, 5}));
    EXPECT_EQ(windows("qwen2", {{"use_sliding_window", true}, {"sliding_window", nullptr}, {"max_window_layers", 0}}),
              (List{0, 0, 0}));
}

TEST(Config, RotaryPositionsFollowTheRulesOfTransformers) {
    const auto rope = [](const Json& more) { return read(llama("llama", more)).rope; };
    // An empty rope_scaling is none.
    EXPECT_EQ(
        rope({{"rope_scaling", Json::object()}, {"rope_parameters", {{"rope_type", "linear"}, {"factor", 3}}}}).factor,
        3);
    EXPECT_EQ(rope({{"rope_scaling", {{"rope_type", "linear"}, {"type", "yarn"}, {"factor", 0.5}}}}).factor, 0.5);
    EXPECT_EQ(rope({{"rope_theta", 50}, {"rope_parameters", {{"rope_theta", 70}}}}).theta, 70);
    EXPECT_EQ(rope({{"rope_theta", 0.5}}).theta, 0.5);
    // Dynamic scaling starts from max_position_embeddings, whatever else the file says.
    EXPECT_EQ(rope({{"original_max_position_embeddings", 8},
                    {"max_position_embeddings", 32},
                    {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}, {"original_max_position_embeddings", 16}}}})
                  .original_positions,
              32);
    const Rope yarn = rope({{"max_position_embeddings", 64},
                            {"rope_scaling",
                             {{"rope_type", "yarn"},
                              {"factor", nullptr},
                              {"original_max_position_embeddings", 16.0},
                              {"beta_fast", 0},
                              {"beta_slow", nullptr},
                              {"truncate", nullptr},
                              {"mscale", 2.0},
                              {"mscale_all_dim", 1.0}}}});
    EXPECT_EQ(yarn.factor, 4);
    EXPECT_EQ(yarn.beta_fast, 32);
    EXPECT_EQ(yarn.beta_slow, 1);
    EXPECT_FALSE(yarn.truncate);
    EXPECT_NEAR(yarn.attention_factor, 1.1217511437, 1e-9);  // (0.2 ln 4 + 1)/(0.1 ln 4 + 1)
    EXPECT_EQ(rope({{"partial_rotary_factor", 0.25}}).dims, 8U) << "looked at by nobody without a scaling";
}

TEST(Config, WhatTransformersCannotReadOrWeCannotRunIsOneSentence) {
    struct Case {
        Json json;
        const char* part;
    };
    const auto scaled = [](const Json& parameters) { return llama("llama", {{"rope_scaling", parameters}}); };
    const std::vector<Case> cases = {
        {{{"model_type", "gpt2"}, {"n_layer", nullptr}}, "n_layer = 'null'"},
        {{{"model_type", "gpt2"}, {"is_causal", false}}, "is_causal"},
        {{{"model_type", "gpt2"}, {"scale_attn_weights", nullptr}}, "true or false"},
        {{{"model_type", "bert"}, {"type_vocab_size", nullptr}}, "type_vocab_size"},
        {llama("llama", {{"hidden_size", 17}, {"head_dim", 8}}), "a multiple of the 2 heads"},
        {llama("llama", {{"hidden_size", 18}}), "even number of rotary channels, not 9"},
        {llama("llama", {{"rms_norm_eps", nullptr}}), "rms_norm_eps = 'null'"},
        {llama("llama", {{"tie_word_embeddings", nullptr}}), "true or false"},
        {llama("llama", {{"max_position_embeddings", nullptr}}), "max_position_embeddings"},
        {llama("llama", {{"rope_theta", nullptr}}), "rope_theta"},
        {llama("llama", {{"per_layer_config", {{"0", {{"head_dim", 4}}}}}}), "per_layer_config"},
        {llama("llama", {{"quantization_config", {{"quant_method", "bitsandbytes"}}}}), "quantization_config"},
        {llama("qwen2", {{"head_dim", nullptr}}), "head_dim"},
        {llama("qwen2", {{"use_sliding_window", nullptr}}), "use_sliding_window"},
        {llama("mistral", {{"sliding_window", 0}}), "sliding_window"},
        {llama("mistral", {{"layer_types", {"full_attention"}}}), "a list of 32 times"},
        {llama("qwen2", {{"num_hidden_layers", 1}, {"layer_types", {"chunked_attention"}}}), "layer_types"},
        {llama("qwen2", {{"num_hidden_layers", 1}, {"layer_types", {"sliding_attention"}}}), "no window in use"},
        {llama("llama", {{"num_hidden_layers", 1}, {"layer_types", {"sliding_attention"}}}), "has no windows"},
        {scaled({{"rope_type", nullptr}}), "rope_type"},
        {scaled({{"rope_type", "longrope"}}), "one of default, linear"},
        {scaled({{"rope_type", "linear"}}), "no factor"},
        {scaled({{"rope_type", "linear"}, {"factor", nullptr}}), "factor = 'null'"},
        {scaled({{"rope_type", "dynamic"}, {"factor", "2"}}), "a finite number"},
        {scaled({{"rope_type", "linear"}, {"factor", 0}}), "above 0"},
        {scaled({{"rope_type", "yarn"}}), "no factor"},
        {scaled({{"rope_type", "yarn"}, {"factor", 2}, {"original_max_position_embeddings", nullptr}}), "original_max"},
        {scaled({{"rope_type", "yarn"}, {"factor", 2}, {"rope_theta", 1}}), "other than 1"},
        {scaled({{"rope_type", "yarn"}, {"factor", 2}, {"beta_fast", -1}}), "beta_fast"},
        {scaled({{"rope_type", "llama3"}, {"factor", 2}, {"high_freq_factor", 4}}), "no low_freq_factor"},
        {scaled({{"rope_type", "llama3"}, {"factor", 2}, {"low_freq_factor", 1}}), "no high_freq_factor"},
        {scaled({{"rope_type", "linear"}, {"factor", 2}, {"partial_rotary_factor", 0.5}}), "partial_rotary_factor"},
        {scaled({{"full_attention", {{"rope_type", "linear"}, {"factor", 2}}}}), "differ by block"},
    };
    for (const Case& tried : cases) {
        const Caught caught = error_of([&] { read(tried.json); });
        ASSERT_TRUE(caught.kind.has_value()) << "accepted: " << dump_json(tried.json);
        EXPECT_TRUE(caught.has(tried.part)) << caught.text;
        EXPECT_EQ(caught.text.find('\n'), std::string::npos) << caught.text;
    }
}

TEST(Config, Gpt2KnowsItsSizesByTwoNamesAndTheSecondWins) {
    const Architecture a = read({{"model_type", "gpt2"},
                                 {"n_embd", 24},
                                 {"hidden_size", 12},
                                 {"num_hidden_layers", 3},
                                 {"num_attention_heads", 2},
                                 {"n_positions", 64},
                                 {"max_position_embeddings", 40},
                                 {"n_ctx", 20},
                                 {"n_inner", nullptr}});
    EXPECT_EQ(a.dim, 12U);
    EXPECT_EQ(a.layers, 3U);
    EXPECT_EQ(a.heads, 2U);
    EXPECT_EQ(a.positions, 40U);
    EXPECT_EQ(a.ffn_dim, 48U);
}

}  // namespace
}  // namespace flyball::model::test
