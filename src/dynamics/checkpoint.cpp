#include "dynamics/checkpoint.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"
#include "dynamics/start_file.hpp"
#include "dynamics/trained_weights.hpp"

namespace flyball::dynamics {

namespace {

// The same file is first a restart point and then the record, so both have one kind and say which they are.
record::Seal seal_of(const record::Identity& run) {
    return {"run of particles", run};
}

void save(const std::filesystem::path& path, const record::Identity& run, const std::vector<Sample>& samples,
          const std::vector<Sample>& systems, const std::vector<double>& y, const std::vector<Fusing>& fused,
          const TensorMetadata& metadata) {
    const std::vector<double> packed_samples = pack(samples);
    const std::vector<double> packed_systems = pack(systems);
    const std::vector<double> packed_fusings = packed(fused);
    const std::vector<TensorToWrite> tensors = {tensor("samples", {samples.size(), packed_width()}, packed_samples),
                                                tensor("systems", {systems.size(), packed_width()}, packed_systems),
                                                tensor("y", {y.size()}, y),
                                                tensor("fused", {packed_fusings.size()}, packed_fusings)};
    record::write_sealed(path, seal_of(run), tensors, metadata);
}

[[noreturn]] void fail_restart(const std::filesystem::path& path, std::string_view got) {
    throw Error(ErrorKind::input, "dynamics.load_checkpoint",
                fmt::format("{} in {}", got, flyball::quoted(path.string())), "a restart point of this run",
                "start anew with " + setting("force"));
}

}  // namespace

record::Identity identity_of(const Settings& settings, const scheme::Program& program) {
    record::Identity identity = record::program_identity();
    identity.emplace_back("equation", program.text());
    for (const SettingField& field : setting_fields()) {
        if (const auto text = field.text(settings)) {
            identity.emplace_back(field.key, *text);
        }
    }
    if (settings.weights == WeightKind::file) {
        identity.emplace_back("checksum of the weight file", record::file_checksum(settings.weight_file));
    }
    if (settings.started) {
        identity.emplace_back("checksum of the start file", settings.started->checksum);
    }
    if (settings.trained) {
        identity.emplace_back("checksum of the model", settings.trained->checksum());
    }
    return identity;
}

void save_restart_point(const std::filesystem::path& path, const record::Identity& run, const RestartPoint& point) {
    save(path, run, point.samples, point.systems, point.y, point.fused,
         {{"kind", "restart"},
          {"t", format_double(point.step.t)},
          {"h", format_double(point.step.h)},
          {"steps", std::to_string(point.step.steps)},
          {"standing", std::to_string(point.step.standing)},
          {"doubled_0", format_double(point.step.doublings[0])},
          {"doubled_1", format_double(point.step.doublings[1])},
          {"doubled_2", format_double(point.step.doublings[2])},
          {"doubled_3", format_double(point.step.doublings[3])},
          {"next_sample", std::to_string(point.next_sample)},
          {"evaluations", std::to_string(point.evaluations)},
          {"fallbacks", std::to_string(point.fallbacks)}});
}

void save_record(const std::filesystem::path& path, const record::Identity& run, const Record& record) {
    save(path, run, record.samples, record.systems, {}, record.fused,
         {{"kind", "record"},
          {"outcome", name(record.outcome)},
          {"ended", format_double(record.ended)},
          {"kernel", record.kernel},
          {"steps", std::to_string(record.steps)},
          {"evaluations", std::to_string(record.evaluations)},
          {"seconds", format_double(record.seconds)},
          {"collapse_time", record.collapse_time ? format_double(*record.collapse_time) : ""}});
}

// The seal has been checked, so what is read here was written by this run; the checks are against our own mistakes.
std::optional<Saved> load_checkpoint(const std::filesystem::path& path, const record::Identity& run,
                                     std::size_t numbers) {
    if (!std::filesystem::exists(path)) {
        return std::nullopt;
    }
    const SafeTensors file = record::open_sealed(path, seal_of(run));
    const TensorMetadata& metadata = file.metadata();
    const auto text = [&](const char* key) -> std::string {
        const auto found = metadata.find(key);
        if (found == metadata.end()) {
            fail_restart(path, fmt::format("no entry '{}'", key));
        }
        return found->second;
    };
    const auto number = [&](const char* key) {
        const auto value = parse_double(text(key));
        if (!value) {
            fail_restart(path, fmt::format("{} = {}", key, flyball::quoted(text(key))));
        }
        return *value;
    };
    const auto count = [&](const char* key) {
        const auto value = parse_integer(text(key));
        if (!value || *value < 0) {
            fail_restart(path, fmt::format("{} = {}", key, flyball::quoted(text(key))));
        }
        return static_cast<std::size_t>(*value);
    };
    const auto samples_in = [&](const char* name) {
        const auto shape = file.info(name).shape;
        if (shape.size() != 2 || shape[1] != packed_width()) {
            fail_restart(path, fmt::format("{} of another shape", name));
        }
        return unpack(file.read<double>(name));
    };
    Saved saved;
    const std::vector<Sample> samples = samples_in("samples");
    const std::vector<Sample> systems = samples_in("systems");
    if (samples.empty() ? !systems.empty() : systems.size() % samples.size() != 0) {
        fail_restart(path, fmt::format("{} values of systems for {} samples", systems.size(), samples.size()));
    }
    if (text("kind") == "record") {
        Record record;
        record.samples = samples;
        record.systems = systems;
        record.fused = unpacked_fusings(file.read<double>("fused"));
        bool known = false;
        for (const Outcome outcome : {Outcome::done, Outcome::until, Outcome::diverged, Outcome::nan,
                                      Outcome::step_underflow, Outcome::digits_lost, Outcome::radius_zero}) {
            if (text("outcome") == name(outcome)) {
                record.outcome = outcome;
                known = true;
            }
        }
        if (!known || samples.empty()) {
            fail_restart(path, fmt::format("outcome {}", flyball::quoted(text("outcome"))));
        }
        record.ended = number("ended");
        record.kernel = text("kernel");
        record.steps = count("steps");
        record.evaluations = count("evaluations");
        record.seconds = number("seconds");
        if (!text("collapse_time").empty()) {
            record.collapse_time = number("collapse_time");
        }
        saved.record = std::move(record);
        return saved;
    }
    saved.point.step = {number("t"),
                        number("h"),
                        count("steps"),
                        count("standing"),
                        {number("doubled_0"), number("doubled_1"), number("doubled_2"), number("doubled_3")}};
    saved.point.next_sample = count("next_sample");
    saved.point.evaluations = count("evaluations");
    saved.point.fallbacks = count("fallbacks");
    saved.point.samples = samples;
    saved.point.systems = systems;
    saved.point.fused = unpacked_fusings(file.read<double>("fused"));
    saved.point.y = file.read<double>("y");
    if (saved.point.y.size() != numbers || samples.size() != saved.point.next_sample) {
        fail_restart(path, fmt::format("a state of {} numbers and {} samples", saved.point.y.size(), samples.size()));
    }
    return saved;
}

}  // namespace flyball::dynamics
