#include "train/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "train/run.hpp"
#include "train/small.hpp"

namespace flyball::train::trainer_test {
namespace {

using test::small_corpus;
using test::small_settings;

std::filesystem::path scratch(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / ("flyball-train-" + name);
    std::filesystem::remove_all(path);
    return path;
}

RunPlan plan_of(const Settings& settings, const std::string& scheme = "pre-ln") {
    return {scheme + "-1", settings, scheme::find_scheme(scheme)};
}

TEST(Trainer, LearnsAPatternUnderEverySchemeOfTheSix) {
    const Corpus corpus = small_corpus();
    for (const char* name : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"}) {
        Settings s = small_settings();
        s.steps = 150;
        s.rate = 0.02;
        Trainer trainer(s, scheme::find_scheme(name), corpus);
        const double first = trainer.step().loss;
        while (!trainer.finished()) {
            ASSERT_FALSE(trainer.step().failure) << name;
        }
        EXPECT_GT(first, 1) << name;
        EXPECT_LT(trainer.validate(100).loss, 0.5) << name;  // a guess of letters alone: 1.33
    }
}

TEST(Trainer, RecordsTheFirstTheLastAndEveryFewSteps) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.steps = 10;
    Trainer trainer(s, scheme::find_scheme("pre-ln"), corpus);
    std::vector<std::size_t> recorded;
    while (!trainer.finished()) {
        const StepReport report = trainer.step();
        if (!report.layers.empty()) {
            recorded.push_back(report.step);
        }
    }
    EXPECT_EQ(recorded, (std::vector<std::size_t>{1, 4, 8, 10}));
}

TEST(Trainer, GoesOnFromAnyStepWithTheSameBits) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.dropout = 0.1;
    s.accumulate = 2;
    const scheme::Scheme scheme = scheme::find_scheme("peri-ln");
    Trainer whole(s, scheme, corpus);
    const std::filesystem::path file = scratch("restart.safetensors");
    const record::Seal seal{"restart", {{"run", "this"}}};
    std::vector<double> losses;
    for (std::size_t i = 0; i < s.steps; ++i) {
        losses.push_back(whole.step().loss);
        if (i == 12) {
            whole.save(file, seal);
        }
    }
    const int before = threads();
    for (const int count : {1, 3}) {
        set_threads(count);
        Trainer resumed(s, scheme, corpus);
        resumed.restore(file, seal);
        EXPECT_EQ(resumed.done(), 13U);
        for (std::size_t i = 13; i < s.steps; ++i) {
            ASSERT_EQ(resumed.step().loss, losses[i]) << i;
        }
        EXPECT_EQ(resumed.model().parameters()->all(), whole.model().parameters()->all());
    }
    set_threads(before);
    EXPECT_THROW(Trainer(s, scheme, corpus).restore(file, {"restart", {{"run", "another"}}}), Error);
}

// Two batches whose gradients are added up are one batch of both: data order and loss say so.
TEST(Trainer, AccumulatesWhatALargerBatchWouldGive) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.batch = 8;
    Settings halves = s;
    halves.batch = 4;
    halves.accumulate = 2;
    Trainer together(s, scheme::find_scheme("pre-ln"), corpus);
    Trainer apart(halves, scheme::find_scheme("pre-ln"), corpus);
    for (std::size_t i = 0; i < 5; ++i) {
        const StepReport a = together.step();
        const StepReport b = apart.step();
        EXPECT_NEAR(a.loss, b.loss, 1e-5);
        EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-4 * a.gradient_norm);
    }
}

// One window of text: a batch of one and each part of an accumulated batch are the same, and so is what is recorded of it.
TEST(Trainer, GradientsOfAnAccumulatedBatchAreThoseOfABatch) {
    Corpus corpus = small_corpus();
    corpus.train.resize(9);
    Settings s = small_settings();
    s.batch = 1;
    const StepReport alone = Trainer(s, scheme::find_scheme("pre-ln"), corpus).step();
    s.accumulate = 4;
    const StepReport parts = Trainer(s, scheme::find_scheme("pre-ln"), corpus).step();
    EXPECT_GT(alone.embedding.gradient, 1e-3);
    EXPECT_NEAR(parts.embedding.gradient, alone.embedding.gradient, 1e-5 * alone.embedding.gradient);
    ASSERT_EQ(parts.layers.size(), alone.layers.size());
    for (std::size_t l = 0; l < alone.layers.size(); ++l) {
        EXPECT_NEAR(parts.layers[l].gradient, alone.layers[l].gradient, 1e-5 * alone.layers[l].gradient) << l;
    }
}

TEST(Trainer, StartsSchemesOfTheSameShapesWithTheSameMatrices) {
    const Settings s = small_settings();
    const auto matrix = [&](const char* name) {
        const Initial initial = initial_model(s, scheme::find_scheme(name), 4);
        const float* const from = initial.model.at(initial.model.layout().blocks[1].ffn_in[0].weight);
        return std::vector<float>(from, from + 64);
    };
    EXPECT_EQ(matrix("ln-scaling"), matrix("peri-ln"));
}

// One window and almost no learning: what differs between steps is the mask.
TEST(Trainer, EveryStepHasDropoutMasksOfItsOwn) {
    Corpus corpus = small_corpus();
    corpus.train.resize(9);
    Settings s = small_settings();
    s.dropout = 0.3;
    s.rate = 1e-9;
    s.batch = 1;
    Trainer trainer(s, scheme::find_scheme("pre-ln"), corpus);
    trainer.step();
    const double second = trainer.step().loss;
    const double third = trainer.step().loss;
    EXPECT_GT(std::fabs(second - third), 1e-5);
    s.dropout = 0;
    Trainer without(s, scheme::find_scheme("pre-ln"), corpus);
    without.step();
    EXPECT_NEAR(without.step().loss, without.step().loss, 1e-6);
}

// Passes are counted over the whole run: a step of two passes sees the masks of two steps of one.
TEST(Trainer, EveryPassOfAStepHasDropoutMasksOfItsOwn) {
    Corpus corpus = small_corpus();
    corpus.train.resize(9);
    Settings s = small_settings();
    s.dropout = 0.3;
    s.rate = 1e-9;
    s.batch = 1;
    std::vector<double> single;
    for (Trainer trainer(s, scheme::find_scheme("pre-ln"), corpus); trainer.done() < 4;) {
        single.push_back(trainer.step().loss);
    }
    s.accumulate = 2;
    Trainer trainer(s, scheme::find_scheme("pre-ln"), corpus);
    EXPECT_NEAR(trainer.step().loss, (single[0] + single[1]) / 2, 1e-6);
    EXPECT_NEAR(trainer.step().loss, (single[2] + single[3]) / 2, 1e-6);
    EXPECT_GT(std::fabs(single[2] - single[3]), 1e-4);
}

// omega_1 = 1; omega_2^2 = Var x0 + Var F_1; then omega^2 grows by the variance of each branch, as norms have
// variance 1.
TEST(Trainer, StartsAdminWithWhatAPassMeasures) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.norm = "rmsnorm";  // no mean to take off
    const Trainer trainer(s, scheme::find_scheme("admin"), corpus);
    const model::Model<float>& model = trainer.model();
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> targets;
    Batches(corpus.train, s.context, s.batch, s.seed ^ 0x64617461).fill(0, 0, ids, targets);
    model::Pass<float> pass(model, {s.batch, s.context});
    std::vector<double> branches;
    std::vector<double> inputs;
    model::Taps<float> taps;
    const auto variance = [](const model::TapView<float>& view) {
        double mean = 0;
        double square = 0;
        const auto count = static_cast<double>(view.rows * view.columns);
        for (std::size_t k = 0; k < view.rows * view.columns; ++k) {
            mean += static_cast<double>(view.data[k]) / count;
            square += static_cast<double>(view.data[k]) * static_cast<double>(view.data[k]) / count;
        }
        return square - mean * mean;
    };
    for (const char* tap : {"blocks.*.attn.out", "blocks.*.ffn.out"}) {
        taps.add(tap, [&](const model::TapView<float>& view) { branches.push_back(variance(view)); });
    }
    for (const char* tap : {"blocks.*.attn.in", "blocks.*.ffn.in"}) {
        taps.add(tap, [&](const model::TapView<float>& view) { inputs.push_back(variance(view)); });
    }
    pass.forward(ids, taps);
    double square = 1;
    for (std::size_t i = 0; i < 4; ++i) {
        const float omega = *model.at(model.layout().blocks[i / 2].learned.at(i % 2));
        EXPECT_NEAR(omega, std::sqrt(square), 1e-4) << i;
        square = square * inputs[i] + branches[i];
    }
    EXPECT_GT(square, 1e-3);
}

TEST(Trainer, ValidatesOnWholeWindowsOfItsPart) {
    Corpus corpus = small_corpus(100);
    Settings s = small_settings();
    const Trainer trainer(s, scheme::find_scheme("pre-ln"), corpus);
    // 20 tokens: windows at 0 and 8, batch of at most 4.
    model::Pass<float> pass(trainer.model(), {1, 8});
    double expected = 0;
    for (const std::size_t start : {std::size_t{0}, std::size_t{8}}) {
        const std::vector<std::int32_t> ids(corpus.validation.begin() + static_cast<std::ptrdiff_t>(start),
                                            corpus.validation.begin() + static_cast<std::ptrdiff_t>(start + 8));
        const std::vector<std::int32_t> targets(corpus.validation.begin() + static_cast<std::ptrdiff_t>(start + 1),
                                                corpus.validation.begin() + static_cast<std::ptrdiff_t>(start + 9));
        pass.forward(ids);
        expected += pass.loss(targets) / 2;
    }
    EXPECT_NEAR(trainer.validate(100).loss, expected, 1e-5);
}

// The floor is of just the windows that were looked at: two of eight are those that start at 0 and at half.
TEST(Trainer, ComparesWithTheFloorOfTheWindowsItLookedAt) {
    Corpus corpus = small_corpus();
    corpus.validation.resize(65);
    corpus.floor = EntropyFloor{};
    corpus.floor->context = 8;
    corpus.floor->cold = 100;
    corpus.floor->windows = {1, 2, 4, 8, 16, 32, 64, 128};
    const Trainer trainer(small_settings(), scheme::find_scheme("pre-ln"), corpus);
    EXPECT_EQ(trainer.validate(2).floor, 8.5);
    EXPECT_EQ(trainer.validate(1).floor, 1.0);
    EXPECT_EQ(trainer.validate(100).floor, 255.0 / 8);
}

// Weights, gradients, two moments, the weights before a step and two packed forms of them are seven copies; a batch of
// 4,096 rows is cut into four slots, each but one with gradients of its own. Activations: two passes over the batch,
// one part for each thread.
TEST(TrainMemory, CountsEveryCopyOfTheParametersAndEveryPass) {
    Settings s = small_settings();
    const model::Architecture a = architecture_of(s, scheme::find_scheme("pre-ln"), 4);
    const auto of_a_parameter = [&](std::size_t batch, std::size_t context) {
        s.batch = batch;
        s.context = context;
        return (memory_estimate(a, 1000000, s) - memory_estimate(a, 0, s)) / 1e6;
    };
    EXPECT_DOUBLE_EQ(of_a_parameter(4, 8), 28);
    EXPECT_DOUBLE_EQ(of_a_parameter(16, 64), 32);
    EXPECT_DOUBLE_EQ(of_a_parameter(64, 64), 40);
    const int before = threads();
    set_threads(1);
    const model::Batch whole{64, 64};
    const double recorded = model::memory_estimate(a, whole, model::Keep::everything);
    const double validated = model::memory_estimate(a, whole, model::Keep::nothing);
    const double one = memory_estimate(a, 0, s);
    const double part = model::memory_estimate(a, {2, 64}, model::Keep::everything);  // two sequences are 128 rows
    EXPECT_DOUBLE_EQ(one, recorded + validated + part);
    set_threads(2);
    EXPECT_DOUBLE_EQ(memory_estimate(a, 0, s), recorded + validated + 2 * part);
    set_threads(before);
}

TEST(Divergence, OfTheLossIsASpikeWithItsStep) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.rate = 0.3;
    s.clip = 0;
    s.spike = 0.02;  // soon met by steps as large as these, whatever their last digits
    s.steps = 200;
    const RunResult result = run(plan_of(s), corpus, nullptr, {});
    ASSERT_TRUE(result.summary.failure);
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.summary.outcome, Outcome::spike);
    // The mean of the last eight losses is above the best such mean by a fiftieth of log 4, and was not before.
    std::vector<double> means;
    for (std::size_t i = 7; i < result.lines.size(); ++i) {
        double mean = 0;
        for (std::size_t k = i - 7; k <= i; ++k) {
            mean += result.lines[k].at("loss").get<double>() / 8;
        }
        means.push_back(mean);
    }
    double best = means.front();
    for (std::size_t i = 0; i < means.size(); ++i) {
        best = std::min(best, means[i]);
        EXPECT_EQ(means[i] > best + 0.02 * std::log(4.0), i + 1 == means.size()) << i;
    }
    EXPECT_EQ(result.lines.back().at("failure").at("step").get<std::size_t>(), result.summary.failure->step);
}

TEST(Divergence, OfANumberNamesTheLayerWhereItBegan) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.init = "ffn-out=t > 0 ? 1e38 : 0.02";
    const RunResult result = run(plan_of(s), corpus, nullptr, {});
    ASSERT_TRUE(result.summary.failure);
    EXPECT_EQ(result.summary.outcome, Outcome::nan);
    EXPECT_EQ(result.summary.failure->layer, 2U);
    EXPECT_EQ(result.summary.failure->quantity, "stream");
    EXPECT_EQ(result.summary.failure->step, 1U);
}

TEST(Divergence, OfTheStreamsLengthIsAnExplosion) {
    const Corpus corpus = small_corpus();
    Settings s = small_settings();
    s.init = "ffn-out=t > 0 ? 0.02 : 1e7";
    const RunResult result = run(plan_of(s), corpus, nullptr, {});
    ASSERT_TRUE(result.summary.failure);
    EXPECT_EQ(result.summary.outcome, Outcome::exploded);
    EXPECT_EQ(result.summary.failure->layer, 1U);
}

}  // namespace
}  // namespace flyball::train::trainer_test
