// The folder of a run: what is written, under which name, and that a run stopped in its middle leaves all that it is
// taken up from. Runs are stopped by their flag at a share of the way, never by the clock.
#include "dynamics/run_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/parallel.hpp"
#include "core/safetensors.hpp"
#include "dynamics/checkpoint.hpp"
#include "hdf5_file.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::dynamics::run_folder_test {
namespace {

namespace fs = std::filesystem;

class FolderOfRuns : public testing::Test {
  protected:
    FolderOfRuns() : root_(fs::temp_directory_path() / ("flyball-run-folder-" + std::to_string(getpid()))) {
        fs::remove_all(root_);
        fs::create_directories(root_);
    }
    ~FolderOfRuns() override { fs::remove_all(root_); }

    fs::path root_;
};

// Mix-LN switches its equation at a quarter of the time, t = 2: there a run can be taken up. Samples every quarter.
RunFolder::Plan plan_of(const std::vector<std::string>& schemes) {
    Settings s;
    s.tokens = 6;
    s.dim = 3;
    s.beta = 3;
    s.systems = 2;
    s.time = 8;
    s.samples = 33;
    s.method = Method::erk;
    return {s, scheme::find_schemes(schemes, {}), true, ""};
}

// Stops at the first step that ends beyond t = 4: its last restart point is the one at t = 2.
void run_half(const fs::path& path, const RunFolder::Plan& plan) {
    const RunFolder folder(path, record::FolderUse::fresh, plan);
    std::atomic<bool> stop{false};
    Control control = control_of(plan.settings);
    control.stop = &stop;
    Watch watch = watch_of(plan.settings);
    watch.progress = [&](double done) { stop = done > 0.5; };
    EXPECT_EQ(folder.run(0, control, watch).outcome, Outcome::interrupted);
}

std::vector<SchemeRun> run_all(const fs::path& path, record::FolderUse use, const RunFolder::Plan& plan) {
    RunFolder folder(path, use, plan);
    std::vector<SchemeRun> runs;
    for (std::size_t i = 0; i < plan.schemes.size(); ++i) {
        runs.push_back({plan.schemes[i], folder.run(i, control_of(plan.settings), watch_of(plan.settings))});
    }
    folder.write(runs);
    return runs;
}

std::vector<std::string> lines_of(const fs::path& path) {
    std::vector<std::string> lines;
    std::istringstream text(read_text_file(path, 1U << 24U));
    for (std::string line; std::getline(text, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST_F(FolderOfRuns, ARunTakenUpWritesTheBytesOfOneThatWasNeverStopped) {
    const RunFolder::Plan plan = plan_of({"mix-ln"});
    const std::vector<SchemeRun> whole = run_all(root_ / "whole", record::FolderUse::fresh, plan);
    run_half(root_ / "half", plan);
    const std::vector<SchemeRun> resumed = run_all(root_ / "half", record::FolderUse::resume, plan);
    EXPECT_EQ(resumed[0].record.steps, whole[0].record.steps);
    EXPECT_EQ(resumed[0].record.evaluations, whole[0].record.evaluations);
    for (const char* const name : {"samples.csv", "samples.safetensors", "frames.safetensors"}) {
        EXPECT_EQ(read_text_file(root_ / "half" / name, 1U << 24U), read_text_file(root_ / "whole" / name, 1U << 24U))
            << name;
    }
    const flyball::test::Hdf5File half(root_ / "half" / "trajectory.h5");
    const flyball::test::Hdf5File all(root_ / "whole" / "trajectory.h5");
    for (const char* const what : {"time", "value"}) {
        const std::string path = std::string("/particles/tokens/position/") + what;
        EXPECT_EQ(half.numbers(path.c_str()), all.numbers(path.c_str())) << what;
    }
}

// config.toml is a text that anybody can edit: what a run is is also in its restart data.
TEST_F(FolderOfRuns, ARunWhoseMovingPictureWasAskedForLaterIsRefused) {
    RunFolder::Plan plan = plan_of({"mix-ln"});
    run_half(root_ / "half", plan);
    const std::string text = read_text_file(root_ / "half/config.toml", 1U << 20U);
    const std::string was = plan.all_frames ? "animate = true" : "animate = false";
    const std::size_t at = text.find(was);
    ASSERT_NE(at, std::string::npos) << text;
    plan.all_frames = !plan.all_frames;
    write_file_atomically(
        root_ / "half/config.toml",
        std::string(text).replace(at, was.size(), plan.all_frames ? "animate = true" : "animate = false"));
    EXPECT_THROW(run_all(root_ / "half", record::FolderUse::resume, plan), Error);
}

// A sample is numbered by its place in the run, also where the run was taken up before it: 33 files, t = number/4.
TEST_F(FolderOfRuns, SamplesOfARunTakenUpHaveTheNumbersOfTheWholeRun) {
    const RunFolder::Plan plan = plan_of({"mix-ln"});
    run_half(root_ / "half", plan);
    const RunFolder folder(root_ / "half", record::FolderUse::resume, plan);
    folder.run(0, control_of(plan.settings), watch_of(plan.settings));
    const TrajectoryParts parts(root_ / "half/work", "sample-1",
                                identity_of(plan.settings, plan.schemes.front().program));
    for (std::size_t i = 0; i < 33; ++i) {
        ASSERT_TRUE(parts.has(i)) << i;
        EXPECT_EQ(parts.load(i).t, static_cast<double>(i) / 4);
    }
    EXPECT_FALSE(parts.has(33));
}

// A head, a line for each of the samples from t = 0 on, and how the run ended.
TEST_F(FolderOfRuns, TheLogOfARunTakenUpBeginsWithTheSamplesOfBefore) {
    const RunFolder::Plan plan = plan_of({"mix-ln"});
    run_half(root_ / "half", plan);
    const RunFolder folder(root_ / "half", record::FolderUse::resume, plan);
    folder.run(0, control_of(plan.settings), watch_of(plan.settings));
    const std::vector<std::string> lines = lines_of(root_ / "half/work/samples-1.jsonl");
    ASSERT_EQ(lines.size(), 1 + 33 + 1U);
    for (std::size_t i = 0; i < 33; ++i) {
        EXPECT_EQ(parse_json(lines[1 + i], "line").at(0), static_cast<double>(i) / 4);
    }
    EXPECT_EQ(parse_json(lines.back(), "line").at("outcome"), "done");
}

TEST_F(FolderOfRuns, TrajectoriesOfSeveralRunsAreCountedFromOne) {
    const RunFolder::Plan plan = plan_of({"post-ln", "pre-ln"});
    run_all(root_ / "two", record::FolderUse::fresh, plan);
    EXPECT_FALSE(fs::exists(root_ / "two/trajectory-0.h5"));
    EXPECT_FALSE(fs::exists(root_ / "two/trajectory.h5"));
    for (const auto& [name, scheme] : {std::pair{"trajectory-1.h5", "post-ln"}, {"trajectory-2.h5", "pre-ln"}}) {
        ASSERT_TRUE(fs::exists(root_ / "two" / name)) << name;
        EXPECT_EQ(flyball::test::Hdf5File(root_ / "two" / name).text("/parameters", "scheme"), scheme);
    }
}

// A run that an event ends has fewer samples than were asked for, and as many frames as it has samples.
TEST_F(FolderOfRuns, ARunThatAnEventEndsHasTheFramesOfItsSamples) {
    RunFolder::Plan plan = plan_of({"post-ln"});
    plan.settings.beta = 0.5;  // or none of the 33 samples would be left out
    plan.settings.until = parse_until("cosine>0.9");
    const std::vector<SchemeRun> runs = run_all(root_ / "short", record::FolderUse::fresh, plan);
    const std::vector<Sample>& samples = runs[0].record.samples;
    ASSERT_EQ(runs[0].record.outcome, Outcome::until);
    ASSERT_LT(samples.size(), 33U) << "nothing is tested";
    std::vector<double> times;
    for (const Sample& sample : samples) {
        times.push_back(sample.t);
    }
    EXPECT_EQ(SafeTensors::open(root_ / "short/frames.safetensors").read<double>("time.0"), times);
}

// Whoever reads the table has the numbers of the run, to the last bit; what is not finite is an empty cell.
TEST_F(FolderOfRuns, NumbersOfTheTableAreThoseOfTheRun) {
    const RunFolder::Plan plan = plan_of({"post-ln"});
    const std::vector<SchemeRun> runs = run_all(root_ / "one", record::FolderUse::fresh, plan);
    const std::vector<std::string> lines = lines_of(root_ / "one/samples.csv");
    ASSERT_EQ(lines.size(), 1 + 33U);
    for (std::size_t i = 0; i < 33; ++i) {
        std::istringstream row(lines[1 + i]);
        std::string cell;
        std::getline(row, cell, ',');
        EXPECT_EQ(cell, "\"post-ln\"");
        for (const SampleField& field : sample_fields()) {
            cell.clear();
            std::getline(row, cell, ',');
            const double value = field(runs[0].record.samples[i]);
            if (std::isfinite(value)) {
                EXPECT_EQ(std::strtod(cell.c_str(), nullptr), value) << field.name << " of sample " << i;
            } else {
                EXPECT_EQ(cell, "") << field.name << " of sample " << i;
            }
        }
    }
}

// What comes back is what was given, number by number: no two of them are alike.
TEST_F(FolderOfRuns, RestartFilesGiveBackEveryNumber) {
    const auto sample_at = [](double t) {
        Sample sample;
        for (const SampleField& field : sample_fields()) {
            if (field.value != nullptr) {
                sample.*field.value = t += 1.0 / 3;
            }
        }
        return sample;
    };
    RestartPoint point;
    point.step = {1.1, 0.3, 17, 4, {1.05, 0.9, 0.6, 0.35}};
    point.next_sample = 2;
    point.evaluations = 101;
    point.fallbacks = 5;
    point.y = {0.1, -0.2, 1e-300};
    point.samples = {sample_at(0), sample_at(10)};
    point.systems = {sample_at(20), sample_at(30), sample_at(40), sample_at(50)};
    point.fused = {{0.7, 1, {2, 3}, true}};
    const record::Identity run = {{"run", "a"}};
    save_restart_point(root_ / "restart", run, point);
    const std::optional<Saved> saved = load_checkpoint(root_ / "restart", run, 3);
    ASSERT_TRUE(saved && !saved->record);
    EXPECT_EQ(saved->point.step.t, 1.1);
    EXPECT_EQ(saved->point.step.h, 0.3);
    EXPECT_EQ(saved->point.step.steps, 17U);
    EXPECT_EQ(saved->point.step.standing, 4U);
    EXPECT_EQ(saved->point.step.doublings, (std::array<double, 4>{1.05, 0.9, 0.6, 0.35}));
    EXPECT_EQ(saved->point.next_sample, 2U);
    EXPECT_EQ(saved->point.evaluations, 101U);
    EXPECT_EQ(saved->point.fallbacks, 5U);
    EXPECT_EQ(saved->point.y, point.y);
    EXPECT_EQ(saved->point.samples, point.samples);
    EXPECT_EQ(saved->point.systems, point.systems);
    EXPECT_EQ(saved->point.fused, point.fused);
}

// Signal after the last run: nothing but files is left to write, and whoever takes the folder up writes all of them.
TEST_F(FolderOfRuns, ASignalWhileResultsAreWrittenLeavesARunThatEndsWithTheSameBytes) {
    const RunFolder::Plan plan = plan_of({"mix-ln", "post-ln"});
    {
        RunFolder whole(root_ / "whole", record::FolderUse::fresh, plan);
        std::vector<SchemeRun> runs;
        for (std::size_t i = 0; i < 2; ++i) {
            runs.push_back({plan.schemes[i], whole.run(i, control_of(plan.settings), watch_of(plan.settings))});
        }
        whole.write(runs);
        whole.finish(runs);
    }
    {
        RunFolder stopped(root_ / "run", record::FolderUse::fresh, plan);
        std::vector<SchemeRun> runs;
        for (std::size_t i = 0; i < 2; ++i) {
            runs.push_back({plan.schemes[i], stopped.run(i, control_of(plan.settings), watch_of(plan.settings))});
        }
        const std::atomic<bool> flag{true};
        {
            const StopOn stop(&flag);
            EXPECT_THROW(stopped.write(runs), Stopped);
        }
        stopped.write(runs);
        const StopOn stop(&flag);
        EXPECT_THROW(stopped.finish(runs), Stopped);
        EXPECT_FALSE(fs::exists(root_ / "run/provenance.json"));
    }
    {
        RunFolder again(root_ / "run", record::FolderUse::resume, plan);
        EXPECT_FALSE(again.finished());
        std::vector<SchemeRun> runs;
        for (std::size_t i = 0; i < 2; ++i) {
            runs.push_back({plan.schemes[i], again.run(i, control_of(plan.settings), watch_of(plan.settings))});
        }
        again.write(runs);
        again.finish(runs);
    }
    for (const char* const name : {"samples.csv", "samples.safetensors", "trajectory-1.h5", "trajectory-2.h5"}) {
        EXPECT_EQ(read_text_file(root_ / "run" / name, 1U << 24U), read_text_file(root_ / "whole" / name, 1U << 24U))
            << name;
    }
}

TEST_F(FolderOfRuns, ASignalBeforeAnythingIsDrawnOrReadIsAnInterruption) {
    const RunFolder::Plan plan = plan_of({"mix-ln"});
    run_half(root_ / "run", plan);
    const std::atomic<bool> flag{true};
    Control control = control_of(plan.settings);
    control.stop = &flag;
    const RunFolder again(root_ / "run", record::FolderUse::resume, plan);
    EXPECT_EQ(again.run(0, control, watch_of(plan.settings)).outcome, Outcome::interrupted);
    EXPECT_EQ(run(plan.settings, plan.schemes[0].program, control, watch_of(plan.settings)).outcome,
              Outcome::interrupted);
}

}  // namespace
}  // namespace flyball::dynamics::run_folder_test
