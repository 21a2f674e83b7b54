// What is known of a run at one time, and the one list of its fields. Tables, arrays, JSON, restart files and --until
// walk the list: a new quantity is a member and a row of `sample_fields()`.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::dynamics {

// Definitions: docs/simulate.md. NaN until it is measured: a quantity that nobody computes is no 0. JSON then says
// null, a table leaves it empty.
struct Sample {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    double t = unknown;
    double cosine = unknown;     // mean over pairs i < j and systems
    double cosine_lo = unknown;  // 5 % and 95 % quantiles over systems
    double cosine_hi = unknown;
    double one_minus_cosine = unknown;  // by itself: it keeps its digits when the cosine rounds to 1
    double radius = unknown;            // of |x|, over tokens and systems
    double radius_min = unknown;
    double radius_max = unknown;
    double variance = unknown;
    double energy = unknown;
    double speed = unknown;
    double clusters = unknown;        // mean over systems; not measured above 65,536 tokens
    double pair_fraction = unknown;   // of pairs i < j with a cosine above a level; as far as clusters are measured
    double effective_rank = unknown;  // not measured above min(n, d) = 1024

    bool operator==(const Sample&) const = default;
};

struct SampleField {
    const char* name;       // column of samples.csv, array of samples.safetensors, what --until calls it
    const char* json;       // where it stands in a run's JSON: "speed", or "cosine.mean"
    double Sample::*value;  // the member it is kept in; null for what follows from another one
    double (*derived)(const Sample&);
    bool event;   // --until may watch it
    bool system;  // a single system has it too: t and quantiles over systems are not of one
    // Between these it lies, whatever the run: --until waits for nothing else.
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();

    double operator()(const Sample& sample) const { return value != nullptr ? sample.*value : derived(sample); }
};

// One look at a run.
struct Measurement {
    Sample all;                   // over all systems
    std::vector<Sample> systems;  // of each by itself, where there are several; lo and hi are then its cosine
};

std::span<const SampleField> sample_fields();

// The field that --until calls so; an Error with the nearest name otherwise.
const SampleField& event_field(std::string_view name);

// Samples as rows of numbers and back, for files: the fields with a member, in the order of the list.
std::size_t packed_width();
std::vector<double> pack(const std::vector<Sample>& samples);
std::vector<Sample> unpack(std::span<const double> values);  // a whole number of rows

}  // namespace flyball::dynamics
