// Norms on q, k and v: against numpy, and how they are written down. Reverse mode is in reverse_test.cpp.
#include <filesystem>

#include "core/error.hpp"
#include "model/attention_norm.hpp"
#include "model/native.hpp"
#include "model/save.hpp"
#include "scheme/row_machine.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

using scheme::AttentionNorm;

// As in attention_norm_numbers.py, which has printed the numbers below.
Architecture numbered_architecture(const AttentionNorm& norm) {
    Architecture a;
    a.equation = "x + dt*f(x)";
    a.dim = 4;
    a.heads = 2;
    a.kv_heads = 1;
    a.head_dim = 4;
    a.ffn_dim = 1;
    a.vocab = 3;
    a.positions = 3;
    a.rope.dims = 4;
    a.eps = 1e-5;
    a.attention_norm = norm;
    return a;
}

std::vector<double> attention_out(const AttentionNorm& norm) {
    Model<double> model(numbered_architecture(norm), native_names());
    const std::map<std::string, std::pair<double, double>> sines = {{"embed.tokens.weight", {0.7, 1}},
                                                                    {"blocks.0.attn.qkv.weight", {1.3, 2}},
                                                                    {"blocks.0.attn.out.weight", {0.9, 3}}};
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        double* const values = model.parameters()->at(static_cast<int>(i));
        const double slope = spec.name == "blocks.0.attn.query_norm.weight" ? 0.1 : -0.05;
        for (std::size_t k = 0; k < spec.elements(); ++k) {
            const auto place = static_cast<double>(k);
            if (const auto found = sines.find(spec.name); found != sines.end()) {
                values[k] = std::sin(found->second.first * place + found->second.second);
            } else if (spec.role == Role::gain || spec.role == Role::attention_gain) {
                EXPECT_EQ(values[k], 1) << spec.name;
                values[k] = 1 + slope * place;
            }
        }
    }
    std::vector<double> out;
    Taps<double> taps;
    taps.add("blocks.0.attn.out", [&out](const TapView<double>& view) { out.assign(view.data, view.data + 12); });
    const std::vector<std::int32_t> ids = {0, 1, 2};
    Pass<double> pass(model, ids.size());
    pass.forward(ids, taps);
    return out;
}

TEST(AttentionNorm, GivesTheNumbersOfAnIndependentCalculation) {
    // Qwen 3: each head, one gain for all heads.
    EXPECT_LT(distance(attention_out({.norm = "rmsnorm", .query = true, .key = true}),
                       std::vector<double>{0.728575489388, -0.167622674761, -0.932522438460, -0.966979827775,
                                           -0.414221128194, -1.008449411221, -0.812761921717, 0.019559844265,
                                           2.409379144514, 1.891319849341, -0.108205311419, -2.022973536223}),
              1e-11);
    // nGPT: unit length after rotary positions, a gain for each channel, scores times sqrt(head_dim).
    EXPECT_LT(distance(attention_out({.norm = "unit",
                                      .query = true,
                                      .key = true,
                                      .gains = AttentionNorm::Gains::channel,
                                      .after_positions = true,
                                      .scores_times_root = true}),
                       std::vector<double>{0.728575489388, -0.167622674761, -0.932522438460, -0.966979827775,
                                           -0.228176845837, -0.849237651631, -0.805092837603, -0.130320920522,
                                           2.334029523023, 1.843989115013, -0.090443118821, -1.954031495463}),
              1e-11);
    // OLMo 2: the whole projection.
    EXPECT_LT(distance(attention_out({.norm = "rmsnorm",
                                      .query = true,
                                      .key = true,
                                      .over = AttentionNorm::Over::projection,
                                      .gains = AttentionNorm::Gains::channel}),
                       std::vector<double>{0.728575489388, -0.167622674761, -0.932522438460, -0.966979827775,
                                           -0.215378700724, -0.850207575397, -0.819071091512, -0.146358375037,
                                           2.616754093592, 2.139726364714, -0.013343400165, -2.155961314776}),
              1e-11);
    // HybridNorm: values too.
    EXPECT_LT(distance(attention_out({.norm = "rmsnorm", .query = true, .key = true, .value = true}),
                       std::vector<double>{0.774175777036, -0.182761710591, -0.996542430805, -1.029734084943,
                                           -0.575431883032, -1.132884868424, -0.802952114807, 0.155930919325,
                                           2.852414849403, 2.256495428598, -0.106930928956, -2.386598570987}),
              1e-11);
}

// More rows than one thread takes: u = x/r with r = sqrt(mean x^2 + eps), y = gain*u,
//     grad_gain = sum over rows and heads of grad*u,    grad_x = (v - u mean(u v))/r with v = gain*grad
TEST(AttentionNorm, SumsTheGradientsOfItsGainsOverAllRows) {
    const Architecture a = numbered_architecture({.norm = "rmsnorm", .query = true, .value = true});
    Model<double> model(a, native_names());
    const std::array<int, 3> gains = model.layout().blocks[0].attention_gains;
    ASSERT_EQ(gains[1], absent) << "keys are not normed";
    for (std::size_t k = 0; k < 4; ++k) {
        model.parameters()->at(gains[0])[k] = 1 + 0.5 * static_cast<double>(k);
    }
    constexpr std::size_t rows = 9000;
    const std::size_t width = a.qkv_width();
    ASSERT_GT(scheme::row_slots(rows, width), 3U);
    const Random numbers(4);
    std::vector<double> x(rows * width);
    std::vector<double> grad(rows * width);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = numbers.normal(i);
        grad[i] = numbers.normal(x.size() + i);
    }
    std::vector<double> expected_x = grad;
    std::map<int, std::vector<double>> expected_gain = {{gains[0], std::vector<double>(4)},
                                                        {gains[2], std::vector<double>(4)}};
    for (std::size_t i = 0; i < rows; ++i) {
        for (const auto& [offset, gain] : {std::pair{std::size_t{0}, gains[0]}, {4, gains[0]}, {12, gains[2]}}) {
            const std::size_t at = i * width + offset;
            double squares = 0;
            double along = 0;
            for (std::size_t k = 0; k < 4; ++k) {
                squares += x[at + k] * x[at + k];
                along += x[at + k] * grad[at + k] * model.at(gain)[k];
            }
            const double r = std::sqrt(squares / 4 + a.eps);
            for (std::size_t k = 0; k < 4; ++k) {
                expected_gain[gain][k] += grad[at + k] * x[at + k] / r;
                expected_x[at + k] = (model.at(gain)[k] * grad[at + k] - x[at + k] * along / (4 * r * r)) / r;
            }
        }
    }
    std::vector<double> normed = x;
    std::vector<double> before;
    norm_attention(model, 0, NormPlacement::before_positions, rows, normed.data(), before);
    EXPECT_EQ(before, x);
    Parameters<double> gradients(model.layout());
    norm_attention_reverse(model, 0, NormPlacement::before_positions, rows, before, grad.data(), gradients);
    EXPECT_LT(distance(grad, expected_x), 1e-13);
    for (const auto& [gain, sums] : expected_gain) {
        const double* const got = gradients.at(gain);
        EXPECT_LT(distance(std::vector<double>(got, got + 4), sums), 1e-12);
    }
}

TEST(AttentionNorm, MakesScoresOfUnitVectorsAsLargeAsTheRootOfAHead) {
    Architecture a = numbered_architecture({});
    EXPECT_EQ(a.score_scale(0), 0.5);
    a.attention_norm = {.norm = "unit", .query = true, .key = true, .scores_times_root = true};
    EXPECT_EQ(a.score_scale(0), 2);
}

TEST(AttentionNorm, IsKeptByTheFilesOfOurOwnModels) {
    const auto folder = std::filesystem::temp_directory_path() / "flyball-attention-norm-test";
    for (const AttentionNorm& norm : {AttentionNorm{.norm = "rmsnorm", .query = true, .key = true, .value = true},
                                      AttentionNorm{.norm = "unit",
                                      .key = true,
                                      .gains = AttentionNorm::Gains::channel,
                                      .after_positions = true,
                                      .scores_times_root = true},
                                      AttentionNorm{.norm = "layernorm",
                                      .query = true,
                                      .over = AttentionNorm::Over::projection,
                                      .gains = AttentionNorm::Gains::none},
                                      AttentionNorm{}}) {
        std::filesystem::create_directories(folder);
        Architecture a = tiny_architecture("x + dt*f(x)");
        a.attention_norm = norm;
        const Model<float> model = tiny_model<float>(a, 3);
        save_model(model, folder);
        const Model<float> again = load_model(folder);
        EXPECT_EQ(again.architecture().attention_norm, norm);
        EXPECT_EQ(architecture_json(a).contains("attention_norm"), norm.any());
        ASSERT_EQ(again.layout().parameters.size(), model.layout().parameters.size());
        Pass<float> first(model, tiny_ids.size());
        Pass<float> second(again, tiny_ids.size());
        first.forward(tiny_ids);
        second.forward(tiny_ids);
        EXPECT_EQ(first.loss(next_tokens(tiny_ids)), second.loss(next_tokens(tiny_ids)));
        std::filesystem::remove_all(folder);
    }
}

TEST(AttentionNorm, RefusesWhatHasNoMeaning) {
    const auto refused = [](const AttentionNorm& norm) { check(numbered_architecture(norm), "the test"); };
    EXPECT_NO_THROW(refused({.norm = "layernorm", .value = true}));
    EXPECT_THROW(refused({.norm = "dyt", .query = true}), Error);
    EXPECT_THROW(refused({.norm = "rmsnrm", .query = true}), Error);
    EXPECT_THROW(refused({.norm = "rmsnorm", .query = true, .over = AttentionNorm::Over::projection}), Error);
    Json config = architecture_json(numbered_architecture({.norm = "rmsnorm", .query = true}));
    config["attention_norm"]["over"] = "heads";
    try {
        read_native(ConfigReader(config, "config.json"), {});
        ADD_FAILURE() << "read an unknown name";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("one of head, projection"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace flyball::model::test
