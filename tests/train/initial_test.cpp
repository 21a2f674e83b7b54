#include "train/initial.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "core/error.hpp"
#include "core/file.hpp"
#include "model/save.hpp"
#include "train/small.hpp"

namespace flyball::train {
namespace {

double deviation(const float* values, std::size_t count) {
    double square = 0;
    for (std::size_t k = 0; k < count; ++k) {
        square += static_cast<double>(values[k]) * static_cast<double>(values[k]);
    }
    return std::sqrt(square / static_cast<double>(count));
}

Settings wide() {
    Settings s;
    s.layers = 2;
    s.dim = 64;
    s.heads = 4;
    s.context = 8;
    return s;
}

Initial started(const std::string& init, const std::string& scheme = "pre-ln", Settings s = wide()) {
    s.init = init;
    return initial_model(s, scheme::find_scheme(scheme), 100);
}

TEST(Init, ReplacesTheDeviationOfOneMatrixAndOfNoOther) {
    const Initial plain = started("");
    const Initial changed = started("value=0.3,ffn-in=0.02*(t+1)");
    const model::BlockLayout& block = plain.model.layout().blocks[1];
    const int qkv = block.qkv[0].weight;
    const std::size_t third = 64UL * 64;
    ASSERT_EQ(block.qkv.size(), 1U);
    EXPECT_NEAR(deviation(plain.model.at(qkv), 3 * third), 0.02, 0.001);
    for (std::size_t k = 0; k < 2 * third; ++k) {
        ASSERT_EQ(plain.model.at(qkv)[k], changed.model.at(qkv)[k]) << "queries and keys stay";
    }
    EXPECT_NEAR(deviation(changed.model.at(qkv) + 2 * third, third), 0.3, 0.02);
    const auto ffn = [&](const Initial& one, std::size_t layer) {
        return deviation(one.model.at(one.model.layout().blocks[layer].ffn_in[0].weight), 4 * third);
    };
    EXPECT_NEAR(ffn(changed, 0), 0.02, 0.001);
    EXPECT_NEAR(ffn(changed, 1), 0.04, 0.002);
}

TEST(Init, OfAMatrixThatIsNamedTwiceIsTheLast) {
    const Initial changed = started("matrices=0.05,output=0.01,gains=3,gain.1=2");
    const model::BlockLayout& block = changed.model.layout().blocks[1];
    EXPECT_NEAR(deviation(changed.model.at(block.output.weight), 64UL * 64), 0.01, 0.0005);
    EXPECT_NEAR(deviation(changed.model.at(block.ffn_out.weight), 4UL * 64 * 64), 0.05, 0.002);
    std::vector<float> gains;
    for (const model::NormPlace& place : block.norms) {
        if (place.gain != model::absent) {
            gains.push_back(*changed.model.at(place.gain));
        }
    }
    EXPECT_EQ(gains, (std::vector<float>{2, 3}));
    const Initial all = started("output=0.01,matrices=0.05");
    EXPECT_NEAR(deviation(all.model.at(block.output.weight), 64UL * 64), 0.05, 0.002);
}

TEST(Init, OfTheEmbeddingCountsForPositionsToo) {
    const Initial changed = started("embedding=1");
    EXPECT_NEAR(deviation(changed.model.at(changed.model.layout().tokens), 6400), 1, 0.05);
    EXPECT_NEAR(deviation(changed.model.at(changed.model.layout().positions), 512), 1, 0.15);
}

TEST(Init, OfResidualMatricesIsOfOutputAndFfnOut) {
    const Initial changed = started("residual=0.5");
    const model::BlockLayout& block = changed.model.layout().blocks[0];
    EXPECT_NEAR(deviation(changed.model.at(block.output.weight), 64 * 64), 0.5, 0.03);
    EXPECT_NEAR(deviation(changed.model.at(block.ffn_out.weight), 4 * 64 * 64), 0.5, 0.02);
    EXPECT_NEAR(deviation(changed.model.at(block.ffn_in[0].weight), 4 * 64 * 64), 0.02, 0.001);
}

// DeepNorm draws a matrix by the numbers of its inputs and outputs, which the feed-forward's two have exchanged.
TEST(Init, IsTheDeviationWhateverTheSchemesOwnIs) {
    const Initial changed = started("matrices=0.5", "deepnorm");
    const model::BlockLayout& block = changed.model.layout().blocks[1];
    const auto of = [&](const model::Linear& one, std::size_t count) {
        return deviation(changed.model.at(one.weight), count);
    };
    EXPECT_NEAR(of(block.qkv[0], 3UL * 64 * 64), 0.5, 0.02);
    EXPECT_NEAR(of(block.output, 64UL * 64), 0.5, 0.03);
    EXPECT_NEAR(of(block.ffn_in[0], 4UL * 64 * 64), 0.5, 0.02);
    EXPECT_NEAR(of(block.ffn_out, 4UL * 64 * 64), 0.5, 0.02);
}

TEST(Init, OfAGatedFfnIsOfGateAndUp) {
    Settings s = wide();
    s.ffn_kind = Ffn::swiglu;
    s.ffn = 128;
    const Initial changed = started("ffn-in=0.5", "pre-ln", s);
    const std::vector<model::Linear>& parts = changed.model.layout().blocks[1].ffn_in;
    ASSERT_EQ(parts.size(), 1U);
    ASSERT_FALSE(parts[0].in_out);
    const float* const both = changed.model.at(parts[0].weight);
    EXPECT_NEAR(deviation(both, 128UL * 64), 0.5, 0.02);
    EXPECT_NEAR(deviation(both + 128UL * 64, 128UL * 64), 0.5, 0.02);
}

TEST(Init, OfPeriLnsOuterGainsIsTheControlOfASmallStep) {
    const Initial changed = started("gain.2=0.1,gain.4=0.1", "peri-ln");
    std::vector<model::NormPlace> norms;  // those that the block evaluates, in order
    for (const model::NormPlace& place : changed.model.layout().blocks[1].norms) {
        if (place.gain != model::absent) {
            norms.push_back(place);
        }
    }
    ASSERT_EQ(norms.size(), 4U);
    EXPECT_EQ(*changed.model.at(norms[0].gain), 1.0F);
    EXPECT_EQ(*changed.model.at(norms[1].gain), 0.1F);
    EXPECT_EQ(*changed.model.at(norms[2].gain), 1.0F);
    EXPECT_EQ(changed.model.at(norms[3].gain)[63], 0.1F);
    const Initial all = started("gains=0.5", "peri-ln");
    for (const model::NormPlace& place : all.model.layout().readout_norms) {
        EXPECT_TRUE(place.gain == model::absent || *all.model.at(place.gain) == 0.5F);
    }
    // t is 1 in the last of two blocks, and for the norm behind it.
    const Initial by_block = started("gains=0.25*(t+1)", "peri-ln");
    std::size_t gains = 0;
    for (const model::NormPlace& place : by_block.model.layout().readout_norms) {
        gains += place.gain != model::absent ? 1 : 0;
        EXPECT_TRUE(place.gain == model::absent || *by_block.model.at(place.gain) == 0.5F);
    }
    EXPECT_EQ(gains, 1U);
}

TEST(Init, OfGainsIsRefusedWhereNoNormHasAny) {
    EXPECT_THROW(started("gains=2", "ngpt"), Error);
    Settings of_length_one = wide();
    of_length_one.norm = "unit";
    EXPECT_THROW(started("gains=2", "pre-ln", of_length_one), Error);
    of_length_one.norm = "rmsnorm";
    EXPECT_NO_THROW(started("gains=2", "pre-ln", of_length_one));
}

TEST(Init, ThatMeansNothingIsRefused) {
    for (const char* wrong : {"embeding=1", "embedding", "=1", "embedding=", "embedding=1/0", "gain.9=1", "gain.0=1",
                              "head=1", "embedding=1,,value=2", "value=q"}) {
        EXPECT_THROW(started(wrong), Error) << wrong;
    }
    Settings s = wide();
    s.untied = true;
    EXPECT_NO_THROW(started("head=1", "pre-ln", s));
}

// d = 64: logits of deviation 8 s for numbers of deviation s; ln 100 = 4.61.
TEST(Init, SaysWhereTheEmbeddingIsTooLargeForAHead) {
    EXPECT_TRUE(started("").notes.empty());
    EXPECT_TRUE(started("embedding=0.3").notes.empty());
    const std::vector<std::string> notes = started("embedding=1").notes;
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find("deviation 8 "), std::string::npos) << notes[0];
    EXPECT_NE(notes[0].find("above 4.61,"), std::string::npos) << notes[0];
    Settings untied = wide();
    untied.untied = true;
    EXPECT_TRUE(started("embedding=1", "pre-ln", untied).notes.empty());
    EXPECT_TRUE(started("head=1", "pre-ln", untied).notes.empty()) << "it was asked for";
}

// Pre-LN: two tables, twelve parameters in each of two blocks, a norm at the end. Peri-LN: two norms more in each
// block.
TEST(From, SaysHowManyParametersWereTakenStartAnewAndHaveNoPlace) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-from";
    const auto note = [&](const char* before, const char* after) {
        std::filesystem::create_directories(folder);
        Settings s = wide();
        model::save_model(started("", before, s).model, folder);
        s.from = folder.string();
        const Initial initial = initial_model(s, scheme::find_scheme(after), 100);
        std::filesystem::remove_all(folder);
        return initial.notes.empty() ? "" : initial.notes.front();
    };
    EXPECT_EQ(note("pre-ln", "pre-ln"), "");
    const std::string added = note("pre-ln", "peri-ln");
    EXPECT_EQ(added.rfind("28 of 36 parameters were taken from ", 0), 0U) << added;
    EXPECT_NE(added.find("; 8 start anew ("), std::string::npos) << added;
    EXPECT_EQ(added.find("no place"), std::string::npos) << added;
    const std::string removed = note("peri-ln", "pre-ln");
    EXPECT_EQ(removed.rfind("28 of 28 parameters were taken from ", 0), 0U) << removed;
    EXPECT_TRUE(removed.ends_with("; 8 of the old ones have no place.")) << removed;
}

// What a model to start from has already cannot be asked for otherwise: it would be ignored.
TEST(From, PartsThatTheModelHasOtherwiseAreRefused) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-from-parts";
    const auto refusal = [&](const Settings& saved, void (*change)(Settings&)) -> std::string {
        std::filesystem::create_directories(folder);
        model::save_model(started("", "pre-ln", saved).model, folder);
        Settings s = saved;
        s.from = folder.string();
        change(s);
        try {
            completed(s);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    Settings plain = wide();
    Settings normed = wide();
    normed.qk_norm = QkNorm::projection;
    Settings gated = wide();
    gated.ffn_kind = Ffn::swiglu;
    const auto over_heads = [](Settings& s) { s.qk_norm = QkNorm::head; };
    const auto over_all = [](Settings& s) { s.qk_norm = QkNorm::projection; };
    const auto swiglu = [](Settings& s) { s.ffn_kind = Ffn::swiglu; };
    EXPECT_EQ(refusal(normed, over_all), "");
    EXPECT_EQ(refusal(gated, swiglu), "");
    EXPECT_NE(refusal(plain, over_heads).find("expected no norm there, as "), std::string::npos);
    EXPECT_NE(refusal(normed, over_heads).find("expected rmsnorm over the whole projection, as "), std::string::npos);
    EXPECT_NE(refusal(plain, swiglu).find("expected an FFN without a gate, with gelu_tanh, as "), std::string::npos)
        << refusal(plain, swiglu);
    std::filesystem::remove_all(folder);
}

// Its sizes are its own. What a setting says by itself, or as the model has it, is no contradiction.
TEST(From, SettingsThatTheModelContradictsAreRefused) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-from-sizes";
    std::filesystem::create_directories(folder);
    Settings saved = wide();
    saved.dim = 32;
    saved.heads = 2;
    saved.ffn = 48;
    model::save_model(started("", "pre-ln", saved).model, folder);
    const auto refusal = [&](const std::string& key, const std::string& text) -> std::string {
        Settings s;
        s.from = folder.string();
        for (const SettingField& field : setting_fields()) {
            if (field.key == key) {
                field.parse(text, s);
            }
        }
        try {
            const Settings known = completed(s);
            EXPECT_EQ(known.layers, 2U);
            EXPECT_EQ(known.dim, 32U);
            EXPECT_EQ(known.heads, 2U);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("steps", "7"), "");
    for (const auto& [key, other, own] :
         std::vector<std::array<std::string, 3>>{{"layers", "3", "2"},
                                                 {"dim", "48", "32"},
                                                 {"heads", "8", "2"},
                                                 {"ffn", "64", "48"},
                                                 {"norm", "rmsnorm", "layernorm"},
                                                 {"attention", "sparsemax", "softmax"},
                                                 {"positions", "rope", "learned positions"},
                                                 {"untied", "true", "the token embedding for a head"},
                                                 {"init", "embedding=1", "the numbers"}}) {
        const std::string said = refusal(key, other);
        EXPECT_NE(said.find("got " + key + " = " + other + ", expected " + own + ", as " + folder.string() + " has it"),
                  std::string::npos)
            << said;
        EXPECT_NE(said.find("leave it out beside from"), std::string::npos) << said;
    }
    for (const auto& [key, own] : std::vector<std::pair<const char*, const char*>>{
             {"layers", "2"}, {"dim", "32"}, {"heads", "2"}, {"ffn", "48"}, {"norm", "layernorm"}}) {
        EXPECT_EQ(refusal(key, own), "") << key;
    }
    std::filesystem::remove_all(folder);
}

TEST(From, TheStepIsThatOfTheModelUnlessGiven) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-from-step";
    std::filesystem::create_directories(folder);
    Settings saved = wide();
    saved.dt = 0.25;
    model::save_model(started("", "pre-ln", saved).model, folder);
    Settings s;
    EXPECT_EQ(completed(s).dt, 1) << "of a new model";
    s.from = folder.string();
    EXPECT_EQ(completed(s).dt, 0.25);
    s.dt = 0.5;
    EXPECT_EQ(completed(s).dt, 0.5);
    std::filesystem::remove_all(folder);
}

// Fewer tokens than the model has are enough; another number or a token too many is not.
TEST(From, DataWithTokensThatTheModelLacksAreRefused) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-from-tokens";
    std::filesystem::create_directories(folder);
    Settings s = wide();
    model::save_model(started("").model, folder);
    write_file_atomically(folder / "tokenizer.json", R"({"model": {"vocab": {"a": 0, "b": 1, "c": 2}}})");
    s.from = folder.string();
    const auto refusal = [&](const char* vocabulary) -> std::string {
        Corpus corpus;
        corpus.tokenizer = {{"tokenizer.json", std::string(R"({"model": {"vocab": )") + vocabulary + "}}"}};
        try {
            check_tokens(s, corpus);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(R"({"a": 0, "c": 2})"), "");
    const std::string unknown = refusal(R"({"a": 0, "b": 1, "c": 2, "d": 3})");
    EXPECT_NE(unknown.find("got data whose token 'd' is 3, expected tokens that "), std::string::npos) << unknown;
    const std::string moved = refusal(R"({"a": 0, "b": 1, "c": 3})");
    EXPECT_NE(moved.find("got data whose token 'c' is 3, expected 2, as in "), std::string::npos) << moved;
    // Published tokenizers have several megabytes.
    write_file_atomically(folder / "tokenizer.json", R"({"model": {"vocab": {"a": 0, "b": 1, "c": 2}}})" +
                                                         std::string(std::size_t{3} << 20U, ' '));
    EXPECT_EQ(refusal(R"({"a": 0, "c": 2})"), "");
    EXPECT_NE(refusal(R"({"a": 0, "c": 3})"), "");
    s.from.clear();
    EXPECT_EQ(refusal(R"({"d": 3})"), "") << "a new model takes its tokens from the data";
    std::filesystem::remove_all(folder);
}

TEST(Architecture, OfGptAndLlamaHaveTheBiasesOfThosePublished) {
    const Settings gpt = wide();
    const model::Architecture a = architecture_of(gpt, scheme::find_scheme("pre-ln"), 50);
    EXPECT_TRUE(a.qkv_bias && a.output_bias && a.ffn_bias && a.norm_bias && a.learned_positions && a.tied);
    EXPECT_EQ(a.vocab, 50U);
    EXPECT_EQ(a.head_dim, 16U);
    Settings llama = wide();
    llama.norm = "rmsnorm";
    llama.positions = Positions::rope;
    llama.ffn_kind = Ffn::swiglu;
    llama.qk_norm = QkNorm::head;
    llama.untied = true;
    const model::Architecture b = architecture_of(llama, scheme::find_scheme("peri-ln"), 50);
    EXPECT_FALSE(b.qkv_bias || b.output_bias || b.ffn_bias || b.norm_bias || b.learned_positions || b.tied);
    EXPECT_EQ(b.rope.dims, 16U);
    EXPECT_TRUE(b.gated);
    EXPECT_TRUE(b.attention_norm.query && b.attention_norm.key && !b.attention_norm.value);
}

}  // namespace
}  // namespace flyball::train
