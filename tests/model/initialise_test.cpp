// Initialisation: the matrices that are drawn have the deviations and lengths that each scheme's source prescribes.
#include "model/initialise.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/parallel.hpp"
#include "scheme/own_equation.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

Architecture medium(std::string_view scheme_name, bool gated = false) {
    Architecture a;
    a.layers = 4;
    a.dim = 64;
    a.heads = 4;
    a.kv_heads = 2;
    a.head_dim = 16;
    a.ffn_dim = 192;
    a.vocab = 300;
    a.positions = 80;
    a.learned_positions = true;
    a.tied = false;
    a.gated = gated;
    return wired(a, scheme::find_scheme(scheme_name));
}

// Rows [first, first + count) of a matrix that is stored [out, in].
std::vector<double> outputs(const Model<double>& model, int parameter, std::size_t first, std::size_t count) {
    const ParameterSpec& spec = model.layout().parameters[static_cast<std::size_t>(parameter)];
    const double* const from = model.at(parameter) + first * spec.shape[1];
    return {from, from + count * spec.shape[1]};
}

double deviation(const std::vector<double>& values) {
    double sum = 0;
    double squares = 0;
    for (const double value : values) {
        sum += value;
        squares += value * value;
    }
    const auto count = static_cast<double>(values.size());
    EXPECT_LT(std::fabs(sum / count), 5 * std::sqrt(squares / count / count)) << "the mean is 0";
    return std::sqrt(squares / count);
}

// Measured deviations of the last block and of the tables. The smallest has 2,048 numbers: 5 deviations are 8 %.
struct Measured {
    double embedding, query, key, value, output, ffn_in, ffn_out, head;
};
Measured measure(std::string_view scheme_name, bool gated = false) {
    const Architecture a = medium(scheme_name, gated);
    const auto model = initialised<double>(a, recipe_of(scheme::find_scheme(scheme_name)), 11);
    const Layout& layout = model.layout();
    const BlockLayout& block = layout.blocks.back();
    const int qkv = block.qkv[0].weight;
    return {deviation(outputs(model, layout.tokens, 0, 300)),
            deviation(outputs(model, qkv, 0, 64)),
            deviation(outputs(model, qkv, 64, 32)),
            deviation(outputs(model, qkv, 96, 32)),
            deviation(outputs(model, block.output.weight, 0, 64)),
            deviation(outputs(model, block.ffn_in[0].weight, gated ? 192 : 0, 192)),
            deviation(outputs(model, block.ffn_out.weight, 0, 64)),
            deviation(outputs(model, layout.head, 0, 300))};
}

void expect(const char* scheme_name, const Measured& expected, bool gated = false) {
    const Measured got = measure(scheme_name, gated);
    for (const auto& [what, member] : {std::pair{"embedding", &Measured::embedding},
                                       {"query", &Measured::query},
                                       {"key", &Measured::key},
                                       {"value", &Measured::value},
                                       {"output", &Measured::output},
                                       {"ffn_in", &Measured::ffn_in},
                                       {"ffn_out", &Measured::ffn_out},
                                       {"head", &Measured::head}}) {
        EXPECT_NEAR(got.*member / (expected.*member), 1, 0.08) << scheme_name << " " << what;
    }
}

TEST(Initialise, DrawsEveryMatrixWithTheDeviationOfItsScheme) {
    // d = 64, L = 4, FFN 192, queries 64, keys and values 32: by hand from the papers' formulas.
    const double small = 0.02;
    const double residual = 0.02 / std::sqrt(8.0);
    expect("pre-ln", {small, small, small, small, residual, small, residual, small});
    expect("ln-scaling", {small, small, small, small, small, small, small, small});
    const double table = 1 / 8.0;                      // 1/sqrt(d)
    const double square = std::sqrt(2.0 / (64 + 64));  // Xavier
    const double narrow = std::sqrt(2.0 / (64 + 32));
    const double wide = std::sqrt(2.0 / (64 + 192));
    expect("post-ln", {table, square, narrow, narrow, square, wide, wide, table});
    const double beta = std::pow(8 * 4, -0.25);
    expect("deepnorm", {table, square, narrow, beta * narrow, beta * square, beta * wide, beta * wide, table});
    expect("b2t", {table, square / 2, narrow / 2, narrow / 2, square / 2, wide / 2, wide / 2, table});
    const double megatron = std::sqrt(2.0 / (5 * 64));
    const double scaled = megatron / std::sqrt(8.0);
    expect("hybridnorm", {megatron, megatron, megatron, megatron, scaled, megatron, scaled, megatron});
    expect("gpas", {std::sqrt(0.4), small, small, small, small, small, small, small});
    expect("dyt", {0.16, small, small, small, small, small, small, small});  // 0.02 sqrt(64)
    // The halves of a gated FFN are matrices of their own.
    expect("deepnorm", {table, square, narrow, beta * narrow, beta * square, beta * wide, beta * wide, table}, true);
}

TEST(Initialise, GivesEveryNumberOfItsOwnAndTheSameForTheSameSeed) {
    const scheme::Recipe recipe;
    const auto first = initialised<float>(medium("pre-ln"), recipe, 5);
    const auto again = initialised<float>(medium("pre-ln"), recipe, 5);
    const auto other = initialised<float>(medium("pre-ln"), recipe, 6);
    const Layout& layout = first.layout();
    const int a = layout.blocks[0].output.weight;
    const int b = layout.blocks[1].output.weight;
    std::size_t same_seed = 0;
    std::size_t same_block = 0;
    for (std::size_t k = 0; k < 64 * 64; ++k) {
        ASSERT_EQ(first.at(a)[k], again.at(a)[k]);
        same_seed += first.at(a)[k] == other.at(a)[k] ? 1 : 0;
        same_block += first.at(a)[k] == first.at(b)[k] ? 1 : 0;
    }
    EXPECT_LT(same_seed, 5U);
    EXPECT_LT(same_block, 5U);
    // The first numbers of the first table: what seeds of saved runs rely on.
    const Random stream(5, static_cast<std::uint64_t>(layout.tokens));
    EXPECT_FLOAT_EQ(first.at(layout.tokens)[7], static_cast<float>(0.02 * stream.normal(7)));
}

// A matrix of many numbers is drawn in pieces, and no number comes twice: two of 10^5 doubles agree by chance in one of
// a million models. Number k is number k of the stream, which is what seeds of saved runs rely on.
TEST(Initialise, DrawsLargeMatricesWithoutRepeats) {
    Architecture large = medium("pre-ln");
    large.vocab = 1100;  // 70,400 numbers
    const auto model = initialised<double>(large, scheme::Recipe{}, 5);
    const Layout& layout = model.layout();
    const Random stream(5, static_cast<std::uint64_t>(layout.tokens));
    std::vector<double> all;
    for (std::size_t k = 0; k < 1100 * 64; ++k) {
        ASSERT_NEAR(model.at(layout.tokens)[k], 0.02 * stream.normal(k), 1e-16) << k;
        all.push_back(model.at(layout.tokens)[k]);
    }
    for (const int matrix : {layout.head, layout.positions, layout.blocks[0].ffn_out.weight}) {
        const std::size_t count = layout.parameters[static_cast<std::size_t>(matrix)].elements();
        ASSERT_GT(count, 4096U);
        all.insert(all.end(), model.at(matrix), model.at(matrix) + count);
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

// Block l of L is at the depth l/L, counted from 1, for a recipe as for an equation.
TEST(Initialise, RecipesMayDependOnTheBlock) {
    const scheme::Recipe recipe = {
        .initialisation = {.draw = {.deviation = "0.5"}, .gains = {{{scheme::Matrix::output}, "depth"}}}};
    const auto model = initialised<double>(medium("pre-ln"), recipe, 5);
    for (std::size_t l = 0; l < 4; ++l) {
        const std::vector<double> drawn = outputs(model, model.layout().blocks[l].output.weight, 0, 64);
        EXPECT_NEAR(deviation(drawn) / (0.5 * static_cast<double>(l + 1) / 4), 1, 0.08) << l;
    }
}

double length(const double* from, std::size_t count, std::size_t stride) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
        sum += from[k * stride] * from[k * stride];
    }
    return std::sqrt(sum);
}

TEST(Initialise, NgptHasUnitVectorsAlongTheEmbeddingAxisAndKeepsThem) {
    auto model = initialised<double>(medium("ngpt"), recipe_of(scheme::find_scheme("ngpt")), 3);
    const Layout& layout = model.layout();
    const BlockLayout& block = layout.blocks[2];
    const auto expect_unit = [&](const char* when) {
        for (std::size_t i = 0; i < 300; ++i) {
            EXPECT_NEAR(length(model.at(layout.tokens) + i * 64, 64, 1), 1, 1e-14) << when;
            EXPECT_NEAR(length(model.at(layout.head) + i * 64, 64, 1), 1, 1e-14) << when;
        }
        for (std::size_t i = 0; i < 128; ++i) {  // rows of readers
            EXPECT_NEAR(length(model.at(block.qkv[0].weight) + i * 64, 64, 1), 1, 1e-14) << when;
            EXPECT_NEAR(length(model.at(block.ffn_in[0].weight) + i * 64, 64, 1), 1, 1e-14) << when;
        }
        for (std::size_t k = 0; k < 64; ++k) {  // columns of writers
            EXPECT_NEAR(length(model.at(block.output.weight) + k, 64, 64), 1, 1e-14) << when;
        }
        for (std::size_t k = 0; k < 192; ++k) {
            EXPECT_NEAR(length(model.at(block.ffn_out.weight) + k, 64, 192), 1, 1e-14) << when;
        }
    };
    expect_unit("at the start");
    for (double& number : model.parameters()->all()) {
        number *= 1.7;
    }
    const double before = model.at(block.output.weight)[5] / model.at(block.output.weight)[5 + 64];
    const double position = model.at(layout.positions)[3];
    scale_to_unit(layout, scheme::UnitVectors::all, *model.parameters());
    expect_unit("after a step");
    EXPECT_DOUBLE_EQ(model.at(block.output.weight)[5] / model.at(block.output.weight)[5 + 64], before);
    EXPECT_EQ(model.at(layout.positions)[3], position) << "only word vectors are embeddings of unit length";
}

TEST(Initialise, FixNormScalesWordVectorsAlone) {
    const auto model = initialised<double>(medium("scalenorm"), recipe_of(scheme::find_scheme("scalenorm")), 3);
    const Layout& layout = model.layout();
    EXPECT_NEAR(length(model.at(layout.tokens) + 64, 64, 1), 1, 1e-14);
    EXPECT_NEAR(length(model.at(layout.blocks[0].output.weight), 64, 1), 0.16, 0.08);
    EXPECT_NEAR(length(model.at(layout.head), 64, 1), 0.16, 0.08);
}

TEST(Initialise, WorksOnMatricesStoredTheOtherWayRound) {
    const auto found =
        std::find_if(families().begin(), families().end(), [](const Family& f) { return f.names.in_out; });
    ASSERT_NE(found, families().end());
    Model<double> model(medium("pre-ln"), found->names);
    for (std::size_t k = 0; k < model.parameters()->all().size(); ++k) {
        model.parameters()->all()[k] = 1 + static_cast<double>(k % 7);
    }
    scale_to_unit(model.layout(), scheme::UnitVectors::all, *model.parameters());
    const BlockLayout& block = model.layout().blocks[0];
    EXPECT_NEAR(length(model.at(block.qkv[0].weight) + 9, 64, 128), 1, 1e-14);
    EXPECT_NEAR(length(model.at(block.ffn_out.weight) + 64, 64, 1), 1, 1e-14);
}

TEST(Initialise, LeavesZeroVectorsAndOtherParametersAlone) {
    Model<double> model(medium("ngpt"), native_names());
    scale_to_unit(model.layout(), scheme::UnitVectors::all, *model.parameters());
    EXPECT_EQ(model.at(model.layout().tokens)[0], 0);
    EXPECT_EQ(model.at(model.layout().blocks[0].attention_gains[0])[0], 1);
    EXPECT_EQ(model.at(model.layout().blocks[0].learned[0])[0], 0.05) << "nGPT is trained with alpha = 0.05";
}

TEST(Initialise, EveryLearnedNumberStartsWhereItsEquationSays) {
    const Architecture a =
        tiny_architecture("alpha*x + beta*f(norm(x)) | norm(x)*gamma where ~alpha = 0.25, ~beta[d] = 0.75, ~gamma = 3");
    const auto model = initialised<double>(a, {}, 3);
    std::map<std::string, double> starts = {{"alpha", 0.25}, {"beta", 0.75}, {"gamma", 3}};
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        const std::string name = spec.name.substr(spec.name.rfind('.') + 1);
        for (std::size_t k = 0; spec.role == Role::learned && k < spec.elements(); ++k) {
            EXPECT_EQ(model.at(static_cast<int>(i))[k], starts.at(name)) << spec.name;
            ++seen[name];
        }
    }
    EXPECT_EQ(seen, (std::map<std::string, std::size_t>{{"alpha", 8}, {"beta", 64}, {"gamma", 1}}))
        << "two sub-layers of 4 blocks";
}

TEST(Initialise, WiringFollowsTheRecipe) {
    EXPECT_EQ(medium("ngpt").equation, "unit(x + dt*alpha*(unit(f(x)) - x)) where ~alpha[d] = 0.05");
    EXPECT_EQ(medium("ngpt").attention_norm.norm, "unit");
    EXPECT_EQ(medium("ngpt:alpha=0.3").equation, "unit(x + dt*alpha*(unit(f(x)) - x)) where alpha = 0.3")
        << "what the user sets stays";
    EXPECT_EQ(medium("ngpt").ffn_scale, 8) << "sqrt(64)";
    EXPECT_TRUE(medium("ngpt").ffn_gains && medium("ngpt").logit_gains);
    EXPECT_EQ(medium("pre-ln").ffn_scale, 1);
    EXPECT_FALSE(medium("pre-ln").ffn_gains || medium("pre-ln").logit_gains);
    EXPECT_TRUE(medium("hybridnorm").attention_norm.value);
    EXPECT_FALSE(medium("output-ln").attention_norm.any()) << "OLMo 2 has it, the scheme does not ask for it";
    const Architecture own = wired(Architecture{}, scheme::scheme_of_equation("x + f(x)"));
    EXPECT_EQ(own.equation, "x + f(x)");
    EXPECT_FALSE(own.attention_norm.any());
}

TEST(Initialise, WhatASchemeGaveAModelGoesWithIt) {
    const Architecture plain = unwired(medium("ngpt"));
    EXPECT_FALSE(plain.attention_norm.any());
    EXPECT_EQ(plain.ffn_scale, 1);
    EXPECT_FALSE(plain.ffn_gains || plain.logit_gains);
    EXPECT_EQ(plain.equation, medium("ngpt").equation);
    EXPECT_FALSE(unwired(medium("hybridnorm")).attention_norm.any());
    // A norm on queries and keys that the user asked for is no part of Pre-LN.
    Architecture asked = medium("pre-ln");
    asked.attention_norm.norm = "rmsnorm";
    asked.attention_norm.query = asked.attention_norm.key = true;
    EXPECT_TRUE(unwired(asked).attention_norm.any());
    // Nor is one that replaced nGPT's own, or anything of an equation that no scheme has.
    asked.equation = medium("ngpt").equation;
    EXPECT_TRUE(unwired(asked).attention_norm.any());
    // Nor is a scale of the FFN beside gains that the user chose, or the other way round.
    Architecture scaled = medium("ngpt");
    scaled.ffn_scale = 3;
    EXPECT_EQ(unwired(scaled).ffn_scale, 3);
    EXPECT_TRUE(unwired(scaled).ffn_gains);
    Architecture no_gains = medium("ngpt");
    no_gains.ffn_gains = false;
    EXPECT_EQ(unwired(no_gains).ffn_scale, 8);
    Architecture own = medium("ngpt");
    own.equation = "unit(x + f(x))";
    EXPECT_TRUE(unwired(own).attention_norm.any() && unwired(own).ffn_gains && unwired(own).logit_gains);
}

TEST(Initialise, SchemesOfEqualShapesStartFromTheSameNumbers) {
    // Their norms, gains and learned scalars differ, which must not move what is drawn.
    const scheme::Recipe recipe;
    const auto pre = initialised<double>(medium("pre-ln"), recipe, 5);
    const auto peri = initialised<double>(medium("peri-ln"), recipe, 5);
    const auto ngpt = initialised<double>(medium("ngpt"), recipe, 5);
    for (const auto& [one, other] : {std::pair{&pre, &peri}, {&pre, &ngpt}}) {
        const auto expect_same = [&, one = one, other = other](int a, int b, std::size_t count) {
            EXPECT_EQ(std::vector<double>(one->at(a), one->at(a) + count),
                      std::vector<double>(other->at(b), other->at(b) + count));
        };
        expect_same(one->layout().tokens, other->layout().tokens, 300 * 64);
        expect_same(one->layout().positions, other->layout().positions, 80 * 64);
        expect_same(one->layout().head, other->layout().head, 300 * 64);
        for (std::size_t l = 0; l < 4; ++l) {
            const BlockLayout& a = one->layout().blocks[l];
            const BlockLayout& b = other->layout().blocks[l];
            expect_same(a.qkv[0].weight, b.qkv[0].weight, 128 * 64);
            expect_same(a.output.weight, b.output.weight, 64 * 64);
            expect_same(a.ffn_in[0].weight, b.ffn_in[0].weight, 192 * 64);
            expect_same(a.ffn_out.weight, b.ffn_out.weight, 64 * 192);
        }
    }
}

TEST(Initialise, RatesOfLearnedNumbersAreThoseOfNgptsStoredScales) {
    // alpha = 0.05 is stored as 1/sqrt(d), s_qk = 1 and s_z = 1 as 1/sqrt(d), s_u = s_v = 1 as 1 (arXiv:2410.01131).
    const Architecture a = medium("ngpt");
    const Model<float> model(a, native_names());
    const std::vector<double> rates = rate_factors(a, model.layout(), recipe_of(scheme::find_scheme("ngpt")));
    ASSERT_EQ(rates.size(), model.layout().parameters.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
        const std::string& name = model.layout().parameters[i].name;
        const bool root = name.find("_norm.") != std::string::npos || name.starts_with("head.gain");
        const bool alpha = name.ends_with(".alpha");
        EXPECT_DOUBLE_EQ(rates[i], alpha ? 0.05 * 8 : root ? 8 : 1) << name;
    }
    for (const double rate : rate_factors(a, model.layout(), scheme::Recipe{})) {
        EXPECT_EQ(rate, 1);
    }
}

TEST(Initialise, NumbersStoredSmallerLearnAsThoseWithARateOfTheirOwn) {
    // nGPT's program stores s and uses s * factor; Adam's steps are then those of a rate that is factor times larger.
    const double factor = 0.05 * 8;
    const auto slope = [](double used) { return 3 * (used - 0.4) + std::cos(5 * used); };
    const auto adam = [](double gradient, double& m, double& v, int step) {
        m = 0.9 * m + 0.1 * gradient;
        v = 0.95 * v + 0.05 * gradient * gradient;
        return m / (1 - std::pow(0.9, step)) / (std::sqrt(v / (1 - std::pow(0.95, step))) + 1e-8);
    };
    double stored = 0.05 / factor;
    double used = 0.05;
    double m[2] = {};
    double v[2] = {};
    for (int step = 1; step <= 200; ++step) {
        stored -= 1e-3 * adam(slope(stored * factor) * factor, m[0], v[0], step);
        used -= factor * 1e-3 * adam(slope(used), m[1], v[1], step);
        ASSERT_NEAR(stored * factor, used, 1e-7) << step;  // Adam's epsilon tells them apart
    }
    EXPECT_GT(std::fabs(used - 0.05), 0.02);
}

TEST(Initialise, EqualGainsOfQueriesAndKeysHaveEqualGradients) {
    // nGPT has one s_qk for both. Two gains that start alike stay alike: each gets half of the gradient of s_qk.
    const scheme::Scheme scheme = scheme::find_scheme("ngpt");
    Architecture a = wired(tiny_llama(""), scheme);
    a.kv_heads = 2;
    const auto model = initialised<double>(a, recipe_of(scheme), 3);
    Pass<double> pass(model, tiny_ids.size(), Keep::everything);
    Parameters<double> gradients(model.layout());
    pass.forward(tiny_ids);
    pass.loss_and_backward(next_tokens(tiny_ids), gradients);
    for (const BlockLayout& block : model.layout().blocks) {
        for (std::size_t k = 0; k < 8; ++k) {
            const double query = gradients.at(block.attention_gains[0])[k];
            EXPECT_NEAR(query, gradients.at(block.attention_gains[1])[k], 1e-12);
        }
    }
}

TEST(Initialise, EverySchemeOfTheCatalogueStartsNearTheLossOfGuessing) {
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const scheme::Scheme scheme = scheme::find_scheme(entry.name);
        const auto model = initialised<double>(wired(tiny_architecture(""), scheme), recipe_of(scheme), 2);
        Pass<double> pass(model, tiny_ids.size());
        pass.forward(tiny_ids);
        EXPECT_NEAR(pass.loss(next_tokens(tiny_ids)), std::log(11.0), 3.0) << entry.name;
    }
}

}  // namespace
}  // namespace flyball::model::test
