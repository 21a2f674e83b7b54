#include "train/events.hpp"

#include <fmt/format.h>

#include <cmath>

#include "train/layer_record.hpp"

namespace flyball::train {

void write_events(const Json& line, record::EventFile& events) {
    const auto step = line.at("step").get<std::int64_t>();
    for (const auto& [key, value] : line.items()) {
        if (key != "step" && value.is_number()) {
            events.scalar(key, step, value.get<double>());
        } else if (key != "step" && value.is_null()) {
            events.scalar(key, step, std::nan(""));  // as JSON has numbers that are not finite
        }
    }
    if (!line.contains("layers")) {
        return;
    }
    for (const LayerField& field : layer_fields()) {
        for (const Json& layer : line.at("layers")) {
            if (layer.at(field.name).is_number()) {
                events.scalar(fmt::format("{}/layer-{:02}", field.name, layer.at("layer").get<std::size_t>()), step,
                              layer.at(field.name).get<double>());
            }
        }
    }
}

}  // namespace flyball::train
