#include "dynamics/run_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include "core/config.hpp"
#include "core/csv.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/parallel.hpp"
#include "core/safetensors.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/sample_log.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::dynamics {

namespace {

constexpr auto between_restart_points = std::chrono::seconds(2);
constexpr std::size_t usual_frames = 16;  // six and four of them are evenly spaced
constexpr std::size_t film_frames = 600;  // of a moving picture

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
            check_stop();
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

// Every field of every run: NUMBER.SCHEME.FIELD of [samples], and NUMBER.SCHEME.systems.FIELD of [samples, systems]
// where there are several.
void write_arrays(const std::filesystem::path& path, const std::vector<SchemeRun>& runs) {
    std::deque<std::vector<double>> arrays;  // tensors borrow them: they must not move
    std::vector<TensorToWrite> tensors;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Record& record = runs[i].record;
        const std::string run = fmt::format("{}.{}", i, runs[i].scheme.name);
        const auto add = [&](const std::string& name, std::vector<std::size_t> shape, const SampleField& field,
                             const std::vector<Sample>& samples) {
            check_stop();
            std::vector<double>& values = arrays.emplace_back();
            for (const Sample& sample : samples) {
                values.push_back(field(sample));
            }
            tensors.push_back(tensor(name, std::move(shape), values));
        };
        for (const SampleField& field : sample_fields()) {
            const std::size_t samples = record.samples.size();
            add(fmt::format("{}.{}", run, field.name), {samples}, field, record.samples);
            if (field.system && !record.systems.empty()) {
                add(fmt::format("{}.systems.{}", run, field.name), {samples, record.systems.size() / samples}, field,
                    record.systems);
            }
        }
    }
    write_safetensors(path, tensors, {});
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
    add("animate", {plan.all_frames ? "true" : "false"});
    return entries;
}

std::vector<record::Identity> identities(const RunFolder::Plan& plan) {
    std::vector<record::Identity> all;
    for (const scheme::Scheme& scheme : plan.schemes) {
        all.push_back(identity_of(plan.settings, scheme.program));
    }
    return all;
}

constexpr std::string_view of_an_input = "checksum of the ";

// The files that the runs read, which provenance.json keeps: a finished run is not that of another start file either.
record::Identity inputs_of_runs(const std::vector<record::Identity>& runs) {
    record::Identity inputs;
    for (const auto& [key, value] : runs.front()) {
        if (key.starts_with(of_an_input)) {
            inputs.emplace_back(key.substr(of_an_input.size()), value);
        }
    }
    return inputs;
}

// What the runs have in common, their equations, and what is kept of them.
record::Identity folder_identity(const std::vector<record::Identity>& runs, const RunFolder::Plan& plan) {
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
    identity.emplace_back("trajectory", plan.trajectory ? "true" : "false");
    identity.emplace_back("animate", plan.all_frames ? "true" : "false");
    return identity;
}

// Of the figures of the sphere and the circle.
std::vector<std::size_t> panels_of(const RunFolder::Plan& plan) {
    std::vector<std::size_t> chosen;
    if (const std::size_t most = picture_times(plan.settings, plan.all_frames); most > 0) {
        const std::size_t samples = sample_times(plan.settings).size();
        const std::size_t frames = std::min(most, samples);
        for (std::size_t i = 0; i < frames; ++i) {
            chosen.push_back(i * (samples - 1) / std::max<std::size_t>(1, frames - 1));
        }
    }
    return chosen;
}

}  // namespace

std::size_t picture_times(const Settings& settings, bool all_frames) {
    const bool pictured = settings.dim == 2 || settings.dim == 3;
    return pictured ? std::min(all_frames ? film_frames : usual_frames, settings.samples) : 0;
}

RunFolder::RunFolder(std::filesystem::path path, record::FolderUse use, Plan plan)
    : plan_(std::move(plan)),
      resumes_(use == record::FolderUse::resume),
      identities_(identities(plan_)),
      folder_(std::move(path), use,
              {to_toml(configuration(plan_)), folder_identity(identities_, plan_), plan_.resume_command,
               "dynamics.run_folder", inputs_of_runs(identities_)}),
      panel_samples_(panels_of(plan_)),
      frame_samples_(frame_samples(plan_.settings)),
      files_{"config.toml"} {}

std::filesystem::path RunFolder::restart_file(std::size_t i) const {
    return folder_.work(fmt::format("restart-{}.safetensors", i + 1));
}

std::filesystem::path RunFolder::sample_log(std::size_t i) const {
    return folder_.work(fmt::format("samples-{}.jsonl", i + 1));
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
        check_stop();
        if (is_kept(index)) {
            kept.load(index);
        }
    }
    if (!frame_samples_.empty()) {
        frame_file(i).load(frame_count(count));
    }
}

// Restart points come from the run as often as it likes; they are written at most every two seconds, and the last one
// when the run is interrupted. The same file becomes the record of a run that has ended, so that a folder of several
// runs takes up at the first that has not.
Record RunFolder::run(std::size_t i, const Control& control, Watch watch) const {
    try {
        return run_or_stop(i, control, std::move(watch));
    } catch (const Stopped&) {  // while it looked at what the killed run had left, which stays as it is
        Record record;
        record.outcome = Outcome::interrupted;
        return record;
    }
}

Record RunFolder::run_or_stop(std::size_t i, const Control& control, Watch watch) const {
    const Settings& s = plan_.settings;
    const scheme::Program& program = plan_.schemes[i].program;
    std::optional<RestartPoint> from;
    if (resumes_) {
        const StopOn stop(control.stop);
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
    auto pictured = std::chrono::steady_clock::now();
    const auto save_frames = [&] {  // before what says that they are there
        if (!frame_samples_.empty()) {
            frames.save();
            pictured = std::chrono::steady_clock::now();
        }
    };
    SampleLog log(sample_log(i), plan_.schemes[i].name, program.text(), from ? from->samples : std::vector<Sample>());
    watch.sampled = [&](const Sample& sample, const Particles& particles) {
        log.add(sample);
        if (is_kept(index)) {
            kept.save(index, {sample.t, particles.x(), particles.theta()});
        }
        if (std::binary_search(frame_samples_.begin(), frame_samples_.end(), index)) {
            frames.add(sample.t, particles.theta());
            // For whoever watches; what a run is taken up from is saved with its restart point.
            if (std::chrono::steady_clock::now() - pictured > between_restart_points) {
                save_frames();
            }
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
    Record record = dynamics::run(s, program, control, watch, from);
    if (record.outcome != Outcome::interrupted) {
        save_frames();
        save_record(restart_file(i), identities_[i], record);
        log.end(name(record.outcome));
    } else if (latest) {
        save_frames();
        save_restart_point(restart_file(i), identities_[i], *latest);
    }
    return record;
}

std::vector<TrajectorySample> RunFolder::frames(std::size_t i, const Record& record) const {
    const std::vector<std::size_t> tokens = pictured_tokens(plan_.settings.tokens, panel_samples_.size());
    const std::size_t dim = plan_.settings.dim;
    std::vector<TrajectorySample> found;
    for (const std::size_t index : panel_samples_) {
        if (index < record.samples.size()) {  // or the run ended before
            const TrajectorySample sample = parts(i).load(index);
            TrajectorySample& kept = found.emplace_back(TrajectorySample{sample.t, {}, {}});
            kept.theta.reserve(tokens.size() * dim);
            for (const std::size_t token : tokens) {
                const double* const row = sample.theta.data() + token * dim;
                kept.theta.insert(kept.theta.end(), row, row + dim);
            }
        }
    }
    return found;
}

void RunFolder::write(const std::vector<SchemeRun>& runs) {
    const Json result = document(plan_.settings, runs);
    check_stop();
    write_file_atomically(path() / "result.json", dump_json(result, 2) + "\n");
    add_file("result.json");
    write_file_atomically(path() / "samples.csv", samples_csv(runs));
    add_file("samples.csv");

    write_arrays(path() / "samples.safetensors", runs);
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
