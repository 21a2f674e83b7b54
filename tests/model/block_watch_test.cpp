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

}  // namespace
}  // namespace flyball::model::block_watch_test
