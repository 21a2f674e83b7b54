#include "train/events.hpp"

#include <fmt/format.h>

#include <cmath>

#include "train/layer_record.hpp"

namespace flyball::train {

// A line that was read back has null where a number was not finite: both are NaN here, so that TensorBoard shows the same
// before a run is taken up and after.
void write_events(const Json& line, record::EventFile& events) {
    const auto step = line.at("step").get<std::int64_t>();
    const auto write = [&](const std::string& tag, const Json& value) {
        if (value.is_number() && std::isfinite(value.get<double>())) {
            events.scalar(tag, step, value.get<double>());
        } else if (value.is_number() || value.is_null()) {
            events.scalar(tag, step, std::nan(""));
        }
    };
    for (const auto& [key, value] : line.items()) {
        if (key != "step") {
            write(key, value);
        }
    }
    if (!line.contains("layers")) {
        return;
    }
    for (const LayerField& field : layer_fields()) {
        for (const Json& layer : line.at("layers")) {
            write(fmt::format("{}/layer-{:02}", field.name, layer.at("layer").get<std::size_t>()),
                  layer.at(field.name));
        }
    }
}

}  // namespace flyball::train
