// train --out: summary.json and metrics.jsonl, of one run or of a folder of runs, finished or not.
#include <fmt/format.h>

#include <algorithm>

#include "core/config.hpp"
#include "results/in_short.hpp"
#include "results/parts.hpp"

namespace flyball::results {

namespace {

struct Trained {
    std::string name, scheme;
    std::string metrics;  // file
};

// What was recorded of the layers at the last step that has a record of them.
Json last_layers(const Json& lines) {
    for (std::size_t i = lines.size(); i-- > 0;) {
        if (lines[i].contains("layers") && lines[i]["layers"].is_array() && !lines[i]["layers"].empty()) {
            Json layers = Json::array();
            for (std::size_t l = 0; l < lines[i]["layers"].size(); ++l) {
                Json layer = lines[i]["layers"][l];
                layer["layer"] = l + 1;  // as the figures of training count them
                layers.push_back(std::move(layer));
            }
            return layers;
        }
    }
    return Json::array();
}

Json summary_row(const Json& s) {
    return {words(s.at("name")),
            words(s.at("equation")),
            words(s.at("outcome")),
            s.at("steps"),
            s.at("loss"),
            s.at("validation_loss"),
            number_or_nan(s, "entropy_floor"),
            number_or_nan(s, "growth"),
            number_or_nan(s, "smallest_gradient"),
            number_or_nan(s, "largest_gradient"),
            number_or_nan(s, "tokens_per_second")};
}

struct Order {
    std::size_t scheme = 0;  // its place in what was asked for
    std::string seed;
    Trained run;
};

std::vector<std::string> values_of(const std::vector<ConfigEntry>& settings, std::string_view key) {
    for (const ConfigEntry& entry : settings) {
        if (entry.key == key) {
            return entry.values;
        }
    }
    return {};
}

// The one run of the folder, or those folders in it that a run was begun in, in the order in which they were asked for.
std::vector<Trained> runs_so_far(Reader& reader) {
    if (reader.finished() || reader.has("metrics.jsonl")) {
        const std::vector<std::string> schemes = values_of(load_config(reader.file("config.toml")), "train.scheme");
        const std::string scheme = schemes.size() == 1 ? schemes.front() : std::string();
        return {{scheme.empty() ? "this run" : scheme, scheme, "metrics.jsonl"}};
    }
    const std::vector<std::string> asked = values_of(load_config(reader.file("config.toml")), "train.scheme");
    std::vector<Order> found;
    for (const std::string& name : reader.folders()) {
        if (name == "work" || !reader.has(name + "/config.toml") || !reader.has(name + "/metrics.jsonl")) {
            continue;
        }
        std::vector<ConfigEntry> settings;  // of a damaged file none: its curves are shown all the same
        reader.attempt(name + "/config.toml", [&] { settings = load_config(reader.file(name + "/config.toml")); });
        const std::vector<std::string> schemes = values_of(settings, "train.scheme");
        const std::vector<std::string> seeds = values_of(settings, "train.seed");
        const std::string scheme = schemes.size() == 1 ? schemes.front() : std::string();
        const auto place = std::find(asked.begin(), asked.end(), scheme);
        std::string seed = seeds.empty() ? std::string() : seeds.front();
        seed.insert(0, seed.size() < 20 ? 20 - seed.size() : 0, ' ');  // 10 after 9
        found.push_back({static_cast<std::size_t>(place - asked.begin()),
                         std::move(seed),
                         {name, scheme, name + "/metrics.jsonl"}});
    }
    std::stable_sort(found.begin(), found.end(), [](const Order& a, const Order& b) {
        return a.scheme != b.scheme ? a.scheme < b.scheme : a.seed < b.seed;
    });
    std::vector<Trained> runs;
    for (Order& one : found) {
        runs.push_back(std::move(one.run));
    }
    return runs;
}

}  // namespace

void read_training(Reader& reader) {
    std::vector<Trained> runs;
    if (reader.has("summary.json")) {
        reader.attempt("summary.json", [&] {
            const Json summary = reader.json("summary.json");
            const Json list = summary.is_array() ? summary : Json::array({summary});
            say_training(reader, list);
            Json rows = Json::array();
            for (const Json& one : list) {
                rows.push_back(summary_row(one));
                const std::string name = one.at("name").get<std::string>();
                // The folder of a run is called as the run is; a name that leads elsewhere is no run of ours.
                if (name.find('/') == std::string::npos && name != "..") {
                    runs.push_back({name, one.at("scheme").get<std::string>(),
                                    summary.is_array() ? name + "/metrics.jsonl" : "metrics.jsonl"});
                }
            }
            reader.add(
                table("How it ended",
                      "Losses are in nats a token. Growth: length of the stream after the last block over that of "
                      "the embedding. The gradients are the smallest and the largest among the blocks, at the end.",
                      {"run", "equation", "outcome", "steps", "loss", "validation_loss", "least possible loss",
                       "growth", "smallest gradient", "largest gradient", "tokens_per_second"},
                      std::move(rows), reader.detail()));
        });
    } else {
        runs = runs_so_far(reader);
    }
    std::vector<CurveSeries> steps;
    std::vector<CurveSeries> depth;
    std::size_t own_equations = 0;
    for (const Trained& run : runs) {
        reader.attempt_so_far(run.metrics, [&] {
            const Json lines = reader.json_lines(run.metrics);
            const report::Style style =
                run.scheme.empty() ? report::Style{} : style_of_scheme(run.scheme, own_equations);
            if (lines.empty() && !reader.finished()) {
                return;  // no step is done yet
            }
            steps.push_back(series_of_records(run.name, lines, "step"));
            steps.back().style = style;
            if (const Json layers = last_layers(lines); !layers.empty()) {
                depth.push_back(series_of_records(run.name, layers, "layer"));
                depth.back().style = style;
            }
        });
    }
    if (!steps.empty()) {
        reader.add(curves({"Over steps", "", "step", false, {"loss", "validation_loss", "gradient_norm"}},
                          std::move(steps), reader.detail()));
    }
    if (!depth.empty()) {
        reader.add(curves(
            {"Over depth, at the end",
             "What was recorded after each block, counted from 1, at the last step that has a record of the blocks.",
             "block",
             false,
             {"norm", "gradient", "angle", "attention_ratio"}},
            std::move(depth), reader.detail()));
    }
}

}  // namespace flyball::results
