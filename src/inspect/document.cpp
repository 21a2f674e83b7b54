#include "inspect/document.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/csv.hpp"
#include "core/number.hpp"

namespace flyball::inspect {

namespace {

std::string number_cell(double value) {
    return std::isfinite(value) ? format_double(value) : std::string();
}

Json fields_of(const LayerReport& layer, const std::vector<LayerField>& fields) {
    Json json = Json::object();
    for (const LayerField& field : fields) {
        json[field.name] = layer.*field.value;
    }
    return json;
}

Json layers_json(const Report& report, const Spelling& spelling) {
    Json list = Json::array();
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        Json one = Json::object();
        one["layer"] = l;
        one.update(fields_of(report.layers[l], layer_fields()));
        if (!report.lens_top.empty()) {
            const std::optional<std::int32_t> top = report.lens_top[l];
            one["lens_top"] = top ? Json(*top) : Json();
            one["lens_top_text"] = top && spelling ? Json(spelling(*top)) : Json();
        }
        list.push_back(std::move(one));
    }
    return list;
}

Json heads_json(const Report& report) {
    Json list = Json::array();
    for (std::size_t l = 0; l < report.heads.size(); ++l) {
        for (std::size_t h = 0; h < report.heads[l].size(); ++h) {
            const model::HeadMeasures& head = report.heads[l][h];
            list.push_back({{"layer", l},
                            {"head", h},
                            {"entropy", head.entropy},
                            {"sink", head.first_weight},
                            {"largest_logit", head.largest_score}});
        }
    }
    return list;
}

Json massive_json(const Report& report, const Spelling& spelling) {
    Json list = Json::array();
    for (const MassiveActivation& one : report.massive) {
        const bool has_id = !report.ids.empty();
        const std::int32_t id = has_id ? report.ids[one.sequence * report.tokens + one.token] : 0;
        list.push_back({{"layer", one.layer},
                        {"sequence", one.sequence},
                        {"token", one.token},
                        {"id", has_id ? Json(id) : Json()},
                        {"text", has_id && spelling ? Json(spelling(id)) : Json()},
                        {"channel", one.channel},
                        {"value", one.value},
                        {"times_median", std::fabs(one.value) / report.layers[one.layer].median_abs}});
    }
    return list;
}

Json gains_json(const Report& report) {
    Json list = Json::array();
    for (const GainReport& one : report.gains) {
        list.push_back({{"layer", one.layer},
                        {"norm", one.norm},
                        {"mean", one.mean},
                        {"deviation", one.deviation},
                        {"largest", one.largest}});
    }
    return list;
}

}  // namespace

Json document(const Json& model, const Report& report, const Spelling& spelling) {
    Json json = Json::object();
    json["model"] = model;
    json["loss"] = report.loss;
    json["tokens"] = report.sequences * report.tokens;
    json["sequences"] = report.sequences;
    json["length"] = report.tokens;
    json["embedding"] = fields_of(report.embedding, stream_fields());
    json["layers"] = layers_json(report, spelling);
    json["heads"] = heads_json(report);
    json["massive"] = massive_json(report, spelling);
    json["gains"] = gains_json(report);
    json["growth"] = {{"class", measure::name(report.growth.kind)},
                      {"rate", report.growth.rate},
                      {"rate_error", report.growth.rate_error},
                      {"exponent", report.growth.exponent},
                      {"exponent_error", report.growth.exponent_error},
                      {"factor", report.growth.factor},
                      {"error", report.growth.error},
                      {"bound", model::name(report.bound)}};
    json["summary"] = summary(report, spelling);
    return json;
}

std::string layers_table(const Report& report) {
    std::string text = "layer";
    for (const LayerField& field : layer_fields()) {
        text += fmt::format(",{}", field.name);
    }
    text += "\n";
    const auto add = [&](const std::string& name, const LayerReport& layer) {
        text += name;
        for (const LayerField& field : layer_fields()) {
            text += "," + number_cell(layer.*field.value);
        }
        text += "\n";
    };
    add("embedding", report.embedding);
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        add(std::to_string(l), report.layers[l]);
    }
    return text;
}

std::string heads_table(const Report& report) {
    std::string text = "layer,head,entropy,sink,largest_logit\n";
    for (std::size_t l = 0; l < report.heads.size(); ++l) {
        for (std::size_t h = 0; h < report.heads[l].size(); ++h) {
            const model::HeadMeasures& head = report.heads[l][h];
            text += fmt::format("{},{},{},{},{}\n", l, h, number_cell(head.entropy), number_cell(head.first_weight),
                                number_cell(head.largest_score));
        }
    }
    return text;
}

std::string gains_table(const Report& report) {
    std::string text = "layer,norm,mean,deviation,largest\n";
    for (const GainReport& one : report.gains) {
        text += fmt::format("{},{},{},{},{}\n", one.layer, csv_cell(one.norm), number_cell(one.mean),
                            number_cell(one.deviation), number_cell(one.largest));
    }
    return text;
}

}  // namespace flyball::inspect
