// simulate --out while it goes on: what work/ has of the samples so far (dynamics/sample_log.hpp), and of the frames.
#include <fmt/format.h>

#include <algorithm>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "record/sealed.hpp"
#include "results/simulated.hpp"

namespace flyball::results {

namespace {

// The head, a row a sample, and how it ended when it has.
Simulated read_sample_log(const Json& lines, std::size_t& own_equations) {
    Simulated run;
    const Json& head = lines.at(0);
    run.name = head.at("scheme").get<std::string>();
    run.equation = head.at("equation").get<std::string>();
    run.outcome = "goes on";
    run.style = style_of_scheme(run.name, own_equations);
    run.series = {run.name, run.style, {}, {}};
    const std::vector<std::string> columns = head.at("columns").get<std::vector<std::string>>();
    for (const std::string& column : columns) {
        run.series.quantities.push_back({column, {}, {}});
    }
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].is_object()) {
            run.outcome = lines[i].at("outcome").get<std::string>();
            continue;
        }
        const std::vector<double> row = numbers(lines[i]);
        if (row.size() != columns.size()) {
            throw Error(ErrorKind::input, "results.simulation", fmt::format("a sample of {} numbers", row.size()),
                        fmt::format("{} columns", columns.size()));
        }
        for (std::size_t k = 0; k < columns.size(); ++k) {
            run.series.quantities[k].y.push_back(row[k]);
        }
    }
    const auto time = std::find_if(run.series.quantities.begin(), run.series.quantities.end(),
                                   [](const CurveQuantity& one) { return one.name == "t"; });
    if (time == run.series.quantities.end()) {
        throw Error(ErrorKind::input, "results.simulation", "samples without a time", "a column called t");
    }
    run.series.x = time->y;
    run.series.quantities.erase(time);
    return run;
}

Json progress_table(const std::vector<Simulated>& runs, const Detail& detail) {
    Json rows = Json::array();
    for (const Simulated& run : runs) {
        rows.push_back({run.name, run.equation, run.outcome, run.series.x.size(),
                        run.series.x.empty() ? Json() : Json(run.series.x.back()), run.at_end("cosine.mean"),
                        run.at_end("speed")});
    }
    return table("How far it is", "Schemes are run one after the other; those that are not listed have not begun.",
                 {"scheme", "equation", "state", "samples so far", "at time", "cosine now", "speed now"},
                 std::move(rows), detail);
}

std::size_t tokens_in(const std::vector<ConfigEntry>& settings, std::size_t otherwise) {
    for (const ConfigEntry& entry : settings) {
        if (entry.key == "simulate.tokens" && entry.values.size() == 1) {
            return parse_whole(entry.values.front()).value_or(otherwise);
        }
    }
    return otherwise;
}

// In more than three dimensions the directions of view are chosen at the end, from all runs.
Json spheres_so_far(const Reader& reader, const std::vector<Simulated>& runs) {
    Json list = Json::array();
    std::size_t shown = 0;
    std::size_t dim = 0;
    std::size_t samples = 0;
    for (const Simulated& run : runs) {
        const std::string name = fmt::format("frames-{}", run.number);
        Motion motion;  // without a frame where none is written yet
        if (reader.has("work/" + name + ".safetensors")) {
            const SafeTensors file = record::open_sealed_of_any_run(reader.file("work/" + name + ".safetensors"), name);
            const std::vector<std::size_t> shape = file.info("theta").shape;
            if (shape.size() == 3 && shape[2] > 3) {
                return {};
            }
            motion = read_motion(file, "theta", "time");
            dim = motion.dim;
        }
        samples = std::max(samples, run.series.x.size());
        list.push_back(sphere_run(motion, run, reader.detail(), shown));
    }
    if (dim == 0) {
        return {};
    }
    return {{"kind", "spheres"},
            {"title", "Tokens in motion"},
            {"tokens", tokens_in(stored_settings(reader.file("config.toml")), shown)},
            {"dim", dim},
            {"share", Json()},
            {"shown", shown},
            {"samples", samples},
            {"runs", std::move(list)}};
}

}  // namespace

void read_running_simulation(Reader& reader) {
    std::vector<Simulated> runs;
    std::size_t own_equations = 0;
    for (std::size_t number = 1;; ++number) {
        const std::string name = fmt::format("work/samples-{}.jsonl", number);
        if (!reader.has(name)) {
            break;
        }
        reader.attempt_so_far(name, [&] {
            if (const Json lines = reader.json_lines(name); !lines.empty()) {
                runs.push_back(read_sample_log(lines, own_equations));
                runs.back().number = number;  // one before it may be damaged
            }
        });
    }
    if (runs.empty()) {
        return;
    }
    reader.attempt_so_far("work", [&] {
        if (Json part = spheres_so_far(reader, runs); !part.is_null()) {
            reader.add(std::move(part));
        }
    });
    reader.add(progress_table(runs, reader.detail()));
    reader.add(curves_over_time(runs, reader.detail()));
}

}  // namespace flyball::results
