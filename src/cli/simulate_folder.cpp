// The files of `flyball simulate --out DIR`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/simulate_figures.hpp"
#include "core/config.hpp"
#include "core/csv.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"
#include "dynamics/checkpoint.hpp"

namespace flyball::cli {

using dynamics::Sample;

namespace {

std::string samples_csv(const std::vector<Simulated>& runs) {
    std::string text = "scheme";
    for (const dynamics::SampleField& field : dynamics::sample_fields()) {
        text += fmt::format(",{}", field.name);
    }
    text += "\n";
    for (const Simulated& run : runs) {
        const std::string name =
            csv_cell(run.scheme.entry == nullptr ? run.scheme.program.text() : run.scheme.name, Quotes::always);
        for (const Sample& sample : run.record.samples) {
            text += name;
            for (const dynamics::SampleField& field : dynamics::sample_fields()) {
                const double value = field(sample);
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
    for (const dynamics::SettingField& field : dynamics::setting_fields()) {
        if (const auto text = field.text(s)) {
            add(field.key, {*text});
        }
    }
    add("trajectory", {trajectory ? "true" : "false"});
    return entries;
}

std::vector<record::Identity> identities(const dynamics::Settings& settings,
                                         const std::vector<scheme::Scheme>& schemes) {
    std::vector<record::Identity> all;
    for (const scheme::Scheme& scheme : schemes) {
        all.push_back(dynamics::identity_of(settings, scheme.program));
    }
    return all;
}

// What the runs have in common, their equations, and what is kept of them.
record::Identity folder_identity(const std::vector<record::Identity>& runs, bool trajectory) {
    record::Identity identity;
    for (const auto& [key, value] : runs.front()) {
        if (key != "equation") {
            identity.emplace_back(key, value);
        }
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (const auto& [key, value] : runs[i]) {
            if (key == "equation") {
                identity.emplace_back(fmt::format("equation {}", i + 1), value);
            }
        }
    }
    identity.emplace_back("trajectory", trajectory ? "true" : "false");
    return identity;
}

}  // namespace

SimulateFolder::SimulateFolder(std::filesystem::path path, record::FolderUse use, bool trajectory,
                               const dynamics::Settings& settings, const std::vector<scheme::Scheme>& schemes)
    : trajectory_(trajectory),
      settings_(settings),
      schemes_(schemes),
      identities_(identities(settings, schemes)),
      folder_(path, use,
              {to_toml(configuration(settings, schemes, trajectory)), folder_identity(identities_, trajectory),
               record::resume_command("simulate", path), "cli.simulate"}) {
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
    return record::resume_command("simulate", path());
}

std::filesystem::path SimulateFolder::restart_file(std::size_t i) const {
    return folder_.work(fmt::format("restart-{}.safetensors", i + 1));
}

dynamics::TrajectoryParts SimulateFolder::parts(std::size_t i) const {
    return {path() / "work", fmt::format("sample-{}", i + 1), identities_[i]};
}

void SimulateFolder::keep_sample(std::size_t i, std::size_t index, const Sample& sample,
                                 const dynamics::Particles& particles) {
    if (is_kept(index)) {
        parts(i).save(index, {sample.t, particles.x(), particles.theta()});
    }
}

bool SimulateFolder::is_kept(std::size_t index) const {
    return trajectory_ || std::find(frame_samples_.begin(), frame_samples_.end(), index) != frame_samples_.end();
}

void SimulateFolder::check_samples(std::size_t i, std::size_t count) const {
    const dynamics::TrajectoryParts kept = parts(i);
    for (std::size_t index = 0; index < count; ++index) {
        if (is_kept(index)) {
            kept.load(index);
        }
    }
}

void SimulateFolder::load_frames(std::size_t i, Simulated& run) const {
    for (const std::size_t index : frame_samples_) {
        if (index >= run.record.samples.size()) {
            break;  // the run ended before
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
    Json about = record::provenance(settings_.seed);
    Json kernels = Json::object();
    for (const Simulated& run : runs) {
        kernels[run.scheme.name] = run.record.kernel;
    }
    about["kernels"] = kernels;
    const auto save = [&](const char* name, const std::string& text) {
        write_file_atomically(path() / name, text);
        files_.emplace_back(name);
    };
    save("result.json", dump_json(simulate_json(runs), 2) + "\n");
    save("samples.csv", samples_csv(runs));

    const auto fields = dynamics::sample_fields();
    std::vector<std::vector<double>> arrays;
    std::vector<TensorToWrite> tensors;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (const dynamics::SampleField& field : fields) {
            arrays.emplace_back();
            for (const Sample& sample : runs[i].record.samples) {
                arrays.back().push_back(field(sample));
            }
        }
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::size_t run = i / fields.size();
        tensors.push_back(
            tensor(fmt::format("{}.{}.{}", run, runs[run].scheme.entry == nullptr ? "equation" : runs[run].scheme.name,
                               fields[i % fields.size()].name),
                   {arrays[i].size()}, arrays[i]));
    }
    write_safetensors(path() / "samples.safetensors", tensors, {});
    files_.emplace_back("samples.safetensors");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        load_frames(i, runs[i]);
        if (trajectory_) {
            const std::string name = runs.size() > 1 ? fmt::format("trajectory-{}.h5", i + 1) : "trajectory.h5";
            dynamics::write_h5md(path() / name, parts(i), runs[i].record.samples.size(), settings_, runs[i].scheme.name,
                                 runs[i].scheme.program.text());
            files_.push_back(name);
        }
    }
    write_figures(runs);
    folder_.finish(std::move(about), files_);
    files_.emplace_back("provenance.json");
}

std::string SimulateFolder::stored_result() const {
    return read_text_file(path() / "result.json", std::size_t{1} << 30U);
}

void SimulateFolder::write_figures(const std::vector<Simulated>& runs) {
    const auto draw = [&](const std::string& name, const auto& figure) {
        report::write_figure(path(), name, figure);
        files_.push_back(name + ".svg");
        files_.push_back(name + ".csv");
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
