#include "dynamics/sample.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <cmath>

#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::dynamics {

namespace {

constexpr auto fields = std::to_array<SampleField>({
    {"t", "t", &Sample::t, nullptr, false, false},
    {"cosine", "cosine.mean", &Sample::cosine, nullptr, true, true, -1, 1},
    {"cosine_lo", "cosine.lo", &Sample::cosine_lo, nullptr, false, false},
    {"cosine_hi", "cosine.hi", &Sample::cosine_hi, nullptr, false, false},
    {"one_minus_cosine", "one_minus_cosine", &Sample::one_minus_cosine, nullptr, true, true, 0, 2},
    {"radius", "radius.mean", &Sample::radius, nullptr, true, true, 0},
    {"radius_min", "radius.min", &Sample::radius_min, nullptr, false, true},
    {"radius_max", "radius.max", &Sample::radius_max, nullptr, false, true},
    {"variance", "variance", &Sample::variance, nullptr, true, true, 0, 1},
    {"energy", "energy", &Sample::energy, nullptr, true, true, -1, 0},
    {"speed", "speed", &Sample::speed, nullptr, true, true, 0},
    {"clusters", "clusters", &Sample::clusters, nullptr, true, true, 1},
    {"pair_fraction", "pair_fraction", &Sample::pair_fraction, nullptr, true, true, 0, 1},
    {"effective_rank", "effective_rank", &Sample::effective_rank, nullptr, true, true, 1},
    {"log_one_minus_cosine", nullptr, nullptr, [](const Sample& s) { return std::log(s.one_minus_cosine); }, false,
     false},
});

constexpr std::size_t kept_fields = [] {
    std::size_t count = 0;
    for (const SampleField& field : fields) {
        count += field.value != nullptr ? 1 : 0;
    }
    return count;
}();
static_assert(sizeof(Sample) == kept_fields * sizeof(double), "a member of Sample has no row above, or two");

}  // namespace

std::span<const SampleField> sample_fields() {
    return fields;
}

const SampleField& event_field(std::string_view name) {
    std::vector<std::string> names;
    for (const SampleField& field : fields) {
        if (field.event && field.name == name) {
            return field;
        }
        if (field.event) {
            names.emplace_back(field.name);
        }
    }
    const std::string near = nearest(std::string(name), names);
    throw Error(ErrorKind::usage, "dynamics.settings", fmt::format("the unknown observable {}", flyball::quoted(name)),
                fmt::format("one of {}", fmt::join(names, ", ")),
                near.empty() ? "" : fmt::format("did you mean {}?", near));
}

std::size_t packed_width() {
    return kept_fields;
}

std::vector<double> pack(const std::vector<Sample>& samples) {
    std::vector<double> values;
    values.reserve(samples.size() * kept_fields);
    for (const Sample& sample : samples) {
        for (const SampleField& field : fields) {
            if (field.value != nullptr) {
                values.push_back(sample.*field.value);
            }
        }
    }
    return values;
}

std::vector<Sample> unpack(std::span<const double> values) {
    assert(values.size() % kept_fields == 0);
    std::vector<Sample> samples(values.size() / kept_fields);
    auto value = values.begin();
    for (Sample& sample : samples) {
        for (const SampleField& field : fields) {
            if (field.value != nullptr) {
                sample.*field.value = *value++;
            }
        }
    }
    return samples;
}

}  // namespace flyball::dynamics
