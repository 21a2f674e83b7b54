// simulate --out: result.json and frames.safetensors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"
#include "measure/rows.hpp"
#include "results/in_short.hpp"
#include "results/simulated.hpp"

namespace flyball::results {

namespace {

bool is_list_of(const Json& value, std::size_t count) {
    return value.is_array() && value.size() == count && (count == 0 || value[0].is_number() || value[0].is_null());
}

// Every list as long as that of times, also inside an object: "speed", "cosine.mean".
Simulated read_run(const Json& run, std::size_t& own_equations) {
    Simulated result;
    result.name = run.at("scheme").get<std::string>();
    result.equation = run.at("equation").get<std::string>();
    result.outcome = run.at("outcome").get<std::string>();
    result.collapse_time = number_or_nan(run, "collapse_time");
    result.style = style_of_scheme(result.name, own_equations);
    result.series = {result.name, result.style, numbers(run.at("t")), {}};
    const std::size_t count = result.series.x.size();
    for (const auto& [key, value] : run.items()) {
        if (key != "t" && is_list_of(value, count)) {
            result.series.quantities.push_back({key, numbers(value), {}});
        }
        if (value.is_object()) {
            for (const auto& [inner, list] : value.items()) {
                if (is_list_of(list, count)) {
                    result.series.quantities.push_back({fmt::format("{}.{}", key, inner), numbers(list), {}});
                }
            }
        }
    }
    return result;
}

// Quantiles over systems, which samples.safetensors has each by itself: 5 % and 95 % at every sample. As bands they say
// which differences between schemes are those of the draw.
void add_spreads(const Reader& reader, std::vector<Simulated>& runs) {
    const SafeTensors file = SafeTensors::open(reader.file("samples.safetensors"));
    const std::vector<std::string> there = file.names();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (const std::string quantity : {"speed", "variance", "energy", "effective_rank", "one_minus_cosine"}) {
            const std::string name = fmt::format("{}.{}.systems.{}", i, runs[i].name, quantity);
            const std::size_t samples = runs[i].series.x.size();
            if (std::find(there.begin(), there.end(), name) == there.end() || samples == 0) {
                continue;
            }
            const std::vector<std::size_t> shape = file.info(name).shape;
            if (shape.size() != 2 || shape[0] != samples || shape[1] < 2) {
                continue;
            }
            const std::vector<double> all = file.read<double>(name);
            CurveQuantity low{quantity + ".lo", {}, {}};
            CurveQuantity high{quantity + ".hi", {}, {}};
            for (std::size_t k = 0; k < samples; ++k) {
                const auto row = all.begin() + static_cast<std::ptrdiff_t>(k * shape[1]);
                std::vector<double> values(row, row + static_cast<std::ptrdiff_t>(shape[1]));
                std::erase_if(values, [](double one) { return !std::isfinite(one); });
                const double none = std::numeric_limits<double>::quiet_NaN();
                low.y.push_back(values.empty() ? none : measure::quantile(values, 0.05));
                high.y.push_back(values.empty() ? none : measure::quantile(values, 0.95));
            }
            runs[i].series.quantities.push_back(std::move(low));
            runs[i].series.quantities.push_back(std::move(high));
        }
    }
}

Json run_table(const std::vector<Simulated>& runs, const Detail& detail) {
    Json rows = Json::array();
    for (const Simulated& run : runs) {
        rows.push_back({run.name, run.equation, run.outcome, run.at_start("cosine.mean"), run.at_end("cosine.mean"),
                        run.collapse_time, run.at_start("speed"), run.at_end("speed"), run.at_end("radius.mean")});
    }
    return table(
        "How it ended",
        "Collapse: the first time at which the mean cosine is above 0.999, so that all tokens are one; without a "
        "number it was not reached.",
        {"scheme", "equation", "outcome", "cosine at the start", "cosine at the end", "collapse at time",
         "speed at the start", "speed at the end", "length at the end"},
        std::move(rows), detail);
}

// 16-bit numbers for -1 .. 1; what is not finite is the centre.
void put_coordinate(std::string& bytes, float value) {
    const float inside = std::isfinite(value) ? std::clamp(value, -1.0F, 1.0F) : 0.0F;
    const auto scaled = static_cast<std::int16_t>(std::lround(inside * 32767.0F));
    const auto bits = static_cast<std::uint16_t>(scaled);
    bytes += static_cast<char>(bits & 0xffU);
    bytes += static_cast<char>(bits >> 8U);
}

std::size_t metadata_count(const SafeTensors& file, const char* key) {
    const auto found = file.metadata().find(key);
    const auto value = found == file.metadata().end() ? std::nullopt : parse_whole(found->second);
    if (!value) {
        throw Error(ErrorKind::input, "results.frames", fmt::format("frames without '{}'", key),
                    "the frames of a simulation", "run the simulation again");
    }
    return *value;
}

// A quantity at a time of the samples.
double value_at(const Simulated& run, std::string_view quantity, double t) {
    const std::vector<double> list = run.values(quantity);
    const auto found = std::lower_bound(run.series.x.begin(), run.series.x.end(), t);
    const auto i = static_cast<std::size_t>(found - run.series.x.begin());
    return i < list.size() && run.series.x[i] == t ? list[i] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Motion read_motion(const SafeTensors& file, const std::string& name, const std::string& times) {
    Motion motion;
    const std::vector<std::size_t> shape = file.info(name).shape;
    motion.points = file.read<float>(name);
    motion.times = file.read<double>(times);
    if (shape.size() != 3 || shape[2] < 2 || shape[2] > 3 || shape[0] != motion.times.size()) {
        throw Error(ErrorKind::input, "results.frames", fmt::format("a tensor {} of another shape", name),
                    "[frames, tokens, 3]", "run the simulation again");
    }
    motion.tokens = shape[1];
    motion.dim = shape[2];
    return motion;
}

Json sphere_run(const Motion& motion, const Simulated& run, const Detail& detail, std::size_t& shown) {
    const std::vector<std::size_t> tokens = evenly(motion.tokens, detail.particles);
    shown = std::max(shown, tokens.size());
    std::string bytes;
    Json json = Json::object();
    json["name"] = run.name;
    json["colour"] = run.style.colour;
    json["dash"] = run.style.dash;
    json["equation"] = run.equation;
    json["outcome"] = run.outcome;
    json["times"] = Json::array();
    json["cosine"] = Json::array();
    json["groups"] = Json::array();
    for (const std::size_t k : evenly(motion.times.size(), detail.frames)) {
        json["times"].push_back(motion.times[k]);
        json["cosine"].push_back(value_at(run, "cosine.mean", motion.times[k]));
        json["groups"].push_back(value_at(run, "clusters", motion.times[k]));
        for (const std::size_t token : tokens) {
            for (std::size_t i = 0; i < 3; ++i) {
                put_coordinate(bytes,
                               i < motion.dim ? motion.points[(k * motion.tokens + token) * motion.dim + i] : 0.0F);
            }
        }
    }
    json["points"] = base64(bytes);
    return json;
}

namespace {

Json spheres(const Reader& reader, const std::vector<Simulated>& runs) {
    const SafeTensors file = SafeTensors::open(reader.file("frames.safetensors"));
    Json part = Json::object();
    part["kind"] = "spheres";
    part["title"] = "Tokens in motion";
    part["tokens"] = metadata_count(file, "tokens");
    part["dim"] = metadata_count(file, "dim");
    const auto share = file.metadata().find("share");
    const auto value = share == file.metadata().end() ? std::nullopt : parse_double(share->second);
    part["share"] = value ? Json(*value) : Json();
    std::size_t samples = 0;
    std::size_t shown = 0;
    part["runs"] = Json::array();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Motion motion = read_motion(file, fmt::format("run.{}", i), fmt::format("time.{}", i));
        part["runs"].push_back(sphere_run(motion, runs[i], reader.detail(), shown));
        samples = std::max(samples, runs[i].series.x.size());
    }
    part["shown"] = shown;
    part["samples"] = samples;
    return part;
}

}  // namespace

Json curves_over_time(const std::vector<Simulated>& runs, const Detail& detail) {
    std::vector<CurveSeries> series;
    for (const Simulated& run : runs) {
        series.push_back(run.series);
    }
    return curves({"Over time",
                   "Time is depth: a layer that moves tokens by dt times its velocity takes the time dt.",
                   "depth (time)",
                   false,
                   {"cosine.mean", "speed", "radius.mean", "one_minus_cosine"},
                   {{"cosine.mean", {"cosine.lo", "cosine.hi"}},
                    {"speed", {"speed.lo", "speed.hi"}},
                    {"variance", {"variance.lo", "variance.hi"}},
                    {"energy", {"energy.lo", "energy.hi"}},
                    {"effective_rank", {"effective_rank.lo", "effective_rank.hi"}},
                    {"one_minus_cosine", {"one_minus_cosine.lo", "one_minus_cosine.hi"}}}},
                  std::move(series), detail);
}

void read_simulation(Reader& reader) {
    if (!reader.finished() && !reader.has("result.json")) {
        read_running_simulation(reader);
        return;
    }
    std::vector<Simulated> runs;
    reader.attempt_so_far("result.json", [&] {
        const Json result = reader.json("result.json");
        std::size_t own_equations = 0;
        for (const Json& run : result.at("runs")) {
            runs.push_back(read_run(run, own_equations));
        }
    });
    if (runs.empty()) {
        return;
    }
    std::vector<SimulatedEnd> ends;
    for (const Simulated& run : runs) {
        ends.push_back({run.name, run.outcome, run.last("cosine.mean"), run.collapse_time, run.last("clusters"),
                        run.series.x.empty() ? std::numeric_limits<double>::quiet_NaN() : run.series.x.back()});
    }
    say_simulation(reader, ends);
    if (reader.has("frames.safetensors")) {
        reader.attempt("frames.safetensors", [&] { reader.add(spheres(reader, runs)); });
    }
    if (reader.has("samples.safetensors")) {
        reader.attempt("samples.safetensors", [&] { add_spreads(reader, runs); });
    }
    reader.add(run_table(runs, reader.detail()));
    reader.add(curves_over_time(runs, reader.detail()));
}

}  // namespace flyball::results
