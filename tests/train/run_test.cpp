#include "train/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "core/error.hpp"
#include "core/file.hpp"
#include "model/pass.hpp"
#include "model/save.hpp"
#include "scheme/own_equation.hpp"
#include "train/events.hpp"
#include "train/small.hpp"

namespace flyball::train {
namespace {

using record::FolderUse;

class RunTest : public testing::Test {
  protected:
    RunTest() : corpus_(test::small_corpus()) {
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("flyball-run-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::remove_all(folder_);
    }
    ~RunTest() override { std::filesystem::remove_all(folder_); }
    RunTest(const RunTest&) = delete;
    RunTest& operator=(const RunTest&) = delete;

    RunPlan plan() const { return {"peri-ln-1", test::small_settings(), scheme::find_scheme("peri-ln")}; }
    RunResult run_in(const std::filesystem::path& path, FolderUse use, const Watch& watch = {}) const {
        RunFolder folder(path, use, plan(), corpus_, "flyball train --resume");
        RunResult result = run(plan(), corpus_, &folder, watch);
        if (result.complete) {
            folder.finish();
        }
        return result;
    }
    static std::vector<Json> without_times(std::vector<Json> lines) {
        for (Json& line : lines) {
            line.erase("tokens_per_second");
        }
        return lines;
    }

    Corpus corpus_;
    std::filesystem::path folder_;
};

TEST_F(RunTest, StoppedAfterAStepAndTakenUpEndsWithTheSameBits) {
    const RunResult whole = run_in(folder_ / "whole", FolderUse::fresh);
    std::atomic<bool> stop{false};
    Watch watch;
    watch.stop = &stop;
    std::size_t left = 11;
    watch.step = [&](const Json&, double) { stop = --left == 0; };
    const RunResult part = run_in(folder_ / "parts", FolderUse::fresh, watch);
    EXPECT_FALSE(part.complete);
    EXPECT_EQ(part.summary.outcome, Outcome::interrupted);
    EXPECT_EQ(part.lines.size(), 11U);
    const RunResult rest = run_in(folder_ / "parts", FolderUse::resume);
    EXPECT_TRUE(rest.complete);
    EXPECT_EQ(without_times(rest.lines), without_times(whole.lines));
    EXPECT_EQ(rest.summary.validation_loss, whole.summary.validation_loss);
    EXPECT_EQ(read_text_file(folder_ / "whole" / "model.safetensors", 1U << 24U),
              read_text_file(folder_ / "parts" / "model.safetensors", 1U << 24U));
    // TensorBoard's file differs in times and speeds, which have eight and four bytes whatever they are.
    EXPECT_EQ(std::filesystem::file_size(folder_ / "whole" / event_file_name),
              std::filesystem::file_size(folder_ / "parts" / event_file_name));
}

// Whoever looks at the first step of the second half takes 40 ms for it, so that two steps took more, and each of those
// that are left is expected to take half of that. Twenty steps before them took time too, but not of this run.
TEST_F(RunTest, TakenUpExpectsOfItsStepsWhatThoseSinceThenTook) {
    std::atomic<bool> stop{false};
    Watch watch;
    watch.stop = &stop;
    watch.step = [&](const Json& line, double) { stop = line.at("step") == 20; };
    EXPECT_FALSE(run_in(folder_ / "run", FolderUse::fresh, watch).complete);
    std::vector<double> expected;
    watch.step = [&](const Json& line, double seconds_left) {
        EXPECT_EQ(line.at("step"), 21 + expected.size());
        expected.push_back(seconds_left);
        if (expected.size() == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(40));
        }
    };
    stop = false;
    EXPECT_TRUE(run_in(folder_ / "run", FolderUse::resume, watch).complete);
    ASSERT_EQ(expected.size(), 20U);
    EXPECT_GE(expected[1], 0.040 / 2 * 18);
    EXPECT_EQ(expected[19], 0);
}

TEST_F(RunTest, LinesBeyondTheRestartPointAreCut) {
    std::atomic<bool> stop{false};
    Watch watch;
    watch.stop = &stop;
    std::size_t left = 5;
    watch.step = [&](const Json&, double) { stop = --left == 0; };
    run_in(folder_ / "run", FolderUse::fresh, watch);
    const std::filesystem::path restart = folder_ / "run" / "work" / "restart.safetensors";
    std::filesystem::copy_file(restart, folder_ / "kept");
    stop = false;
    left = 6;
    run_in(folder_ / "run", FolderUse::resume, watch);
    std::filesystem::remove(restart);
    std::filesystem::copy_file(folder_ / "kept",
                               restart);  // as a kill between the line and the restart point leaves it
    const RunResult rest = run_in(folder_ / "run", FolderUse::resume);
    EXPECT_EQ(rest.lines.size(), 40U);
    EXPECT_EQ(without_times(rest.lines), without_times(run(plan(), corpus_, nullptr, {}).lines));
}

TEST_F(RunTest, OfAnotherSettingIsNotTakenUp) {
    std::atomic<bool> stop{true};
    Watch watch;
    watch.stop = &stop;
    run_in(folder_ / "run", FolderUse::fresh, watch);
    RunPlan other = plan();
    other.settings.seed = 2;
    EXPECT_THROW(RunFolder(folder_ / "run", FolderUse::resume, other, corpus_, ""), Error);
    Corpus text = corpus_;
    text.checksum = "another text";
    EXPECT_THROW(RunFolder(folder_ / "run", FolderUse::resume, plan(), text, ""), Error);
}

// The run had ended, and was killed before its folder said so.
TEST_F(RunTest, ThatHadDivergedIsNotGoneOnWith) {
    RunPlan wild{"pre-ln-1", test::small_settings(), scheme::find_scheme("pre-ln")};
    wild.settings.rate = 3;
    wild.settings.warm_up = 0;
    wild.settings.clip = 0;
    wild.settings.spike = 0.01;
    const auto run_without_end = [&](FolderUse use) {
        RunFolder folder(folder_, use, wild, corpus_, "flyball train --resume");
        return run(wild, corpus_, &folder, {});
    };
    const RunResult first = run_without_end(FolderUse::fresh);
    ASSERT_EQ(first.summary.outcome, Outcome::spike);
    ASSERT_LT(first.lines.size(), 40U);
    const RunResult again = run_without_end(FolderUse::resume);
    EXPECT_EQ(again.summary.outcome, Outcome::spike);
    EXPECT_EQ(again.lines, first.lines);
    EXPECT_EQ(to_json(again.summary), to_json(first.summary));
}

// The same path, other numbers in it.
TEST_F(RunTest, FromAModelThatHasChangedIsNotTakenUp) {
    std::filesystem::create_directories(folder_ / "from");
    RunPlan further = plan();
    model::Model<float> model = initial_model(further.settings, further.scheme, corpus_.vocab).model;
    model::save_model(model, folder_ / "from");
    further.settings.from = (folder_ / "from").string();
    const record::Identity before = identity_of(further, corpus_);
    model::save_model(model, folder_ / "from");
    EXPECT_EQ(identity_of(further, corpus_), before);
    model.parameters()->all().front() += 1;
    model::save_model(model, folder_ / "from");
    EXPECT_NE(identity_of(further, corpus_), before);
}

TEST_F(RunTest, LeavesAModelThatOpensAndASummaryThatIsReadBack) {
    const RunResult result = run_in(folder_, FolderUse::fresh);
    const model::Model<float> model = model::load_model(folder_);
    EXPECT_EQ(model.architecture().equation, "x + dt*norm(f(norm(x))) | norm(x)");
    const RunFolder again(folder_, FolderUse::resume, plan(), corpus_, "");
    ASSERT_TRUE(again.finished());
    EXPECT_EQ(to_json(again.stored_summary()), to_json(result.summary));
    EXPECT_EQ(again.lines(), result.lines);
    EXPECT_TRUE(std::filesystem::exists(folder_ / event_file_name));
}

TEST_F(RunTest, SummaryIsOfTheLinesAndTheLastRecord) {
    const RunResult result = run_in(folder_, FolderUse::fresh);
    const Summary& s = result.summary;
    double loss = 0;
    for (std::size_t i = 36; i < 40; ++i) {
        loss += result.lines[i].at("loss").get<double>() / 4;
    }
    EXPECT_NEAR(s.loss, loss, 1e-12);
    const Json& last = result.lines.back();
    const double ratio =
        last.at("layers").at(1).at("norm").get<double>() / last.at("embedding").at("norm").get<double>();
    EXPECT_NEAR(s.growth, ratio, 1e-12);
    const double one = last.at("layers").at(0).at("gradient").get<double>();
    const double two = last.at("layers").at(1).at("gradient").get<double>();
    EXPECT_EQ(s.smallest_gradient, std::min(one, two));
    EXPECT_EQ(s.largest_gradient, std::max(one, two));
    EXPECT_EQ(s.steps, 40U);
    EXPECT_EQ(last.at("layers").at(0).at("layer"), 1) << "blocks are counted from 1";
    EXPECT_EQ(last.at("layers").at(1).at("layer"), 2);
    EXPECT_EQ(last.at("step").get<std::size_t>(), 40U);
    EXPECT_TRUE(last.contains("validation_loss"));
    EXPECT_TRUE(result.lines[3].contains("validation_loss")) << "every tenth of the steps";
    EXPECT_FALSE(result.lines[4].contains("validation_loss"));
}

TEST_F(RunTest, ValidatesAfterTheLastStepWhicheverThatIs) {
    RunPlan seven = plan();
    seven.settings.steps = 7;
    seven.settings.validate = 3;
    std::vector<std::size_t> validated;
    for (const Json& line : run(seven, corpus_, nullptr, {}).lines) {
        if (line.contains("validation_loss")) {
            validated.push_back(line.at("step").get<std::size_t>());
        }
    }
    EXPECT_EQ(validated, (std::vector<std::size_t>{3, 6, 7}));
}

// d = 8: logits of deviation 2 sqrt(8) = 5.7.
TEST_F(RunTest, SummaryHasTheNotesOnItsStart) {
    RunPlan loud = plan();
    loud.settings.steps = 1;
    EXPECT_TRUE(run(loud, corpus_, nullptr, {}).summary.notes.empty());
    loud.settings.init = "embedding=2";
    const Json notes = to_json(run(loud, corpus_, nullptr, {}).summary).at("notes");
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].get<std::string>().rfind("the head is the embedding, ", 0), 0U) << notes;
}

// Every sub-layer halves the stream, and so the gradient on its way down.
TEST_F(RunTest, SummaryHasTheLeastAndTheMostGradientWhereverTheyAre) {
    RunPlan halved = plan();
    halved.scheme = scheme::scheme_of_equation("0.5*x + dt*f(norm(x)) | norm(x)");
    halved.settings.layers = 3;
    halved.settings.steps = 2;
    const RunResult result = run(halved, corpus_, nullptr, {});
    const Json& layers = result.lines.back().at("layers");
    const auto gradient = [&](std::size_t l) { return layers.at(l).at("gradient").get<double>(); };
    ASSERT_LT(gradient(0), gradient(1));
    ASSERT_LT(gradient(1), gradient(2));
    EXPECT_EQ(result.summary.smallest_gradient, gradient(0));
    EXPECT_EQ(result.summary.largest_gradient, gradient(2));
}

// 300 windows of letters that follow no pattern: on the way 128 of them are looked at, at the end all.
TEST_F(RunTest, ValidatesOnFewWindowsOnTheWayAndOnManyAtTheEnd) {
    corpus_.validation.clear();
    for (std::uint32_t i = 0, letter = 1; i < 2401; ++i) {
        letter = letter * 1664525U + 1013904223U;
        corpus_.validation.push_back(static_cast<Token>(letter >> 30U));
    }
    const RunResult result = run_in(folder_, FolderUse::fresh);
    const model::Model<float> model = model::load_model(folder_);
    model::Pass<float> pass(model, {1, 8});
    std::vector<double> losses;
    for (std::size_t start = 0; start < 2400; start += 8) {
        const auto from = corpus_.validation.begin() + static_cast<std::ptrdiff_t>(start);
        pass.forward(std::vector<std::int32_t>(from, from + 8));
        losses.push_back(pass.loss(std::vector<std::int32_t>(from + 1, from + 9)));
    }
    double all = 0;
    for (const double loss : losses) {
        all += loss / 300;
    }
    double some = 0;
    for (std::size_t i = 0; i < 128; ++i) {
        some += losses[i * 300 / 128] / 128;
    }
    EXPECT_GT(std::fabs(all - some), 1e-3);
    EXPECT_NEAR(result.summary.validation_loss, all, 1e-5);
    EXPECT_NEAR(result.lines.back().at("validation_loss").get<double>(), some, 1e-5);
}

// Seconds that the speeds mean, of all steps together, are at most those that the run took.
TEST_F(RunTest, SpeedsCountTheTokensOfAllBatchesOfAStep) {
    RunPlan several = plan();
    several.settings.accumulate = 5;  // 160 tokens a step
    const auto begin = std::chrono::steady_clock::now();
    const RunResult result = run(several, corpus_, nullptr, {});
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    double seconds = 0;
    std::vector<double> speeds;
    for (const Json& line : result.lines) {
        speeds.push_back(line.at("tokens_per_second").get<double>());
        seconds += 160 / speeds.back();
    }
    EXPECT_LE(seconds, took);
    std::sort(speeds.begin(), speeds.end());
    EXPECT_EQ(result.summary.tokens_per_second, speeds[20]) << "the middle one of 40";
}

// A number that nobody computes is NaN, which JSON has as null.
TEST_F(RunTest, EveryNumberOfASummaryAndOfALayerIsMeasured) {
    const RunResult result = run(plan(), corpus_, nullptr, {});
    const Json summary = to_json(result.summary);
    for (const auto& [key, value] : summary.items()) {
        EXPECT_TRUE(!value.is_number_float() || std::isfinite(value.get<double>())) << key;
    }
    std::size_t looked_at = 0;
    for (const Json& line : result.lines) {
        for (const Json& layer : line.value("layers", Json::array())) {
            for (const LayerField& field : layer_fields()) {
                EXPECT_TRUE(std::isfinite(layer.at(field.name).get<double>()))
                    << field.name << " of step " << line["step"];
                ++looked_at;
            }
        }
    }
    EXPECT_EQ(looked_at, 11 * 2 * layer_fields().size()) << "the first step and every fourth of forty";
    for (const LayerField& field : layer_fields()) {
        EXPECT_TRUE(std::isnan(LayerRecord{}.*field.value)) << field.name << " of a layer that nobody measured";
    }
    const Json nothing = to_json(Summary{});
    for (const auto& [key, value] : nothing.items()) {
        EXPECT_TRUE(key == "dt" || !value.is_number_float() || std::isnan(value.get<double>()))
            << key << " of a run that nobody measured";
    }
}

TEST_F(RunTest, ForcedOverAnUnfinishedRunBeginsAnew) {
    std::atomic<bool> stop{true};
    Watch watch;
    watch.stop = &stop;
    run_in(folder_, FolderUse::fresh, watch);
    const RunResult result = run_in(folder_, FolderUse::force);
    EXPECT_EQ(result.lines.size(), 40U);
}

TEST_F(RunTest, FinishedRunSaysWhichInputDiffers) {
    run_in(folder_ / "run", FolderUse::fresh);
    Corpus other = corpus_;
    other.checksum = "fedcba9876543210";
    try {
        const RunFolder folder(folder_ / "run", FolderUse::resume, plan(), other, "flyball train --resume");
        FAIL() << "another text";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("a finished run with other contents of the data"), std::string::npos)
            << error.what();
    }
}

TEST_F(RunTest, LinesOfAFinishedRunAreReadAsTheyWereWritten) {
    const RunResult whole = run_in(folder_ / "run", FolderUse::fresh);
    const RunFolder folder(folder_ / "run", FolderUse::resume, plan(), corpus_, "flyball train --resume");
    ASSERT_TRUE(folder.finished());
    EXPECT_EQ(folder.lines(), whole.lines);
}

// The signal comes from another thread, as a person's does, and as a rule meets one of the looks at the validation
// part: 128 windows of it, where a step has two. The step before such a look has no line yet: it is done again.
TEST_F(RunTest, StoppedInAValidationOnTheWayHasALineForEveryStep) {
    RunPlan looking = plan();
    looking.settings.validate = 1;
    looking.settings.steps = 6;
    looking.settings.batch = 2;
    looking.settings.context = 32;
    corpus_ = test::small_corpus(5 * (128 * 32 + 1));
    const auto run_to = [&](FolderUse use, const Watch& watch) {
        RunFolder folder(folder_ / "run", use, looking, corpus_, "flyball train --resume");
        return run(looking, corpus_, &folder, watch);
    };
    const RunResult whole = run(looking, corpus_, nullptr, {});
    for (int attempt = 0; attempt < 8; ++attempt) {
        std::atomic<bool> stop{false};
        std::atomic<bool> begun{false};
        Watch watch;
        watch.stop = &stop;
        watch.step = [&](const Json&, double) { begun = true; };
        std::thread signal([&] {
            while (!begun) {
                std::this_thread::yield();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(500 * attempt));
            stop = true;
        });
        const RunResult half = run_to(FolderUse::force, watch);
        begun = true;
        signal.join();
        const RunResult rest = half.complete ? half : run_to(FolderUse::resume, {});
        ASSERT_EQ(rest.lines.size(), whole.lines.size()) << attempt;
        EXPECT_EQ(without_times(rest.lines), without_times(whole.lines)) << attempt;
    }
}

// The signal comes after the last step: what is left is the look at the validation part.
TEST_F(RunTest, StoppedInItsLastValidationIsTakenUpThere) {
    const RunResult whole = run_in(folder_ / "whole", FolderUse::fresh);
    std::atomic<bool> stop{false};
    Watch watch;
    watch.stop = &stop;
    watch.step = [&](const Json& line, double) { stop = line.at("step") == 40; };
    const RunResult half = run_in(folder_ / "run", FolderUse::fresh, watch);
    EXPECT_FALSE(half.complete);
    EXPECT_EQ(half.lines.size(), 40U);
    const RunResult rest = run_in(folder_ / "run", FolderUse::resume);
    EXPECT_TRUE(rest.complete);
    EXPECT_EQ(rest.summary.validation_loss, whole.summary.validation_loss);
    EXPECT_EQ(read_regular_file(folder_ / "run" / "model.safetensors", 1U << 24U),
              read_regular_file(folder_ / "whole" / "model.safetensors", 1U << 24U));
}

}  // namespace
}  // namespace flyball::train
