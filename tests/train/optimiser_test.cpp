#include "train/optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"
#include "model/initialise.hpp"
#include "train/small.hpp"

namespace flyball::train {
namespace {

model::Model<float> small_model(const std::string& scheme = "pre-ln") {
    const scheme::Scheme found = scheme::find_scheme(scheme);
    return model::initialised<float>(architecture_of(test::small_settings(), found, 4), recipe_of(found), 1);
}

model::Parameters<float> some_gradients(const model::Model<float>& model, std::uint64_t seed, double scale) {
    model::Parameters<float> gradients(model.layout());
    const Random random(seed);
    for (const model::ParameterSpec& spec : model.layout().parameters) {  // what lies between them stays 0
        for (std::size_t k = spec.offset; k < spec.offset + spec.elements(); ++k) {
            gradients.all()[k] = static_cast<float>(scale * random.normal(k));
        }
    }
    return gradients;
}

Optimisation plain() {
    Optimisation how;
    how.schedule = {0.01, 1, 0, 10};
    how.weight_decay = 0;
    how.clip = 0;
    return how;
}

// AdamW as Loshchilov and Hutter write it, in double, one number at a time.
TEST(Optimiser, FollowsAdamWsFormulaOverSeveralSteps) {
    model::Model<float> model = small_model();
    Optimisation how = plain();
    how.weight_decay = 0.2;
    how.clip = 0.5;
    Optimiser optimiser(model, how);
    std::vector<double> w(model.parameters()->all().begin(), model.parameters()->all().end());
    std::vector<double> m(w.size(), 0);
    std::vector<double> v(w.size(), 0);
    std::vector<bool> decays(w.size(), false);
    for (const model::ParameterSpec& spec : model.layout().parameters) {
        for (std::size_t k = 0; k < spec.elements(); ++k) {
            decays[spec.offset + k] = spec.shape.size() == 2;  // matrices and tables
        }
    }
    for (std::size_t step = 0; step < 3; ++step) {
        model::Parameters<float> gradients = some_gradients(model, step + 1, 0.1);
        double square = 0;
        for (const float g : gradients.all()) {
            square += static_cast<double>(g) * static_cast<double>(g);
        }
        ASSERT_GT(std::sqrt(square), 0.5) << "nothing would be clipped";
        for (std::size_t k = 0; k < w.size(); ++k) {
            const double g = static_cast<double>(gradients.all()[k]) * 0.5 / std::sqrt(square);
            m[k] = 0.9 * m[k] + 0.1 * g;
            v[k] = 0.95 * v[k] + 0.05 * g * g;
            const double s = static_cast<double>(step) + 1;
            w[k] -= 0.01 * (decays[k] ? 0.2 * w[k] : 0);
            w[k] -= 0.01 * (m[k] / (1 - std::pow(0.9, s))) / (std::sqrt(v[k] / (1 - std::pow(0.95, s))) + 1e-8);
        }
        const Optimiser::Result result = optimiser.step(step, gradients);
        EXPECT_NEAR(result.gradient_norm, std::sqrt(square), 1e-6 * std::sqrt(square));
    }
    for (std::size_t k = 0; k < w.size(); ++k) {
        ASSERT_NEAR(model.parameters()->all()[k], w[k], 2e-6) << k;
    }
}

TEST(Optimiser, LeavesShortGradientsAsTheyAre) {
    model::Model<float> model = small_model();
    model::Model<float> unclipped = small_model();
    Optimisation how = plain();
    how.clip = 1e6;
    model::Parameters<float> gradients = some_gradients(model, 3, 0.1);
    Optimiser(model, how).step(0, gradients);
    Optimiser(unclipped, plain()).step(0, gradients);
    EXPECT_EQ(model.parameters()->all(), unclipped.parameters()->all());
}

TEST(Optimiser, ChangesNothingWhenAGradientIsNotFinite) {
    model::Model<float> model = small_model();
    const auto before = model.parameters()->all();
    model::Parameters<float> gradients = some_gradients(model, 3, 0.1);
    gradients.all()[17] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(Optimiser(model, plain()).step(0, gradients).finite);
    EXPECT_EQ(model.parameters()->all(), before);
}

TEST(Optimiser, TellsLengthsOfGradientsWeightsAndChanges) {
    model::Model<float> model = small_model();
    const auto before = model.parameters()->all();
    model::Parameters<float> gradients = some_gradients(model, 3, 0.1);
    std::vector<ParameterStep> steps;
    Optimiser(model, plain()).step(0, gradients, &steps);
    const std::vector<model::ParameterSpec>& specs = model.layout().parameters;
    ASSERT_EQ(steps.size(), specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        double gradient = 0;
        double weight = 0;
        double update = 0;
        for (std::size_t k = specs[i].offset; k < specs[i].offset + specs[i].elements(); ++k) {
            gradient += std::pow(static_cast<double>(gradients.all()[k]), 2);
            weight += std::pow(static_cast<double>(before[k]), 2);
            update += std::pow(static_cast<double>(model.parameters()->all()[k]) - static_cast<double>(before[k]), 2);
        }
        EXPECT_NEAR(steps[i].gradient, std::sqrt(gradient), 1e-6 * std::sqrt(gradient)) << specs[i].name;
        EXPECT_NEAR(steps[i].weight, std::sqrt(weight), 1e-6 * std::sqrt(weight)) << specs[i].name;
        EXPECT_NEAR(steps[i].update, std::sqrt(update), 1e-4 * std::sqrt(update)) << specs[i].name;
    }
}

TEST(Optimiser, KeepsVectorsAtUnitLengthWhereTheSchemeDoes) {
    model::Model<float> model = small_model("ngpt");
    Optimisation how = plain();
    how.unit_vectors = scheme::UnitVectors::all;
    model::Parameters<float> gradients = some_gradients(model, 3, 0.1);
    Optimiser(model, how).step(0, gradients);
    const float* const row = model.at(model.layout().tokens);
    double square = 0;
    for (std::size_t k = 0; k < 8; ++k) {
        square += static_cast<double>(row[k]) * static_cast<double>(row[k]);
    }
    EXPECT_NEAR(square, 1, 1e-6);
}

TEST(Optimiser, ClipsTheEquationsOwnParametersByThemselves) {
    model::Model<float> model = small_model("layerscale");
    Optimisation how = plain();
    how.learned_clip = 0.01;
    model::Parameters<float> gradients = some_gradients(model, 3, 0.1);
    const model::Parameters<float> given = gradients;
    Optimiser(model, how).step(0, gradients);
    double square = 0;
    bool others_stay = true;
    for (const model::ParameterSpec& spec : model.layout().parameters) {
        for (std::size_t k = spec.offset; k < spec.offset + spec.elements(); ++k) {
            if (spec.role == model::Role::learned) {
                square += std::pow(static_cast<double>(gradients.all()[k]), 2);
            } else {
                others_stay = others_stay && gradients.all()[k] == given.all()[k];
            }
        }
    }
    EXPECT_NEAR(std::sqrt(square), 0.01, 1e-7);
    EXPECT_TRUE(others_stay);
}

}  // namespace
}  // namespace flyball::train
