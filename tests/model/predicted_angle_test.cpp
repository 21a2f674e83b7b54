// Predictions worked out by hand: d = 8 channels, so that a norm with gains g has length g sqrt(8).
#include "model/predicted_angle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "model/initialise.hpp"
#include "model/tiny.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::model {
namespace {

Model<float> model_of(const std::string& equation, double dt = 1, const std::string& norm = "layernorm") {
    Architecture a = test::tiny_architecture(equation);
    a.dt = dt;
    a.norm = norm;
    a.norm_bias = norm == "layernorm";
    return initialised<float>(a, {}, 1);
}

// The norms that a block evaluates, in order.
std::vector<NormPlace> norms_of(const Model<float>& model, std::size_t layer) {
    std::vector<NormPlace> found;
    for (const NormPlace& place : model.layout().blocks[layer].norms) {
        if (place.gain != absent) {
            found.push_back(place);
        }
    }
    return found;
}

void set_gains(Model<float>& model, std::size_t layer, std::size_t norm, float value) {
    const NormPlace place = norms_of(model, layer).at(norm);
    std::fill_n(model.parameters()->at(place.gain), model.architecture().dim, value);
}

BlockLengths lengths(double stream, double attention, double ffn) {
    BlockLengths result;
    result.streams = {stream};
    result.sub_layers = {std::vector<double>{attention}, std::vector<double>{ffn}};
    result.embedding = 1;
    return result;
}

const double root = std::sqrt(8.0);

TEST(PredictedAngle, OfPreLnIsOfWhatTheSubLayersGaveAndTheStreamOnEntry) {
    const Model<float> model = model_of("x + dt*f(norm(x)) | norm(x)", 0.5);
    const double expected = std::atan(0.5 * 3 / 10) + std::atan(0.5 * 4 / std::hypot(10, 1.5));
    EXPECT_NEAR(predicted_angle(model, 2, 5, lengths(10, 3, 4)), expected, 1e-12);
}

TEST(PredictedAngle, OfPeriLnIsOfTheOuterGainsWhateverTheSubLayersGave) {
    Model<float> model = model_of("x + dt*norm(f(norm(x))) | norm(x)", 0.5);
    ASSERT_EQ(norms_of(model, 1).size(), 4U);
    set_gains(model, 1, 1, 2.0F);  // outside attention
    set_gains(model, 1, 3, 3.0F);  // outside the FFN
    const double attention = 0.5 * 2 * root;
    const double expected = std::atan(attention / 10) + std::atan(0.5 * 3 * root / std::hypot(10, attention));
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(10, 3, 4)), expected, 1e-7);
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(10, 300, 0.4)), expected, 1e-7);
}

TEST(PredictedAngle, OfPostLnTakesTheLengthOfTheStreamFromTheNormBefore) {
    Model<float> model = model_of("norm(x + dt*f(x))");
    set_gains(model, 0, 1, 2.0F);  // the norm that ends block 0
    set_gains(model, 1, 0, 0.5F);  // the one between attention and FFN of block 1
    const double expected = std::atan(3 / (2 * root)) + std::atan(4 / (0.5 * root));
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(1e9, 3, 4)), expected, 1e-7);
    // Before the first block no norm has been: the embedding is measured.
    EXPECT_NEAR(predicted_angle(model, 0, 5, lengths(10, 3, 4)), std::atan(0.3) + std::atan(4 / root), 1e-7);
}

TEST(PredictedAngle, CountsTheBiasOfANorm) {
    Model<float> model = model_of("norm(x + dt*f(x))");
    const NormPlace place = norms_of(model, 0).at(1);
    std::fill_n(model.parameters()->at(place.bias), 8, 1.0F);
    const double expected = std::atan(3 / 4.0) + std::atan(4 / root);  // |stream|^2 = 8 + 8
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(1, 3, 4)), expected, 1e-7);
}

TEST(PredictedAngle, OfNgptFollowsFromItsStepAlone) {
    const Model<float> model = model_of("unit(x + dt*alpha*(unit(f(x)) - x)) where alpha = 0.2");
    const double expected = 2 * std::atan(0.2 / 0.8);
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(77, 3, 4)), expected, 1e-12);
}

TEST(PredictedAngle, OfAStreamThatIsTheBranchIsARightAngle) {
    const Model<float> model = model_of("norm(f(x))");
    // Attention's branch only feeds the FFN, which replaces the stream: one turn.
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(1, 3, 4)), std::numbers::pi / 2, 1e-12);
}

// tanh of normal numbers of deviation 2/sqrt(8): E tanh(0.5 s z)^2 by a sum over a million points, made with numpy.
TEST(PredictedAngle, OfDytAveragesItsCurveOverNormalNumbers) {
    const Model<float> model = model_of("x + dt*norm(f(norm(x))) | norm(x)", 1, "dyt");
    const double branch = std::sqrt(8 * 0.101506528025434);  // sigma = sqrt(1/2), alpha = 0.5
    const double expected = std::atan(branch / 10) + std::atan(branch / std::hypot(10, branch));
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(10, 2, 2)), expected, 1e-7);
}

// E erf(0.5 z + 0.3)^2 over normal z of deviation sqrt(1/2): by a sum over a million points.
TEST(PredictedAngle, OfDerfKnowsTheShiftOfItsCurve) {
    Model<float> model = model_of("x + dt*norm(f(norm(x))) | norm(x)", 1, "derf");
    for (const NormPlace& place : norms_of(model, 1)) {
        *model.parameters()->at(place.alpha) = 0.5F;
        *model.parameters()->at(place.shift) = 0.3F;
    }
    const double branch = std::sqrt(8 * 0.19984279306696534);
    const double expected = std::atan(branch / 10) + std::atan(branch / std::hypot(10, branch));
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(10, 2, 2)), expected, 1e-7);
}

// A branch on the unit sphere has length 1 beside a stream of length 10.
TEST(PredictedAngle, OfABranchOnTheUnitSphereIsOfItsLengthOne) {
    const Model<float> model = model_of("x + dt*unit(f(norm(x))) | norm(x)");
    const double expected = std::atan(0.1) + std::atan(1 / std::hypot(10, 1));
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(10, 3, 4)), expected, 1e-12);
}

// A coefficient by channel counts with the root of its mean square: 3 in two of eight channels is 1.5 in all of them.
TEST(PredictedAngle, OfALearnedCoefficientIsOfItsRootMeanSquare) {
    Model<float> model = model_of("x + dt*a*unit(f(norm(x))) | norm(x) where ~a[d] = 0.5");
    for (const int parameter : model.layout().blocks[1].learned) {  // of attention and of the FFN
        float* const values = model.parameters()->at(parameter);
        std::fill_n(values, 8, 0.0F);
        values[2] = values[5] = -3.0F;
    }
    const double expected = std::atan(0.15) + std::atan(1.5 / std::hypot(10, 1.5));
    EXPECT_NEAR(predicted_angle(model, 1, 5, lengths(10, 3, 4)), expected, 1e-7);
    const double untouched = std::atan(0.05) + std::atan(0.5 / std::hypot(10, 0.5));
    EXPECT_NEAR(predicted_angle(model, 2, 5, lengths(10, 3, 4)), untouched, 1e-7);
}

// What goes into a second stream turns x by nothing.
TEST(PredictedAngle, IsOfTheFirstStreamAlone) {
    const Model<float> model = model_of("o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)");
    BlockLengths measured = lengths(1e9, 3, 4);
    measured.streams = {1e9, 5};
    EXPECT_NEAR(predicted_angle(model, 1, 5, measured), std::atan(3 / root) + std::atan(4 / root), 1e-7);
}

TEST(PredictedAngle, IsANumberForEverySchemeOfTheCatalogue) {
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const scheme::Scheme scheme = scheme::find_scheme(entry.name);
        const Model<float> model = initialised<float>(wired(test::tiny_architecture(""), scheme), entry.recipe, 3);
        BlockLengths measured = lengths(2, 0.3, 0.2);
        measured.streams.assign(model.program().stream_count(), 2);
        for (std::vector<double>& calls : measured.sub_layers) {
            calls.resize(3, 0.25);
        }
        for (std::size_t l = 0; l < model.architecture().layers; ++l) {
            const double angle = predicted_angle(model, l, 5, measured);
            EXPECT_TRUE(angle >= 0 && angle <= 3 * std::numbers::pi) << entry.name << " " << angle;
        }
    }
}

}  // namespace
}  // namespace flyball::model
