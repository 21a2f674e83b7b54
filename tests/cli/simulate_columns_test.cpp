// Every number of a sample, in every place where `flyball simulate` writes it, is the field of that name: the program
// against the library's own run of the same settings.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/file.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"
#include "dynamics/run.hpp"
#include "dynamics/sample.hpp"
#include "hdf5_file.hpp"
#include "program.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli::test {
namespace {

using dynamics::Sample;

const std::string moving_flags =
    "simulate --scheme pre-ln --tokens 6 --dim 3 --beta 2 --start gaussian --systems 4 --seed 5 --time 2e4 --samples 7 "
    "--log-time";

struct Expected {
    dynamics::Record record;
    std::vector<std::vector<double>> x;      // of every sample
    std::vector<std::vector<double>> theta;  // and their directions
};

Expected expected_run() {
    dynamics::Settings s;
    s.tokens = 6;
    s.dim = 3;
    s.beta = 2;
    s.start = dynamics::StartKind::gaussian;
    s.systems = 4;
    s.seed = 5;
    s.time = 2e4;
    s.samples = 7;
    s.log_time = true;
    Expected expected;
    dynamics::Watch watch;
    watch.sampled = [&](const Sample&, const dynamics::Particles& particles) {
        expected.x.push_back(particles.x());
        expected.theta.push_back(particles.theta());
    };
    expected.record = dynamics::run(s, scheme::find_scheme("pre-ln").program, watch);
    return expected;
}

// Name in tables -> field. The six fields about cosine and radius differ from each other in this run.
std::map<std::string, double> fields(const Sample& s) {
    return {{"t", s.t},
            {"cosine", s.cosine},
            {"cosine_lo", s.cosine_lo},
            {"cosine_hi", s.cosine_hi},
            {"radius", s.radius},
            {"radius_min", s.radius_min},
            {"radius_max", s.radius_max},
            {"variance", s.variance},
            {"energy", s.energy},
            {"speed", s.speed},
            {"clusters", s.clusters},
            {"pair_fraction", s.pair_fraction},
            {"effective_rank", s.effective_rank},
            {"one_minus_cosine", s.one_minus_cosine},
            {"log_one_minus_cosine", std::log(s.one_minus_cosine)}};
}

TEST(SimulateColumns, OfTheJsonAreTheFieldsOfTheirName) {
    const Expected expected = expected_run();
    const Outcome outcome = run_program(moving_flags + " --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json document = parse_json(outcome.out, "json");
    const Json& run = document["runs"][0];
    EXPECT_EQ(run["scheme"], "pre-ln");
    EXPECT_EQ(run["equation"], "x + dt*f(norm(x)) | norm(x)");
    for (std::size_t i = 0; i < 7; ++i) {
        std::map<std::string, double> shown;
        for (const char* key :
             {"t", "variance", "energy", "speed", "clusters", "pair_fraction", "effective_rank", "one_minus_cosine"}) {
            shown[key] = run[key][i];
        }
        shown["cosine"] = run["cosine"]["mean"][i];
        shown["cosine_lo"] = run["cosine"]["lo"][i];
        shown["cosine_hi"] = run["cosine"]["hi"][i];
        shown["radius"] = run["radius"]["mean"][i];
        shown["radius_min"] = run["radius"]["min"][i];
        shown["radius_max"] = run["radius"]["max"][i];
        EXPECT_EQ(shown.size() + 1, dynamics::sample_fields().size())
            << "all but the logarithm; a field has no line here";
        for (const auto& [name, value] : shown) {
            EXPECT_EQ(value, fields(expected.record.samples.at(i)).at(name)) << name << " " << i;
        }
    }
    ASSERT_TRUE(expected.record.collapse_time.has_value()) << "nothing was tested";
    EXPECT_EQ(run["collapse_time"], *expected.record.collapse_time);
    EXPECT_EQ(run["stats"]["steps"], expected.record.steps);
    EXPECT_EQ(run["stats"]["evaluations"], expected.record.evaluations);
    EXPECT_EQ(run["kernel"], expected.record.kernel);
    EXPECT_FALSE(run.contains("systems")) << "on request only";
}

TEST(SimulateColumns, OfEverySystemAreInTheJsonOnRequest) {
    const Expected expected = expected_run();
    const Outcome outcome = run_program(moving_flags + " --per-system --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json systems = parse_json(outcome.out, "json")["runs"][0]["systems"];
    EXPECT_EQ(systems.size(), 11U) << "all fields but t, the quantiles and the logarithm";
    ASSERT_EQ(expected.record.systems.size(), 28U);
    for (std::size_t i = 0; i < 7; ++i) {
        for (std::size_t m = 0; m < 4; ++m) {
            const std::map<std::string, double> row = fields(expected.record.systems.at(4 * i + m));
            for (const auto& [name, values] : systems.items()) {
                EXPECT_EQ(values[i][m], row.at(name)) << name << " " << i << " " << m;
            }
        }
    }
}

TEST(SimulateColumns, OfTheTableAreTheFieldsOfTheirName) {
    const Expected expected = expected_run();
    const Outcome outcome = run_program(moving_flags, "COLUMNS=200");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    const auto cells = [](std::string line) {
        std::vector<std::string> parts;
        while (!line.empty()) {
            const std::size_t end = std::min(line.find("  "), line.size());
            parts.push_back(line.substr(0, end));
            line.erase(0, std::min(line.find_first_not_of(' ', end), line.size()));
        }
        return parts;
    };
    std::string line;
    while (line.rfind("scheme ", 0) != 0) {
        ASSERT_TRUE(std::getline(lines, line)) << outcome.out;
    }
    const std::vector<std::string> head = cells(line);
    std::getline(lines, line);
    std::getline(lines, line);
    const std::vector<std::string> row = cells(line);
    ASSERT_EQ(row.size(), head.size()) << line;
    std::map<std::string, std::string> table;
    for (std::size_t i = 0; i < head.size(); ++i) {
        table[head[i]] = row[i];
    }
    const Sample& first = expected.record.samples.front();
    const Sample& last = expected.record.samples.back();
    const std::map<std::string, double> numbers = {
        {"end t", last.t},           {"cosine at 0", first.cosine},
        {"cosine", last.cosine},     {"radius", last.radius},
        {"speed at 0", first.speed}, {"speed", last.speed},
        {"clusters", last.clusters}, {"collapse", *expected.record.collapse_time}};
    for (const auto& [name, value] : numbers) {
        ASSERT_TRUE(table.contains(name)) << name << outcome.out;
        EXPECT_NEAR(parse_double(table[name]).value_or(std::nan("")), value, 6e-3 * std::abs(value) + 6e-5) << name;
    }
    EXPECT_EQ(table["scheme"], "pre-ln");
    EXPECT_EQ(table["outcome"], "done");
    EXPECT_EQ(table["kernel"], expected.record.kernel);
}

TEST(SimulateColumns, OfTheFolderAreTheFieldsOfTheirName) {
    const Expected expected = expected_run();
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("flyball-columns-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder);
    ASSERT_EQ(run_program(moving_flags + " --trajectory --out " + folder.string()).exit, 0);

    std::istringstream table(read_text_file((folder / "samples.csv").string(), 1 << 20));
    const auto cells = [&table] {
        std::string line;
        std::getline(table, line);
        std::vector<std::string> parts;
        std::istringstream rest(line);
        for (std::string cell; std::getline(rest, cell, ',');) {
            parts.push_back(cell);
        }
        return parts;
    };
    const std::vector<std::string> head = cells();
    const SafeTensors arrays = SafeTensors::open(folder / "samples.safetensors");
    std::size_t compared = 0;
    for (std::size_t i = 0; i < 7; ++i) {
        const std::map<std::string, double> row = fields(expected.record.samples.at(i));
        const std::vector<std::string> shown = cells();
        ASSERT_EQ(shown.size(), head.size());
        EXPECT_EQ(shown[0], "\"pre-ln\"");
        for (std::size_t c = 1; c < head.size(); ++c) {
            if (row.count(head[c]) == 0) {
                continue;
            }
            ++compared;
            const double value = row.at(head[c]);
            EXPECT_NEAR(parse_double(shown[c]).value_or(std::nan("")), value, 1e-12 * std::abs(value)) << head[c];
            EXPECT_NEAR(arrays.read<double>("0.pre-ln." + head[c]).at(i), value, 1e-12 * std::abs(value)) << head[c];
        }
    }
    EXPECT_EQ(compared, 7 * fields(expected.record.samples[0]).size()) << "a column is missing";
    std::size_t of_systems = 0;
    for (const std::string& name : arrays.names()) {
        const std::string begin = "0.pre-ln.systems.";
        if (!name.starts_with(begin)) {
            continue;
        }
        ++of_systems;
        EXPECT_EQ(arrays.info(name).shape, (std::vector<std::size_t>{7, 4})) << name;
        const std::vector<double> values = arrays.read<double>(name);
        for (std::size_t i = 0; i < 28; ++i) {
            EXPECT_EQ(values.at(i), fields(expected.record.systems.at(i)).at(name.substr(begin.size()))) << name;
        }
    }
    EXPECT_EQ(of_systems, 11U) << "all fields but t, the quantiles and the logarithm";
    EXPECT_EQ(compared, 7 * dynamics::sample_fields().size()) << "a field has no line in this file";

    const flyball::test::Hdf5File file(folder / "trajectory.h5");
    EXPECT_EQ(file.shape("/particles/tokens/position/value"), (std::vector<hsize_t>{7, 24, 3}));
    std::vector<double> positions;
    std::vector<double> times;
    for (std::size_t i = 0; i < 7; ++i) {
        positions.insert(positions.end(), expected.x[i].begin(), expected.x[i].end());
        times.push_back(expected.record.samples[i].t);
    }
    EXPECT_EQ(file.numbers("/particles/tokens/position/value"), positions);
    EXPECT_EQ(file.numbers("/particles/tokens/position/time"), times);

    // The sphere: six of the seven samples, the tokens of the first system.
    std::istringstream sphere(read_text_file((folder / "sphere-pre-ln.csv").string(), 1 << 20));
    std::string line;
    std::getline(sphere, line);
    EXPECT_EQ(line, "t,point,x,y,z");
    for (const std::size_t i : {0U, 1U, 2U, 4U, 5U, 6U}) {
        for (std::size_t j = 0; j < 6; ++j) {
            std::getline(sphere, line);
            std::istringstream rest(line);
            for (const double value : {times[i], static_cast<double>(j), expected.theta[i][3 * j],
                                       expected.theta[i][3 * j + 1], expected.theta[i][3 * j + 2]}) {
                std::string cell;
                std::getline(rest, cell, ',');
                EXPECT_NEAR(parse_double(cell).value_or(std::nan("")), value, 1e-12 * std::abs(value)) << line;
            }
        }
    }
    EXPECT_FALSE(std::getline(sphere, line)) << line;
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace flyball::cli::test
