// Reverse mode is the derivative of forward: finite differences in double for every scheme, norm and part.
#include <gtest/gtest.h>

#include <cmath>

#include "derivative.hpp"
#include "model/pass.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/normaliser.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

TEST(Reverse, IsTheDerivativeForEverySchemeOfTheCatalogue) {
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        const std::string name(entry.name);
        // detach( ) makes reverse mode differ from the derivative on purpose, except where its factor is 0.
        const bool move = entry.equation.find("detach") == std::string_view::npos;
        expect_derivative(tiny_model<double>(tiny_architecture(entry.equation), 5, move), Keep::inputs, name);
        expect_derivative(tiny_model<double>(tiny_llama(entry.equation), 6, move), Keep::everything, name + " llama");
    }
}

TEST(Reverse, IsTheDerivativeForEveryNorm) {
    for (const scheme::Normaliser& norm : scheme::normalisers()) {
        Architecture a = tiny_architecture("x + dt*norm(f(norm(x))) | norm(x)");
        a.norm = norm.name;
        a.embedding_norm = true;
        a.eps = norm.eps;
        expect_derivative(tiny_model<double>(a, 7), Keep::inputs, std::string(norm.name));
    }
}

TEST(Reverse, IsTheDerivativeForEveryActivationAndMask) {
    for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::silu, Activation::relu}) {
        for (const bool gated : {false, true}) {
            Architecture a = tiny_architecture("norm(x + dt*f(x))");
            a.activation = activation;
            a.gated = gated;
            a.causal = gated;
            a.token_types = 2;
            a.scale_by_layer = gated;
            a.dt = 0.5;
            expect_derivative(tiny_model<double>(a, 8), Keep::everything, name(activation));
        }
    }
}

TEST(Reverse, IsTheDerivativeForEveryKindOfAttention) {
    for (const std::string& kind : attention::kind_names()) {
        Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
        a.attention_kind = attention::kind_from_name(kind);
        expect_derivative(tiny_model<double>(a, 5), Keep::everything, kind);
        a.causal = false;
        expect_derivative(tiny_model<double>(a, 6), Keep::inputs, kind + " without a mask", Problem::of_two());
        Architecture llama = tiny_llama(a.equation);
        llama.attention_kind = a.attention_kind;
        expect_derivative(tiny_model<double>(llama, 7), Keep::inputs, kind + " llama");
    }
}

// Soft caps low enough to bend, scales of embedding, scores and logits, two sorts of rotary positions, half-turned
// heads.
TEST(Reverse, IsTheDerivativeWithCapsAndScales) {
    for (const bool tied : {false, true}) {
        Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
        a.tied = tied;
        a.embedding_scale = 3;
        a.score_factor = 0.7;
        a.score_cap = 0.4;
        a.logit_scale = 2.5;
        a.logit_cap = 0.6;
        a.rope.dims = 2;
        a.rope.odd = true;
        a.window_rope = Rope{.dims = 4, .theta = 7};
        for (const char* const kind : {"softmax", "sigmoid"}) {
            a.attention_kind = attention::kind_from_name(kind);
            expect_derivative(tiny_model<double>(a, 15), Keep::everything, kind);
            a.learned_positions = true;
            expect_derivative(tiny_model<double>(a, 16), Keep::inputs, kind, Problem::of_two());
        }
    }
    Architecture parallel = tiny_architecture("x + dt*attn(norm(x)) + dt*ffn(norm(x)) | norm(x)");
    parallel.logit_gains = true;
    parallel.logit_scale = 0.5;
    parallel.logit_cap = 0.3;
    expect_derivative(tiny_model<double>(parallel, 17), Keep::inputs, "parallel");
}

TEST(Reverse, IsTheDerivativeForABatch) {
    for (const std::string equation :
         {"x + dt*norm(f(norm(x))) | norm(x)", "norm(x + dt*f(x))", "x + a*dt*f(norm(x))/n | norm(x) where ~a = 0.7"}) {
        const Problem two = Problem::of_two();
        expect_derivative(tiny_model<double>(tiny_architecture(equation), 5), Keep::everything, equation, two);
        expect_derivative(tiny_model<double>(tiny_llama(equation), 6), Keep::inputs, equation + " llama", two);
    }
}

TEST(Reverse, IsTheDerivativeForEveryNormInsideAttention) {
    using scheme::AttentionNorm;
    const auto expect = [](const AttentionNorm& norm, const std::string& what) {
        for (const bool llama : {false, true}) {  // llama: rotary positions, grouped keys
            const char* const equation = "x + dt*f(norm(x)) | norm(x)";
            Architecture a = llama ? tiny_llama(equation) : tiny_architecture(equation);
            a.attention_norm = norm;
            expect_derivative(tiny_model<double>(a, 13), llama ? Keep::everything : Keep::inputs, what);
        }
    };
    expect({.norm = "rmsnorm", .query = true, .key = true, .value = true}, "each head, shared gains");
    expect({.norm = "unit",
            .query = true,
            .key = true,
            .gains = AttentionNorm::Gains::channel,
            .after_positions = true,
            .scores_times_root = true},
           "unit, own gains, after positions");
    expect({.norm = "layernorm",
            .query = true,
            .key = true,
            .over = AttentionNorm::Over::projection,
            .gains = AttentionNorm::Gains::channel},
           "whole projection");
    expect({.norm = "rmsnorm", .value = true, .gains = AttentionNorm::Gains::none, .after_positions = true},
           "values alone, no gains");
}

TEST(Reverse, IsTheDerivativeForScalesAndGainsInsideTheFfnAndOfTheLogits) {
    for (const bool gated : {false, true}) {
        for (const bool gains : {false, true}) {
            Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
            a.gated = gated;
            a.ffn_scale = 1.7;
            a.ffn_gains = gains;
            a.logit_gains = gains;
            a.tied = !gated;
            const std::string what = std::string(gated ? "gated" : "plain") + (gains ? " with gains" : "");
            expect_derivative(tiny_model<double>(a, 5), Keep::everything, what);
            expect_derivative(tiny_model<double>(a, 6), Keep::inputs, what, Problem::of_two());
        }
    }
    const scheme::Scheme ngpt = scheme::find_scheme("ngpt");
    expect_derivative(tiny_model<double>(wired(tiny_llama(""), ngpt), 7), Keep::inputs, "ngpt as it is trained");
}

TEST(Reverse, CallsOfOneSubLayerShareItsParameters) {
    expect_derivative(tiny_model<double>(tiny_architecture("x + dt*f(x) + 0.5*f(norm(x) - x0) | norm(x)"), 9),
                      Keep::inputs, "two calls");
}

// Adam's momentum and friends are built on this: gradients are added, not overwritten, and scaled by the weight.
TEST(Reverse, AddsToTheGradientsItIsGiven) {
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 3);
    Pass<double> pass(model, tiny_ids.size(), Keep::inputs);
    Parameters<double> once(model.layout());
    Parameters<double> summed(model.layout());
    pass.forward(tiny_ids);
    pass.loss_and_backward(next_tokens(tiny_ids), once);
    pass.loss_and_backward(next_tokens(tiny_ids), summed, 0.25);
    pass.loss_and_backward(next_tokens(tiny_ids), summed, 1.75);
    for (std::size_t i = 0; i < once.all().size(); ++i) {
        ASSERT_NEAR(summed.all()[i], 2 * once.all()[i], 1e-12);
    }
}

TEST(Reverse, ShowsTheGradientOfEveryStream) {
    // d loss / d x after block l, by finite differences of the positions' table: x0 is moved directly there.
    const Model<double> model = tiny_model<double>(tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 4);
    Pass<double> pass(model, tiny_ids.size(), Keep::inputs);
    Parameters<double> gradients(model.layout());
    std::vector<std::string> seen;
    std::vector<double> embedding;
    Taps<double> taps;
    taps.add("blocks.*.grad", [&](const TapView<double>& view) { seen.push_back(view.name()); });
    taps.add("embed.grad",
             [&](const TapView<double>& view) { embedding.assign(view.data, view.data + view.rows * view.columns); });
    pass.forward(tiny_ids);
    pass.loss_and_backward(next_tokens(tiny_ids), gradients, 1, taps);
    EXPECT_EQ(seen, (std::vector<std::string>{"blocks.3.grad", "blocks.2.grad", "blocks.1.grad", "blocks.0.grad"}));
    const double* const positions = gradients.at(model.layout().positions);
    for (std::size_t i = 0; i < embedding.size(); ++i) {
        EXPECT_DOUBLE_EQ(embedding[i], positions[i]);
    }
}

TEST(Reverse, FloatAgreesWithDouble) {
    const Architecture a = tiny_llama("x + dt*norm(f(norm(x))) | norm(x)");
    const Model<float> single = tiny_model<float>(a, 12);
    const Model<double> twice = widened(single);
    Parameters<float> gradients(single.layout());
    Parameters<double> reference(twice.layout());
    Pass<float> pass(single, tiny_ids.size(), Keep::inputs);
    Pass<double> exact(twice, tiny_ids.size(), Keep::inputs);
    pass.forward(tiny_ids);
    exact.forward(tiny_ids);
    EXPECT_NEAR(pass.loss_and_backward(next_tokens(tiny_ids), gradients),
                exact.loss_and_backward(next_tokens(tiny_ids), reference), 1e-5);
    double worst = 0;
    double size = 0;
    for (std::size_t i = 0; i < gradients.all().size(); ++i) {
        worst = std::max(worst, std::fabs(static_cast<double>(gradients.all()[i]) - reference.all()[i]));
        size = std::max(size, std::fabs(reference.all()[i]));
    }
    EXPECT_LT(worst, 1e-5 * size);
}

}  // namespace
}  // namespace flyball::model::test
