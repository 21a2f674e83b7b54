// What heads attend to, on a model whose weights are known without computing them.
#include "model/block_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/tiny.hpp"

namespace flyball::model::block_watch_test {
namespace {

// All parameters 0: every score is 0, and token i gives 1/i to each of the i tokens that it sees (1 the first). The first token
// of the text is seen by all tokens, or by as many as the window is long; the first key of a later window is another token.
TEST(BlockWatch, TheFirstWeightIsThatOfTheFirstTokenOfTheTextNotOfTheWindow) {
    const std::size_t tokens = 300;
    const std::size_t window = 40;
    Architecture a = test::tiny_llama("x + dt*f(norm(x)) | norm(x)");
    a.layers = 2;
    a.positions = tokens;
    a.windows = {0, window};
    Model<float> model = test::tiny_model<float>(a, 3);
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        float* const values = model.parameters()->at(static_cast<int>(i));
        std::fill_n(values, model.layout().parameters[i].elements(), 0.0F);
    }
    Pass<float> pass(model, {1, tokens});
    BlockWatch watch(model, {1, tokens}, 1);
    pass.forward(std::vector<std::int32_t>(tokens, 1), watch.taps());
    const std::vector<BlockMeasures> blocks = watch.blocks();
    for (std::size_t l = 0; l < 2; ++l) {
        double first = 0;
        double entropy = 0;
        for (std::size_t i = 1; i <= tokens; ++i) {
            const std::size_t seen = l == 0 ? i : std::min(i, window);
            first += i <= (l == 0 ? tokens : window) ? 1.0 / static_cast<double>(seen * tokens) : 0;
            entropy += std::log(static_cast<double>(seen)) / static_cast<double>(tokens);
        }
        for (const HeadMeasures& head : blocks[l].heads) {
            EXPECT_NEAR(head.first_weight, first, 1e-6) << l;
            EXPECT_NEAR(head.entropy, entropy, 1e-5) << l;
        }
    }
}

// One token whose embedding is no number: as the last one it is a key of its own row alone, and the rows before it have scores.
TEST(BlockWatch, AHeadWithAScoreThatIsNoNumberHasNoLargestOne) {
    Model<float> model = test::tiny_model<float>(test::tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 3);
    model.parameters()->at(model.layout().tokens)[10 * 8] = NAN;
    for (const std::int32_t last : {2, 10}) {
        Pass<float> pass(model, {1, 4});
        BlockWatch watch(model, {1, 4}, 1);
        pass.forward(std::vector<std::int32_t>{3, 1, 4, last}, watch.taps());
        const std::vector<BlockMeasures> blocks = watch.blocks();
        for (const HeadMeasures& head : blocks.front().heads) {
            EXPECT_EQ(std::isnan(head.largest_score), last == 10) << head.largest_score;
            EXPECT_EQ(std::isnan(head.entropy), last == 10) << head.entropy;
            EXPECT_EQ(std::isnan(head.first_weight), last == 10) << head.first_weight;
        }
    }
}

TEST(BlockWatch, HeadsThatWereNotLookedAtHaveNoNumbers) {
    const Model<float> model = test::tiny_model<float>(test::tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 3);
    Pass<float> pass(model, {1, 4});
    BlockWatch watch(model, {1, 4}, 0);
    pass.forward(std::vector<std::int32_t>{3, 1, 4, 1}, watch.taps());
    const std::vector<BlockMeasures> blocks = watch.blocks();
    for (const HeadMeasures& head : blocks.front().heads) {
        EXPECT_TRUE(std::isnan(head.largest_score) && std::isnan(head.entropy) && std::isnan(head.first_weight));
    }
}

// All parameters are 0 but the embedding, 1 in every channel, and what biases add to each channel of the stream: 3 by
// attention, 5 by the FFN.
Model<float> growing_model() {
    Architecture a = test::tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    Model<float> model = test::tiny_model<float>(a, 3);
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        const bool attention = spec.name.ends_with("attn.out.bias");
        const bool ffn = spec.name.ends_with("ffn.out.bias");
        const float value = attention ? 3.0F : ffn ? 5.0F : spec.name == "embed.tokens.weight" ? 1.0F : 0.0F;
        std::fill_n(model.parameters()->at(static_cast<int>(i)), spec.elements(), value);
    }
    return model;
}

// Channels of the stream on entry to block l are 1 + 8 l.
TEST(BlockWatch, ABranchIsHeldAgainstTheStreamOnEntryToItsBlock) {
    const Model<float> model = growing_model();
    Pass<float> pass(model, {1, 4});
    BlockWatch watch(model, {1, 4}, 1);
    pass.forward(std::vector<std::int32_t>{3, 1, 4, 1}, watch.taps());
    const std::vector<BlockMeasures> blocks = watch.blocks();
    for (std::size_t l = 0; l < blocks.size(); ++l) {
        const double entry = 1 + 8 * static_cast<double>(l);
        EXPECT_NEAR(blocks[l].attention.norm, 3 * std::sqrt(8.0), 1e-5) << l;
        EXPECT_NEAR(blocks[l].attention.ratio, 3 / entry, 1e-6) << l;
        EXPECT_NEAR(blocks[l].ffn.ratio, 5 / entry, 1e-6) << l;
    }
}

TEST(BlockWatch, ASecondPassIsMeasuredAsIfItWereTheFirst) {
    const Model<float> model = test::tiny_model<float>(test::tiny_architecture("x + dt*f(norm(x)) | norm(x)"), 3);
    const std::vector<std::int32_t> ids = {3, 1, 4, 1};
    Pass<float> pass(model, {1, 4});
    BlockWatch fresh(model, {1, 4}, 1);
    pass.forward(ids, fresh.taps());
    BlockWatch used(model, {1, 4}, 1);
    pass.forward(std::vector<std::int32_t>{9, 9, 2, 7}, used.taps());
    const double other = used.blocks().front().heads.front().entropy;
    pass.forward(ids, used.taps());
    const std::vector<BlockMeasures> expected = fresh.blocks();
    const std::vector<BlockMeasures> got = used.blocks();
    EXPECT_NE(other, expected.front().heads.front().entropy) << "nothing was tested";
    for (std::size_t l = 0; l < got.size(); ++l) {
        EXPECT_EQ(got[l].attention.norm, expected[l].attention.norm) << l;
        EXPECT_EQ(got[l].angle_predicted, expected[l].angle_predicted) << l;
        for (std::size_t h = 0; h < got[l].heads.size(); ++h) {
            EXPECT_EQ(got[l].heads[h].entropy, expected[l].heads[h].entropy) << l;
            EXPECT_EQ(got[l].heads[h].largest_score, expected[l].heads[h].largest_score) << l;
            EXPECT_EQ(got[l].heads[h].first_weight, expected[l].heads[h].first_weight) << l;
        }
    }
}

// Two branches of length 1 are added to x0, which is as long in the last block as in the first: 4 sqrt(8).
TEST(BlockWatch, EveryBlockKnowsTheLengthOfTheEmbedding) {
    Model<float> model = test::tiny_model<float>(test::tiny_architecture("x0 + dt*unit(f(norm(x)))"), 3);
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        if (spec.role == Role::embedding) {
            std::fill_n(model.parameters()->at(static_cast<int>(i)), spec.elements(),
                        spec.name == "embed.tokens.weight" ? 4.0F : 0.0F);
        }
    }
    Pass<float> pass(model, {1, 4});
    BlockWatch watch(model, {1, 4}, 1);
    pass.forward(std::vector<std::int32_t>{3, 1, 4, 1}, watch.taps());
    const std::vector<BlockMeasures> blocks = watch.blocks();
    for (std::size_t l = 0; l < blocks.size(); ++l) {
        EXPECT_NEAR(blocks[l].angle_predicted, 2 * std::atan(1 / (4 * std::sqrt(8.0))), 1e-6) << l;
    }
}

}  // namespace
}  // namespace flyball::model::block_watch_test
