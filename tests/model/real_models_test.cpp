// Real checkpoints and the activations that others computed from them; skipped unless FLYBALL_TEST_MODELS names a
// folder.
#include "core/file.hpp"
#include "model/pass.hpp"
#include "support.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::model::test {
namespace {

#define REQUIRE_MODEL(folder, name)                                                                   \
    const std::filesystem::path folder = real_models() / (name);                                      \
    if (real_models().empty() || !std::filesystem::exists(folder)) {                                  \
        GTEST_SKIP() << "set FLYBALL_TEST_MODELS to a folder with " << (name) << " to run this test"; \
    }

// The file lacks the biases of c_attn that its reference run had: what does not depend on them must agree, and the
// queries, keys and values must differ by one vector for all tokens.
TEST(RealModels, NanoSortEqualsItsReferenceRunUpToTheBiasesItLacks) {
    REQUIRE_MODEL(folder, "nano-sort");
    const Model<float> model = load_model(folder);
    ASSERT_EQ(model.notes().size(), 1U);
    EXPECT_NE(model.notes()[0].find("h.0.attn.c_attn.bias"), std::string::npos) << model.notes()[0];
    const SafeTensors reference = SafeTensors::open(folder / "reference_activations.safetensors");
    const std::vector<std::int32_t> all = read_ids(reference, "idx");
    const std::vector<double> expected = reference.read<double>("qkv");
    const std::size_t length = 11;
    const std::size_t width = 144;
    for (std::size_t sequence = 0; sequence < 3; ++sequence) {
        const auto from = [&](const std::vector<double>& values, std::size_t size) {
            return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(sequence * size),
                                       values.begin() + static_cast<std::ptrdiff_t>((sequence + 1) * size));
        };
        const std::vector<std::int32_t> ids(all.begin() + static_cast<std::ptrdiff_t>(sequence * length),
                                            all.begin() + static_cast<std::ptrdiff_t>((sequence + 1) * length));
        std::vector<float> embedded;
        std::vector<float> normed;
        std::vector<float> qkv(length * width);
        Taps<float> taps;
        taps.add("embed", [&](const TapView<float>& v) { embedded.assign(v.data, v.data + v.rows * v.columns); });
        taps.add("blocks.0.attn.in",
                 [&](const TapView<float>& v) { normed.assign(v.data, v.data + v.rows * v.columns); });
        for (std::size_t part = 0; part < 3; ++part) {
            const char* const names[] = {"blocks.0.attn.query", "blocks.0.attn.key", "blocks.0.attn.value"};
            taps.add(names[part], [&qkv, part](const TapView<float>& v) {
                for (std::size_t i = 0; i < v.rows; ++i) {
                    std::copy_n(v.row(i), v.columns, qkv.data() + i * width + part * 48);
                }
            });
        }
        Pass<float> pass(model, length);
        pass.forward(ids, taps);
        EXPECT_LE(distance(embedded, from(reference.read<double>("x"), length * 48)), 1e-5);
        EXPECT_LE(distance(normed, from(reference.read<double>("ln1"), length * 48)), 1e-5);
        const std::vector<double> their = from(expected, length * width);
        for (std::size_t i = 1; i < length; ++i) {
            for (std::size_t k = 0; k < width; ++k) {
                EXPECT_NEAR(their[i * width + k] - static_cast<double>(qkv[i * width + k]),
                            their[k] - static_cast<double>(qkv[k]), 1e-5);
            }
        }
    }
}

TEST(RealModels, Stories260kEqualsItsReferenceRun) {
    REQUIRE_MODEL(folder, "stories260k");
    const Model<float> model = load_model(folder);
    const SafeTensors reference = SafeTensors::open(folder / "reference_activations.safetensors");
    const std::vector<std::int32_t> ids = read_ids(reference);
    Seen<float> seen;
    const Taps<float> taps = seen.taps(model.architecture(), ids.size());
    Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    const double loss = pass.loss(next_tokens(ids), taps);
    EXPECT_LT(loss, 2.0) << "a story it knows";
    EXPECT_LE(distance(seen.tensors.at("logits"), reference.read<double>("logits")), 1e-4);
    std::vector<float> attention;
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        const std::vector<float>& layer = seen.tensors.at("attention." + std::to_string(l));
        attention.insert(attention.end(), layer.begin(), layer.end());
    }
    EXPECT_LE(distance(attention, reference.read<double>("attention")), 1e-4);
}

TEST(RealModels, MiniLmReadsHalfPrecisionAndSeesBothWays) {
    REQUIRE_MODEL(folder, "minilm-l6");
    const Model<float> model = load_model(folder);
    EXPECT_EQ(model.dtype(), "F16");
    EXPECT_FALSE(model.architecture().has_head);
    const std::vector<std::int32_t> ids = {101, 1996, 4937, 2938, 2006, 1996, 13523, 102};  // the cat sat on the mat
    Seen<float> seen;
    const Taps<float> taps = seen.taps(model.architecture(), ids.size());
    Pass<float> pass(model, ids.size());
    pass.forward(ids, taps);
    const std::vector<float>& attention = seen.tensors.at("attention.0");
    EXPECT_GT(attention[7], 0.0F) << "the first token sees the last";
    for (std::size_t row = 0; row < 12 * ids.size(); ++row) {
        double sum = 0;
        for (std::size_t k = 0; k < ids.size(); ++k) {
            sum += static_cast<double>(attention[row * ids.size() + k]);
        }
        EXPECT_NEAR(sum, 1, 1e-5);
    }
}

// Losses that transformers 5 computes in float32, in nats a token.
void expect_loss(const std::filesystem::path& folder, std::size_t tokens, double expected) {
    const std::filesystem::path text = real_models() / "loss-text.txt";
    if (!std::filesystem::exists(text)) {
        GTEST_SKIP() << "set FLYBALL_TEST_MODELS to a folder that has loss-text.txt too";
    }
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    const std::vector<std::int32_t> ids = tokenizer.encode(read_text_file(text, 1 << 20));
    EXPECT_EQ(ids.size(), tokens);
    const Model<float> model = load_model(folder);
    Pass<float> pass(model, ids.size());
    pass.forward(ids);
    EXPECT_NEAR(pass.loss(next_tokens(ids)), expected, 1e-4);
}

TEST(RealModels, SmolLm2HasTheLossOfTransformers) {
    REQUIRE_MODEL(folder, "smollm2-135m");
    expect_loss(folder, 144, 2.8663);
}

// With <bos> in front, which its tokenizer adds.
TEST(RealModels, Gemma3HasTheLossOfTransformers) {
    REQUIRE_MODEL(folder, "gemma3-270m");
    expect_loss(folder, 143, 2.8682);
}

// Norms of its outputs have gains up to 1649 in the last block: what the file stores is one less.
TEST(RealModels, Gemma3sGainsAreThoseThatItComputesWith) {
    REQUIRE_MODEL(folder, "gemma3-270m");
    const Model<float> model = load_model(folder);
    const SafeTensors file = SafeTensors::open(folder / "model.safetensors");
    const std::string name = "layers.17.post_feedforward_layernorm.weight";
    const std::vector<float> stored = file.read<float>("model." + name);
    const std::vector<ParameterSpec>& specs = model.layout().parameters;
    const auto found = std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
    ASSERT_NE(found, specs.end());
    const float* const gains = model.at(static_cast<int>(found - specs.begin()));
    float largest = 0;
    for (std::size_t k = 0; k < stored.size(); ++k) {
        EXPECT_EQ(gains[k], stored[k] + 1);
        largest = std::max(largest, gains[k]);
    }
    EXPECT_EQ(largest, 1649);
}

}  // namespace
}  // namespace flyball::model::test
