// Where a run ends, by the definitions in trainer.hpp, and that a restart changes nothing about it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>

#include "model/save.hpp"
#include "scheme/own_equation.hpp"
#include "train/run.hpp"
#include "train/small.hpp"

namespace flyball::train {
namespace {

// Steps that grow so large that the loss rises from the first one on, and comes down now and then.
Settings wild() {
    Settings s = test::small_settings();
    s.rate = 3;
    s.clip = 0;
    s.warm_up = 10;
    s.spike = 0;
    s.steps = 60;
    return s;
}

std::vector<double> losses_of(const Settings& settings, const Corpus& corpus) {
    Trainer trainer(settings, scheme::find_scheme("pre-ln"), corpus);
    std::vector<double> losses;
    while (!trainer.finished()) {
        losses.push_back(trainer.step().loss);
    }
    return losses;
}

// How far the mean of the eight losses up to each step is above the best such mean so far; 0 before the eighth.
std::vector<double> rises_of(const std::vector<double>& losses) {
    std::vector<double> rises(losses.size(), 0);
    std::optional<double> best;
    for (std::size_t i = 7; i < losses.size(); ++i) {
        double mean = 0;
        for (std::size_t k = i - 7; k <= i; ++k) {
            mean += losses[k] / 8;
        }
        best = best ? std::min(*best, mean) : mean;
        rises[i] = mean - *best;
    }
    return rises;
}

class Spikes : public testing::Test {
  protected:
    Spikes() : corpus_(test::small_corpus()), losses_(losses_of(wild(), corpus_)), rises_(rises_of(losses_)) {
        highest_ = static_cast<std::size_t>(std::max_element(rises_.begin(), rises_.end()) - rises_.begin());
    }
    // A rise of this much is a spike, and nothing less.
    Settings limited_to(double rise) const {
        Settings s = wild();
        s.spike = rise / std::log(4.0);  // four letters
        return s;
    }

    Corpus corpus_;
    std::vector<double> losses_;
    std::vector<double> rises_;
    std::size_t highest_ = 0;
};

TEST_F(Spikes, AreMetExactlyWhereTheMeanOfEightLossesRisesAboveTheLimit) {
    ASSERT_GT(rises_[highest_], 0.05);
    ASSERT_GT(losses_[7], std::accumulate(losses_.begin(), losses_.begin() + 7, 0.0) / 7)
        << "the mean of the first seven would be a better one than that of eight";
    const auto end_of = [&](const Settings& s) {
        return run({"pre-ln-1", s, scheme::find_scheme("pre-ln")}, corpus_, nullptr, {}).summary;
    };
    const Summary above = end_of(limited_to(1.0001 * rises_[highest_]));
    EXPECT_EQ(above.outcome, Outcome::done) << "no rise is as large as this limit";
    EXPECT_EQ(above.steps, 60U);
    for (const double share : {0.9999, 0.7, 0.3}) {
        const double limit = share * rises_[highest_];
        const auto first = std::find_if(rises_.begin(), rises_.end(), [&](double rise) { return rise > limit; });
        const Summary summary = end_of(limited_to(limit));
        EXPECT_EQ(summary.outcome, Outcome::spike) << share;
        ASSERT_TRUE(summary.failure) << share;
        EXPECT_EQ(summary.failure->step, static_cast<std::size_t>(first - rises_.begin()) + 1) << share;
        EXPECT_EQ(summary.failure->quantity, "loss");
        EXPECT_FALSE(summary.failure->layer);
    }
}

// The best mean lies before the restart point, and so do some of the eight losses.
TEST_F(Spikes, AreMetAtTheSameStepAfterARestart) {
    const Settings s = limited_to(0.9999 * rises_[highest_]);
    ASSERT_GT(highest_, 8U);
    Trainer whole(s, scheme::find_scheme("pre-ln"), corpus_);
    while (whole.done() + 2 < highest_ + 1) {
        ASSERT_FALSE(whole.step().failure);
    }
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "flyball-spike.safetensors";
    const record::Seal seal{"restart", {{"run", "this"}}};
    whole.save(file, seal);
    Trainer resumed(s, scheme::find_scheme("pre-ln"), corpus_);
    resumed.restore(file, seal);
    std::filesystem::remove(file);
    for (std::size_t i = 0; i < 2; ++i) {
        const StepReport report = resumed.step();
        EXPECT_EQ(report.failure.has_value(), i == 1) << report.step;
        EXPECT_EQ(report.step, highest_ + i);
    }
}

// Forward the branch is small times large; on the way back large comes first, and overflows in every block. Above the
// last block nothing has been multiplied yet: the last gradient that is not finite is that of the block below it.
TEST(Divergence, OfAGradientNamesTheHighestLayerWhoseGradientIsNotFinite) {
    Settings s = test::small_settings();
    s.layers = 3;
    s.init = "embedding=1,value=1e5,output=1e5";
    const scheme::Scheme scheme = scheme::scheme_of_equation("x + 1e32*attn(norm(x)*1e-42) | norm(x)");
    const RunResult result = run({"own-1", s, scheme}, test::small_corpus(), nullptr, {});
    ASSERT_TRUE(result.summary.failure);
    EXPECT_EQ(result.summary.outcome, Outcome::nan);
    EXPECT_EQ(result.summary.failure->quantity, "gradient");
    EXPECT_EQ(result.summary.failure->layer, 2U);
    EXPECT_EQ(result.summary.failure->step, 1U);
}

// The readout is all ones and the logit of one letter overflows downwards: its probability is 0, the loss infinite, and
// the gradient finite. The weights must stay those that gave this loss.
TEST(Divergence, OfTheLossAloneChangesNoWeight) {
    Settings s = test::small_settings();
    s.untied = true;
    const Corpus corpus = test::small_corpus();
    const scheme::Scheme scheme = scheme::find_scheme("pre-ln");
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-infinite-loss";
    std::filesystem::create_directories(folder);
    {
        Initial initial = initial_model(s, scheme, corpus.vocab);
        const model::Layout& layout = initial.model.layout();
        for (const model::NormPlace& norm : layout.readout_norms) {
            if (norm.gain != model::absent) {
                std::fill_n(initial.model.parameters()->at(norm.gain), s.dim, 0.0F);
                std::fill_n(initial.model.parameters()->at(norm.bias), s.dim, 1.0F);
            }
        }
        std::fill_n(initial.model.parameters()->at(layout.head) + 3 * s.dim, s.dim, -1e38F);
        model::save_model(initial.model, folder);
    }
    s.from = folder.string();
    Trainer trainer(s, scheme, corpus);
    const auto before = trainer.model().parameters()->all();
    const StepReport report = trainer.step();
    std::filesystem::remove_all(folder);
    EXPECT_EQ(report.loss, std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isfinite(report.gradient_norm));
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->outcome, Outcome::nan);
    EXPECT_EQ(report.failure->quantity, "loss");
    EXPECT_FALSE(report.failure->layer);
    EXPECT_EQ(trainer.done(), 0U);
    EXPECT_EQ(trainer.model().parameters()->all(), before);
}

// Streams of length 97,000 in 8 channels have a root mean square of 34,000, which half precision holds.
// The embedding of one letter overflows in the first block, and the letter stands in the first part of the text alone:
// some micro-batches see it and others do not.
TEST(Divergence, IsFoundInTheMicroBatchThatGaveIt) {
    Settings s = test::small_settings();
    s.untied = true;
    s.batch = 1;
    s.accumulate = 4;
    Corpus corpus = test::small_corpus();
    std::replace(corpus.train.begin() + 100, corpus.train.end(), Token{3}, Token{0});
    const scheme::Scheme scheme = scheme::scheme_of_equation("2*x + dt*f(norm(x)) | norm(x)");
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "flyball-one-micro-batch";
    std::filesystem::create_directories(folder);
    {
        Initial initial = initial_model(s, scheme, corpus.vocab);
        std::fill_n(initial.model.parameters()->at(initial.model.layout().tokens) + 3 * s.dim, s.dim, 3e38F);
        model::save_model(initial.model, folder);
    }
    s.from = folder.string();
    std::size_t failures = 0;
    for (s.seed = 1; s.seed <= 12; ++s.seed) {
        const StepReport report = Trainer(s, scheme, corpus).step();
        if (report.failure) {
            ++failures;
            EXPECT_EQ(report.failure->quantity, "stream") << s.seed;
            EXPECT_EQ(report.failure->layer, 1U) << s.seed;
        }
    }
    std::filesystem::remove_all(folder);
    EXPECT_GE(failures, 6U);
}

TEST(Divergence, GoesByTheRootMeanSquareAndNotByTheLength) {
    Settings s = test::small_settings();
    s.init = "embedding=25000";
    s.steps = 2;
    const RunResult result = run({"pre-ln-1", s, scheme::find_scheme("pre-ln")}, test::small_corpus(), nullptr, {});
    EXPECT_GT(result.lines.front().at("layers").at(0).at("norm").get<double>(), 70000);
    EXPECT_EQ(result.summary.outcome, Outcome::done);
}

}  // namespace
}  // namespace flyball::train
