#include "dynamics/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/config.hpp"
#include "core/csv.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"
#include "dynamics/checkpoint.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::dynamics {

namespace {

constexpr auto between_restart_points = std::chrono::seconds(2);

// Commas and quotes do not occur in names of equations, but commas do in the settings of schemes.
std::string samples_csv(const std::vector<SchemeRun>& runs) {
    std::string text = "scheme";
    for (const SampleField& field : sample_fields()) {
        text += fmt::format(",{}", field.name);
    }
    text += "\n";
    for (const SchemeRun& run : runs) {
        const std::string name = csv_cell(run.scheme.name, Quotes::always);
        for (const Sample& sample : run.record.samples) {
            text += name;
            for (const SampleField& field : sample_fields()) {
                const double value = field(sample);
                text += "," + (std::isfinite(value) ? format_double(value) : std::string());
            }
            text += "\n";
        }
    }
    return text;
}

std::vector<ConfigEntry> configuration(const RunFolder::Plan& plan) {
    std::vector<ConfigEntry> entries;
    const auto add = [&](const std::string& key, std::vector<std::string> values) {
        entries.push_back({"simulate." + key, std::move(values), ""});
    };
    for (const auto& [key, values] : scheme::scheme_flags(plan.schemes)) {
        add(key, values);
    }
    for (const SettingField& field : setting_fields()) {
        if (const auto text = field.text(plan.settings)) {
            add(field.key, {*text});
        }
    }
    add("trajectory", {plan.trajectory ? "true" : "false"});
    return entries;
}

std::vector<record::Identity> identities(const RunFolder::Plan& plan) {
    std::vector<record::Identity> all;
    for (const scheme::Scheme& scheme : plan.schemes) {
        all.push_back(identity_of(plan.settings, scheme.program));
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

// Of the figure of the sphere.
std::vector<std::size_t> panels_of(const Settings& settings) {
    std::vector<std::size_t> chosen;
    if (settings.dim == 3) {
        const std::size_t samples = sample_times(settings).size();
        const std::size_t frames = std::min<std::size_t>(6, samples);
        for (std::size_t i = 0; i < frames; ++i) {
            chosen.push_back(i * (samples - 1) / std::max<std::size_t>(1, frames - 1));
        }
    }
    return chosen;
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path, record::FolderUse use, Plan plan)
    : plan_(std::move(plan)),
      resumes_(use == record::FolderUse::resume),
      identities_(identities(plan_)),
      folder_(std::move(path), use,
              {to_toml(configuration(plan_)), folder_identity(identities_, plan_.trajectory), plan_.resume_command,
               "dynamics.run_folder"}),
      panel_samples_(panels_of(plan_.settings)),
      frame_samples_(frame_samples(plan_.settings)),
      files_{"config.toml"} {}

std::filesystem::path RunFolder::restart_file(std::size_t i) const {
    return folder_.work(fmt::format("restart-{}.safetensors", i + 1));
}

TrajectoryParts RunFolder::parts(std::size_t i) const {
    return {path() / "work", fmt::format("sample-{}", i + 1), identities_[i]};
}

bool RunFolder::is_kept(std::size_t index) const {
    return plan_.trajectory || std::find(panel_samples_.begin(), panel_samples_.end(), index) != panel_samples_.end();
}

FrameFile RunFolder::frame_file(std::size_t i) const {
    const std::string name = fmt::format("frames-{}", i + 1);
    return {folder_.work(name + ".safetensors"), {name, identities_[i]}, plan_.settings};
}

std::size_t RunFolder::frame_count(std::size_t samples) const {
    return static_cast<std::size_t>(std::count_if(frame_samples_.begin(), frame_samples_.end(),
                                                  [&](std::size_t index) { return index < samples; }));
}

void RunFolder::check_samples(std::size_t i, std::size_t count) const {
    const TrajectoryParts kept = parts(i);
    for (std::size_t index = 0; index < count; ++index) {
        if (is_kept(index)) {
            kept.load(index);
        }
    }
    if (!frame_samples_.empty()) {
        frame_file(i).load(frame_count(count));
    }
}

Record RunFolder::run(std::size_t i, const Control& control, Watch watch) const {
    const Settings& s = plan_.settings;
    const scheme::Program& program = plan_.schemes[i].program;
    std::optional<RestartPoint> from;
    if (resumes_) {
        auto saved =
            load_checkpoint(restart_file(i), identities_[i], s.systems * s.tokens * s.dim * program.stream_count());
        if (saved) {
            check_samples(i, saved->record ? saved->record->samples.size() : saved->point.next_sample);
        }
        if (saved && saved->record) {
            return std::move(*saved->record);
        }
        if (saved) {
            from = std::move(saved->point);
        }
    }
    const TrajectoryParts kept = parts(i);
    std::size_t index = from ? from->next_sample : 0;
    FrameFile frames = frame_file(i);
    if (from && !frame_samples_.empty()) {
        frames.load(frame_count(index));
    }
    const auto save_frames = [&] {  // before what says that they are there
        if (!frame_samples_.empty()) {
            frames.save();
        }
    };
    watch.sampled = [&](const Sample& sample, const Particles& particles) {
        if (is_kept(index)) {
            kept.save(index, {sample.t, particles.x(), particles.theta()});
        }
        if (std::binary_search(frame_samples_.begin(), frame_samples_.end(), index)) {
            frames.add(sample.t, particles.theta());
        }
        ++index;
    };
    std::optional<RestartPoint> latest;
    auto written = std::chrono::steady_clock::now();
    watch.restart_point = [&](const RestartPoint& point) {
        latest = point;
        const auto now = std::chrono::steady_clock::now();
        if (now - written > between_restart_points) {
            save_frames();
            save_restart_point(restart_file(i), identities_[i], point);
            written = now;
        }
    };
    Record record = dynamics::run(problem_of(s, program), control, watch, from);
    if (record.outcome != Outcome::interrupted) {
        save_frames();
        save_record(restart_file(i), identities_[i], record);
    } else if (latest) {
        save_frames();
        save_restart_point(restart_file(i), identities_[i], *latest);
    }
    return record;
}

std::vector<TrajectorySample> RunFolder::frames(std::size_t i, const Record& record) const {
    std::vector<TrajectorySample> found;
    for (const std::size_t index : panel_samples_) {
        if (index < record.samples.size()) {  // or the run ended before
            found.push_back(parts(i).load(index));
        }
    }
    return found;
}

void RunFolder::write(const std::vector<SchemeRun>& runs) {
    write_file_atomically(path() / "result.json", dump_json(document(plan_.settings, runs), 2) + "\n");
    add_file("result.json");
    write_file_atomically(path() / "samples.csv", samples_csv(runs));
    add_file("samples.csv");

    const auto fields = sample_fields();
    std::vector<std::vector<double>> arrays;
    std::vector<TensorToWrite> tensors;
    for (const SchemeRun& run : runs) {
        for (const SampleField& field : fields) {
            arrays.emplace_back();
            for (const Sample& sample : run.record.samples) {
                arrays.back().push_back(field(sample));
            }
        }
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::size_t run = i / fields.size();
        tensors.push_back(tensor(fmt::format("{}.{}.{}", run, runs[run].scheme.name, fields[i % fields.size()].name),
                                 {arrays[i].size()}, arrays[i]));
    }
    write_safetensors(path() / "samples.safetensors", tensors, {});
    add_file("samples.safetensors");
    if (!frame_samples_.empty()) {
        write_frames(path() / "frames.safetensors", plan_.settings, runs.size(), [&](std::size_t i) {
            FrameFile file = frame_file(i);
            file.load(frame_count(runs[i].record.samples.size()));
            return file.frames();
        });
        add_file("frames.safetensors");
    }
    for (std::size_t i = 0; plan_.trajectory && i < runs.size(); ++i) {
        const std::string name = runs.size() > 1 ? fmt::format("trajectory-{}.h5", i + 1) : "trajectory.h5";
        write_h5md(path() / name, parts(i), runs[i].record.samples.size(), plan_.settings, runs[i].scheme.name,
                   runs[i].scheme.program.text());
        add_file(name);
    }
}

void RunFolder::finish(const std::vector<SchemeRun>& runs) {
    Json about = record::provenance(plan_.settings.seed);
    Json kernels = Json::object();
    for (const SchemeRun& run : runs) {
        kernels[run.scheme.name] = run.record.kernel;
    }
    about["kernels"] = kernels;
    folder_.finish(std::move(about), files_);
    add_file("provenance.json");
}

std::string RunFolder::stored_result() const {
    return read_text_file(path() / "result.json", std::size_t{1} << 30U);
}

}  // namespace flyball::dynamics
