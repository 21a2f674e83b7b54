// Models on disk: as a published family where they are one, as our own otherwise, and back to the same bits.
#include "model/save.hpp"

#include <gtest/gtest.h>

#include "core/file.hpp"
#include "core/half.hpp"
#include "core/support.hpp"
#include "model/convert.hpp"
#include "model/family.hpp"
#include "model/native.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/own_equation.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

using flyball::test::TemporaryFolder;

constexpr const char* pre_ln = "x + dt*f(norm(x)) | norm(x)";

Architecture llama() {
    Architecture a = tiny_llama(pre_ln);
    a.windows.clear();
    a.rope.theta = 500;
    return a;
}

std::string family_of(const Architecture& a) {
    return published_family(a).value_or("flyball");
}

TEST(Published, IsWhatTheFamilyComputesWhateverTheText) {
    EXPECT_EQ(family_of(tiny_architecture(pre_ln)), "gpt2");
    EXPECT_EQ(family_of(llama()), "llama");
    for (const char* const text :
         {"x + f(norm(x)) | norm(x)", "f(norm(x))*dt + x | norm(x)", "x + dt*a*f(norm(x)) | norm(x) where a = L/4",
          "depth <= 0 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)"}) {
        EXPECT_EQ(family_of(tiny_architecture(text)), "gpt2") << text;
    }
    for (const char* const text :
         {"x + dt*f(norm(x))", "x + f(x) | norm(x)", "norm(x + dt*f(x))", "x + dt*norm(f(norm(x))) | norm(x)",
          "x + dt*f(norm(x))/sqrt(t+1) | norm(x)", "x + dt*a*f(norm(x)) | norm(x) where ~a = 1",
          "depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)", "x + f(norm(x))*min(n, 5)/5 | norm(x)",
          "x + f(norm(x))*max(n, 5)/5 | norm(x)", "x + dt*f(norm(x)) | norm(x + x0)",
          "detach(x) + dt*f(norm(x)) | norm(x)", "x + dt*f(unit(x)) | norm(x)",
          "n <= 5 ? x + dt*f(norm(x)) : norm(x + dt*f(x)) | norm(x)",
          "x + f(norm(x))*max(1, min(n - 98, 102 - n)) | norm(x)"}) {
        EXPECT_EQ(family_of(tiny_architecture(text)), "flyball") << text;
    }
    Architecture half = tiny_architecture(pre_ln);
    half.dt = 0.5;
    EXPECT_EQ(family_of(half), "flyball");
    half.equation = "x + f(norm(x)) | norm(x)";
    EXPECT_EQ(family_of(half), "gpt2") << "a step that the equation does not read";
}

TEST(Published, EveryAttributeThatTheFamilyLacksMakesAModelOurOwn) {
    const auto expect_own = [](Architecture a, const auto& change, const char* what) {
        change(a);
        EXPECT_EQ(family_of(a), "flyball") << what;
    };
    for (const Architecture& a : {tiny_architecture(pre_ln), llama()}) {
        expect_own(
            a, [](Architecture& b) { b.norm = "dyt"; }, "dyt");
        expect_own(
            a, [](Architecture& b) { b.qkv_bias = !b.qkv_bias; }, "qkv_bias");
        expect_own(
            a, [](Architecture& b) { b.output_bias = !b.output_bias; }, "output_bias");
        expect_own(
            a, [](Architecture& b) { b.ffn_bias = !b.ffn_bias; }, "ffn_bias");
        expect_own(
            a, [](Architecture& b) { b.learned_positions = !b.learned_positions; }, "learned_positions");
        expect_own(
            a, [](Architecture& b) { b.gated = !b.gated; }, "gated");
        expect_own(
            a, [](Architecture& b) { b.rope.dims = 2; }, "rope on half a head");
        expect_own(
            a, [](Architecture& b) { b.causal = false; }, "causal");
        expect_own(
            a, [](Architecture& b) { b.embedding_norm = true; }, "embedding_norm");
        expect_own(
            a, [](Architecture& b) { b.token_types = 2; }, "token_types");
        expect_own(
            a, [](Architecture& b) { b.ffn_scale = 2; }, "ffn_scale");
        expect_own(
            a, [](Architecture& b) { b.ffn_gains = true; }, "ffn_gains");
        expect_own(
            a, [](Architecture& b) { b.logit_gains = true; }, "logit_gains");
        expect_own(
            a, [](Architecture& b) { b.embedding_scale = 2; }, "embedding_scale");
        expect_own(
            a, [](Architecture& b) { b.score_factor = 0.5; }, "score_factor");
        expect_own(
            a, [](Architecture& b) { b.score_cap = 50; }, "score_cap");
        expect_own(
            a, [](Architecture& b) { b.logit_scale = 0.5; }, "logit_scale");
        expect_own(
            a, [](Architecture& b) { b.logit_cap = 30; }, "logit_cap");
        expect_own(
            a,
            [](Architecture& b) {
                b.windows = {0, 3};
            },
            "windows");
        expect_own(
            a, [](Architecture& b) { b.attention_kind = attention::Kind::sigmoid; }, "sigmoid");
        expect_own(
            a, [](Architecture& b) { b.attention_norm = {.norm = "rmsnorm", .query = true, .key = true}; }, "q/k norm");
        expect_own(
            a, [](Architecture& b) { b.has_head = false; }, "no head");
    }
    Architecture gpt2 = tiny_architecture(pre_ln);
    gpt2.norm_bias = false;
    EXPECT_EQ(family_of(gpt2), "flyball");
    Architecture biased = llama();
    biased.norm_bias = true;
    EXPECT_EQ(family_of(biased), "flyball") << "Llama's norms have gains alone";
    Architecture gelu = llama();
    gelu.activation = Activation::gelu;
    EXPECT_EQ(family_of(gelu), "flyball");
    Architecture scaled = llama();
    scaled.rope.scaling = Rope::Scaling::linear;
    EXPECT_EQ(family_of(scaled), "flyball");
}

std::vector<float> all_numbers(const Model<float>& model) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const float* const from = model.at(static_cast<int>(i));
        numbers.insert(numbers.end(), from, from + model.layout().parameters[i].elements());
    }
    return numbers;
}

std::string files_of(const TemporaryFolder& folder) {
    const std::size_t most = std::size_t{1} << 20;
    return read_regular_file(folder.path() / "model.safetensors", most) +
           read_regular_file(folder.path() / "config.json", most);
}

template <class Real>
std::vector<Real> logits_of(const Model<Real>& model) {
    Seen<Real> seen;
    const Taps<Real> taps = seen.taps(model.architecture(), tiny_ids.size());
    Pass<Real> pass(model, tiny_ids.size());
    pass.forward(tiny_ids, taps);
    pass.loss(next_tokens(tiny_ids), taps);
    return seen.tensors.at("logits");
}

TEST(Save, PublishedFamiliesComeBackToTheSameBits) {
    const TemporaryFolder folder;
    for (const bool tied : {false, true}) {
        for (Architecture a : {tiny_architecture(pre_ln), llama()}) {
            a.tied = tied;
            const Model<float> model = tiny_model<float>(a, 31);
            save_model(model, folder.path());
            const Model<float> back = load_model(folder.path());
            EXPECT_EQ(back.architecture().family, a.gated ? "llama" : "gpt2");
            EXPECT_TRUE(back.notes().empty());
            EXPECT_EQ(all_numbers(trainable(back)), all_numbers(model)) << "under our own names again";
            // A product with a transposed matrix rounds differently; in double the difference is nothing.
            EXPECT_LT(distance(logits_of(back), logits_of(model)), 2e-6);
            EXPECT_LT(distance(logits_of(widened(back)), logits_of(widened(model))), 1e-14);
            // Saved again, whatever its names are now, the files are the same.
            const std::string before = files_of(folder);
            save_model(back, folder.path());
            EXPECT_TRUE(files_of(folder) == before);
        }
    }
}

TEST(Save, HasTheTensorsOfTransformers) {
    // Names and shapes as GPT2LMHeadModel and LlamaForCausalLM of transformers 5 have them.
    const TemporaryFolder folder;
    save_model(tiny_model<float>(tiny_architecture(pre_ln), 31), folder.path());
    const SafeTensors gpt2 = SafeTensors::open(folder.path() / "model.safetensors");
    EXPECT_EQ(gpt2.info("transformer.wte.weight").shape, (std::vector<std::size_t>{11, 8}));
    EXPECT_EQ(gpt2.info("transformer.h.3.attn.c_attn.weight").shape, (std::vector<std::size_t>{8, 24}));
    EXPECT_EQ(gpt2.info("transformer.h.0.mlp.c_proj.weight").shape, (std::vector<std::size_t>{12, 8}));
    EXPECT_EQ(gpt2.info("transformer.ln_f.bias").shape, (std::vector<std::size_t>{8}));
    EXPECT_EQ(gpt2.names().size(), 4U * 12 + 4);
    save_model(tiny_model<float>(llama(), 31), folder.path());
    const SafeTensors llama_file = SafeTensors::open(folder.path() / "model.safetensors");
    EXPECT_EQ(llama_file.info("model.layers.3.self_attn.k_proj.weight").shape, (std::vector<std::size_t>{4, 8}));
    EXPECT_EQ(llama_file.info("model.layers.0.mlp.gate_proj.weight").shape, (std::vector<std::size_t>{12, 8}));
    EXPECT_EQ(llama_file.info("lm_head.weight").shape, (std::vector<std::size_t>{11, 8}));
    EXPECT_EQ(llama_file.names().size(), 4U * 9 + 3);
}

// What transformers reads, in numbers that are not its defaults.
TEST(Save, TellsTransformersEverySizeAndConstant) {
    const TemporaryFolder folder;
    const auto config = [&folder] {
        return parse_json(read_regular_file(folder.path() / "config.json", std::size_t{1} << 20), "config.json");
    };
    Architecture a = tiny_architecture(pre_ln);
    a.eps = 0.25;
    a.tied = false;
    save_model(tiny_model<float>(a, 31), folder.path());
    const Json gpt2 = config();
    const std::vector<std::pair<const char*, Json>> of_gpt2 = {{"model_type", "gpt2"},
                                                               {"n_layer", 4},
                                                               {"n_embd", 8},
                                                               {"n_head", 2},
                                                               {"n_inner", 12},
                                                               {"n_positions", 9},
                                                               {"vocab_size", 11},
                                                               {"layer_norm_epsilon", 0.25},
                                                               {"tie_word_embeddings", false},
                                                               {"dtype", "float32"},
                                                               {"activation_function", "gelu_new"}};
    for (const auto& [key, value] : of_gpt2) {
        EXPECT_EQ(gpt2.at(key), value) << key;
    }
    Architecture b = llama();
    b.eps = 0.125;
    save_model(tiny_model<float>(b, 31), folder.path(), Storage::f16);
    const Json llama_config = config();
    const std::vector<std::pair<const char*, Json>> of_llama = {{"model_type", "llama"},
                                                                {"num_hidden_layers", 4},
                                                                {"hidden_size", 8},
                                                                {"num_attention_heads", 2},
                                                                {"num_key_value_heads", 1},
                                                                {"head_dim", 4},
                                                                {"intermediate_size", 12},
                                                                {"max_position_embeddings", 9},
                                                                {"vocab_size", 11},
                                                                {"hidden_act", "silu"},
                                                                {"rms_norm_eps", 0.125},
                                                                {"rope_theta", 500.0},
                                                                {"tie_word_embeddings", false},
                                                                {"dtype", "float16"},
                                                                {"attention_bias", false},
                                                                {"mlp_bias", false}};
    for (const auto& [key, value] : of_llama) {
        EXPECT_EQ(llama_config.at(key), value) << key;
    }
    EXPECT_EQ(llama_config.at("rope_parameters").at("rope_theta"), 500.0);
}

// Scores divided by the block's number, or not divided at all, are a GPT-2 too, and its file has to say so.
TEST(Save, HowScoresAreScaledComesBack) {
    const TemporaryFolder folder;
    for (const bool by_layer : {false, true}) {
        for (const bool scaled : {false, true}) {
            Architecture a = tiny_architecture(pre_ln);
            a.scale_by_layer = by_layer;
            a.scale_scores = scaled;
            save_model(tiny_model<float>(a, 31), folder.path());
            const Architecture back = load_model(folder.path()).architecture();
            EXPECT_EQ(back.family, "gpt2");
            EXPECT_EQ(back.scale_by_layer, by_layer);
            EXPECT_EQ(back.scale_scores, scaled);
        }
    }
}

// Queries, keys and values apart, with biases, and together again.
TEST(Convert, PartsWithBiasesComeBackToTheSameBits) {
    const Model<float> fused = tiny_model<float>(tiny_architecture(pre_ln), 31);
    const auto bert = std::find_if(families().begin(), families().end(),
                                   [](const Family& family) { return family.model_type == "bert"; });
    const Model<float> apart = converted(fused, fused.architecture(), bert->names);
    const std::vector<Linear>& parts = apart.layout().blocks[2].qkv;
    ASSERT_EQ(parts.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t k = 0; k < 8; ++k) {
            EXPECT_EQ(apart.at(parts[i].bias)[k], fused.at(fused.layout().blocks[2].qkv[0].bias)[8 * i + k]);
        }
    }
    EXPECT_EQ(all_numbers(converted(apart, fused.architecture(), native_names())), all_numbers(fused));
}

TEST(Save, LoadedModelsOfEveryFamilyAreWrittenAgain) {
    const TemporaryFolder folder;
    for (const std::string& name : golden_names()) {
        const Model<float> model = load_model(golden_folder() / name);
        save_model(model, folder.path());
        const Model<float> back = load_model(folder.path());
        EXPECT_EQ(all_numbers(trainable(back)), all_numbers(trainable(model))) << name;
        // Others have scaled rotary positions, windows.. An OPT is a GPT-2 whose activation is ReLU.
        const bool published = name == "gpt2" || name == "llama-gqa" || name == "opt";
        EXPECT_EQ(back.architecture().family == "flyball", !published && name != "gpt2-unscaled-f16") << name;
        const Model<double> wide = widened(back);
        Pass<double> two(wide, tiny_ids.size());
        two.forward(tiny_ids);
        const Model<double> wide_model = widened(model);
        Pass<double> original(wide_model, tiny_ids.size());
        original.forward(tiny_ids);
        EXPECT_LT(distance(two.readout(), original.readout()), 1e-12) << name;
        if (model.architecture().has_head) {
            EXPECT_LT(distance(logits_of(wide), logits_of(wide_model)), 1e-12) << name;
        }
    }
}

// Every attribute that Gemma, Granite and Pythia brought comes back from a config.json of our own.
TEST(Save, OurOwnConfigurationHasEveryAttribute) {
    const TemporaryFolder folder;
    Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    a.embedding_scale = 3;
    a.score_factor = 0.7;
    a.score_cap = 1.5;
    a.logit_scale = 2.5;
    a.logit_cap = 0.6;
    a.rope.dims = 2;
    a.rope.odd = true;
    a.window_rope = Rope{
        .dims = 4, .odd = true, .theta = 7, .scaling = Rope::Scaling::linear, .factor = 3, .original_positions = 9};
    save_model(tiny_model<float>(a, 31), folder.path());
    const Architecture back = load_model(folder.path()).architecture();
    EXPECT_EQ(architecture_json(back), architecture_json(a));
    EXPECT_EQ(back.embedding_scale, 3);
    EXPECT_EQ(back.score_scale(2), 0.7);
    EXPECT_EQ(back.score_cap, 1.5);
    EXPECT_EQ(back.logit_scale, 2.5);
    EXPECT_EQ(back.logit_cap, 0.6);
    EXPECT_TRUE(back.rope.odd);
    ASSERT_TRUE(back.window_rope.has_value());
    EXPECT_EQ(back.rope_of(0).dims, 2U) << "no window";
    EXPECT_EQ(back.rope_of(1).theta, 7) << "a window";
    EXPECT_EQ(back.rope_of(1).factor, 3);
}

// What config.json of a published model may say: any base above 0, but for yarn, which divides by its logarithm.
TEST(Save, EveryBaseOfRotaryPositionsThatCanBeReadCanBeReadAgain) {
    Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    a.rope.theta = 0.5;
    a.window_rope = Rope{.dims = 4, .theta = 1};
    const TemporaryFolder folder;
    save_model(tiny_model<float>(a, 31), folder.path());
    const Architecture back = load_model(folder.path()).architecture();
    EXPECT_EQ(back.rope.theta, 0.5);
    EXPECT_EQ(back.rope_of(1).theta, 1);
    const auto refused = [&](const char* part) {
        const TemporaryFolder wrong;
        save_model(tiny_model<float>(a, 31), wrong.path());
        EXPECT_ERROR(load_model(wrong.path()), part);
    };
    a.window_rope->scaling = Rope::Scaling::yarn;
    a.window_rope->original_positions = 9;
    refused("expected a number above 0 other than 1");
    a.window_rope->theta = 0;
    refused("theta = '0.0' in window_rope");
    a.window_rope.reset();
    a.rope.theta = -1;
    refused("rope_theta = '-1.0'");
}

// Yarn alone stretches cosines and sines: of any other kind the key says nothing, and the model is the same when it is
// saved and read again.
TEST(Save, AnAttentionFactorIsThatOfYarnAlone) {
    const TemporaryFolder folder;
    const Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    const auto factor = [&](const char* scaling) {
        Json config = architecture_json(a);
        config["rope_scaling"] = {
            {"scaling", scaling}, {"factor", 2.0}, {"original_positions", 9.0}, {"attention_factor", 1.5}};
        save_model(tiny_model<float>(a, 31), folder.path());
        folder.put("config.json", dump_json(config));
        const Model<float> model = load_model(folder.path());
        const double read = model.architecture().rope.attention_factor;
        save_model(model, folder.path());
        EXPECT_EQ(load_model(folder.path()).architecture().rope.attention_factor, read) << scaling;
        return read;
    };
    EXPECT_EQ(factor("yarn"), 1.5);
    for (const char* const scaling : {"none", "linear", "dynamic", "llama3"}) {
        EXPECT_EQ(factor(scaling), 1) << scaling;
    }
}

TEST(Save, HalfPrecisionRoundsEveryNumber) {
    const TemporaryFolder folder;
    for (const char* const equation : {pre_ln, "norm(x + dt*f(x))"}) {
        const Model<float> model = tiny_model<float>(tiny_architecture(equation), 31);
        save_model(model, folder.path(), Storage::f16);
        const Model<float> back = load_model(folder.path());
        EXPECT_EQ(back.dtype(), "F16");
        std::vector<float> rounded = all_numbers(model);
        for (float& number : rounded) {
            number = f16_to_float(float_to_f16(number));
        }
        EXPECT_EQ(all_numbers(trainable(back)), rounded);
    }
    Model<float> large = tiny_model<float>(tiny_architecture(pre_ln), 31);
    large.parameters()->at(large.layout().blocks[1].output.weight)[3] = 70000;
    try {
        save_model(large, folder.path(), Storage::f16);
        FAIL() << "an infinity was written";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("65504"), std::string::npos) << error.what();
    }
}

TEST(Trainable, HasTheNumbersOfTheFileInParametersOfItsOwn) {
    for (const std::string& name : golden_names()) {
        const Model<float> loaded = load_model(golden_folder() / name);
        Model<float> model = trainable(loaded);
        ASSERT_NE(model.parameters(), nullptr);
        EXPECT_EQ(loaded.layout().count(), model.layout().count());
        const Model<double> wide_loaded = widened(loaded);
        const Model<double> wide = widened(model);
        Pass<double> one(wide_loaded, tiny_ids.size());
        Pass<double> two(wide, tiny_ids.size());
        one.forward(tiny_ids);
        two.forward(tiny_ids);
        EXPECT_LT(distance(two.readout(), one.readout()), 1e-12) << name;
        model.parameters()->at(0)[0] += 1;
        EXPECT_NE(model.at(0)[0], loaded.at(0)[0]);
    }
}

Rewired to_equation(const Model<float>& model, const char* scheme_name) {
    const scheme::Scheme scheme = scheme::find_scheme(scheme_name);
    return rewired(model, wired(model.architecture(), scheme), recipe_of(scheme), 7);
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Rewire, TheSameEquationIsACopy) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    const Rewired same = to_equation(model, "pre-ln");
    EXPECT_TRUE(same.fresh.empty() && same.dropped.empty());
    EXPECT_EQ(all_numbers(same.model), all_numbers(trainable(model)));
}

TEST(Rewire, PreLnBecomesPeriLnWithFreshOutputNorms) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    const Rewired peri = to_equation(model, "peri-ln");
    EXPECT_TRUE(peri.dropped.empty());
    EXPECT_EQ(peri.fresh,
              (std::vector<std::string>{"blocks.0.norm.1.weight", "blocks.0.norm.1.bias", "blocks.0.norm.3.weight",
                                        "blocks.0.norm.3.bias", "blocks.1.norm.1.weight", "blocks.1.norm.1.bias",
                                        "blocks.1.norm.3.weight", "blocks.1.norm.3.bias"}));
    EXPECT_EQ(peri.copied.size() + peri.fresh.size(), peri.model.layout().parameters.size());
    // ln_2 stands before the FFN and is the third norm of Peri-LN's block.
    const auto value = [](const Model<float>& from, const std::string& name) {
        const auto& specs = from.layout().parameters;
        const auto found =
            std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
        return from.at(static_cast<int>(found - specs.begin()))[5];
    };
    EXPECT_EQ(value(peri.model, "blocks.1.norm.2.weight"), value(model, "h.1.ln_2.weight"));
    EXPECT_EQ(value(peri.model, "blocks.1.norm.0.bias"), value(model, "h.1.ln_1.bias"));
    EXPECT_EQ(value(peri.model, "readout.norm.0.weight"), value(model, "ln_f.weight"));
    EXPECT_EQ(value(peri.model, "blocks.1.norm.1.weight"), 1);
    EXPECT_EQ(value(peri.model, "blocks.1.attn.out.bias"), value(model, "h.1.attn.c_proj.bias"));
}

TEST(Rewire, PreLnAndPostLnShareNoNorm) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    const Rewired post = to_equation(model, "post-ln");
    EXPECT_TRUE(has(post.fresh, "blocks.0.norm.0.weight") && has(post.fresh, "blocks.0.norm.1.bias"));
    EXPECT_TRUE(has(post.dropped, "blocks.0.norm.0.weight") && has(post.dropped, "readout.norm.0.weight"));
    EXPECT_EQ(post.dropped.size(), 2U * 4 + 2);
    EXPECT_EQ(post.model.at(post.model.layout().blocks[0].norms[0].gain)[3], 1);
    // Mix-LN is Post-LN in its first half here: only the others keep their norms.
    const Rewired mix = to_equation(model, "mix-ln:tau=0.5");
    EXPECT_TRUE(has(mix.fresh, "blocks.0.norm.0.weight") && has(mix.copied, "blocks.1.norm.0.weight"));
}

// Which of two norms is the one of the old equation, nobody can say.
TEST(Rewire, NormsAreMatchedWhereTheirNumberIsTheSame) {
    const Model<float> post = to_equation(load_model(golden_folder() / "gpt2"), "post-ln").model;
    const scheme::Scheme twice = scheme::scheme_of_equation("norm(norm(x + dt*f(x)))");
    const Rewired more = rewired(post, wired(post.architecture(), twice), recipe_of(twice), 7);
    for (const char* part : {"0.weight", "0.bias", "1.weight", "1.bias", "2.weight", "3.bias"}) {
        EXPECT_TRUE(has(more.fresh, std::string("blocks.0.norm.") + part)) << part;
    }
    const Rewired fewer = to_equation(more.model, "post-ln");
    EXPECT_EQ(more.dropped.size(), 2U * 4) << "two norms with gain and bias in each of two blocks";
    EXPECT_EQ(fewer.fresh.size(), 2U * 4);
    EXPECT_EQ(fewer.dropped.size(), 2U * 8);
}

// A norm of the stream together with a branch is a norm of the stream, in whichever order the sum is written.
TEST(Rewire, ASumOfStreamAndBranchIsTheStream) {
    const Model<float> post = to_equation(load_model(golden_folder() / "gpt2"), "post-ln").model;
    for (const char* const equation : {"norm(x + dt*f(x))", "norm(dt*f(x) + x)"}) {
        const scheme::Scheme scheme = scheme::scheme_of_equation(equation);
        const Rewired same = rewired(post, wired(post.architecture(), scheme), recipe_of(scheme), 7);
        EXPECT_TRUE(same.fresh.empty() && same.dropped.empty()) << equation;
    }
    // A norm of the branch alone has another place.
    const scheme::Scheme output = scheme::scheme_of_equation("x + dt*norm(f(x))");
    const Rewired other = rewired(post, wired(post.architecture(), output), recipe_of(output), 7);
    EXPECT_TRUE(has(other.fresh, "blocks.0.norm.0.weight") && has(other.dropped, "blocks.0.norm.0.weight"));
}

TEST(Rewire, UnitVectorsAndLearnedParametersFollowTheNewScheme) {
    const Model<float> model = load_model(golden_folder() / "llama-gqa");
    const Rewired ngpt = to_equation(model, "ngpt");
    EXPECT_TRUE(has(ngpt.fresh, "blocks.0.scheme.0.alpha") && has(ngpt.fresh, "head.gain.weight"));
    EXPECT_TRUE(has(ngpt.copied, "blocks.0.attn.qkv.weight") && has(ngpt.dropped, "blocks.0.norm.0.weight"));
    double square = 0;
    for (std::size_t k = 0; k < 24; ++k) {
        const double number = ngpt.model.at(ngpt.model.layout().blocks[1].qkv[0].weight)[k];
        square += number * number;
    }
    EXPECT_NEAR(square, 1, 1e-6);
    const Rewired back = to_equation(ngpt.model, "peri-ln");
    EXPECT_TRUE(has(back.dropped, "blocks.0.scheme.0.alpha"));
}

}  // namespace
}  // namespace flyball::model::test
