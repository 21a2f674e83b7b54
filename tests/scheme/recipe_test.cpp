// Recipes: what the literature prescribes beside the equation, typed from the papers and their released code.
#include "scheme/recipe.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/own_equation.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

const Recipe& recipe(std::string_view name) {
    return find_entry(name)->recipe;
}

// The product of the gains of one matrix of a model of `layers` blocks.
double gain(std::string_view scheme, Matrix matrix, std::size_t layers, std::size_t dim = 64) {
    double product = 1;
    for (const Gain& row : recipe(scheme).initialisation.gains) {
        if (std::find(row.matrices.begin(), row.matrices.end(), matrix) != row.matrices.end()) {
            product *= scalar_value(row.factor, Environment::block(1, layers, 1, 1, dim));
        }
    }
    return product;
}

TEST(Recipe, DeepNormScalesTheMatricesOfTheBranchAndNotQueriesAndKeys) {
    EXPECT_EQ(recipe("deepnorm").initialisation.draw.kind, Draw::Kind::xavier);
    for (const Matrix matrix : {Matrix::value, Matrix::output, Matrix::ffn_in, Matrix::ffn_out}) {
        EXPECT_DOUBLE_EQ(gain("deepnorm", matrix, 2), 0.5);                      // 16^(-1/4)
        EXPECT_DOUBLE_EQ(gain("deepnorm", matrix, 32), std::pow(256.0, -0.25));  // 1/4
    }
    for (const Matrix matrix : {Matrix::query, Matrix::key, Matrix::embedding, Matrix::head}) {
        EXPECT_EQ(gain("deepnorm", matrix, 2), 1) << static_cast<int>(matrix);
    }
}

TEST(Recipe, PreLnScalesResidualProjectionsByTheNumberOfSubLayersAndLnScalingDoesNot) {
    EXPECT_DOUBLE_EQ(gain("pre-ln", Matrix::output, 8), 0.25);
    EXPECT_DOUBLE_EQ(gain("pre-ln", Matrix::ffn_out, 8), 0.25);
    EXPECT_EQ(gain("pre-ln", Matrix::ffn_in, 8), 1);
    EXPECT_EQ(gain("ln-scaling", Matrix::output, 8), 1);
    EXPECT_EQ(gain("ln-scaling", Matrix::ffn_out, 8), 1);
    EXPECT_DOUBLE_EQ(gain("hybridnorm", Matrix::ffn_out, 8), 0.25);
    for (const Matrix matrix : block_matrices) {
        EXPECT_DOUBLE_EQ(gain("b2t", matrix, 16), 0.25);
    }
    EXPECT_DOUBLE_EQ(gain("dyt", Matrix::embedding, 16, 64), 8);
}

TEST(Recipe, DeviationsAreThoseOfThePapers) {
    const auto deviation = [](std::string_view name, std::size_t dim) {
        return scalar_value(recipe(name).initialisation.draw.deviation, Environment::block(1, 12, 1, 1, dim));
    };
    for (const char* name : {"pre-ln", "peri-ln", "output-ln", "mix-ln", "ln-scaling", "gpas"}) {
        EXPECT_EQ(recipe(name).initialisation.draw.kind, Draw::Kind::normal) << name;
        EXPECT_EQ(deviation(name, 768), 0.02) << name;
    }
    EXPECT_NEAR(deviation("hybridnorm", 2048), 0.014, 5e-5);
    EXPECT_DOUBLE_EQ(deviation("ngpt", 1024), 1.0 / 32);
    EXPECT_NEAR(scalar_value(recipe("gpas").initialisation.embedding->deviation, {}), std::sqrt(0.4), 1e-15);
    for (const char* name : {"post-ln", "deepnorm", "admin", "rezero"}) {
        EXPECT_EQ(recipe(name).initialisation.draw.kind, Draw::Kind::xavier) << name;
    }
    EXPECT_EQ(recipe("admin").initialisation.measured, "omega");
}

TEST(Recipe, NormsInsideAttentionAreThoseOfThePapers) {
    const AttentionNorm& hybrid = recipe("hybridnorm").attention_norm;
    EXPECT_EQ(hybrid.norm, "rmsnorm");
    EXPECT_TRUE(hybrid.query && hybrid.key && hybrid.value);
    EXPECT_EQ(hybrid.over, AttentionNorm::Over::head);
    EXPECT_EQ(hybrid, recipe("hybridnorm-star").attention_norm);
    const AttentionNorm& ngpt = recipe("ngpt").attention_norm;
    EXPECT_EQ(ngpt.norm, "unit");
    EXPECT_TRUE(ngpt.query && ngpt.key && !ngpt.value);
    EXPECT_TRUE(ngpt.after_positions && ngpt.scores_times_root);
    EXPECT_EQ(ngpt.gains, AttentionNorm::Gains::channel);
    const AttentionNorm& olmo = recipe("output-ln").attention_norm;
    EXPECT_EQ(olmo.over, AttentionNorm::Over::projection);
    EXPECT_TRUE(olmo.query && olmo.key && !olmo.value && !olmo.after_positions);
    EXPECT_EQ(recipe("output-ln").attention_norm_user, "OLMo 2") << "OLMo 2 has it, the scheme does not ask for it";
    EXPECT_FALSE(recipe("pre-ln").attention_norm.any());
}

TEST(Recipe, TrainingIsThatOfThePapers) {
    EXPECT_EQ(recipe("ngpt").training.unit_vectors, UnitVectors::all);
    EXPECT_EQ(recipe("scalenorm").training.unit_vectors, UnitVectors::embeddings);
    EXPECT_EQ(recipe("pre-ln").training.unit_vectors, UnitVectors::none);
    EXPECT_EQ(recipe("ngpt").training.warm_up, Training::WarmUp::none);
    EXPECT_EQ(recipe("post-ln").training.warm_up, Training::WarmUp::needed);
    EXPECT_FALSE(recipe("ngpt").training.weight_decay);
    EXPECT_FALSE(recipe("mix-ln").training.clip);
    EXPECT_TRUE(recipe("peri-ln").training.learned_gains);
    EXPECT_EQ(recipe("gpas").training.learned_clip, 0.01);
    EXPECT_EQ(recipe("gpas").training.learned_clip_from, 1e9);
    const Program trained = Program::parse(recipe("ngpt").training.equation);
    EXPECT_EQ(trained.body_text(), find_scheme("ngpt").program.body_text());
    ASSERT_EQ(trained.learned().size(), 1U);
    EXPECT_TRUE(trained.learned()[0].per_channel);
    EXPECT_EQ(print(trained.syntax().parameters[0]), "~alpha[d] = 0.05");
}

TEST(Recipe, SaysAtWhatGradientsAreClippedAndInWhichModels) {
    Recipe small;
    small.training.learned_clip = 0.5;
    small.training.learned_clip_from = 3000;
    EXPECT_NE(describe_attributes(small).find("clipped at 0.5 in models of 3000 parameters and more"),
              std::string::npos)
        << describe_attributes(small);
}

class RecipeOf : public EveryScheme {};

TEST_P(RecipeOf, NamesExpressionsNormsAndParametersThatExist) {
    const CatalogueEntry& entry = GetParam();
    const Initialisation& start = entry.recipe.initialisation;
    const Environment env = Environment::block(3, 12, 1, 1, 768);
    const auto expect_size = [&](std::string_view text) {
        EXPECT_GT(scalar_value(text, env), 0) << text;
        EXPECT_LT(scalar_value(text, env), 100) << text;
    };
    for (const std::optional<Draw>& draw : {std::optional<Draw>(start.draw), start.alternative, start.embedding}) {
        if (draw) {
            expect_size(draw->deviation);
        }
    }
    for (const Gain& row : start.gains) {
        EXPECT_FALSE(row.matrices.empty());
        expect_size(row.factor);
    }
    if (!entry.recipe.ffn_scale.empty()) {
        expect_size(entry.recipe.ffn_scale);
    }
    for (const Rate& rate : entry.recipe.training.rates) {
        expect_size(rate.factor);
    }
    if (!entry.recipe.attention_norm.norm.empty()) {
        EXPECT_NO_THROW(find_normaliser(entry.recipe.attention_norm.norm));
        EXPECT_TRUE(entry.recipe.attention_norm.any());
    }
    const std::vector<Parameter> learned = Program::parse(entry.equation).learned();
    EXPECT_TRUE(start.measured.empty() || std::any_of(learned.begin(), learned.end(),
                                                      [&](const Parameter& p) { return p.name == start.measured; }));
    EXPECT_FALSE(describe(start).empty());
}

INSTANTIATE_TEST_SUITE_P(Catalogue, RecipeOf, ::testing::ValuesIn(catalogue()), test_name);

TEST(Recipe, SentencesSayWhatTheFieldsSay) {
    EXPECT_EQ(describe(recipe("deepnorm").initialisation), "Xavier; value, output and FFN matrices times (8*L)^-0.25");
    EXPECT_EQ(describe(recipe("pre-ln").initialisation),
              "normal with deviation 0.02; residual projections times 1/sqrt(2*L)");
    EXPECT_EQ(describe(recipe("post-ln").initialisation), "Xavier or normal with deviation 0.02");
    EXPECT_EQ(describe(Initialisation{.prescribed = false}), "no special one: normal with deviation 0.02");
    EXPECT_EQ(describe(Initialisation{.gains = {{{Matrix::query, Matrix::ffn_in}, "2"}}}),
              "normal with deviation 0.02; query and FFN input matrices times 2");
    EXPECT_EQ(describe_attributes(recipe("hybridnorm")), "RMSNorm on q, k and v of each head");
    EXPECT_EQ(describe_attributes(recipe("output-ln")), "in OLMo 2 RMSNorm on q and k of all heads together");
    EXPECT_EQ(describe_attributes(
                  {.attention_norm = {.norm = "layernorm", .value = true, .gains = AttentionNorm::Gains::none}}),
              "LayerNorm on v of each head without gains");
    EXPECT_EQ(describe_attributes({}), "");
    EXPECT_EQ(&recipe_of(find_scheme("ngpt:alpha=0.1")), &recipe("ngpt"));
    EXPECT_FALSE(recipe_of(scheme_of_equation("x + f(x)")).initialisation.prescribed);
}

TEST(Recipe, AScalarIsReadLikeAParameterOfAnEquation) {
    const Environment env = Environment::block(3, 12, 0.5, 1, 768);  // t = 2, T = 6, depth = 1/4
    EXPECT_DOUBLE_EQ(scalar_value("1/sqrt(2*d*(t+2))", env), 1 / std::sqrt(2.0 * 768 * 4));  // Mitchell: l = t + 1
    EXPECT_EQ(scalar_value("depth < 0.5 ? L : T", env), 12);
    EXPECT_THROW(scalar_value("1/sqrt(2*x)", env), Error);
    EXPECT_THROW(scalar_value("sqrt(2*L", env), Error);
    EXPECT_THROW(scalar_value("", env), Error);
}

}  // namespace
}  // namespace flyball::scheme::test
