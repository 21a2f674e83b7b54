// The files of `flyball simulate --out DIR`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cli/simulate_figures.hpp"
#include "core/config.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"

namespace flyball::cli {

using dynamics::Sample;

namespace {

struct Column {
    const char* name;
    double (*get)(const Sample&);
};
constexpr std::array<Column, 13> columns = {{
    {"t", [](const Sample& s) { return s.t; }},
    {"cosine", [](const Sample& s) { return s.cosine; }},
    {"cosine_lo", [](const Sample& s) { return s.cosine_lo; }},
    {"cosine_hi", [](const Sample& s) { return s.cosine_hi; }},
    {"radius", [](const Sample& s) { return s.radius; }},
    {"radius_min", [](const Sample& s) { return s.radius_min; }},
    {"radius_max", [](const Sample& s) { return s.radius_max; }},
    {"variance", [](const Sample& s) { return s.variance; }},
    {"energy", [](const Sample& s) { return s.energy; }},
    {"speed", [](const Sample& s) { return s.speed; }},
    {"clusters", [](const Sample& s) { return s.clusters.value_or(std::numeric_limits<double>::quiet_NaN()); }},
    {"effective_rank", [](const Sample& s) { return s.effective_rank; }},
    {"log_one_minus_cosine", [](const Sample& s) { return std::log(1 - s.cosine); }},
}};

std::string samples_csv(const std::vector<Simulated>& runs) {
    std::string text = "scheme";
    for (const Column& column : columns) {
        text += fmt::format(",{}", column.name);
    }
    text += "\n";
    for (const Simulated& run : runs) {
        std::string name = run.scheme.entry == nullptr ? run.scheme.program.text() : run.scheme.name;
        name = "\"" + name + "\"";  // equations hold commas, never quotes
        for (const Sample& sample : run.record.samples) {
            text += name;
            for (const Column& column : columns) {
                const double value = column.get(sample);
                text += "," + (std::isfinite(value) ? format_double(value) : std::string());
            }
            text += "\n";
        }
    }
    return text;
}

std::vector<ConfigEntry> configuration(const dynamics::Settings& s, const std::vector<scheme::Scheme>& schemes,
                                       bool trajectory) {
    std::vector<ConfigEntry> entries;
    const auto add = [&](const std::string& key, std::vector<std::string> values) {
        entries.push_back({"simulate." + key, std::move(values), ""});
    };
    std::vector<std::string> names;
    std::vector<std::string> equations;
    for (const scheme::Scheme& scheme : schemes) {
        (scheme.entry != nullptr ? names : equations)
            .push_back(scheme.entry != nullptr ? scheme.name : scheme.program.text());
    }
    if (!names.empty()) {
        add("scheme", names);
    }
    if (!equations.empty()) {
        add("equation", equations);
    }
    const auto number = [](auto value) { return std::vector<std::string>{format_double(static_cast<double>(value))}; };
    add("tokens", number(s.tokens));
    add("dim", number(s.dim));
    add("beta", number(s.beta));
    add("heads", number(s.heads));
    add("mask", {s.causal ? "causal" : "none"});
    add("attention", {s.attention});
    add("kernel", {s.kernel});
    add("precision", {s.precision == dynamics::Precision::f32 ? "f32" : "f64"});
    switch (s.weights) {
        case dynamics::WeightKind::identity:
            add("weights", {"identity"});
            break;
        case dynamics::WeightKind::gaussian:
            add("weights", {"gaussian"});
            break;
        case dynamics::WeightKind::kaiming:
            add("weights", {"kaiming:" + format_double(s.kaiming_gain)});
            break;
        case dynamics::WeightKind::orthogonal:
            add("weights", {"orthogonal"});
            break;
        case dynamics::WeightKind::file:
            add("weights", {s.weight_file});
            break;
    }
    add("fresh", {s.fresh ? "true" : "false"});
    add("ffn", number(s.ffn_width));
    switch (s.start) {
        case dynamics::StartKind::symmetric:
            add("start", {"symmetric"});
            break;
        case dynamics::StartKind::uniform:
            add("start", {"uniform"});
            break;
        case dynamics::StartKind::gaussian:
            add("start", {"gaussian"});
            break;
        case dynamics::StartKind::cone:
            add("start", {"cone:" + format_double(s.cone_delta)});
            break;
    }
    add("r0", number(s.r0));
    add("systems", number(s.systems));
    add("seed", {std::to_string(s.seed)});
    if (s.layers) {
        add("layers", number(*s.layers));
    } else {
        add("time", number(s.time));
        add("rtol", number(s.rtol));
        add("atol", number(s.atol));
    }
    add("method", {dynamics::name(s.method)});
    add("dt", number(s.dt));
    add("samples", number(s.samples));
    add("log-time", {s.log_time ? "true" : "false"});
    add("trajectory", {trajectory ? "true" : "false"});
    if (s.until) {
        add("until",
            {fmt::format("{}{}{}", s.until->observable, s.until->above ? ">" : "<", format_double(s.until->level))});
    }
    return entries;
}

}  // namespace

SimulateFolder::SimulateFolder(std::filesystem::path path, FolderUse use, bool trajectory,
                               const dynamics::Settings& settings, const std::vector<scheme::Scheme>& schemes)
    : path_(std::move(path)), trajectory_(trajectory), settings_(settings), schemes_(schemes) {
    open_folder(path_, use, to_toml(configuration(settings_, schemes_, trajectory_)), resume_command(), "cli.simulate");
    files_.push_back("config.toml");
    if (settings_.dim == 3) {
        const std::size_t samples = dynamics::sample_times(settings_).size();
        const std::size_t frames = std::min<std::size_t>(6, samples);
        for (std::size_t i = 0; i < frames; ++i) {
            frame_samples_.push_back(i * (samples - 1) / std::max<std::size_t>(1, frames - 1));
        }
    }
}

std::string SimulateFolder::resume_command() const {
    return cli::resume_command("simulate", path_);
}

std::filesystem::path SimulateFolder::restart_file(std::size_t i) const {
    return path_ / "work" / fmt::format("restart-{}.safetensors", i + 1);
}

dynamics::TrajectoryParts SimulateFolder::parts(std::size_t i) const {
    return {path_ / "work", fmt::format("sample-{}", i + 1)};
}

void SimulateFolder::keep_sample(std::size_t i, std::size_t index, const Sample& sample,
                                 const dynamics::Particles& particles) {
    const bool frame = std::find(frame_samples_.begin(), frame_samples_.end(), index) != frame_samples_.end();
    if (trajectory_ || frame) {
        parts(i).save(index, {sample.t, particles.x(), particles.theta()});
    }
}

void SimulateFolder::load_frames(std::size_t i, Simulated& run) const {
    for (const std::size_t index : frame_samples_) {
        if (!parts(i).has(index)) {
            continue;  // the run ended before
        }
        const dynamics::TrajectorySample sample = parts(i).load(index);
        report::SphereFigure::Frame frame{sample.t, {}};
        for (std::size_t j = 0; j < settings_.tokens; ++j) {
            frame.points.push_back({sample.theta[3 * j], sample.theta[3 * j + 1], sample.theta[3 * j + 2]});
        }
        run.frames.push_back(std::move(frame));
    }
}

void SimulateFolder::write(std::vector<Simulated>& runs) {
    Json about = provenance(settings_.seed);
    Json kernels;
    for (const Simulated& run : runs) {
        kernels[run.scheme.name] = run.record.kernel;
    }
    about["kernels"] = kernels;
    const auto save = [&](const char* name, const std::string& text) {
        write_file_atomically(path_ / name, text);
        files_.emplace_back(name);
    };
    save("provenance.json", dump_json(about, 2) + "\n");
    save("result.json", dump_json(simulate_json(runs), 2) + "\n");
    save("samples.csv", samples_csv(runs));

    std::vector<std::vector<double>> arrays;
    std::vector<TensorToWrite> tensors;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (const Column& column : columns) {
            arrays.emplace_back();
            for (const Sample& sample : runs[i].record.samples) {
                arrays.back().push_back(column.get(sample));
            }
        }
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::size_t run = i / columns.size();
        tensors.push_back(
            tensor(fmt::format("{}.{}.{}", run, runs[run].scheme.entry == nullptr ? "equation" : runs[run].scheme.name,
                               columns[i % columns.size()].name),
                   {arrays[i].size()}, arrays[i]));
    }
    write_safetensors(path_ / "samples.safetensors", tensors, {});
    files_.emplace_back("samples.safetensors");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        load_frames(i, runs[i]);
        if (trajectory_) {
            const std::string name = runs.size() > 1 ? fmt::format("trajectory-{}.h5", i + 1) : "trajectory.h5";
            dynamics::write_h5md(path_ / name, parts(i), runs[i].record.samples.size(), settings_, runs[i].scheme.name,
                                 runs[i].scheme.program.text());
            files_.push_back(name);
        }
    }
    write_figures(runs);
    std::error_code ignored;
    std::filesystem::remove_all(path_ / "work", ignored);
}

void SimulateFolder::write_figures(const std::vector<Simulated>& runs) {
    const auto draw = [&](const std::string& name, const auto& figure) {
        report::write_figure(path_, name, figure);
        files_.push_back(name + ".svg");
    };
    draw("cosine", cosine_figure(settings_, runs));
    draw("radius", radius_figure(settings_, runs));
    draw("speed", speed_figure(settings_, runs));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!runs[i].frames.empty()) {
            const bool named = runs[i].scheme.entry != nullptr;
            draw("sphere-" + (named ? std::string(runs[i].scheme.entry->name) : "equation") +
                     (runs.size() > 1 ? fmt::format("-{}", i + 1) : ""),
                 sphere_figure(settings_, runs[i]));
        }
    }
}

}  // namespace flyball::cli
