// Configurations that published files do have, though not the usual ones. unusual/make_unusual.py asked transformers
// what it makes of them; the defaults in the tables below are typed from its configuration classes (version 5.22.2).
#include <gtest/gtest.h>

#include <cmath>

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

// Typed from Qwen3Config, GraniteConfig, Olmo2Config, Olmo3Config, Gemma2Config and Gemma3TextConfig.
TEST(Config, MissingKeysOfTheRelativesOfLlama) {
    struct Row {
        const char* type;
        std::size_t vocab, dim, ffn_dim, layers, heads, kv_heads, head_dim, positions;
        double eps, theta;
        bool tied;
        const char* equation;
    };
    const char* const pre = "x + dt*f(norm(x)) | norm(x)";
    const char* const peri = "x + dt*norm(f(norm(x))) | norm(x)";
    const char* const output = "x + dt*norm(f(x)) | norm(x)";
    for (const Row& row :
         std::vector<Row>{{"qwen3", 151936, 4096, 22016, 32, 32, 32, 128, 32768, 1e-6, 1e4, false, pre},
                          {"granite", 32000, 4096, 11008, 32, 32, 32, 128, 2048, 1e-6, 1e4, false, pre},
                          {"olmo2", 50304, 4096, 11008, 32, 32, 32, 128, 2048, 1e-5, 1e4, false, output},
                          {"olmo3", 50304, 4096, 11008, 32, 32, 32, 128, 2048, 1e-5, 5e5, false, output},
                          {"gemma2", 256000, 2304, 9216, 26, 8, 4, 256, 8192, 1e-6, 1e4, true, peri},
                          {"gemma3_text", 262208, 2304, 9216, 26, 8, 4, 256, 131072, 1e-6, 1e6, true, peri}}) {
        SCOPED_TRACE(row.type);
        const Architecture a = read({{"model_type", row.type}});
        EXPECT_EQ(a.vocab, row.vocab);
        EXPECT_EQ(a.dim, row.dim);
        EXPECT_EQ(a.ffn_dim, row.ffn_dim);
        EXPECT_EQ(a.layers, row.layers);
        EXPECT_EQ(a.heads, row.heads);
        EXPECT_EQ(a.kv_heads, row.kv_heads);
        EXPECT_EQ(a.head_dim, row.head_dim);
        EXPECT_EQ(a.positions, row.positions);
        EXPECT_EQ(a.eps, row.eps);
        EXPECT_EQ(a.rope.theta, row.theta);
        EXPECT_EQ(a.rope.dims, row.head_dim);
        EXPECT_EQ(a.tied, row.tied);
        EXPECT_EQ(a.equation, row.equation);
        EXPECT_EQ(a.dt, 1);
        EXPECT_FALSE(a.qkv_bias || a.output_bias || a.ffn_bias);
        const bool is_gemma = std::string(row.type).starts_with("gemma");
        EXPECT_EQ(a.activation, is_gemma ? Activation::gelu_tanh : Activation::silu);
        // sqrt(2304) = 48; query_pre_attn_scalar is 256.
        EXPECT_EQ(a.embedding_scale, is_gemma ? 48 : 1);
        EXPECT_NEAR(a.score_scale(0),
                    std::string(row.type) == "granite" ? 1
                    : is_gemma                         ? 0.0625
                                                       : 1 / std::sqrt(128),
                    1e-15);
        EXPECT_EQ(a.attention_norm.any(), std::string(row.type) != "granite" && std::string(row.type) != "gemma2");
    }
    const Architecture gemma2 = read({{"model_type", "gemma2"}});
    EXPECT_EQ(gemma2.score_cap, 50);
    EXPECT_EQ(gemma2.logit_cap, 30);
    EXPECT_FALSE(gemma2.window_rope.has_value());
    const Architecture gemma3 = read({{"model_type", "gemma3_text"}, {"attn_logit_softcapping", 50.0}});
    EXPECT_EQ(gemma3.score_cap, 0) << "transformers does not look at it";
    EXPECT_EQ(gemma3.logit_cap, 0);
    EXPECT_EQ(gemma3.rope_of(0).theta, 10000) << "blocks with a window";
    EXPECT_EQ(gemma3.rope_of(5).theta, 1e6);
    EXPECT_EQ(gemma3.attention_norm.gains, scheme::AttentionNorm::Gains::head);
    EXPECT_EQ(read({{"model_type", "olmo2"}}).attention_norm.over, scheme::AttentionNorm::Over::projection);

    const Architecture neox = read({{"model_type", "gpt_neox"}});
    EXPECT_EQ(neox.vocab, 50432U);
    EXPECT_EQ(neox.dim, 6144U);
    EXPECT_EQ(neox.ffn_dim, 24576U);
    EXPECT_EQ(neox.layers, 44U);
    EXPECT_EQ(neox.heads, 64U);
    EXPECT_EQ(neox.positions, 2048U);
    EXPECT_EQ(neox.eps, 1e-5);
    EXPECT_EQ(neox.rope.dims, 24U) << "a quarter of 96";
    EXPECT_EQ(neox.rope.theta, 10000);
    EXPECT_EQ(neox.activation, Activation::gelu);
    EXPECT_TRUE(neox.qkv_bias && neox.output_bias && neox.ffn_bias && neox.norm_bias);
    EXPECT_FALSE(neox.tied);
    EXPECT_EQ(neox.equation, "x + dt*attn(norm(x)) + dt*ffn(norm(x)) | norm(x)");
}

// A file of our own that says no more than its equation: GPT-2's block, without positions and biases.
TEST(Config, MissingKeysOfModelsOfOurOwn) {
    const Architecture a = read({{"model_type", "flyball"}, {"equation", "x + dt*f(norm(x)) | norm(x)"}});
    EXPECT_TRUE(a.causal);
    EXPECT_EQ(a.eps, 1e-5);
    EXPECT_EQ(a.dt, 1);
    EXPECT_EQ(a.norm, "layernorm");
    EXPECT_EQ(a.activation, Activation::gelu_tanh);
    EXPECT_EQ(a.attention_kind, attention::Kind::softmax);
    EXPECT_EQ(a.rope.dims, 0U);
    EXPECT_TRUE(a.has_head && a.tied && a.scale_scores);
    EXPECT_FALSE(a.learned_positions || a.embedding_norm || a.gated || a.qkv_bias || a.output_bias || a.ffn_bias ||
                 a.norm_bias || a.scale_by_layer || a.ffn_gains || a.logit_gains);
    EXPECT_EQ(a.score_factor, 0);
    EXPECT_EQ(a.score_cap, 0);
    EXPECT_EQ(a.logit_cap, 0);
    EXPECT_EQ(a.logit_scale, 1);
    EXPECT_EQ(a.embedding_scale, 1);
    EXPECT_EQ(a.ffn_scale, 1);
}

// The root is that of torch.tensor(hidden_size**0.5), a float: 24^0.5 = 4.898979485566356 becomes 4.898979663848877.
TEST(Config, GemmasEmbeddingScaleIsRoundedToFloat) {
    const Json sizes = {{"model_type", "gemma3_text"}, {"hidden_size", 24}};
    EXPECT_EQ(read(sizes).embedding_scale, 4.898979663848877);
}

TEST(Config, GranitesMultipliers) {
    const Architecture a = read({{"model_type", "granite"},
                                 {"residual_multiplier", 0.22},
                                 {"embedding_multiplier", 12},
                                 {"attention_multiplier", 0.015625},
                                 {"logits_scaling", 8}});
    EXPECT_EQ(a.dt, 0.22);
    EXPECT_EQ(a.embedding_scale, 12);
    EXPECT_EQ(a.score_scale(3), 0.015625);
    EXPECT_EQ(a.logit_scale, 0.125);
}

// What Gemma3TextConfig.convert_rope_params_to_dict and Olmo3Config's make of the two spellings.
TEST(Config, RotaryPositionsByTypeOfBlockFollowTheRulesOfTransformers) {
    const auto ropes = [](const char* type, const Json& more) {
        Architecture a = read(llama(type, more));
        return std::pair{a.rope, a.window_rope.value()};
    };
    const Json linear = {{"rope_type", "linear"}, {"factor", 8.0}};
    const auto [older, older_local] =
        ropes("gemma3_text", {{"rope_theta", 70}, {"rope_local_base_freq", 30}, {"rope_scaling", linear}});
    EXPECT_EQ(older.theta, 70);
    EXPECT_EQ(older.factor, 8);
    EXPECT_EQ(older_local.theta, 30);
    EXPECT_EQ(older_local.scaling, Rope::Scaling::none);
    EXPECT_EQ(ropes("gemma3_text", {{"rope_scaling", {{"type", "linear"}, {"factor", 8.0}}}}).first.scaling,
              Rope::Scaling::none)
        << "the oldest spelling is not looked at here";
    const auto [both, both_local] =
        ropes("gemma3_text", {{"rope_theta", 70},
                              {"rope_scaling", linear},
                              {"rope_parameters",
                               {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 90}}},
                                {"sliding_attention", {{"type", "linear"}, {"factor", 2}}}}}});
    EXPECT_EQ(both.theta, 90);
    EXPECT_EQ(both.factor, 8) << "rope_scaling wins";
    EXPECT_EQ(both_local.factor, 2);
    EXPECT_EQ(both_local.theta, 10000);
    const auto [flat, flat_local] = ropes("gemma3_text", {{"rope_parameters", {{"rope_theta", 90}}}});
    EXPECT_EQ(flat.theta, 1e6) << "not looked at outside of the two objects";
    EXPECT_EQ(flat_local.theta, 10000);
    const auto [olmo, olmo_local] = ropes("olmo3", {{"rope_theta", 70}});
    EXPECT_EQ(olmo.theta, 70);
    EXPECT_EQ(olmo_local.theta, 5e5) << "rope_theta is that of full attention";
    const Json yarn = {{"rope_type", "yarn"}, {"factor", 2}, {"truncate", false}};
    EXPECT_TRUE(ropes("olmo3", {{"rope_scaling", yarn}}).first.truncate) << "looked for beside the two objects";
    EXPECT_FALSE(ropes("olmo3", {{"rope_parameters", {{"full_attention", yarn}, {"truncate", false}}}}).first.truncate);
}

TEST(Config, PartsOfAHeadTurnInGptNeox) {
    const auto rope = [](const Json& more) {
        Json json = {{"model_type", "gpt_neox"}, {"hidden_size", 24}, {"num_attention_heads", 2}};
        json.update(more);
        return read(json).rope;
    };
    EXPECT_EQ(rope({{"rotary_pct", 0.5}, {"rotary_emb_base", 30}}).dims, 6U);
    EXPECT_EQ(rope({{"rotary_pct", 0.5}, {"rotary_emb_base", 30}}).theta, 30);
    EXPECT_EQ(rope({{"rope_theta", 30}, {"partial_rotary_factor", 0.5}}).theta, 10000) << "other families' names";
    EXPECT_EQ(rope({{"rotary_pct", 1}, {"rope_parameters", {{"partial_rotary_factor", 0.5}}}}).dims, 6U);
    EXPECT_EQ(rope(Json::object()).dims, 4U) << "three, rounded up";
    EXPECT_TRUE(rope(Json::object()).odd);
    EXPECT_FALSE(rope({{"rotary_pct", 0.5}}).odd);
    EXPECT_EQ(rope({{"rotary_pct", 0.01}}).dims, 0U);
}

// The language model of a Gemma that also sees images has its configuration inside, and its class caps no logits.
TEST(Config, GemmaWithImagesIsReadFromItsTextConfig) {
    const Architecture a = read({{"model_type", "gemma3"},
                                 {"text_config", {{"hidden_size", 16}, {"final_logit_softcapping", 30.0}}},
                                 {"vision_config", {{"hidden_size", 99}}}});
    EXPECT_EQ(a.dim, 16U);
    EXPECT_EQ(a.embedding_scale, 4);
    EXPECT_EQ(a.logit_cap, 0);
    EXPECT_TRUE(a.tied);
    // Whether the head is the embedding belongs to the whole model: the key inside is looked at by nobody.
    const auto tied = [](const Json& outside, const Json& inside) {
        Json json = {{"model_type", "gemma3"}, {"text_config", {{"hidden_size", 16}}}};
        json.update(outside);
        json["text_config"].update(inside);
        return read(json).tied;
    };
    const Json none = Json::object();
    const Json yes = {{"tie_word_embeddings", true}};
    const Json no = {{"tie_word_embeddings", false}};
    EXPECT_TRUE(tied(none, none));
    EXPECT_TRUE(tied(none, no));
    EXPECT_TRUE(tied(yes, no));
    EXPECT_FALSE(tied(no, none));
    EXPECT_FALSE(tied(no, yes));
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
    EXPECT_EQ(windows("qwen3", {{"use_sliding_window", true}, {"sliding_window", 5}, {"max_window_layers", 2}}),
              (List{0, 0, 5}));
    EXPECT_EQ(windows("gemma2", {{"sliding_window", 5}}), (List{5, 0, 5}));
    EXPECT_EQ(windows("gemma2", {{"sliding_window", 5}, {"sliding_window_pattern", 1}}), (List{5, 0, 5}));
    EXPECT_EQ(windows("gemma3_text", {{"sliding_window", 5}}), (List{5, 5, 5}));
    EXPECT_EQ(windows("gemma3_text", {{"sliding_window", 5}, {"sliding_window_pattern", 3}}), (List{5, 5, 0}));
    EXPECT_EQ(windows("gemma3_text", {{"sliding_window_pattern", 1}, {"sliding_window", nullptr}}), (List{0, 0, 0}));
    EXPECT_EQ(windows("gemma3_text", {{"sliding_window", 5}, {"layer_types", mixed}}), (List{5, 0, 5}));
    EXPECT_EQ(windows("olmo3", Json::object()), (List{4096, 4096, 4096}));
    EXPECT_EQ(windows("olmo2", {{"sliding_window", 5}}), (List{0, 0, 0}));
    EXPECT_EQ(read({{"model_type", "olmo3"}}).window(3), 0U);
}

TEST(Config, RotaryPositionsFollowTheRulesOfTransformers) {
    const auto rope = [](const Json& more) { return read(llama("llama", more)).rope; };
    // An empty rope_scaling is none.
    EXPECT_EQ(
        rope({{"rope_scaling", Json::object()}, {"rope_parameters", {{"rope_type", "linear"}, {"factor", 3}}}}).factor,
        3);
    // So is whatever Python takes for no.
    for (const Json& none : {Json(nullptr), Json(false), Json(0), Json(""), Json::array()}) {
        EXPECT_EQ(rope({{"rope_scaling", none}, {"rope_parameters", {{"rope_type", "linear"}, {"factor", 3}}}}).factor,
                  3)
            << none;
    }
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

// _compute_yarn_parameters of transformers: with m(w) = 0.1 w ln(factor) + 1, and m = 1 up to a factor of 1, the ratio
// m(mscale)/m(mscale_all_dim) where both are there and neither is 0, otherwise m(1); attention_factor goes before both.
TEST(Config, TheTemperatureOfYarnComesFromBothScalesOrFromNone) {
    const auto factor = [](double stretched, const Json& more) {
        Json scaling = {{"rope_type", "yarn"}, {"factor", stretched}, {"original_max_position_embeddings", 16}};
        scaling.update(more);
        return read(llama("llama", {{"max_position_embeddings", 64}, {"rope_scaling", scaling}})).rope.attention_factor;
    };
    const double usual = 0.1 * std::log(4.0) + 1;
    const double three = 0.3 * std::log(4.0) + 1;
    EXPECT_NEAR(factor(4, Json::object()), usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale", 3.0}}), usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale_all_dim", 3.0}}), usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale", 3.0}, {"mscale_all_dim", 0}}), usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale", 0}, {"mscale_all_dim", 3.0}}), usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale", 3.0}, {"mscale_all_dim", nullptr}}), usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale", 3.0}, {"mscale_all_dim", 1.0}}), three / usual, 1e-15);
    EXPECT_NEAR(factor(4, {{"mscale", 1.0}, {"mscale_all_dim", 3.0}}), usual / three, 1e-15);
    EXPECT_EQ(factor(4, {{"mscale", 3.0}, {"mscale_all_dim", 1.0}, {"attention_factor", 0.75}}), 0.75);
    EXPECT_EQ(factor(1, {{"mscale", 3.0}, {"mscale_all_dim", 1.0}}), 1);
    EXPECT_EQ(factor(0.5, Json::object()), 1);
}

TEST(Config, WhatTransformersCannotReadOrWeCannotRunIsOneSentence) {
    struct Case {
        Json json;
        const char* part;
    };
    const auto scaled = [](const Json& parameters) { return llama("llama", {{"rope_scaling", parameters}}); };
    const std::vector<Case> cases = {
        {{{"model_type", "gpt2"}, {"n_layer", nullptr}}, "n_layer = 'null'"},
        {{{"model_type", "gpt2"}, {"vocab_size", 0}},
         "vocab_size = '0' in config.json, expected a whole number from 1 to 1099511627776"},
        {{{"model_type", "gpt2"}, {"vocab_size", 1099511627777}}, "a whole number from 1 to 1099511627776"},  // 2^40
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
        {llama("mistral", {{"num_hidden_layers", 1}, {"layer_types", {"full_attention", "full_attention"}}}),
         "a list of 1 times"},
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
        {llama("gemma2", {{"attn_logit_softcapping", 0}}), "attn_logit_softcapping = '0'"},
        {llama("gemma2", {{"final_logit_softcapping", -30.0}}), "a number above 0"},
        {llama("gemma2", {{"final_logit_softcapping", "30"}}), "a finite number"},
        {llama("gemma2", {{"num_key_value_heads", nullptr}}), "num_key_value_heads = 'null'"},
        {llama("gemma2", {{"head_dim", nullptr}}), "head_dim = 'null'"},
        {llama("gemma2", {{"hidden_size", 17}}), "a multiple of the 2 heads"},
        {llama("gemma2", {{"query_pre_attn_scalar", 0}}), "query_pre_attn_scalar"},
        {llama("gemma2", {{"sliding_window", nullptr}}), "for the blocks that have a window"},
        {llama("gemma3_text", {{"sliding_window_pattern", 0}}), "sliding_window_pattern"},
        {llama("gemma3_text", {{"use_bidirectional_attention", true}}), "without its causal mask"},
        {llama("gemma3_text", {{"rope_local_base_freq", 0}}), "rope_local_base_freq"},
        {llama("gemma3_text", {{"rope_local_base_freq", "10000"}}), "a finite number"},
        {llama("gemma3_text", {{"rope_parameters", {{"sliding_attention", 3}}}}), "sliding_attention = '3'"},
        {llama("gemma3_text", {{"rope_parameters", Json::object()}, {"rope_scaling", {{"factor", 2}}}}),
         "that rope_scaling can be added to"},
        {{{"model_type", "gemma3"}, {"text_config", "gemma3_text"}}, "text_config"},
        {llama("granite", {{"logits_scaling", 0}}), "a number other than 0"},
        {llama("granite", {{"attention_multiplier", 0}}), "attention_multiplier"},
        {llama("granite", {{"residual_multiplier", nullptr}}), "residual_multiplier = 'null'"},
        {llama("granite", {{"residual_multiplier", 0}}), "residual_multiplier = '0'"},
        {llama("olmo2", {{"head_dim", nullptr}}), "head_dim"},
        {{{"model_type", "opt"}, {"word_embed_proj_dim", 512}}, "word_embed_proj_dim = '512'"},
        {{{"model_type", "opt"}, {"_remove_final_layer_norm", true}}, "_remove_final_layer_norm = 'true'"},
        {{{"model_type", "opt"}, {"layer_norm_elementwise_affine", false}}, "norms without gains"},
        {{{"model_type", "opt"}, {"hidden_size", 770}}, "a multiple of the 12 heads"},
        {{{"model_type", "gpt_neox"}, {"rotary_pct", 1.5}}, "a share of a head, from 0 to 1"},
        {{{"model_type", "gpt_neox"}, {"rotary_pct", nullptr}}, "rotary_pct = 'null'"},
        {{{"model_type", "gpt_neox"}, {"hidden_size", 65}}, "a multiple of the 64 heads"},
        {{{"model_type", "gpt_neox"}, {"head_dim", 64}}, "96, the channels of each of 64 heads"},
        {{{"model_type", "gpt_neox"}, {"hidden_size", 192}, {"rotary_pct", 1.0}}, "even number of rotary channels"},
    };
    for (const Case& tried : cases) {
        const Caught caught = error_of([&] { read(tried.json); });
        ASSERT_TRUE(caught.kind.has_value()) << "accepted: " << dump_json(tried.json);
        EXPECT_TRUE(caught.has(tried.part)) << caught.text;
        EXPECT_EQ(caught.text.find('\n'), std::string::npos) << caught.text;
    }
}

// rope_scaling is added to full_attention key by key: what it does not name stays.
TEST(Config, RopeScalingLeavesTheOtherKeysOfFullAttention) {
    const Architecture a = read(llama(
        "gemma3_text",
        {{"head_dim", 8},
         {"rope_theta", 77.0},
         {"rope_scaling", {{"factor", 3.0}}},
         {"rope_parameters", {{"full_attention", {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 50.0}}}}}}));
    EXPECT_EQ(a.rope.scaling, Rope::Scaling::linear);
    EXPECT_EQ(a.rope.factor, 3);
    EXPECT_EQ(a.rope.theta, 50);
    ASSERT_TRUE(a.window_rope.has_value());
    EXPECT_EQ(a.window_rope->theta, 10000);
}

TEST(Config, AMessageSaysInWhichObjectOfTheFileAKeyStands) {
    const Caught caught = error_of([] {
        read(llama("gemma3_text",
                   {{"rope_parameters", {{"full_attention", {{"rope_type", "linear"}, {"factor", 0}}}}}}));
    });
    EXPECT_TRUE(caught.has("got factor = '0' in full_attention of rope_parameters of config.json, expected"))
        << caught.text;
}

TEST(Config, OfScaledPositionsOfOurOwnTheMessageNamesTheNumberThatIsWrong) {
    const auto scaled = [](double factor, double positions) {
        const Json json = {
            {"model_type", "flyball"},
            {"equation", "x + dt*f(norm(x)) | norm(x)"},
            {"rope_scaling", {{"scaling", "linear"}, {"factor", factor}, {"original_positions", positions}}}};
        return read(json).rope;
    };
    EXPECT_EQ(scaled(2, 16).factor, 2);
    EXPECT_ERROR(scaled(0, 16), "got factor = '0.0' in rope_scaling of config.json, expected a number above 0");
    EXPECT_ERROR(scaled(2, 0), "got original_positions = '0.0' in rope_scaling of config.json, expected a number");
}

// Blocks with a window turn channels of their own.
TEST(Config, RotaryChannelsOfWindowsFitIntoHeadsAsThoseOfTheOthersDo) {
    const Architecture a = read(llama("gemma3_text", {{"head_dim", 4}}));
    EXPECT_NO_THROW(check(a, "it"));
    for (const std::size_t wrong : {6U, 3U}) {
        const std::string said = std::to_string(wrong) + " rotary channels in heads of 4 in it";
        Architecture others = a;
        others.rope.dims = wrong;
        EXPECT_ERROR(check(others, "it"), said);
        Architecture windows = a;
        windows.window_rope->dims = wrong;
        EXPECT_ERROR(check(windows, "it"), said);
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
