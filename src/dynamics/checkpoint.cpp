#include "dynamics/checkpoint.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"

namespace flyball::dynamics {

namespace {

constexpr std::size_t sample_width = 12;

std::vector<double> pack(const std::vector<Sample>& samples) {
    std::vector<double> values;
    for (const Sample& s : samples) {
        values.insert(values.end(), {s.t, s.cosine, s.cosine_lo, s.cosine_hi, s.radius, s.radius_min, s.radius_max,
                                     s.variance, s.energy, s.speed,
                                     s.clusters.value_or(std::numeric_limits<double>::quiet_NaN()), s.effective_rank});
    }
    return values;
}

std::vector<Sample> unpack(const std::vector<double>& values) {
    std::vector<Sample> samples(values.size() / sample_width);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const double* v = values.data() + i * sample_width;
        samples[i] = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]};
        if (std::isnan(v[10])) {
            samples[i].clusters.reset();
        }
    }
    return samples;
}

void save(const std::filesystem::path& path, const std::vector<Sample>& samples, const std::vector<double>& y,
          const TensorMetadata& metadata) {
    const std::vector<double> packed = pack(samples);
    const std::vector<TensorToWrite> tensors = {tensor("samples", {samples.size(), sample_width}, packed),
                                                tensor("y", {y.size()}, y)};
    write_safetensors(path, tensors, metadata);
}

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view got) {
    throw Error(ErrorKind::input, "dynamics.load_checkpoint",
                fmt::format("{} in {}", got, flyball::quoted(path.string())), "a restart point of this run",
                "start anew with --force");
}

}  // namespace

void save_restart_point(const std::filesystem::path& path, const RestartPoint& point) {
    save(path, point.samples, point.y,
         {{"kind", "restart"},
          {"t", format_double(point.step.t)},
          {"h", format_double(point.step.h)},
          {"steps", std::to_string(point.step.steps)},
          {"next_sample", std::to_string(point.next_sample)},
          {"evaluations", std::to_string(point.evaluations)}});
}

void save_record(const std::filesystem::path& path, const Record& record) {
    save(path, record.samples, {},
         {{"kind", "record"},
          {"outcome", name(record.outcome)},
          {"kernel", record.kernel},
          {"steps", std::to_string(record.steps)},
          {"evaluations", std::to_string(record.evaluations)},
          {"seconds", format_double(record.seconds)},
          {"collapse_time", record.collapse_time ? format_double(*record.collapse_time) : ""}});
}

std::optional<Saved> load_checkpoint(const std::filesystem::path& path, std::size_t numbers) {
    if (!std::filesystem::exists(path)) {
        return std::nullopt;
    }
    const SafeTensors file = SafeTensors::open(path);
    const TensorMetadata& metadata = file.metadata();
    const auto text = [&](const char* key) -> std::string {
        const auto found = metadata.find(key);
        if (found == metadata.end()) {
            fail(path, fmt::format("no entry '{}'", key));
        }
        return found->second;
    };
    const auto number = [&](const char* key) {
        const auto value = parse_double(text(key));
        if (!value) {
            fail(path, fmt::format("{} = {}", key, flyball::quoted(text(key))));
        }
        return *value;
    };
    const auto count = [&](const char* key) {
        const auto value = parse_integer(text(key));
        if (!value || *value < 0) {
            fail(path, fmt::format("{} = {}", key, flyball::quoted(text(key))));
        }
        return static_cast<std::size_t>(*value);
    };
    const auto shape = file.info("samples").shape;
    if (shape.size() != 2 || shape[1] != sample_width) {
        fail(path, "samples of another shape");
    }
    Saved saved;
    const std::vector<Sample> samples = unpack(file.read<double>("samples"));
    if (text("kind") == "record") {
        Record record;
        record.samples = samples;
        bool known = false;
        for (const Outcome outcome : {Outcome::done, Outcome::until, Outcome::diverged, Outcome::nan,
                                      Outcome::step_underflow, Outcome::radius_zero}) {
            if (text("outcome") == name(outcome)) {
                record.outcome = outcome;
                known = true;
            }
        }
        if (!known || samples.empty()) {
            fail(path, fmt::format("outcome {}", flyball::quoted(text("outcome"))));
        }
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
    saved.point.step = {number("t"), number("h"), count("steps")};
    saved.point.next_sample = count("next_sample");
    saved.point.evaluations = count("evaluations");
    saved.point.samples = samples;
    saved.point.y = file.read<double>("y");
    if (saved.point.y.size() != numbers || samples.size() != saved.point.next_sample) {
        fail(path, fmt::format("a state of {} numbers and {} samples", saved.point.y.size(), samples.size()));
    }
    return saved;
}

}  // namespace flyball::dynamics
