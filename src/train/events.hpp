// A line of metrics.jsonl as TensorBoard's events: loss, rate and the like under their names, what was recorded of the
// layers as QUANTITY/layer-03, so that TensorBoard shows one quantity's layers together.
#pragma once

#include "core/json.hpp"
#include "record/event_file.hpp"

namespace flyball::train {

inline constexpr const char* event_file_name = "events.out.tfevents.0.flyball";

void write_events(const Json& line, record::EventFile& events);

}  // namespace flyball::train
