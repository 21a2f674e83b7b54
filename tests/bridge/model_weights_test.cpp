// Particles under the weights of a model beside the model's own forward pass, which torch has checked (tests/model).
#include "bridge/model_weights.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "core/random.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/run.hpp"
#include "model/builtin.hpp"
#include "model/convert.hpp"
#include "model/initialise.hpp"
#include "model/locate.hpp"
#include "model/pass.hpp"
#include "places.hpp"

namespace flyball::bridge {
namespace {

using dynamics::Problem;
using dynamics::Settings;
using dynamics::TrainedWeights;
using model::Architecture;
using model::Model;
using model::Role;
using Shared = std::shared_ptr<const Model<float>>;

std::filesystem::path golden(const std::string& name) {
    return std::filesystem::path(flyball::test::source_folder) / "tests" / "model" / "golden" / name;
}

// What is accepted, in every placement: of post-ln and pre-ln, before and behind the branch, in parallel; LayerNorm,
// RMSNorm and unit vectors; grouped keys, norms on queries and keys of a head or of all heads, a mask and none.
std::vector<std::string> accepted_models() {
    std::vector<std::string> names;
    for (const std::string& name : model::builtin_models()) {
        names.push_back("builtin:" + name);
    }
    for (const char* name : {"bert",
                             "bert-prefix-bf16",
                             "gemma2-uncapped-f16",
                             "gemma3",
                             "gpt-neox",
                             "gpt-neox-serial-f16",
                             "gpt2",
                             "gpt2-no-bias",
                             "gpt2-unscaled-f16",
                             "granite",
                             "llama-bias-tied",
                             "llama-dynamic",
                             "llama-gqa",
                             "llama-yarn",
                             "llama3-bf16",
                             "mistral-window-f16",
                             "ngpt",
                             "ngpt-gelu",
                             "gemma3-capped-bf16",
                             "olmo2",
                             "olmo3-yarn",
                             "qwen2",
                             "qwen3",
                             "qwen3-window-bf16"}) {
        names.push_back(golden(name).string());
    }
    names.push_back((golden("..") / "vit" / "vit").lexically_normal().string());
    return names;
}

struct Changes {
    bool keep_gains = false;   // of the norms of the equation
    bool exact_norms = false;  // eps = 0
    bool no_ffn = false;
};

// The model without what particles do not have: positions, biases, gains, feed-forward networks.
Shared stripped(const std::string& name, const Changes& changes) {
    const Model<float> loaded = model::load_model(model::locate(name));
    Architecture a = loaded.architecture();
    a.rope.dims = 0;
    a.window_rope.reset();
    if (changes.exact_norms) {
        a.eps = 0;
    }
    auto copy = std::make_shared<Model<float>>(model::converted(loaded, a, model::native_names()));
    const model::Layout& layout = copy->layout();
    for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
        const model::ParameterSpec& spec = layout.parameters[i];
        float* const values = copy->parameters()->at(static_cast<int>(i));
        if (spec.role == Role::bias || spec.role == Role::norm_bias) {
            std::fill_n(values, spec.elements(), 0.0F);
        } else if (spec.role == Role::learned || (spec.role == Role::gain && !changes.keep_gains)) {
            std::fill_n(values, spec.elements(), static_cast<float>(spec.start));
        }
    }
    for (const model::BlockLayout& block : layout.blocks) {
        if (changes.no_ffn) {
            std::fill_n(copy->parameters()->at(block.ffn_out.weight), block.ffn_out.in * block.ffn_out.out, 0.0F);
        }
    }
    return copy;
}

// How long its norms make a vector, typed from what the families are.
double unit_length(const Architecture& a) {
    return a.equation.find("unit(") != std::string::npos ? 1 : std::sqrt(static_cast<double>(a.dim));
}

bool has_mean(const Architecture& a) {
    return a.norm == "layernorm" && a.equation.find("unit(") == std::string::npos;
}

// Rows minus their means, for LayerNorm, and over a length.
std::vector<double> seen_by_particles(const Architecture& a, const std::vector<float>& rows) {
    std::vector<double> result(rows.begin(), rows.end());
    for (std::size_t j = 0; j < result.size() / a.dim; ++j) {
        double mean = 0;
        for (std::size_t c = 0; has_mean(a) && c < a.dim; ++c) {
            mean += result[j * a.dim + c] / static_cast<double>(a.dim);
        }
        for (std::size_t c = 0; c < a.dim; ++c) {
            result[j * a.dim + c] = (result[j * a.dim + c] - mean) / unit_length(a);
        }
    }
    return result;
}

struct Seen {
    std::vector<std::vector<float>> streams;  // [layers + 1]
    std::vector<std::vector<float>> in;       // of attention
    std::vector<std::vector<float>> out;
};

std::vector<float> random_stream(const Architecture& a, std::size_t tokens, double size) {
    std::vector<double> numbers(tokens * a.dim);
    Random(5, 1).fill_normal(numbers);
    std::vector<float> rows;
    for (const double number : numbers) {
        rows.push_back(static_cast<float>(size * number));
    }
    if (has_mean(a) || unit_length(a) == 1) {  // what those models have between blocks
        for (std::size_t j = 0; j < tokens; ++j) {
            double mean = 0;
            double squares = 0;
            for (std::size_t c = 0; c < a.dim; ++c) {
                mean += static_cast<double>(rows[j * a.dim + c]) / static_cast<double>(a.dim);
                squares += std::pow(static_cast<double>(rows[j * a.dim + c]), 2);
            }
            for (std::size_t c = 0; c < a.dim; ++c) {
                float& value = rows[j * a.dim + c];
                value = has_mean(a) ? value - static_cast<float>(mean) : value / static_cast<float>(std::sqrt(squares));
            }
        }
    }
    return rows;
}

Seen forward(const Shared& model, std::size_t tokens, const std::vector<float>& start) {
    const std::size_t layers = model->architecture().layers;
    Seen seen{{start}, std::vector<std::vector<float>>(layers), std::vector<std::vector<float>>(layers)};
    seen.streams.resize(layers + 1);
    model::Taps<float> taps;
    const auto keep = [](std::vector<float>& to, const model::TapView<float>& view) {
        for (std::size_t i = 0; i < view.rows; ++i) {
            to.insert(to.end(), view.row(i), view.row(i) + view.columns);
        }
    };
    taps.add("blocks.*.attn.in", [&](const auto& view) { keep(seen.in[view.layer], view); });
    taps.add("blocks.*.attn.out", [&](const auto& view) { keep(seen.out[view.layer], view); });
    taps.add("blocks.*.resid", [&](const auto& view) { keep(seen.streams[view.layer + 1], view); });
    model::Pass<float> pass(*model, tokens);
    pass.forward_rows(start, taps);
    return seen;
}

std::shared_ptr<const TrainedWeights> weights_of(const Shared& model, bool gains = false) {
    return std::make_shared<const TrainedWeights>(model_weights(model, "it", gains));
}

Settings settings_of(const std::shared_ptr<const TrainedWeights>& trained, std::size_t tokens) {
    Settings s;
    s.weights = dynamics::WeightKind::model;
    s.weight_file = trained->model;
    s.tokens = tokens;
    s.dim = 0;
    s.causal = trained->causal;
    dynamics::use_trained(trained, {}, s);
    return s;
}

std::size_t tokens_for(const TrainedWeights& trained) {
    return trained.window == 0 ? 7 : std::min<std::size_t>(7, trained.window);
}

// x after the layers of a problem that starts at `start`.
std::vector<double> end_of(Problem problem, std::vector<double> start) {
    problem.start = std::move(start);
    std::vector<double> end;
    dynamics::Watch watch;
    watch.sampled = [&](const dynamics::Sample&, const dynamics::Particles& particles) { end = particles.x(); };
    EXPECT_EQ(dynamics::run(std::move(problem), {}, watch).outcome, dynamics::Outcome::done);
    return end;
}

// max|got - expected| over max|expected|.
double distance_of(const std::vector<double>& got, const std::vector<double>& expected) {
    double worst = 0;
    double size = 0;
    EXPECT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
        worst = std::max(worst, std::fabs(got[i] - expected[i]));
        size = std::max(size, std::fabs(expected[i]));
    }
    return std::isnan(worst) || size == 0 ? INFINITY : worst / size;
}

// f of block `l` at the vectors z that attention is given.
std::vector<double> attention_at(const std::shared_ptr<const TrainedWeights>& trained, std::size_t tokens,
                                 std::size_t l, const char* equation, const std::vector<double>& z) {
    Settings s = settings_of(trained, tokens);
    s.layers = 1;
    s.dt = 1;
    Problem problem = dynamics::problem_of(s, scheme::Program::parse(equation));
    problem.attention.weights = [trained, l](std::size_t, std::size_t) { return trained->at(l); };
    std::vector<double> out = end_of(std::move(problem), z);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] -= z[i];
    }
    return out;
}

class EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryModel, HasTheModelsOwnAttentionInEachLayer) {
    const Shared model = stripped(GetParam(), {});
    const Architecture& a = model->architecture();
    const auto trained = weights_of(model);
    const std::size_t tokens = tokens_for(*trained);
    const Seen seen = forward(model, tokens, random_stream(a, tokens, 1));
    for (std::size_t l = 0; l < a.layers; ++l) {
        const std::vector<double> got =
            attention_at(trained, tokens, l, "x + dt*f(x)", seen_by_particles(a, seen.in[l]));
        EXPECT_LT(distance_of(got, seen_by_particles(a, seen.out[l])), 1e-5) << "block " << l;
    }
}

// Attention alone, through all layers: particles are the model.
TEST_P(EveryModel, RunsAsTheModelDoesWithoutItsOtherParts) {
    const Shared model = stripped(GetParam(), {.exact_norms = true, .no_ffn = true});
    const Architecture& a = model->architecture();
    const auto trained = weights_of(model);
    const std::size_t tokens = tokens_for(*trained);
    const std::vector<float> start = random_stream(a, tokens, 1);
    const Seen seen = forward(model, tokens, start);
    const Problem problem = dynamics::problem_of(settings_of(trained, tokens), scheme::Program::parse(a.equation));
    const std::vector<double> got = end_of(problem, seen_by_particles(a, start));
    EXPECT_LT(distance_of(got, seen_by_particles(a, seen.streams.back())), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Accepted, EveryModel, testing::ValuesIn(accepted_models()), [](const auto& row) {
    std::string name = std::filesystem::path(row.param).filename().string();
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
});

// Published models, where their folder is known.
TEST(ModelWeights, HaveTheAttentionOfPublishedModels) {
    const char* const folder = std::getenv("FLYBALL_TEST_MODELS");
    if (folder == nullptr) {
        GTEST_SKIP() << "FLYBALL_TEST_MODELS is not set";
    }
    for (const char* name : {"smollm2-135m", "gemma3-270m", "minilm-l6"}) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (!std::filesystem::exists(path)) {
            continue;
        }
        const Shared model = stripped(path.string(), {});
        const Architecture& a = model->architecture();
        const auto trained = weights_of(model);
        const Seen seen = forward(model, 7, random_stream(a, 7, 1));
        for (const std::size_t l : {std::size_t{0}, a.layers / 2, a.layers - 1}) {
            const std::vector<double> got =
                attention_at(trained, 7, l, "x + dt*f(x)", seen_by_particles(a, seen.in[l]));
            EXPECT_LT(distance_of(got, seen_by_particles(a, seen.out[l])), 1e-5) << name << ", block " << l;
        }
    }
}

// From the stream: the norm in front of attention with its gains is the unit norm of particles and gains in the
// matrices.
TEST(ModelWeights, TakeTheGainsOfTheNormInFrontOfAttention) {
    for (const std::string& name :
         {std::string("builtin:pre-ln"), std::string("builtin:peri-ln"), std::string("builtin:pre-ln-qk"),
          golden("llama-gqa").string(), golden("gemma3").string(), golden("gpt-neox").string()}) {
        const Shared model = stripped(name, {.keep_gains = true});
        const Architecture& a = model->architecture();
        const auto trained = weights_of(model, true);
        const std::size_t tokens = tokens_for(*trained);
        const Seen seen = forward(model, tokens, random_stream(a, tokens, 100));  // so long that eps does not count
        for (std::size_t l = 0; l < a.layers; ++l) {
            const std::vector<double> z = seen_by_particles(a, seen.streams[l]);
            const std::vector<double> expected = seen_by_particles(a, seen.out[l]);
            EXPECT_LT(distance_of(attention_at(trained, tokens, l, "x + dt*f(norm(x))", z), expected), 1e-5)
                << name << ", block " << l;
            EXPECT_GT(distance_of(attention_at(weights_of(model), tokens, l, "x + dt*f(norm(x))", z), expected), 1e-3)
                << name << " has no gains to speak of";
        }
    }
}

// LayerNorm takes the mean of the channels off before attention: f(z + c) = f(z) for a number c in all channels, and f
// has no mean. RMSNorm takes nothing off.
TEST(ModelWeights, OfALayerNormNeitherSeeNorMakeAMean) {
    for (const auto& [name, centred] : {std::pair{std::string("builtin:pre-ln"), true},
                                        {golden("gpt-neox").string(), true},
                                        {golden("llama-gqa").string(), false}}) {
        const auto trained = read_model_weights(name, false);
        std::vector<double> z(5 * trained->dim);
        Random(5, 2).fill_normal(z);
        std::vector<double> moved = z;
        for (double& channel : moved) {
            channel += 0.5;
        }
        const std::vector<double> f = attention_at(trained, 5, 0, "x + dt*f(x)", z);
        const double seen = distance_of(attention_at(trained, 5, 0, "x + dt*f(x)", moved), f);
        double made = 0;
        for (std::size_t c = 0; c < trained->dim; ++c) {
            made += f[c];  // of the first token
        }
        EXPECT_EQ(trained->centred, centred) << name;
        EXPECT_EQ(seen < 1e-9, centred) << name << " " << seen;
        EXPECT_EQ(std::fabs(made) < 1e-9, centred) << name << " " << made;
    }
}

Shared made(const std::function<void(Architecture&)>& change) {
    Architecture a;
    a.layers = 2;
    a.dim = 8;
    a.heads = a.kv_heads = 2;
    a.head_dim = 4;
    a.ffn_dim = 8;
    a.vocab = 5;
    a.positions = 9;
    change(a);
    return std::make_shared<const Model<float>>(a, model::native_names());
}

// No published family norms its values: a model made for it, of RMSNorm, where a normed vector of 8 channels is sqrt 8 long.
TEST(ModelWeights, OfNormedValuesAreAsStrongAsTheModels) {
    Architecture a;
    a.equation = "x + dt*f(norm(x)) | norm(x)";
    a.norm = "rmsnorm";
    a.layers = 2;
    a.dim = a.ffn_dim = 8;
    a.heads = a.kv_heads = 2;
    a.head_dim = 4;
    a.vocab = 5;
    a.positions = 9;
    a.attention_norm = {.norm = "rmsnorm", .query = true, .key = true, .value = true};
    const auto model = std::make_shared<Model<float>>(
        model::initialised<float>(a, {.initialisation = {.draw = {.deviation = "0.5"}}}, 4));
    // Gains of their own for queries, keys and values.
    for (const model::BlockLayout& block : model->layout().blocks) {
        for (std::size_t part = 0; part < 3; ++part) {
            ASSERT_NE(block.attention_gains[part], model::absent);
            float* const gains = model->parameters()->at(block.attention_gains[part]);
            for (std::size_t c = 0; c < a.head_dim; ++c) {
                gains[c] = 0.5F + 0.25F * static_cast<float>(part) + 0.125F * static_cast<float>(c);
            }
        }
    }
    const auto trained = weights_of(model);
    const Seen seen = forward(model, 7, random_stream(a, 7, 1));
    for (std::size_t l = 0; l < a.layers; ++l) {
        const std::vector<double> got = attention_at(trained, 7, l, "x + dt*f(x)", seen_by_particles(a, seen.in[l]));
        EXPECT_LT(distance_of(got, seen_by_particles(a, seen.out[l])), 1e-5) << "block " << l;
    }
}

// Every kind has its own way with beta: the weights of unnormalized attention are exp(score - beta)/n, and the beta of
// a model is the scale of its scores, which here differs by block.
TEST(ModelWeights, OfEveryKindOfAttentionAreAsStrongAsTheModels) {
    for (const std::string& kind : attention::kind_names()) {
        for (const bool normed : {false, true}) {
            Architecture a;
            a.equation = "x + dt*f(norm(x)) | norm(x)";
            a.norm = "rmsnorm";
            a.layers = 3;
            a.dim = a.ffn_dim = 8;
            a.heads = a.kv_heads = 2;
            a.head_dim = 4;
            a.vocab = 5;
            a.positions = 9;
            a.scale_by_layer = true;
            a.attention_kind = attention::kind_from_name(kind);
            a.attention_norm = {.norm = "rmsnorm", .query = normed, .key = normed};
            const Shared model = std::make_shared<const Model<float>>(
                model::initialised<float>(a, {.initialisation = {.draw = {.deviation = "0.5"}}}, 4));
            const auto trained = weights_of(model);
            const Seen seen = forward(model, 7, random_stream(a, 7, 1));
            for (std::size_t l = 0; l < a.layers; ++l) {
                const std::vector<double> got =
                    attention_at(trained, 7, l, "x + dt*f(x)", seen_by_particles(a, seen.in[l]));
                EXPECT_LT(distance_of(got, seen_by_particles(a, seen.out[l])), 1e-5)
                    << kind << " in block " << l << (normed ? ", normed" : "");
            }
            const bool said = std::any_of(trained->notes.begin(), trained->notes.end(), [](const std::string& note) {
                return note.find("exp(beta - scale)") != std::string::npos;
            });
            EXPECT_EQ(said, kind == "unnormalized");
        }
    }
}

// beta = d/sqrt(d_head) for unit directions; where queries and keys are normed their own scale.
TEST(ModelWeights, HaveTheTemperatureOfUnitDirections) {
    const auto pre = read_model_weights("builtin:pre-ln", false);
    EXPECT_NEAR(pre->beta, 48 / std::sqrt(8.0), 1e-12);
    EXPECT_EQ(pre->dim, 48U);
    EXPECT_EQ(pre->heads, 6U);
    EXPECT_EQ(pre->blocks, 12U);
    EXPECT_TRUE(pre->causal && pre->centred);
    EXPECT_NEAR(read_model_weights("builtin:pre-ln-qk", false)->beta, 1 / std::sqrt(8.0), 1e-12);
    const auto ngpt = read_model_weights("builtin:ngpt", false);
    EXPECT_NEAR(ngpt->beta, std::sqrt(8.0), 1e-12);
    EXPECT_FALSE(ngpt->centred);
    const Shared unit = made([](Architecture& a) { a.equation = "unit(x + dt*(unit(f(x)) - x))"; });
    EXPECT_NEAR(model_weights(unit, "it", false).beta, 1 / std::sqrt(4.0), 1e-12);
    // Queries alone normed leave one side of length s: beta = s/sqrt(4), s that of normed rows of 8 channels.
    const auto queries = made([](Architecture& a) {
        a.attention_norm.norm = "rmsnorm";
        a.attention_norm.query = true;
    });
    EXPECT_NEAR(model_weights(queries, "it", false).beta, std::sqrt(8.0) / std::sqrt(4.0), 1e-12);
    EXPECT_EQ(model_weights(made([](Architecture& a) { a.windows = {5, 3}; }), "it", false).window, 3U);
    EXPECT_EQ(model_weights(made([](Architecture& a) { a.windows = {0, 4}; }), "it", false).window, 4U);
    EXPECT_FALSE(read_model_weights(golden("bert").string(), false)->causal);
    const auto granite = read_model_weights(golden("granite").string(), false);
    EXPECT_NE(granite->dt, 1);
    EXPECT_EQ(settings_of(granite, 4).step(), granite->dt);
}

TEST(ModelWeights, SayWhatTheyLeaveOut) {
    const auto notes_of = [](const std::string& name, bool gains) {
        Settings s = settings_of(read_model_weights(name, gains), 4);
        s.causal = false;
        s.layers = 100;
        s.beta = 2;
        std::string all;
        for (const std::string& note : dynamics::trained_notes(s)) {
            all += note + " ";
        }
        return all;
    };
    const std::string pre = notes_of("builtin:pre-ln", false);
    for (const char* part : {"Learned positions are dropped.", "Biases are dropped.", "The gains of norms are dropped.",
                             "The feed-forward network is dropped.", "add up to 0", "causal mask, this run has none",
                             "beta is 2, that of the model is 16.97", "After its 12 blocks"}) {
        EXPECT_NE(pre.find(part), std::string::npos) << part << "\n" << pre;
    }
    const std::string llama = notes_of(golden("llama-gqa").string(), true);
    EXPECT_NE(llama.find("Rotary positions are dropped."), std::string::npos) << llama;
    EXPECT_NE(llama.find("in front of attention are taken"), std::string::npos) << llama;
    EXPECT_EQ(llama.find("Biases"), std::string::npos) << llama;
    EXPECT_EQ(llama.find("add up to 0"), std::string::npos) << llama;
    EXPECT_EQ(llama.find("learned numbers"), std::string::npos) << llama;
    const auto learns = [](const char* equation) {
        const auto weights = model_weights(made([&](Architecture& a) { a.equation = equation; }), "it", false);
        return std::any_of(weights.notes.begin(), weights.notes.end(), [](const std::string& note) {
            return note.starts_with("The learned numbers of its equation are dropped");
        });
    };
    EXPECT_TRUE(learns("x + dt*a*f(norm(x)) | norm(x) where ~a = 0.1"));
    EXPECT_FALSE(learns("x + dt*a*f(norm(x)) | norm(x) where a = 0.1"));
    // Biases of queries, keys and values alone.
    const std::string qwen = notes_of(golden("qwen2").string(), false);
    EXPECT_NE(qwen.find("Biases are dropped."), std::string::npos) << qwen;
    // Biases of norms alone, and none at all.
    for (const bool biased : {true, false}) {
        const auto weights = model_weights(made([biased](Architecture& a) {
                                               a.qkv_bias = a.output_bias = false;
                                               a.norm_bias = biased;
                                           }),
                                           "it", false);
        const bool said = std::count(weights.notes.begin(), weights.notes.end(), "Biases are dropped.") == 1;
        EXPECT_EQ(said, biased);
    }
}

std::string refusal_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(exit_code(error.kind()), ExitCode::bad_input);
        return error.what();
    }
    return "";
}

TEST(ModelWeights, AreRefusedWhereAttentionIsNotThis) {
    const auto refused = [](const std::function<void(Architecture&)>& change, bool gains = false) {
        return refusal_of([&] { model_weights(made(change), "it", gains); });
    };
    EXPECT_EQ(refused([](Architecture&) {}), "");
    EXPECT_NE(refused([](Architecture& a) { a.score_cap = 50; }).find("capped at 50"), std::string::npos);
    EXPECT_EQ(refused([](Architecture& a) { a.attention_kind = attention::Kind::unnormalized; }), "");
    EXPECT_NE(refused([](Architecture& a) {
                  a.attention_kind = attention::Kind::unnormalized;
                  a.score_factor = 50;  // of unit directions 8 times that: 400 of them, 350 of which are lost
              }).find("beta of 400"),
              std::string::npos);
    EXPECT_NE(refused([](Architecture& a) { a.norm = "dyt"; }).find("bends each channel"), std::string::npos);
    EXPECT_NE(refused([](Architecture& a) { a.equation = "x + dt*f(tanh(x))"; }).find("bends each channel"),
              std::string::npos);
    EXPECT_NE(refused([](Architecture& a) { a.equation = "x + dt*f(x)"; }).find("no norm"), std::string::npos);
    EXPECT_NE(refused([](Architecture& a) { a.equation = "x + dt*unit(f(norm(x)))"; }).find("different lengths"),
              std::string::npos);
    // LayerNorm and RMSNorm give vectors of one length, and only the one takes the mean away.
    for (const char* const norm : {"layernorm", "rmsnorm"}) {
        for (const char* const other : {"ln", "rms"}) {
            const bool alike = (std::string(norm) == "layernorm") == (std::string(other) == "ln");
            for (const std::string& equation :
                 {fmt::format("x + dt*{}(f(norm(x)))", other), fmt::format("x + dt*norm(f({}(x)))", other)}) {
                const std::string said = refused([&](Architecture& a) {
                    a.norm = norm;
                    a.equation = equation;
                });
                EXPECT_EQ(said == "", alike) << norm << " " << equation << ": " << said;
            }
        }
    }
    EXPECT_NE(refused([](Architecture& a) {
                  a.attention_norm.norm = "layernorm";
                  a.attention_norm.query = true;
              }).find("LayerNorm"),
              std::string::npos);
    EXPECT_NE(refused([](Architecture& a) { a.equation = "norm(x + dt*f(x))"; }, true).find("block 0 does not have"),
              std::string::npos);
    // A multiple of a norm has its gains in front of attention; a sum has not, whichever of its terms comes first.
    EXPECT_EQ(refused([](Architecture& a) { a.equation = "x + dt*f(norm(x)/2)"; }, true), "");
    for (const char* const sum : {"norm(x) + x", "x + norm(x)", "norm(x) + norm(norm(x))"}) {
        const std::string said =
            refused([sum](Architecture& a) { a.equation = fmt::format("x + dt*f({})", sum); }, true);
        EXPECT_NE(said.find("block 0 does not have"), std::string::npos) << sum << ": " << said;
    }
    // A norm that has no gains.
    EXPECT_EQ(refused([](Architecture& a) { a.equation = "x + dt*unit(f(unit(x)))"; }), "");
    EXPECT_NE(
        refused([](Architecture& a) { a.equation = "x + dt*unit(f(unit(x)))"; }, true).find("block 0 does not have"),
        std::string::npos);
    EXPECT_NE(refused([](Architecture& a) { a.norm = "unit"; }, true).find("block 0 does not have"), std::string::npos);
    EXPECT_NE(refusal_of([] { read_model_weights(golden("gemma2").string(), false); }).find("capped"),
              std::string::npos);
}

TEST(ModelWeights, AreRefusedForRunsThatDoNotFit) {
    const auto trained = read_model_weights(golden("mistral-window-f16").string(), false);
    ASSERT_GT(trained->window, 0U);
    const auto refused = [&](const std::function<void(Settings&)>& change) {
        Settings s = settings_of(trained, 2);
        change(s);
        return refusal_of([&] { dynamics::check(s); });
    };
    EXPECT_EQ(refused([](Settings&) {}), "");
    EXPECT_EQ(refused([&](Settings& s) { s.tokens = trained->window; }), "");
    EXPECT_NE(refused([&](Settings& s) { s.tokens = trained->window + 1; }).find("no more tokens"), std::string::npos);
    EXPECT_NE(refused([](Settings& s) { s.dim = 5; }).find("channels that the model has"), std::string::npos);
    EXPECT_NE(refused([](Settings& s) { s.heads = 3; }).find("heads that the model has"), std::string::npos);
    EXPECT_NE(refused([](Settings& s) { s.fresh = true; }).find("fresh"), std::string::npos);
    EXPECT_NE(refused([](Settings& s) { s.trained = nullptr; }).find("nobody has read"), std::string::npos);
    Settings s = settings_of(read_model_weights("builtin:pre-ln", false), 48);
    s.start = dynamics::StartKind::symmetric;
    EXPECT_NE(refusal_of([&] { dynamics::check(s); }).find("at most 47 tokens"), std::string::npos);
    s.tokens = 47;
    EXPECT_EQ(refusal_of([&] { dynamics::check(s); }), "");
}

// A run is bound to the numbers, not to the name of the folder that they are in.
TEST(ModelWeights, AreInTheIdentityOfARun) {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "flyball-bridge-identity";
    std::filesystem::remove_all(folder);
    std::filesystem::copy(model::locate("builtin:pre-ln"), folder);
    const scheme::Program program = scheme::Program::parse("norm(x + dt*f(x))");
    const auto identity = [&] {
        return dynamics::identity_of(settings_of(read_model_weights(folder.string(), false), 4), program);
    };
    const record::Identity before = identity();
    EXPECT_EQ(identity(), before);
    std::fstream file(folder / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x11');
    file.close();
    EXPECT_NE(identity(), before);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace flyball::bridge
