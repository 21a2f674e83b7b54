// Checkpoints from strangers: every lie is one sentence, told before memory is taken.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "../core/support.hpp"
#include "at_most.hpp"
#include "core/json.hpp"
#include "model/finite.hpp"
#include "model/native.hpp"
#include "model/save.hpp"
#include "scheme/catalogue.hpp"
#include "support.hpp"
#include "tiny.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::model::test {
namespace {

using flyball::test::Caught;
using flyball::test::error_of;
using flyball::test::TemporaryFolder;

struct Stored {
    std::vector<std::size_t> shape;
    std::vector<float> values;
};

// A golden checkpoint taken apart, to be spoilt and written again.
struct Checkpoint {
    explicit Checkpoint(const std::string& name) {
        const bool vit = name.starts_with("vit");
        const std::filesystem::path folder = (vit ? golden_folder().parent_path() / "vit" : golden_folder()) / name;
        config = parse_json(read_text_file(folder / "config.json", 1 << 20), "config");
        const SafeTensors file = SafeTensors::open_checkpoint(folder);
        for (const std::string& tensor_name : file.names()) {
            tensors[tensor_name] = {file.info(tensor_name).shape, file.read<float>(tensor_name)};
        }
    }
    void write(const std::filesystem::path& folder) const {
        std::ofstream(folder / "config.json") << dump_json(config, 1);
        std::vector<TensorToWrite> list;
        for (const auto& [name, stored] : tensors) {
            list.push_back(tensor(name, stored.shape, std::span<const float>(stored.values)));
        }
        write_safetensors(folder / "model.safetensors", list);
    }
    Caught error() const {
        const TemporaryFolder folder;
        write(folder.path());
        return error_of([&] { load_model(folder.path()); });
    }
    Json config;
    std::map<std::string, Stored> tensors;
};

void expect_refused(const Checkpoint& checkpoint, std::string_view part) {
    const Caught caught = checkpoint.error();
    ASSERT_TRUE(caught.kind.has_value()) << "accepted, expected: " << part;
    EXPECT_TRUE(caught.has(part)) << caught.text;
    EXPECT_EQ(caught.text.find('\n'), std::string::npos) << caught.text;
}

TEST(Checkpoint, NormsMayBeCalledGammaAndBeta) {
    Checkpoint checkpoint("bert");
    std::map<std::string, Stored> renamed;
    std::size_t changed = 0;
    for (const auto& [name, stored] : checkpoint.tensors) {
        std::string other = name;
        const std::size_t at = name.find("LayerNorm.");
        if (at != std::string::npos) {
            other = name.substr(0, at + 10) + (name.ends_with("weight") ? "gamma" : "beta");
            ++changed;
        }
        renamed[other] = stored;
    }
    EXPECT_EQ(changed, 10U);
    checkpoint.tensors = renamed;
    const TemporaryFolder folder;
    checkpoint.write(folder.path());
    const Model<float> older = load_model(folder.path());
    const Model<float> newer = load_model(golden_folder() / "bert");
    for (std::size_t i = 0; i < newer.layout().parameters.size(); ++i) {
        const std::size_t count = newer.layout().parameters[i].elements();
        const float* const expected = newer.at(static_cast<int>(i));
        EXPECT_TRUE(std::equal(expected, expected + count, older.at(static_cast<int>(i))))
            << newer.layout().parameters[i].name;
    }
}

TEST(Checkpoint, SurvivesBeingTakenApart) {
    for (const char* name : {"gpt2", "llama-gqa", "bert"}) {
        EXPECT_FALSE(Checkpoint(name).error().kind.has_value()) << name << ": " << Checkpoint(name).error().text;
    }
}

TEST(Checkpoint, UnknownFamiliesAreNamedWithTheKnownOnes) {
    Checkpoint checkpoint("gpt2");
    checkpoint.config["model_type"] = "mamba";
    expect_refused(checkpoint, "the model family 'mamba'");
    expect_refused(checkpoint,
                   "one of gpt2, gpt_neox, opt, bert, vit, llama, mistral, qwen2, qwen3, granite, olmo2, olmo3, "
                   "gemma2, gemma3_text, "
                   "gemma3, flyball");
    checkpoint.config.erase("model_type");
    expect_refused(checkpoint, "no model_type");
    checkpoint.config["model_type"] = 3;
    expect_refused(checkpoint, "expected a text");
}

// Each makes transformers 5.23 compute with another file, or show another stream, than the one that we would read.
TEST(Checkpoint, KeysThatLeadElsewhereAreRefused) {
    const auto with = [](const char* key, Json value) {
        Checkpoint checkpoint("llama-gqa");
        checkpoint.config[key] = std::move(value);
        return checkpoint;
    };
    expect_refused(with("transformers_weights", "other.safetensors"), "transformers_weights = '\"other.safetensors\"'");
    expect_refused(with("configuration_files", {"config.5.0.0.json"}), "configuration_files = ");
    expect_refused(with("tie_last_hidden_states", false), "tie_last_hidden_states = 'false'");
    expect_refused(with("tie_last_hidden_states", 0), "tie_last_hidden_states = '0'");
    for (const auto& [key, value] : {std::pair<const char*, Json>{"transformers_weights", nullptr},
                                     {"configuration_files", Json::array()},
                                     {"tie_last_hidden_states", true}}) {
        EXPECT_FALSE(with(key, value).error().kind.has_value()) << key << ": " << with(key, value).error().text;
    }
}

TEST(Checkpoint, AnAdapterBesideTheModelIsRefused) {
    const TemporaryFolder folder;
    Checkpoint("llama-gqa").write(folder.path());
    EXPECT_FALSE(error_of([&] { load_model(folder.path()); }).kind.has_value());
    std::ofstream(folder.path() / "adapter_config.json") << "{}";
    const Caught caught = error_of([&] { load_model(folder.path()); });
    ASSERT_TRUE(caught.kind.has_value());
    EXPECT_TRUE(caught.has("adapter_config.json")) << caught.text;
}

TEST(Checkpoint, LiesOfTheConfigurationAreOneSentence) {
    struct Lie {
        const char* model;
        const char* key;
        Json value;
        const char* part;
    };
    const std::vector<Lie> lies = {
        {"gpt2", "n_embd", "24", "n_embd = '\"24\"'"},
        {"gpt2", "n_embd", -24, "n_embd = '-24'"},
        {"gpt2", "n_embd", 0, "n_embd = '0'"},
        {"gpt2", "n_embd", 1e30, "n_embd"},
        {"gpt2", "n_embd", 24.0, "n_embd"},
        {"gpt2", "n_embd", 3000000, "dim = 3000000"},
        {"gpt2", "n_embd", 2097150, "config.json"},
        {"gpt2", "n_embd", nullptr, "n_embd = 'null'"},
        {"gpt2", "n_embd", 25, "a multiple of the 3 heads"},
        {"gpt2", "n_head", 0, "n_head = '0'"},
        {"gpt2", "n_layer", 3, "all of the 3 blocks"},
        {"gpt2", "n_layer", 1, "tensors"},
        {"gpt2", "n_layer", 99999, "all of the 99999 blocks"},
        {"gpt2", "n_layer", 1099511627776, "layers = 1099511627776"},
        {"gpt2", "n_layer", true, "n_layer"},
        {"gpt2", "n_inner", 97, "shape"},
        {"gpt2", "n_positions", 33, "shape"},
        {"gpt2", "vocab_size", 54, "shape"},
        {"gpt2", "layer_norm_epsilon", "small", "layer_norm_epsilon"},
        {"gpt2", "layer_norm_epsilon", -1, "eps = -1"},
        {"gpt2", "activation_function", "tanh", "one of gelu"},
        {"gpt2", "add_cross_attention", true, "add_cross_attention"},
        {"gpt2", "tie_word_embeddings", "yes", "true or false"},
        {"llama-gqa", "num_key_value_heads", 3, "divides"},
        {"llama-gqa", "num_key_value_heads", 0, "num_key_value_heads"},
        {"llama-gqa", "num_key_value_heads", 1, "shape"},
        {"llama-gqa", "num_attention_heads", 5, "a multiple of the 5 heads"},
        {"llama-gqa", "num_attention_heads", 3, "divides the heads"},
        {"llama-gqa", "head_dim", 7, "even"},
        {"llama-gqa", "head_dim", 4, "shape"},
        {"llama-gqa", "rope_theta", 0, "a number above 0"},
        {"llama-gqa", "rope_scaling", "linear", "an object"},
        {"llama-gqa", "rope_scaling", Json{{"rope_type", "longrope"}, {"factor", 2}}, "one of default, linear"},
        {"llama-gqa", "rope_scaling", Json{{"rope_type", "linear"}, {"factor", -2}}, "a number above 0"},
        {"llama-gqa", "tie_word_embeddings", 1, "true or false"},
        {"llama-gqa", "attention_bias", true, "q_proj.bias"},
        {"bert", "position_embedding_type", "relative_key", "'absolute'"},
        {"bert", "is_decoder", true, "is_decoder"},
        {"bert", "type_vocab_size", 3, "shape"},
    };
    for (const Lie& lie : lies) {
        Checkpoint checkpoint(lie.model);
        checkpoint.config[lie.key] = lie.value;
        SCOPED_TRACE(std::string(lie.model) + " " + lie.key + " = " + dump_json(lie.value));
        expect_refused(checkpoint, lie.part);
    }
}

TEST(Checkpoint, TensorsMustBeThoseOfTheConfiguration) {
    Checkpoint missing("gpt2");
    missing.tensors.erase("transformer.h.1.mlp.c_fc.bias");
    expect_refused(missing, "no tensor 'transformer.h.1.mlp.c_fc.bias'");

    Checkpoint extra("gpt2");
    extra.tensors["transformer.h.0.attn.q_norm.weight"] = {{8}, std::vector<float>(8)};
    expect_refused(extra, "'transformer.h.0.attn.q_norm.weight'");
    for (const char* more : {"k", "v", "o", "p"}) {
        extra.tensors[std::string("transformer.h.0.attn.") + more + "_norm.weight"] = {{8}, std::vector<float>(8)};
    }
    expect_refused(extra, "5 tensors in ");

    Checkpoint turned("llama-gqa");
    auto& matrix = turned.tensors.at("model.layers.0.mlp.down_proj.weight");
    std::swap(matrix.shape[0], matrix.shape[1]);
    expect_refused(turned, "the shape [36, 24] of tensor 'model.layers.0.mlp.down_proj.weight'");
    expect_refused(turned, "[24, 36] by config.json");

    Checkpoint headless("llama-gqa");
    headless.config["architectures"] = {"LlamaForCausalLM"};
    headless.tensors.erase("lm_head.weight");
    expect_refused(headless, "lm_head.weight");
}

TEST(Checkpoint, WithoutAHeadIsAnEncoder) {
    Checkpoint checkpoint("llama-gqa");
    checkpoint.tensors.erase("lm_head.weight");
    const TemporaryFolder folder;
    checkpoint.write(folder.path());
    const Model<float> model = load_model(folder.path());
    EXPECT_FALSE(model.architecture().has_head);
    Pass<float> pass(model, 3);
    pass.forward(std::vector<std::int32_t>{1, 2, 3});
    EXPECT_ERROR(pass.loss(std::vector<std::int32_t>{2, 3, no_target}), "without a language-model head");
}

TEST(Checkpoint, HeadsForOtherTasksAreLeftOut) {
    struct Case {
        const char* model;
        std::vector<std::string> heads;
    };
    // Of classes that transformers has for each family, and the value head of TRL.
    const std::vector<Case> cases = {
        {"gpt2", {"score.weight"}},
        {"gpt2", {"classifier.weight", "classifier.bias"}},
        {"gpt2", {"multiple_choice_head.summary.weight", "multiple_choice_head.summary.bias"}},
        {"gpt2", {"qa_outputs.weight", "qa_outputs.bias", "v_head.summary.weight", "v_head.summary.bias"}},
        {"gpt-neox",
         {"score.weight", "classifier.weight", "classifier.bias", "qa_outputs.weight", "v_head.summary.bias"}},
        {"opt", {"score.weight", "qa_outputs.weight", "qa_outputs.bias", "v_head.summary.weight"}},
        {"llama-bias-tied", {"score.weight", "score.bias"}},
        {"llama-gqa", {"v_head.summary.weight"}},
        {"qwen2", {"qa_outputs.weight", "qa_outputs.bias"}},
        {"bert", {"classifier.weight", "cls.predictions.bias"}},
        {"bert", {"pooler.dense.weight", "qa_outputs.weight"}},
        {"vit", {"pooler.dense.weight", "classifier.weight", "classifier.bias", "decoder.0.weight", "decoder.0.bias"}},
    };
    for (const Case& tried : cases) {
        Checkpoint checkpoint(tried.model);
        for (const std::string& name : tried.heads) {
            checkpoint.tensors[name] = {{2}, {1, 2}};
        }
        EXPECT_FALSE(checkpoint.error().kind.has_value()) << tried.model << ": " << checkpoint.error().text;
        // The same word inside a block is a part of the model that we would not run.
        checkpoint.tensors["model.layers.0.score.weight"] = {{2}, {1, 2}};
        expect_refused(checkpoint, "'model.layers.0.score.weight'");
    }
}

// Masks and frequencies that older versions saved with every block, and what only training needs.
TEST(Checkpoint, BuffersAreLeftOut) {
    const std::vector<std::pair<const char*, std::vector<std::string>>> cases = {
        {"gpt2", {"transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias", "transformer.h.1.attn.masked_bias"}},
        {"gpt-neox",
         {"gpt_neox.layers.0.attention.bias", "gpt_neox.layers.1.attention.masked_bias",
          "gpt_neox.layers.0.attention.rotary_emb.inv_freq"}},
        {"llama-gqa", {"model.layers.0.self_attn.rotary_emb.inv_freq"}},
        {"bert", {"embeddings.position_ids", "embeddings.token_type_ids"}},
        {"vit", {"embeddings.mask_token"}},  // what a patch is replaced with in training for masked images
        {"vit-classifier-f16", {"vit.embeddings.mask_token"}},
    };
    for (const auto& [name, buffers] : cases) {
        Checkpoint checkpoint(name);
        for (const std::string& buffer : buffers) {
            checkpoint.tensors[buffer] = {{2}, {1, 2}};
        }
        EXPECT_FALSE(checkpoint.error().kind.has_value()) << name << ": " << checkpoint.error().text;
    }
}

TEST(Checkpoint, QuestionAnsweringLlamasHaveAnotherPrefix) {
    Checkpoint checkpoint("llama-bias-tied");
    std::map<std::string, Stored> renamed;
    for (const auto& [name, stored] : checkpoint.tensors) {
        renamed["transformer." + name.substr(name.find('.') + 1)] = stored;
    }
    checkpoint.tensors = renamed;
    EXPECT_FALSE(checkpoint.error().kind.has_value()) << checkpoint.error().text;
}

// transformers ties what is equal; where the two differ it believes the file.
TEST(Checkpoint, AHeadInTheFileIsUsedThoughTheConfigurationTies) {
    Checkpoint checkpoint("llama-bias-tied");
    const Stored embedding = checkpoint.tensors.at("model.embed_tokens.weight");
    const TemporaryFolder folder;
    const auto load = [&] {
        checkpoint.write(folder.path());
        return load_model(folder.path());
    };
    checkpoint.tensors["lm_head.weight"] = embedding;
    EXPECT_TRUE(load().architecture().tied);
    EXPECT_TRUE(load().notes().empty());
    checkpoint.tensors["lm_head.weight"].values.back() += 1;
    EXPECT_FALSE(load().architecture().tied);
    ASSERT_EQ(load().notes().size(), 1U);
    EXPECT_NE(load().notes()[0].find("lm_head.weight differs"), std::string::npos);
    checkpoint.tensors["lm_head.weight"].shape = {embedding.shape[1], embedding.shape[0]};
    expect_refused(checkpoint, "lm_head.weight");
    // One matrix under the name of the head serves both.
    checkpoint.tensors["lm_head.weight"] = embedding;
    checkpoint.tensors.erase("model.embed_tokens.weight");
    const Model<float> model = load();
    EXPECT_TRUE(model.architecture().tied);
    EXPECT_EQ(model.at(model.layout().tokens)[5], embedding.values[5]);
}

// The same numbers in another type are no other head: what counts is the value that each stands for.
TEST(Checkpoint, AHeadOfAnotherTypeIsTiedWhereItsNumbersAreThoseOfTheEmbedding) {
    Checkpoint checkpoint("llama-bias-tied");
    std::vector<float>& numbers = checkpoint.tensors.at("model.embed_tokens.weight").values;
    std::vector<std::uint16_t> narrow;  // bfloat16 is the first half of a float
    for (float& number : numbers) {
        auto bits = std::bit_cast<std::uint32_t>(number) & 0xffff0000U;
        number = std::bit_cast<float>(bits);
        narrow.push_back(static_cast<std::uint16_t>(bits >> 16U));
    }
    const Stored embedding = checkpoint.tensors.at("model.embed_tokens.weight");
    checkpoint.tensors.erase("model.embed_tokens.weight");
    const auto load = [&](const std::string& as_bf16, const std::string& as_f64, const std::vector<double>& wide) {
        const TemporaryFolder folder;
        checkpoint.write(folder.path());
        std::vector<TensorToWrite> list;
        for (const auto& [name, stored] : checkpoint.tensors) {
            list.push_back(tensor(name, stored.shape, std::span<const float>(stored.values)));
        }
        list.push_back({as_bf16, Dtype::bf16, embedding.shape, std::as_bytes(std::span(narrow))});
        list.push_back(tensor(as_f64, embedding.shape, std::span<const double>(wide)));
        write_safetensors(folder.path() / "model.safetensors", list);
        return load_model(folder.path());
    };
    const std::vector<double> same(embedding.values.begin(), embedding.values.end());
    for (const auto& [as_bf16, as_f64] :
         {std::pair{"model.embed_tokens.weight", "lm_head.weight"}, {"lm_head.weight", "model.embed_tokens.weight"}}) {
        const Model<float> tied = load(as_bf16, as_f64, same);
        EXPECT_TRUE(tied.architecture().tied) << as_bf16;
        for (const std::string& note : tied.notes()) {
            EXPECT_EQ(note.find("differs from the embedding"), std::string::npos) << note;
        }
        for (const std::size_t place : {std::size_t{0}, same.size() - 1}) {
            std::vector<double> other = same;
            other[place] += 0.001953125;
            const Model<float> untied = load(as_bf16, as_f64, other);
            EXPECT_FALSE(untied.architecture().tied) << as_bf16 << " " << place;
            EXPECT_TRUE(std::any_of(untied.notes().begin(), untied.notes().end(), [](const std::string& note) {
                return note.find("lm_head.weight differs from the embedding") != std::string::npos;
            })) << as_bf16;
        }
    }
}

// Biases are all there or all missing; one part without them is a file that lost something.
TEST(Checkpoint, MissingBiasesAreNoted) {
    const Checkpoint whole("gpt2");
    for (const char* part : {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "ln_1"}) {
        Checkpoint checkpoint = whole;
        for (const auto& [name, stored] : whole.tensors) {
            const bool ffn = std::string(part) == "mlp.c_fc" && name.ends_with("mlp.c_proj.bias");
            const bool norm =
                std::string(part) == "ln_1" && (name.ends_with("ln_2.bias") || name.ends_with("ln_f.bias"));
            if (ffn || norm || name.ends_with(std::string(part) + ".bias")) {
                checkpoint.tensors.erase(name);
            }
        }
        ASSERT_LT(checkpoint.tensors.size(), whole.tensors.size()) << part;
        const TemporaryFolder folder;
        checkpoint.write(folder.path());
        const Model<float> model = load_model(folder.path());
        ASSERT_EQ(model.notes().size(), 1U) << part;
        EXPECT_NE(model.notes()[0].find(std::string("no tensor h.0.") + part + ".bias"), std::string::npos)
            << model.notes()[0];
    }
    const TemporaryFolder folder;
    whole.write(folder.path());
    EXPECT_TRUE(load_model(folder.path()).notes().empty());
    Checkpoint none = whole;
    std::erase_if(none.tensors, [](const auto& tensor) { return tensor.first.ends_with(".bias"); });
    const TemporaryFolder without;
    none.write(without.path());
    EXPECT_TRUE(load_model(without.path()).notes().empty());
}

TEST(Checkpoint, FilesThatAreNoFilesAreRefusedAtOnce) {
    const flyball::test::AtMost limit(60);
    for (const char* name : {"config.json", "model.safetensors", "model.safetensors.index.json"}) {
        for (const bool pipe : {true, false}) {
            const TemporaryFolder folder;
            Checkpoint("gpt2").write(folder.path());
            if (std::string(name) != "config.json") {
                std::filesystem::remove(folder.path() / "model.safetensors");
            }
            const std::filesystem::path file = folder.path() / name;
            std::filesystem::remove(file);
            if (pipe) {
                ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
            } else {
                std::filesystem::create_symlink("/dev/zero", file);
            }
            const Caught caught = error_of([&] { load_model(folder.path()); });
            EXPECT_TRUE(caught.has("not a regular file")) << name << ": " << caught.text;
        }
    }
    for (const char* name : {"tokenizer.json", "vocab.json", "vocab.txt", "tokenizer_config.json"}) {
        const TemporaryFolder folder;
        folder.put("vocab.txt", "[UNK]\n");
        folder.put("merges.txt", "");
        std::filesystem::remove(folder.path() / name);
        ASSERT_EQ(mkfifo((folder.path() / name).c_str(), 0600), 0);
        const Caught caught = error_of([&] { tokenizer::Tokenizer::load(folder.path()); });
        EXPECT_TRUE(caught.has("not a regular file")) << name << ": " << caught.text;
    }
}

TEST(Checkpoint, IntegersAreNoWeights) {
    const Checkpoint checkpoint("bert");
    const TemporaryFolder folder;
    checkpoint.write(folder.path());
    std::vector<TensorToWrite> list;
    const std::vector<std::int64_t> whole(24, 1);
    for (const auto& [name, stored] : checkpoint.tensors) {
        list.push_back(name == "embeddings.LayerNorm.weight"
                           ? tensor(name, stored.shape, std::span<const std::int64_t>(whole))
                           : tensor(name, stored.shape, std::span<const float>(stored.values)));
    }
    write_safetensors(folder.path() / "model.safetensors", list);
    EXPECT_ERROR(load_model(folder.path()), "of type I64");
}

TEST(Checkpoint, SpoiltFilesAreOneSentence) {
    const Checkpoint checkpoint("gpt2");
    const TemporaryFolder folder;
    checkpoint.write(folder.path());
    const std::string good = folder.get("model.safetensors");
    const auto expect = [&](const std::string& contents, std::string_view part) {
        folder.put("model.safetensors", contents);
        const Caught caught = error_of([&] { load_model(folder.path()); });
        ASSERT_TRUE(caught.kind.has_value()) << part;
        EXPECT_TRUE(caught.has(part)) << caught.text;
    };
    expect(good.substr(0, good.size() - 5), "model.safetensors");
    expect(good.substr(0, 100), "cut short");
    expect(good + "more", "model.safetensors");
    std::string huge = good;
    const std::uint64_t length = 100'000'000'000ULL;
    std::memcpy(huge.data(), &length, sizeof length);
    expect(huge, "a header of 100000000000 bytes");
    std::string overlap = good;
    const std::size_t at = overlap.find("data_offsets\":[");
    ASSERT_NE(at, std::string::npos);
    overlap[overlap.find(']', at) - 1] = '9';
    expect(overlap, "model.safetensors");

    folder.put("model.safetensors", good);
    folder.put("config.json", std::string(100'000, '['));
    EXPECT_ERROR(load_model(folder.path()), "config.json");
    folder.put("config.json", "[]");
    EXPECT_ERROR(load_model(folder.path()), "no object");
    folder.put("config.json", "{\"model_type\": \"gpt2\"");
    EXPECT_ERROR(load_model(folder.path()), "config.json");
    folder.put("config.json", "{\"model_type\": \"gpt2\"}");
    EXPECT_ERROR(load_model(folder.path()), "all of the 12 blocks");
    std::filesystem::remove(folder.path() / "config.json");
    EXPECT_ERROR(load_model(folder.path()), "no config.json");
    EXPECT_ERROR(load_model(folder.path() / "nowhere"), "no config.json");
    std::filesystem::create_symlink("config.json", folder.path() / "config.json");
    EXPECT_ERROR(load_model(folder.path()), "Too many levels of symbolic links");
}

TEST(Checkpoint, FloatsAreUsedWhereTheyAreMapped) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    const Model<float> half = load_model(golden_folder() / "gpt2-unscaled-f16");
    EXPECT_EQ(model.dtype(), "F32");
    EXPECT_EQ(half.dtype(), "F16");
    // Tensors that lie side by side in the file lie side by side in memory.
    const auto at = [&](const std::string& name) {
        for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
            if (model.layout().parameters[i].name == name) {
                return model.at(static_cast<int>(i));
            }
        }
        return static_cast<const float*>(nullptr);
    };
    const SafeTensors file = SafeTensors::open(golden_folder() / "gpt2" / "model.safetensors");
    const auto* a = file.info("transformer.wte.weight").bytes.data();
    const auto* b = file.info("transformer.ln_f.bias").bytes.data();
    EXPECT_EQ(
        reinterpret_cast<const std::byte*>(at("wte.weight")) - reinterpret_cast<const std::byte*>(at("ln_f.bias")),
        a - b);
}

TEST(Checkpoint, NotANumberFlowsThroughToTheResult) {
    for (const char* spoilt : {"transformer.h.0.attn.c_attn.weight", "transformer.h.1.mlp.c_fc.weight",
                               "transformer.ln_f.weight", "transformer.wte.weight"}) {
        for (const float poison : {std::nanf(""), INFINITY}) {
            Checkpoint checkpoint("gpt2");
            std::vector<float>& values = checkpoint.tensors.at(spoilt).values;
            std::fill(values.begin(), values.end(), poison);
            const TemporaryFolder folder;
            checkpoint.write(folder.path());
            const Model<float> model = load_model(folder.path());
            const std::vector<std::int32_t> ids = {1, 2, 3, 4, 5, 6, 7, 8, 9};
            Pass<float> pass(model, ids.size(), Keep::inputs);
            Parameters<float> gradients(model.layout());
            pass.forward(ids);
            EXPECT_TRUE(std::isnan(pass.loss(next_tokens(ids)))) << spoilt;
            EXPECT_TRUE(std::isnan(pass.loss_and_backward(next_tokens(ids), gradients))) << spoilt;
        }
    }
}

TEST(Finite, NamesTheTensorsThatAreNot) {
    EXPECT_TRUE(tensors_not_finite(load_model(golden_folder() / "gpt2")).empty());
    Checkpoint checkpoint("gpt2");
    checkpoint.tensors.at("transformer.h.1.mlp.c_fc.weight").values.back() = std::nanf("");
    checkpoint.tensors.at("transformer.ln_f.bias").values.front() = -INFINITY;
    const TemporaryFolder folder;
    checkpoint.write(folder.path());
    EXPECT_EQ(tensors_not_finite(load_model(folder.path())),
              (std::vector<std::string>{"h.1.mlp.c_fc.weight", "ln_f.bias"}));
    std::vector<float> values(10'000, std::numeric_limits<float>::max());
    EXPECT_TRUE(all_finite(values));
    for (const std::size_t at : {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, values.size() - 1}) {
        values[at] = -INFINITY;
        EXPECT_FALSE(all_finite(values)) << at;
        values[at] = -0.0F;
    }
}

TEST(Checkpoint, ModelsOfOurOwnComeBackAsTheyWere) {
    const TemporaryFolder folder;
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        if (entry.name == "pre-ln") {
            continue;  // which is GPT-2, saved as such: save_test.cpp
        }
        for (const Architecture& architecture : {tiny_architecture(entry.equation), tiny_llama(entry.equation)}) {
            const Model<float> model = tiny_model<float>(architecture, 31);
            save_model(model, folder.path());
            const Model<float> back = load_model(folder.path());
            EXPECT_EQ(architecture_json(back.architecture()), architecture_json(architecture)) << entry.name;
            Pass<float> pass(model, tiny_ids.size());
            Pass<float> again(back, tiny_ids.size());
            pass.forward(tiny_ids);
            again.forward(tiny_ids);
            EXPECT_EQ(pass.readout(), again.readout()) << entry.name;
        }
    }
}

TEST(Checkpoint, ModelsOfOurOwnAreCheckedToo) {
    const Model<float> model = tiny_model<float>(tiny_architecture("norm(x + dt*f(x))"), 32);
    const Json good = architecture_json(model.architecture());
    const TemporaryFolder folder;
    const auto expect = [&](const char* key, const Json& value, std::string_view part) {
        save_model(model, folder.path());
        Json config = good;
        config[key] = value;
        folder.put("config.json", dump_json(config));
        const Caught caught = error_of([&] { load_model(folder.path()); });
        EXPECT_TRUE(caught.has(part)) << key << ": " << caught.text;
    };
    expect("equation", "norm(x + ", "[scheme.parse]");
    expect("equation", nullptr, "equation = 'null'");
    expect("norm", "batchnorm", "the unknown norm 'batchnorm'");
    expect("windows", "all", "a list of whole numbers");
    save_model(model, folder.path());
    Json both_ways = good;
    both_ways["causal"] = false;
    both_ways["windows"] = {2};
    folder.put("config.json", dump_json(both_ways));
    EXPECT_ERROR(load_model(folder.path()), "windows of attention that looks both ways");
    expect("heads", 3, "divides the heads");
    for (const char* const cap : {"score_cap", "logit_cap", "score_factor"}) {
        expect(cap, -1.0, std::string(cap) + " = -1");
    }
    expect("dt", "fast", "dt");
    expect("dt", 0, "a number other than 0");
    expect("equation", "x + dt*f(norm(x)) | norm(x)", "readout.norm.0.weight");
}

TEST(Pass, RefusesWhatTheModelHasNoPlaceFor) {
    const Model<float> model = load_model(golden_folder() / "gpt2");
    EXPECT_ERROR(Pass<float>(model, 33), "33 tokens, expected from 1 to 32");
    EXPECT_ERROR(Pass<float>(model, 33), "length = 32");
    EXPECT_ERROR(Pass<float>(model, 0), "0 tokens");
    Pass<float> pass(model, 2);
    EXPECT_ERROR(pass.forward(std::vector<std::int32_t>{1, 53}), "the token id 53, expected a number from 0 to 52");
    EXPECT_ERROR(pass.forward(std::vector<std::int32_t>{1, -1}), "the token id -1");
    EXPECT_ERROR(pass.forward(std::vector<std::int32_t>{1, 2, 3}), "3 tokens");
    EXPECT_ERROR(Pass<float>(load_model(golden_folder() / "llama-gqa"), 65), "65 tokens");
}

}  // namespace
}  // namespace flyball::model::test
