// What is left of a training run when it is over: summary.json, and a row of the table.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "train/trainer.hpp"

namespace flyball::train {

// One run of a call: a scheme with its settings, and the name of its folder.
struct RunPlan {
    std::string name;  // "peri-ln-1"
    Settings settings;
    scheme::Scheme scheme;
};

// Numbers are NaN until they are known.
struct Summary {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::string name;
    std::string scheme;
    std::string equation;
    std::uint64_t seed = 0;
    double dt = 1;
    Outcome outcome = Outcome::done;
    std::optional<Failure> failure;
    std::size_t steps = 0;                 // that were taken
    double loss = unknown;                 // mean training loss of the last tenth of the steps
    double validation_loss = unknown;      // at the end
    std::optional<double> entropy_floor;   // of the same windows
    std::optional<EntropyFloor> language;  // of the whole validation part
    std::size_t parameters = 0;
    double tokens_per_second = unknown;
    double memory = unknown;  // bytes, as estimated
    double growth = unknown;  // length of the stream after the last block over that of the embedding, at the end
    double smallest_gradient = unknown;  // of the streams, over layers, at the end
    double largest_gradient = unknown;
    std::vector<std::string> notes;
};

Json to_json(const Summary& summary);
// The same back, from a finished run's file; Error(input) when it is not one.
Summary read_summary(const Json& json, const std::string& what);

// The "failure" of a line of metrics.jsonl or of a summary.
Failure read_failure(const Json& json);

// A line of metrics.jsonl, without the time it took.
Json to_json(const StepReport& report);

}  // namespace flyball::train
