// The loss of a language model against plain loops, where the vocabulary and the rows are cut into several tiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/pass.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

Architecture with_vocabulary(std::size_t vocab, std::size_t positions) {
    Architecture a = tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.layers = 1;
    a.dim = 4;
    a.heads = a.kv_heads = 2;
    a.head_dim = 2;
    a.ffn_dim = 4;
    a.vocab = vocab;
    a.positions = positions;
    return a;
}

std::vector<std::int32_t> ids_below(std::size_t vocab, std::size_t count) {
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(static_cast<std::int32_t>((i * 7919 + 13) % vocab));
    }
    return ids;
}

// -log softmax of the target, by the definition, with the scale and the cap of the logits.
double plain_loss(const Model<double>& model, const std::vector<double>& readout,
                  const std::vector<std::int32_t>& targets) {
    const std::size_t dim = model.architecture().dim;
    const std::size_t vocab = model.architecture().vocab;
    const double* const head = model.at(model.layout().head);
    double total = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] == no_target) {
            continue;
        }
        std::vector<double> logits(vocab, 0.0);
        double sum = 0;
        for (std::size_t v = 0; v < vocab; ++v) {
            for (std::size_t k = 0; k < dim; ++k) {
                logits[v] += readout[i * dim + k] * head[v * dim + k];
            }
            logits[v] *= model.architecture().logit_scale;
            if (const double cap = model.architecture().logit_cap; cap > 0) {
                logits[v] = cap * std::tanh(logits[v] / cap);
            }
            sum += std::exp(logits[v]);
        }
        total += std::log(sum) - logits[static_cast<std::size_t>(targets[i])];
        ++count;
    }
    return total / static_cast<double>(count);
}

TEST(Loss, OfManyTilesIsItsDefinition) {
    for (const std::size_t vocab : {700U, 769U, 2000U}) {
        Architecture architecture = with_vocabulary(vocab, 300);
        architecture.logit_scale = vocab == 769 ? 1.7 : 1;
        architecture.logit_cap = vocab == 700 ? 0 : 0.8;
        const Model<double> model = tiny_model<double>(architecture, 5);
        const std::vector<std::int32_t> ids = ids_below(vocab, 300);
        std::vector<std::int32_t> targets = next_tokens(ids);
        targets[7] = no_target;
        Pass<double> pass(model, ids.size(), Keep::everything);
        pass.forward(ids);
        const double expected = plain_loss(model, pass.readout(), targets);
        EXPECT_NEAR(pass.loss(targets), expected, 1e-12 * expected) << vocab;
        Taps<double> taps;  // another path: all logits in memory
        double largest = 0;
        taps.add("logits", [&](const TapView<double>& view) {
            for (std::size_t i = 0; i < view.rows * view.columns; ++i) {
                largest = std::max(largest, std::fabs(view.data[i]));
            }
        });
        EXPECT_NEAR(pass.loss(targets, taps), expected, 1e-12 * expected) << vocab;
        EXPECT_EQ(largest < 0.8, vocab != 700) << largest;
        Parameters<double> gradients(model.layout());
        EXPECT_NEAR(pass.loss_and_backward(targets, gradients), expected, 1e-12 * expected) << vocab;
    }
}

// The second tile of three: nothing of it is in the sum, as where all logits of a row are summed at once.
TEST(Loss, ATileOfMinusInfinitiesAddsNothing) {
    const std::size_t vocab = 2000;
    const std::size_t row = 5;
    Model<double> model = tiny_model<double>(with_vocabulary(vocab, 20), 5);
    std::vector<std::int32_t> targets(20, no_target);
    targets[row] = 3;
    Pass<double> pass(model, 20);
    pass.forward(ids_below(vocab, 20));
    const std::size_t dim = model.architecture().dim;
    double* const head = model.parameters()->at(model.layout().head);
    for (std::size_t v = 768; v < 1536; ++v) {
        for (std::size_t k = 0; k < dim; ++k) {
            head[v * dim + k] = -std::copysign(INFINITY, pass.readout()[row * dim + k]);
        }
    }
    const double expected = plain_loss(model, pass.readout(), targets);
    ASSERT_TRUE(std::isfinite(expected));
    EXPECT_NEAR(pass.loss(targets), expected, 1e-12 * expected);
    Taps<double> taps;
    taps.add("logits", [](const TapView<double>&) {});
    EXPECT_NEAR(pass.loss(targets, taps), expected, 1e-12 * expected);
}

// There is nothing to average: no number, and not the loss of a perfect model.
TEST(Loss, WithoutATargetIsNoNumber) {
    const Model<double> model = tiny_model<double>(with_vocabulary(700, 20), 5);
    const std::vector<std::int32_t> targets(20, no_target);
    Pass<double> pass(model, 20, Keep::everything);
    pass.forward(ids_below(700, 20));
    EXPECT_TRUE(std::isnan(pass.loss(targets)));
    Taps<double> taps;
    taps.add("logits", [](const TapView<double>&) {});
    EXPECT_TRUE(std::isnan(pass.loss(targets, taps)));
}

// A row whose logits have no softmax has no gradient either: zeros would look like a token that was learned. The head is a
// matrix of its own, so that nothing but this row reaches its first token.
TEST(Loss, ARowOfInfiniteLogitsHasNoGradient) {
    Architecture a = with_vocabulary(700, 20);
    a.tied = false;
    Model<double> model = tiny_model<double>(a, 5);
    std::vector<std::int32_t> targets(20, no_target);
    targets[5] = 3;
    Pass<double> pass(model, 20, Keep::everything);
    pass.forward(ids_below(700, 20));
    double* const head = model.parameters()->at(model.layout().head);
    for (std::size_t k = 0; k < a.dim; ++k) {
        head[8 * a.dim + k] = std::copysign(INFINITY, pass.readout()[5 * a.dim + k]);
    }
    Parameters<double> gradients(model.layout());
    EXPECT_FALSE(std::isfinite(pass.loss_and_backward(targets, gradients)));
    EXPECT_TRUE(std::isnan(gradients.at(model.layout().head)[0]));
    EXPECT_TRUE(std::isnan(gradients.at(model.layout().positions)[5 * a.dim]));
}

// Gains of logits: a second step into the same gradients adds to what is there.
TEST(Loss, GradientsOfGainsOfLogitsAreAddedUp) {
    Architecture a = with_vocabulary(700, 20);
    a.logit_gains = true;
    const Model<double> model = tiny_model<double>(a, 5);
    const std::vector<std::int32_t> ids = ids_below(700, 20);
    Pass<double> pass(model, ids.size(), Keep::everything);
    Parameters<double> once(model.layout());
    Parameters<double> twice(model.layout());
    pass.forward(ids);
    pass.loss_and_backward(next_tokens(ids), once);
    pass.loss_and_backward(next_tokens(ids), twice);
    pass.loss_and_backward(next_tokens(ids), twice);
    const int gain = model.layout().logit_gain;
    double largest = 0;
    for (std::size_t v = 0; v < 700; ++v) {
        EXPECT_NEAR(twice.at(gain)[v], 2 * once.at(gain)[v], 1e-12) << v;
        largest = std::max(largest, std::fabs(once.at(gain)[v]));
    }
    EXPECT_GT(largest, 1e-3) << "nothing was tested";
}

// A vocabulary so large that the gradient is computed for sixteen rows at a time: token 17 is in the second block.
TEST(Loss, GradientReachesEveryBlockOfRows) {
    const std::size_t vocab = (std::size_t{1} << 20U) + 1;
    Model<double> model = tiny_model<double>(with_vocabulary(vocab, 20), 6);
    const std::vector<std::int32_t> ids = ids_below(vocab, 20);
    const std::vector<std::int32_t> targets = next_tokens(ids);
    Pass<double> pass(model, ids.size(), Keep::everything);
    Parameters<double> gradients(model.layout());
    pass.forward(ids);
    pass.loss_and_backward(targets, gradients);
    const double h = 1e-5;
    for (const std::size_t place : {std::size_t{3} * 4, std::size_t{17} * 4 + 1}) {
        double* const position = model.parameters()->at(model.layout().positions) + place;
        const double before = *position;
        const auto loss_at = [&](double value) {
            *position = value;
            pass.forward(ids);
            return pass.loss(targets);
        };
        const double slope = (loss_at(before + h) - loss_at(before - h)) / (2 * h);
        *position = before;
        EXPECT_GT(std::abs(slope), 1e-6) << "nothing was tested";
        EXPECT_NEAR(gradients.at(model.layout().positions)[place], slope, 1e-4 * std::abs(slope)) << place;
    }
}

}  // namespace
}  // namespace flyball::model::test
