#include "check/short_runs.hpp"

#include <gtest/gtest.h>

#include "scheme/own_equation.hpp"

namespace flyball::check {
namespace {

// The seed is that "of the random weights and of the text that is learned".
TEST(ShortRuns, TextIsThatOfTheSeed) {
    Settings settings;
    settings.depth = 2;
    settings.steps = 10;
    settings.seed = 3;
    const scheme::Scheme scheme = scheme::find_scheme("pre-ln");
    const std::vector<ShortRun> runs = short_runs({{scheme, settings}}, {}, nullptr);
    ASSERT_EQ(runs.size(), 1U);

    train::Settings same;
    same.layers = 2;
    same.dim = 32;
    same.heads = 2;
    same.context = 32;
    same.dt = 1;
    same.init = init_for_width(scheme, settings);
    same.batch = 8;
    same.steps = 10;
    same.seed = 3;
    const auto first_loss = [&](std::uint64_t text) {
        train::CorpusSettings wanted;
        wanted.data = "synthetic";
        wanted.context = 32;
        wanted.tokens = std::size_t{1} << 17U;
        wanted.seed = text;
        const train::Corpus corpus = train::load_corpus(wanted);
        return train::Trainer(same, scheme, corpus).step().loss;
    };
    EXPECT_NEAR(runs[0].first, first_loss(3), 1e-5);
    EXPECT_GT(std::abs(first_loss(1) - first_loss(3)), 1e-4) << "otherwise the text makes no difference";
}

}  // namespace
}  // namespace flyball::check
