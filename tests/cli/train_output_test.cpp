// What `flyball train` prints and draws, against the files that hold the same numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "core/file.hpp"
#include "core/json.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

using Points = std::vector<std::pair<double, double>>;

class TrainOutput : public testing::Test {
  protected:
    TrainOutput() {
        folder_ = std::filesystem::temp_directory_path() / ("flyball-train-output-" + std::to_string(getpid()));
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        std::ofstream text(folder_ / "text.txt");
        for (int i = 0; i < 60; ++i) {
            text << "to be or not to be, that is the question; ";
        }
    }
    ~TrainOutput() override { std::filesystem::remove_all(folder_); }
    TrainOutput(const TrainOutput&) = delete;
    TrainOutput& operator=(const TrainOutput&) = delete;

    // Trains on the text; what it leaves is in the folder "run".
    Outcome train(const std::string& rest) const {
        return run_program("train --data '" + (folder_ / "text.txt").string() + sizes + rest + " --out '" +
                           (folder_ / "run").string() + "'");
    }
    std::string contents(const std::string& name) const { return read_text_file(folder_ / "run" / name, 1U << 26U); }
    Json json(const std::string& name) const { return parse_json(contents(name), name); }
    std::vector<Json> lines(const std::string& name = "metrics.jsonl") const {
        std::istringstream text(contents(name));
        std::vector<Json> all;
        for (std::string line; std::getline(text, line);) {
            all.push_back(parse_json(line, name));
        }
        return all;
    }
    // The series of a figure, by name.
    std::map<std::string, Points> figure(const std::string& name) const {
        std::istringstream text(contents(name));
        std::map<std::string, Points> series;
        std::string line;
        std::getline(text, line);
        EXPECT_EQ(line, "series,x,y");
        while (std::getline(text, line)) {
            const std::size_t y = line.rfind(',');
            const std::size_t x = line.rfind(',', y - 1);
            series[line.substr(0, x)].emplace_back(std::stod(line.substr(x + 1, y - x - 1)),
                                                   std::stod(line.substr(y + 1)));
        }
        return series;
    }

    // The same where lines have bands: rows of x, y, lo and hi.
    std::vector<std::array<double, 4>> banded(const std::string& name, const std::string& series) const {
        std::istringstream text(contents(name));
        std::vector<std::array<double, 4>> rows;
        std::string line;
        std::getline(text, line);
        EXPECT_TRUE(line == "series,x,y,lo,hi" || line == "series,x,y") << line;  // where no run has a point
        while (std::getline(text, line)) {
            if (!line.starts_with(series + ",")) {
                continue;
            }
            std::istringstream fields(line.substr(series.size() + 1));
            rows.push_back({std::nan(""), std::nan(""), std::nan(""), std::nan("")});
            std::string field;
            for (std::size_t k = 0; k < 4 && std::getline(fields, field, ','); ++k) {
                rows.back()[k] = field.empty() ? std::nan("") : std::stod(field);
            }
        }
        return rows;
    }

    static constexpr const char* sizes = "' --layers 3 --dim 8 --heads 2 --context 8 --batch 4 ";
    std::filesystem::path folder_;
};

void expect_points(const Points& found, const Points& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i].first, expected[i].first, 1e-12) << i;
        EXPECT_NEAR(found[i].second, expected[i].second, 1e-9 * std::fabs(expected[i].second)) << i;
    }
}

// 301 steps are drawn as means of two neighbours each, in the middle of them; the last stands alone.
TEST_F(TrainOutput, FiguresAreOfTheLinesAndOfTheLastRecord) {
    const Outcome outcome = train("peri-ln --steps 301 --record 100");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const std::vector<Json> all = lines();
    ASSERT_EQ(all.size(), 301U);
    Points loss;
    Points gradient;
    Points norm;
    Points validation;
    for (std::size_t i = 0; i < 301; ++i) {
        const double one = all[i].at("loss").get<double>();
        const auto step = static_cast<double>(i + 1);
        if (i % 2 == 1) {
            loss.back() = {step - 0.5, (loss.back().second + one) / 2};
        } else {
            loss.emplace_back(step, one);
        }
        gradient.emplace_back(step, all[i].at("gradient_norm").get<double>());
        if (all[i].contains("layers")) {
            norm.emplace_back(step, all[i].at("layers").at(2).at("norm").get<double>());
        }
        if (all[i].contains("validation_loss")) {
            validation.emplace_back(step, all[i].at("validation_loss").get<double>());
        }
    }
    EXPECT_EQ(norm.size(), 5U);  // steps 1, 100, 200, 300, 301
    expect_points(figure("loss.csv").at("peri-ln"), loss);
    expect_points(figure("steps-gradient.csv").at("peri-ln"), gradient);
    expect_points(figure("steps-norm.csv").at("peri-ln"), norm);
    expect_points(figure("validation.csv").at("peri-ln"), validation);

    const Json& last = all.back();
    const auto over_depth = [&](const char* field, bool with_embedding) {
        Points points;
        if (with_embedding) {
            points.emplace_back(0, last.at("embedding").at(field).get<double>());
        }
        for (std::size_t l = 0; l < 3; ++l) {
            points.emplace_back(static_cast<double>(l + 1), last.at("layers").at(l).at(field).get<double>());
        }
        return points;
    };
    for (const char* field : {"norm", "mean_abs", "entry_variance", "data_variance", "gradient"}) {
        expect_points(figure(fmt::format("depth-{}.csv", field)).at("peri-ln"), over_depth(field, true));
    }
    for (const char* field :
         {"attention_norm", "attention_ratio", "ffn_norm", "ffn_ratio", "entropy", "largest_logit", "angle_ratio"}) {
        expect_points(figure(fmt::format("depth-{}.csv", field)).at("peri-ln"), over_depth(field, false));
    }
    const std::map<std::string, Points> angles = figure("depth-angle.csv");
    expect_points(angles.at("peri-ln"), over_depth("angle", false));
    expect_points(angles.at("\"peri-ln, predicted\""), over_depth("angle_predicted", false));

    // Every file but the list itself, and the page that is made from all of them, is on the list.
    const Json files = json("provenance.json").at("files");
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "run")) {
        const std::string name = entry.path().filename().string();
        EXPECT_TRUE(name == "provenance.json" || name == "report.html" || files.contains(name)) << name;
    }
}

// Text whose entropy is known: the gap is that of the validation loss.
TEST_F(TrainOutput, TheTableIsOfTheSummaries) {
    const Outcome outcome =
        run_program("train pre-ln peri-ln --layers 2 --dim 8 --heads 2 --context 16 --batch 4 --steps 30 --out '" +
                    (folder_ / "run").string() + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json summaries = json("summary.json");
    ASSERT_EQ(summaries.size(), 2U);
    std::istringstream text(outcome.out);
    std::map<std::string, std::vector<std::string>> rows;  // by the first word of a line
    for (std::string line; std::getline(text, line);) {
        std::istringstream words(line);
        std::string first;
        words >> first;
        for (std::string word; words >> word;) {
            rows[first].push_back(word);
        }
    }
    for (const Json& one : summaries) {
        const auto number = [&](const char* key) { return one.at(key).get<double>(); };
        const auto shown = [](double value) { return fmt::format("{:.4g}", value); };
        const std::vector<std::string> expected = {shown(number("loss")),
                                                   shown(number("validation_loss")),
                                                   shown(number("validation_loss") - number("entropy_floor")),
                                                   shown(number("growth")),
                                                   shown(number("smallest_gradient")),
                                                   shown(number("largest_gradient")),
                                                   "done"};  // 80 columns have no room for tokens/s
        EXPECT_EQ(rows[one.at("name").get<std::string>()], expected);
        EXPECT_LT(number("smallest_gradient"), number("largest_gradient"));
    }
    const Points floor = figure("loss.csv").at("entropy floor");
    const double least = summaries.at(0).at("entropy_floor").get<double>();
    expect_points(floor, {{1, least}, {30, least}});
}

TEST_F(TrainOutput, SaysAtWhichStepAndAfterWhichLayerARunEnded) {
    const Outcome outcome = train("pre-ln --steps 5 --init 'ffn-out=t > 0 ? 1e38 : 0.02'");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    std::string out = outcome.out;
    std::replace(out.begin(), out.end(), '\n', ' ');  // lines are cut at 80 columns
    EXPECT_NE(out.find(" pre-ln-1 ended at step 1: the stream after layer 2 was no longer a finite number. "),
              std::string::npos)
        << outcome.out;
    // A table without a gap has room for the speed.
    const double speed = json("summary.json").at("tokens_per_second").get<double>();
    EXPECT_NE(outcome.out.find(fmt::format("{:.0f}", std::fmod(speed, 1000) + 1000).substr(1)), std::string::npos);
    const Json failure = json("summary.json").at("failure");
    EXPECT_EQ(failure.at("layer"), 2);
    EXPECT_EQ(failure.at("step"), 1);
    EXPECT_EQ(failure.at("quantity"), "stream");
}

// A line of stderr for every look at the validation part. After the last step of the last run nothing is left; what the
// runs took before, half a second and more, would be seen there.
TEST_F(TrainOutput, LinesOnTheWaySayWhichRunItIsAndHowLongAllTake) {
    const Outcome outcome = run_program(
        "train pre-ln --data '" + (folder_ / "text.txt").string() +
        "' --layers 2 --dim 64 --heads 2 --context 64 --batch 16 --steps 120 --validate 60 --seeds 2 --threads 1");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const std::regex line(
        R"((\S+ \(\d of \d\)  step \d+ of \d+)  loss \S+  \S+ tokens/s  (.*) left for all  validation \S+\n)");
    std::vector<std::string> places;
    std::string left;
    for (std::sregex_iterator it(outcome.err.begin(), outcome.err.end(), line), stop; it != stop; ++it) {
        places.push_back((*it)[1]);
        left = (*it)[2];
    }
    EXPECT_EQ(places,
              (std::vector<std::string>{"pre-ln-1 (1 of 2)  step 60 of 120", "pre-ln-1 (1 of 2)  step 120 of 120",
                                        "pre-ln-2 (2 of 2)  step 60 of 120", "pre-ln-2 (2 of 2)  step 120 of 120"}))
        << outcome.err;
    EXPECT_EQ(left, "0 seconds");
    const Outcome one = train("pre-ln --steps 1");
    EXPECT_TRUE(one.err.starts_with("pre-ln-1 (1 of 1)  step 1 of 1  loss ")) << one.err;
    EXPECT_NE(one.err.find(" tokens/s  0 seconds left  validation "), std::string::npos) << one.err;
}

double seconds_in(const std::string& words) {
    const double number = std::stod(words);
    for (const auto& [unit, seconds] :
         {std::pair{"minutes", 60.0}, {"hours", 3600.0}, {"days", 86400.0}, {"years", 365.25 * 86400}}) {
        if (words.ends_with(unit)) {
            return number * seconds;
        }
    }
    return number;
}

// The 999 runs to come take as long as the first one, by what its steps have taken. All of its 200 steps take at least
// half of what 100 of them made one expect, on whatever machine: the second line tells nearly half of the first or
// more.
TEST_F(TrainOutput, WhatTheRunsToComeTakeIsNotForgottenAtTheEndOfOne) {
    const std::string said = (folder_ / "said").string();
    const Outcome outcome =
        run_program("train pre-ln --data '" + (folder_ / "text.txt").string() + sizes +
                    "--steps 200 --validate 100 --seeds 1000 --threads 1 2>'" + said +
                    "' & p=$!; for i in $(seq 3000); do [ $(grep -c validation '" + said +
                    "') -ge 2 ] && break; sleep 0.01; done; kill -KILL $p; wait $p; cat '" + said + "'");
    const std::regex line(R"(\(1 of 1000\)  step (\d+) of 200  .* tokens/s  (.*) left for all)");
    std::map<std::string, double> left;
    for (std::sregex_iterator it(outcome.out.begin(), outcome.out.end(), line), stop; it != stop; ++it) {
        left[(*it)[1]] = seconds_in((*it)[2]);
    }
    ASSERT_EQ(left.size(), 2U) << outcome.out;
    EXPECT_GT(left.at("100"), 1) << outcome.out;
    EXPECT_GT(left.at("200"), 0.4 * left.at("100")) << outcome.out;
}

TEST_F(TrainOutput, SeedsFollowOneAnother) {
    ASSERT_EQ(train("pre-ln --steps 1 --seed 5 --seeds 3").exit, 0);
    const Json summaries = json("summary.json");
    ASSERT_EQ(summaries.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(summaries.at(i).at("seed").get<std::size_t>(), 5 + i);
        EXPECT_EQ(summaries.at(i).at("name"), fmt::format("pre-ln-{}", 5 + i));
    }
}

// Step, mean, least and largest of the numbers there are.
using Banded = std::vector<std::array<double, 4>>;

Banded over_seeds(const std::vector<Points>& seeds) {
    std::map<double, std::vector<double>> values;
    for (const Points& seed : seeds) {
        for (const auto& [x, y] : seed) {
            std::vector<double>& there = values[x];
            if (!std::isnan(y)) {
                there.push_back(y);
            }
        }
    }
    Banded result;
    for (auto& [x, there] : values) {
        std::sort(there.begin(), there.end());
        double sum = 0;
        for (const double y : there) {
            sum += y;
        }
        const double none = std::nan("");
        result.push_back(there.empty() ? std::array<double, 4>{x, none, none, none}
                                       : std::array<double, 4>{x, sum / static_cast<double>(there.size()),
                                                               there.front(), there.back()});
    }
    return result;
}

void expect_banded(const Banded& found, const Banded& expected, const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (std::size_t k = 0; k < 4; ++k) {
            EXPECT_EQ(std::isnan(found[i][k]), std::isnan(expected[i][k])) << what << " at " << i << ", " << k;
            if (!std::isnan(expected[i][k])) {
                EXPECT_NEAR(found[i][k], expected[i][k], 1e-9 * std::fabs(expected[i][k])) << what << " at " << i;
            }
        }
    }
}

// A start without a loss, and a learning rate at which some runs end earlier than others.
TEST_F(TrainOutput, SeedsAreDrawnAsTheirMeanWithABandAndCountAsFarAsTheyWent) {
    std::set<std::size_t> ends;
    std::size_t without_loss = 0;
    for (const char* rest : {"--steps 5 --init ffn-out=3e37", "--steps 30 --record 10 --rate 1.5 --spike 0.15"}) {
        std::filesystem::remove_all(folder_ / "run");
        const Outcome outcome = train("pre-ln --dt 1,0.5 --seeds 3 " + std::string(rest));
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        for (const char* dt : {"1", "0.5"}) {
            std::vector<Points> loss(3), norm(3), depth(3);
            for (std::size_t i = 0; i < 3; ++i) {
                const std::vector<Json> all = lines(fmt::format("pre-ln-dt{}-{}/metrics.jsonl", dt, i + 1));
                ends.insert(all.size());
                for (const Json& line : all) {
                    const auto step = line.at("step").get<double>();
                    without_loss += line.at("loss").is_null() ? 1 : 0;
                    loss[i].emplace_back(step, line.at("loss").is_null() ? std::nan("") : line["loss"].get<double>());
                    if (line.contains("layers")) {
                        norm[i].emplace_back(step, line["layers"].back().at("norm").get<double>());
                        depth[i] = {{0, line.at("embedding").at("norm").get<double>()}};
                        for (const Json& layer : line["layers"]) {
                            depth[i].emplace_back(layer.at("layer").get<double>(), layer.at("norm").get<double>());
                        }
                    }
                }
            }
            const std::string name = fmt::format("pre-ln-dt{}", dt);
            expect_banded(banded("loss.csv", name), over_seeds(loss), name + " loss");
            expect_banded(banded("steps-norm.csv", name), over_seeds(norm), name + " norm over steps");
            expect_banded(banded("depth-norm.csv", name), over_seeds(depth), name + " norm over depth");
        }
        // The caption takes several lines. Six runs, but three seeds.
        const std::string words = std::regex_replace(contents("loss.svg"), std::regex("(<[^>]*>|\\s)+"), " ");
        EXPECT_NE(words.find("lines are means of 3 seeds, bands reach"), std::string::npos) << words;
    }
    EXPECT_EQ(banded("depth-angle.csv", "\"pre-ln-dt1, predicted\"").size(), 3U);
    EXPECT_GT(ends.size(), 2U) << "runs that end at different steps are what this is about";
    EXPECT_GT(without_loss, 0U);
}

TEST_F(TrainOutput, AModelThatIsTrainedFurtherKeepsItsEquation) {
    ASSERT_EQ(train("peri-ln --steps 1").exit, 0);
    const Outcome further = run_program("train --data '" + (folder_ / "text.txt").string() + sizes +
                                        "--steps 1 --json --from '" + (folder_ / "run").string() + "'");
    ASSERT_EQ(further.exit, 0) << further.err;
    const Json summary = parse_json(further.out, "out");
    EXPECT_EQ(summary.at("equation"), "x + dt*norm(f(norm(x))) | norm(x)");
    EXPECT_EQ(summary.at("notes"), Json::array());
}

// A flag without effect would be taken for one that was heard.
TEST_F(TrainOutput, AModelThatIsTrainedFurtherKeepsItsParts) {
    ASSERT_EQ(train("peri-ln --steps 1").exit, 0);
    const std::string call = "train --data '" + (folder_ / "text.txt").string() +
                             "' --context 8 --batch 4 --steps 1 --from '" + (folder_ / "run").string() + "' ";
    for (const char* wrong :
         {"--layers 4", "--dim 16", "--heads 1", "--ffn 48", "--norm rmsnorm", "--attention sigmoid", "--untied",
          "--positions rope", "--activation swiglu", "--qk-norm head", "--init gains=2"}) {
        const Outcome outcome = run_program(call + wrong);
        EXPECT_EQ(outcome.exit, 2) << wrong;
        const std::string flag = std::string(wrong).substr(0, std::string(wrong).find(' '));
        EXPECT_NE(outcome.err.find("got " + flag), std::string::npos) << wrong << ": " << outcome.err;
    }
    const Outcome same = run_program(call + "--layers 3 --dim 8 --heads 2 --ffn 32");
    EXPECT_EQ(same.exit, 0) << same.err;
}

}  // namespace
}  // namespace flyball::cli::test
