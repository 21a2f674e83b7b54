// What is counted, and where things end: pieces between switches, layers that are sampled, evaluations, frames of the
// sphere, what a document says, what a run is told apart by.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <tuple>

#include "core/file.hpp"
#include "core/parallel.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/document.hpp"
#include "dynamics/pieces.hpp"
#include "dynamics/run_folder.hpp"

namespace flyball::dynamics {
namespace {

std::filesystem::path scratch(const std::string& name) {
    return std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()));
}

// Mix-LN at tau = 0.25 changes its equation at t = 2.5 of 10, between two draws of weights.
TEST(Pieces, OfFreshWeightsEndAtASwitchOfTheEquationToo) {
    Settings s;
    s.tokens = s.dim = 2;
    s.time = 10;
    s.weights = WeightKind::gaussian;
    s.fresh = true;
    const Pieces pieces(problem_of(s, scheme::find_scheme("mix-ln").program));
    EXPECT_EQ(pieces.at(1.75).end, 2);
    const Piece before = pieces.at(2.25);
    EXPECT_EQ(before.begin, 2);
    EXPECT_NEAR(before.end, 2.5, 1e-15);
    const Piece after = pieces.at(2.75);
    EXPECT_EQ(after.begin, before.end);
    EXPECT_EQ(after.end, 3);
}

// 3 * 0.7 / 0.7 is a little less than 3.
TEST(Layers, AreAllSampledWhateverDtIs) {
    Settings s;
    s.tokens = 3;
    s.dim = 2;
    s.layers = 70;
    s.samples = 71;
    for (const double dt : {0.7, 0.1, 0.01, 1.0 / 3}) {
        s.dt = dt;
        const Record record = run(s, scheme::find_scheme("pre-ln").program);
        ASSERT_EQ(record.samples.size(), 71U) << dt;
        for (std::size_t l = 0; l <= 70; ++l) {
            EXPECT_EQ(record.samples[l].t, static_cast<double>(l) * dt) << dt;
        }
    }
}

TEST(Layers, SayHowMuchOfTheRunIsDone) {
    Settings s;
    s.tokens = 3;
    s.dim = 2;
    s.layers = 4;
    s.samples = 2;
    std::vector<double> told;
    Watch watch;
    watch.progress = [&](double done) { told.push_back(done); };
    run(s, scheme::find_scheme("pre-ln").program, watch);
    EXPECT_EQ(told, (std::vector<double>{0.25, 0.5, 0.75, 1}));
}

// A layer asks for attention once. The first one is also tried on a copy for the speed at the start; what the record
// counts is the run.
TEST(Layers, AreOneEvaluationEach) {
    Settings s;
    s.tokens = 3;
    s.dim = 2;
    s.layers = 5;
    s.samples = 2;
    const Record record = run(s, scheme::find_scheme("pre-ln").program);
    EXPECT_EQ(record.steps, 5U);
    EXPECT_EQ(record.evaluations, 5U);
}

// A step that ends at a sample is as short as it must be; those after it are of the length that was asked for again. Between two
// samples there are as few steps of at most 1 as possible.
TEST(EqualSteps, AreAsLongAsAskedForAfterASampleToo) {
    Settings s;
    s.tokens = 3;
    s.dim = 2;
    s.time = 10;
    s.method = Method::euler;
    s.dt = 1;
    s.samples = 9;
    s.log_time = true;
    const std::vector<double> times = sample_times(s);
    double steps = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
        steps += std::ceil(times[i] - times[i - 1] - 1e-9);
    }
    const Record record = run(s, scheme::find_scheme("post-ln").program);
    ASSERT_LT(times[1], 0.5);
    EXPECT_EQ(static_cast<double>(record.steps), steps);
}

TEST(Document, SaysWhichTokensOfWhichSystemBecameOne) {
    SchemeRun run{scheme::find_scheme("post-ln"), {}};
    run.record.outcome = Outcome::until;
    run.record.kernel = "own-frame";
    run.record.steps = 17;
    run.record.evaluations = 205;
    run.record.seconds = 0.5;
    run.record.fused = {{2.5, 0, {1, 3}, false}, {4, 1, {0, 2}, true}};
    const Json row = document({}, {run})["runs"][0];
    EXPECT_EQ(row["fused"], parse_json(R"([{"t": 2.5, "system": 0, "tokens": [1, 3], "apart": false},
                                           {"t": 4.0, "system": 1, "tokens": [0, 2], "apart": true}])",
                                       "typed"));
    EXPECT_EQ(row["stats"], parse_json(R"({"steps": 17, "evaluations": 205, "seconds": 0.5})", "typed"));
    EXPECT_EQ(row["outcome"], "until");
    EXPECT_EQ(row["kernel"], "own-frame");
    EXPECT_TRUE(row["collapse_time"].is_null());
}

// 1000 max(rtol, sqrt(d) atol)^2, d = 32; with attention in float 10,000, and rtol is what the run keeps to: none below
// 1e-6, whatever was asked for.
TEST(Document, SaysBelowWhichValueAngleAndToleranceAreOne) {
    const std::vector<SchemeRun> runs = {{scheme::find_scheme("post-ln"), {}}};
    for (const auto& [precision, rtol, atol, expected] : {std::tuple{Precision::f64, 1e-10, 1e-12, 1e-17},
                                                          {Precision::f64, 1e-10, 1e-7, 3.2e-10},
                                                          {Precision::f64, 1e-10, 1e-14, 1e-17},
                                                          {Precision::f64, 1e-6, 1e-12, 1e-9},
                                                          {Precision::f32, 1e-10, 1e-12, 1e-8},
                                                          {Precision::f32, 1e-10, 1e-6, 3.2e-7},
                                                          {Precision::f32, 1e-5, 1e-7, 1e-6}}) {
        Settings s;
        s.precision = precision;
        s.rtol = rtol;
        s.atol = atol;
        const Json resolution = document(s, runs).at("one_minus_cosine_resolution");
        EXPECT_NEAR(resolution.get<double>() / expected, 1, 1e-12)
            << (precision == Precision::f32 ? "f32 " : "f64 ") << rtol << " " << atol;
    }
    Settings s;
    s.layers = 3;
    EXPECT_TRUE(document(s, runs).at("one_minus_cosine_resolution").is_null()) << "layers have no tolerance";
}

// 1 - cosine of these falls like e^-2t: from t = 100 on all of it is the solver's.
TEST(Document, SaysBelowWhichValueThereIsNoMotionAnyMore) {
    for (const auto& [tokens, rtol, atol, precision] : {std::tuple{2, 1e-10, 1e-12, Precision::f64},
                                                        {2, 1e-6, 1e-12, Precision::f64},
                                                        {2, 1e-10, 1e-16, Precision::f64},
                                                        {8, 1e-12, 1e-7, Precision::f64},
                                                        {2, 1e-10, 1e-12, Precision::f32}}) {
        Settings s;
        s.tokens = static_cast<std::size_t>(tokens);
        s.dim = 2;
        s.time = 400;
        s.samples = 801;
        s.rtol = rtol;
        s.atol = atol;
        s.precision = precision;
        const scheme::Scheme scheme = scheme::find_scheme("post-ln");
        const std::vector<SchemeRun> runs = {{scheme, run(s, scheme.program)}};
        const double resolution = one_minus_cosine_resolution(s, runs).value_or(0);
        double most = 0;
        for (const Sample& sample : runs[0].record.samples) {
            most = sample.t > 100 ? std::max(most, sample.one_minus_cosine) : most;
        }
        EXPECT_LT(most, resolution) << tokens << " " << rtol << " " << atol;
    }
}

// Of 33 samples the sixteen that are most even, the first and the last among them; of four all.
TEST(Frames, OfTheSphereBeginAtTheStartAndEndAtTheEnd) {
    for (const auto& [samples, chosen] :
         {std::pair<std::size_t, std::vector<double>>{33, {0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 32}},
          {31, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}},
          {4, {0, 1, 2, 3}}}) {
        Settings s;
        s.tokens = 3;
        s.dim = 3;
        s.samples = samples;
        s.time = static_cast<double>(samples - 1);
        const std::filesystem::path path = scratch("flyball-frames");
        std::filesystem::remove_all(path);
        const RunFolder folder(path, record::FolderUse::fresh, {s, {scheme::find_scheme("post-ln")}, false, ""});
        const Record record = folder.run(0, control_of(s), watch_of(s));
        std::vector<double> times;
        for (const TrajectorySample& frame : folder.frames(0, record)) {
            times.push_back(frame.t);
        }
        EXPECT_EQ(times, chosen);
        std::filesystem::remove_all(path);
    }
}

// Query, key, value and output of every system, d x d numbers of eight bytes each.
TEST(Memory, OfRandomWeightsIsCounted) {
    Settings s;
    s.dim = 1000;
    s.systems = 3;
    const double without = memory_estimate(s, 1);
    s.weights = WeightKind::kaiming;
    EXPECT_GE(memory_estimate(s, 1) - without, 3 * 4 * 8e6);
    EXPECT_LE(memory_estimate(s, 1) - without, 2.5 * 3 * 4 * 8e6);
}

// The cost table is of one thread.
TEST(Forecasts, ShareTheWorkAmongThreads) {
    Settings s;
    s.tokens = s.dim = 8;
    s.layers = 5;
    const int before = threads();
    const auto forecast = [&](int count) {
        set_threads(count);
        double told = 0;
        Watch watch;
        watch.forecast = [&](double seconds) { told = seconds; };
        run(s, scheme::find_scheme("post-ln").program, watch);
        return told;
    };
    const double one = forecast(1);
    const double four = forecast(4);
    set_threads(before);
    EXPECT_GT(one, 0);
    EXPECT_NEAR(four, one / 4, 1e-12 * one);
}

// Beside the steps to come every sample that is to come is looked at, and what that costs is not what a step costs. In
// time a look asks for the velocity too, for the speed.
TEST(Forecasts, CountALookAtEverySampleToCome) {
    Settings s;
    s.tokens = 40;
    s.dim = 30;
    s.layers = 5;
    const auto cost = [&] { return Cost(problem_of(s, scheme::find_scheme("post-ln").program), control_of(s)); };
    const auto looks = [](const Cost& of, const StepState& state, std::size_t samples) {
        return *of.seconds_left(state, 0, samples, false) - *of.seconds_left(state, 0, 0, false);
    };
    const Cost layers = cost();
    s.layers.reset();
    s.method = Method::rk4;
    const Cost steps = cost();
    for (const Cost& of : {layers, steps}) {
        ASSERT_GT(std::fabs(of.sample_seconds() / of.evaluation_seconds() - 1), 0.1) << "nothing is tested";
        for (const std::size_t samples : {1U, 7U, 1000U}) {
            const double expected = static_cast<double>(samples) * of.sample_seconds();
            EXPECT_NEAR(looks(of, {}, samples) / expected, 1, 1e-9) << samples;
        }
    }
    // At the end of all steps nothing but looks is left.
    StepState last;
    last.steps = 5;
    EXPECT_NEAR(*layers.seconds_left(last, 0, 1, false) / layers.sample_seconds(), 1, 1e-12);
    EXPECT_EQ(*layers.seconds_left(last, 0, 0, false), 0);
    EXPECT_NEAR((steps.sample_seconds() - layers.sample_seconds()) / steps.evaluation_seconds(), 1, 1e-9);
}

// The name of the file stays, what is in it does not.
TEST(Identity, OfARunChangesWithItsWeightFile) {
    const std::filesystem::path path = scratch("flyball-weights");
    Settings s;
    s.weights = WeightKind::file;
    s.weight_file = path.string();
    const scheme::Program program = scheme::find_scheme("post-ln").program;
    write_file_atomically(path, "some weights");
    const record::Identity first = identity_of(s, program);
    EXPECT_EQ(identity_of(s, program), first);
    write_file_atomically(path, "other weight");
    EXPECT_NE(identity_of(s, program), first);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace flyball::dynamics
