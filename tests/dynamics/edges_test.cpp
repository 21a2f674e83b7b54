// The less trodden places of a run: short log times, small starts, weight files of several heads, stored records.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/safetensors.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/fusing.hpp"
#include "dynamics/method.hpp"
#include "dynamics/observables.hpp"
#include "dynamics/run.hpp"
#include "dynamics/run_folder.hpp"
#include "dynamics/weights.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::dynamics::edges_test {
namespace {

const scheme::Program& program_of(const char* name) {
    static scheme::Program program;
    program = scheme::find_scheme(name).program;
    return program;
}

std::filesystem::path scratch(const std::string& name) {
    return std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()) + ".safetensors");
}

std::vector<double> end_of(const Settings& settings) {
    std::vector<double> x;
    Watch watch;
    watch.sampled = [&](const Sample&, const Particles& particles) { x = particles.x(); };
    run(settings, program_of("pre-ln"), watch);
    return x;
}

// Layer l covers the time from (l-1) dt to l dt, and weights are drawn at whole times: layers 1 and 2 of dt = 1/2 share
// the first draw, layer 3 has the second.
TEST(FreshWeights, AreDrawnAtTheBeginningOfALayer) {
    Settings s;
    s.tokens = 5;
    s.dim = 4;
    s.weights = WeightKind::gaussian;
    s.dt = 0.5;
    s.samples = 2;
    Settings fresh = s;
    fresh.fresh = true;
    s.layers = fresh.layers = 2;
    EXPECT_EQ(end_of(fresh), end_of(s));
    s.layers = fresh.layers = 3;
    EXPECT_NE(end_of(fresh), end_of(s));
}

// Two heads of width 2 in d = 3: output is [d, heads*width], so head 1 has columns 2 and 3.
TEST(WeightFiles, EveryHeadHasItsOwnPartOfEachMatrix) {
    const std::size_t d = 3;
    std::vector<std::vector<double>> numbers;
    std::vector<TensorToWrite> tensors;
    const std::vector<std::string> names = {"query", "key", "value", "output"};
    for (std::size_t m = 0; m < names.size(); ++m) {
        std::vector<double> matrix(4 * d);
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            matrix[i] = static_cast<double>(100 * (m + 1) + i);
        }
        numbers.push_back(matrix);
    }
    for (std::size_t m = 0; m < names.size(); ++m) {
        const std::vector<std::uint64_t> shape =
            names[m] == "output" ? std::vector<std::uint64_t>{d, 4} : std::vector<std::uint64_t>{4, d};
        tensors.push_back({names[m], Dtype::f64, shape, std::as_bytes(std::span(numbers[m]))});
    }
    const std::filesystem::path path = scratch("flyball-weights");
    write_safetensors(path, tensors, {});
    Settings s;
    s.dim = d;
    s.heads = 2;
    s.weights = WeightKind::file;
    s.weight_file = path.string();
    const attention::Weights<double> weights = draw_weights(s, 0, 0);
    std::filesystem::remove(path);
    ASSERT_EQ(weights.head.size(), 2U);
    EXPECT_EQ(weights.width, 2U);
    EXPECT_EQ(weights.head[0].query, (std::vector<double>{100, 101, 102, 103, 104, 105}));
    EXPECT_EQ(weights.head[1].key, (std::vector<double>{206, 207, 208, 209, 210, 211}));
    EXPECT_EQ(weights.head[1].value, (std::vector<double>{306, 307, 308, 309, 310, 311}));
    EXPECT_EQ(weights.head[0].output, (std::vector<double>{400, 401, 404, 405, 408, 409}));
    EXPECT_EQ(weights.head[1].output, (std::vector<double>{402, 403, 406, 407, 410, 411}));
}

// [d, heads*width] = [3, 4] is the only shape, though others have as many numbers and more.
TEST(WeightFiles, WithAnOutputOfAnotherShapeAreRefused) {
    const std::size_t d = 3;
    const std::vector<double> projection(4 * d, 0.5);
    const std::filesystem::path path = scratch("flyball-output");
    Settings s;
    s.dim = d;
    s.heads = 2;
    s.weights = WeightKind::file;
    s.weight_file = path.string();
    for (const std::vector<std::size_t>& shape :
         {std::vector<std::size_t>{3, 4}, {5, 4}, {3, 6}, {4, 3}, {6, 2}, {12}, {3, 4, 1}}) {
        std::size_t count = 1;
        for (const std::size_t size : shape) {
            count *= size;
        }
        const std::vector<double> output(count, 0.25);
        write_safetensors(path,
                          std::vector{tensor("query", {4, d}, projection), tensor("key", {4, d}, projection),
                                      tensor("value", {4, d}, projection), tensor("output", shape, output)},
                          {});
        if (shape == std::vector<std::size_t>{3, 4}) {
            EXPECT_NO_THROW(draw_weights(s, 0, 0));
            continue;
        }
        try {
            draw_weights(s, 0, 0);
            ADD_FAILURE() << "an output of " << testing::PrintToString(shape);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input);
            EXPECT_NE(std::string(error.what()).find("output of shape ["), std::string::npos) << error.what();
        }
    }
    std::filesystem::remove(path);
}

TEST(StoredRecords, ComeBackAsTheyWereWhateverTheirOutcome) {
    const std::filesystem::path path = scratch("flyball-record");
    const record::Identity identity = identity_of({}, program_of("post-ln"));
    for (const Outcome outcome : {Outcome::done, Outcome::until, Outcome::diverged, Outcome::nan,
                                  Outcome::step_underflow, Outcome::digits_lost, Outcome::radius_zero}) {
        Record record;
        record.outcome = outcome;
        record.ended = 1.75;
        record.samples.resize(2);
        double number = 0.25;
        for (Sample& sample : record.samples) {
            for (const SampleField& field : sample_fields()) {
                if (field.value != nullptr) {
                    sample.*field.value = number *= -1.5;
                }
            }
        }
        record.systems = {record.samples[1], record.samples[0], record.samples[0], record.samples[1]};
        record.kernel = "fused";
        record.steps = 17;
        record.evaluations = 205;
        record.seconds = 0.125;
        record.fused = {{2, 0, {1, 3}, false}};
        if (outcome == Outcome::until) {
            record.collapse_time = 0.75;
        }
        save_record(path, identity, record);
        const auto saved = load_checkpoint(path, identity, 0);
        ASSERT_TRUE(saved && saved->record) << name(outcome);
        EXPECT_EQ(saved->record->outcome, outcome);
        EXPECT_EQ(saved->record->ended, 1.75);
        EXPECT_EQ(saved->record->samples, record.samples);
        EXPECT_EQ(saved->record->systems, record.systems);
        EXPECT_EQ(saved->record->kernel, "fused");
        EXPECT_EQ(saved->record->steps, 17U);
        EXPECT_EQ(saved->record->evaluations, 205U);
        EXPECT_EQ(saved->record->seconds, 0.125);
        EXPECT_EQ(saved->record->fused, record.fused);
        EXPECT_EQ(saved->record->collapse_time, record.collapse_time);
    }
    std::filesystem::remove(path);
}

TEST(SampleTimes, OfShortRunsBeginAtAThousandthOfTheirEnd) {
    Settings s;
    s.tokens = s.dim = 2;
    s.time = 0.5;
    s.samples = 4;
    s.log_time = true;
    const Record record = run(s, program_of("post-ln"));
    ASSERT_EQ(record.samples.size(), 4U);
    EXPECT_NEAR(record.samples[1].t, 5e-4, 1e-18);
    EXPECT_NEAR(record.samples[2].t, 5e-4 * std::sqrt(1000.0), 1e-15);
}

TEST(Groups, GiveEveryTokenTheDirectionOfTheFirstAtItsOwnLength) {
    Groups groups(1, 3);
    groups.set_history({{1, 0, {0, 2}, false}});
    Values x = {3, 4, 7, 0, 0, 10};
    groups.share_directions(x, 2);
    EXPECT_EQ(x, (Values{3, 4, 7, 0, 6, 8}));
}

// What an event is looked for with is what a sample holds, of several systems too.
TEST(Events, AreMeasuredAsSamplesAre) {
    const Measured shape{3, 2, 2, 1};
    const std::vector<double> theta = {1, 0, 0, 1, 0.6, 0.8, 0.8, 0.6, 1, 0, 1, 0};
    std::vector<double> x = theta;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] *= 1 + static_cast<double>(i / 2);  // lengths 1 to 6
    }
    const Sample sample = measure(shape, 0, theta, x, {0, 0, 0}).all;
    EXPECT_DOUBLE_EQ(sample.radius, 3.5);
    std::size_t fields = 0;
    for (const SampleField& field : sample_fields()) {
        if (const auto one = measure_one(shape, field, theta, x)) {
            EXPECT_NEAR(*one, field(sample), 1e-15) << field.name;
            ++fields;
        }
    }
    EXPECT_EQ(fields, 4U) << "cosine, 1 - cosine, radius, variance";
}

TEST(Outcomes, ASmallStartIsNotAVanishedRadius) {
    Settings s;
    s.tokens = 4;
    s.dim = 3;
    s.r0 = 1e-13;
    s.layers = 1;
    s.dt = 1e-14;
    s.samples = 2;
    EXPECT_EQ(run(s, program_of("pre-ln")).outcome, Outcome::done);
}

// A run of length 1 in steps of at most 0.45 takes three of them.
TEST(EqualSteps, AreNeverLongerThanDt) {
    Settings s;
    s.tokens = s.dim = 2;
    s.time = 1;
    s.dt = 0.45;
    s.samples = 2;
    for (const MethodRow& row : method_rows()) {
        s.method = row.method;
        if (row.has_equal_steps()) {
            EXPECT_EQ(run(s, program_of("post-ln")).steps, 3U) << row.name;
        }
    }
}

TEST(SettingFields, TheSmallestNumbersThatMakeSenseAreTaken) {
    for (const SettingField& field : setting_fields()) {
        Settings s;
        s.seed = 5;
        if (std::string(field.key) == "seed") {
            field.parse("0", s);
            EXPECT_EQ(s.seed, 0U);
        }
    }
}

// An equation before a scheme of the catalogue: what is written has to name the runs in the same order.
TEST(RunFolders, KeepTheOrderOfTheirRuns) {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("flyball-order-" + std::to_string(getpid()));
    const std::vector<scheme::Scheme> schemes =
        scheme::find_schemes({"norm(x + dt*f(x))", "pre-ln"}, {"mine=x + dt*f(x) | norm(x)"});
    { const RunFolder folder(path, record::FolderUse::fresh, {Settings{}, schemes, false, ""}); }
    std::vector<std::string> names;
    std::vector<std::string> equations;
    for (const ConfigEntry& entry : load_config(path / "config.toml")) {
        if (entry.key == "simulate.scheme") {
            names = entry.values;
        } else if (entry.key == "simulate.equation") {
            equations = entry.values;
        }
    }
    std::filesystem::remove_all(path);
    const std::vector<scheme::Scheme> again = scheme::find_schemes(names, equations);
    ASSERT_EQ(again.size(), schemes.size());
    for (std::size_t i = 0; i < schemes.size(); ++i) {
        EXPECT_EQ(again[i].name, schemes[i].name);
        EXPECT_EQ(again[i].program.text(), schemes[i].program.text());
    }
}

}  // namespace
}  // namespace flyball::dynamics::edges_test
