// What the tests of inspections share: a small model, its ids, and a report made by hand.
#pragma once

#include "inspect/inspection.hpp"
#include "model/tiny.hpp"

namespace flyball::inspect::test {

inline constexpr std::size_t sequences = 3;
inline constexpr std::size_t tokens = 7;
inline constexpr std::size_t rows = sequences * tokens;

inline const std::vector<std::int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6};

inline model::Model<float> small_model(const std::string& equation, double dt = 1) {
    model::Architecture a = model::test::tiny_architecture(equation);
    a.dt = dt;
    return model::test::tiny_model<float>(a, 11);
}

// Blocks with different numbers in every field, so that no two can be taken for each other.
inline Report made_report(std::size_t layers) {
    Report report;
    report.sequences = 2;
    report.tokens = 3;
    report.dim = 4;
    report.ids = {10, 11, 12, 13, 14, 15};
    report.loss = 2.5;
    double value = 0.01;
    const auto fill = [&](LayerReport& layer, const std::vector<LayerField>& fields) {
        for (const LayerField& field : fields) {
            layer.*field.value = value;
            value += 0.01;
        }
    };
    fill(report.embedding, stream_fields());
    report.layers.resize(layers);
    for (LayerReport& layer : report.layers) {
        fill(layer, layer_fields());
        report.heads.push_back({{value, value + 1, value + 2}, {value + 3, value + 4, value + 5}});
        report.lens_top.push_back(static_cast<std::int32_t>(20 + report.lens_top.size()));
    }
    report.layers.back().lens_agreement = 1;
    report.final_top = report.lens_top.back();
    report.massive = {{1, 1, 2, 5, -321.0}, {2, 0, 1, 6, 432.0}};
    report.gains = {{0, "blocks.0.norms.0", 1.5, 0.25, 2.5}};
    report.growth = {measure::GrowthClass::linear, 2, 0.1, 0.9, 0.05, 4, 0.02};
    report.bound = model::StreamBound::linear;
    report.first_not_finite = layers;
    return report;
}

}  // namespace flyball::inspect::test
