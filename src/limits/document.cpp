#include "limits/document.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/csv.hpp"
#include "core/number.hpp"
#include "limits/diagnosis.hpp"

namespace flyball::limits {

namespace {

Json to_json(const DistanceMeans& row) {
    return {{"length", row.length},
            {"n", row.n},
            {"true", row.distance},
            {"expected", row.expected},
            {"expected_rms", row.expected_rms},
            {"bound", row.bound},
            {"share", row.share},
            {"uniformity", row.uniformity}};
}

Json to_json(const SeparationMeans& row) {
    return {{"n", row.n},
            {"ratio", row.ratio},
            {"lower", row.lower},
            {"upper", row.upper},
            {"upper_patched", row.upper_patched},
            {"lower_exact", row.lower_exact},
            {"upper_exact", row.upper_exact},
            {"lower_distinct", row.lower_distinct},
            {"upper_distinct", row.upper_distinct},
            {"rows_breaking",
             {{"lower", row.lower_broken},
              {"upper", row.upper_broken},
              {"upper_patched", row.patched_broken},
              {"exact", row.exact_broken}}}};
}

Json to_json(const HeadResult& head);

template <class Row>
Json list_of(const std::vector<Row>& rows) {
    Json list = Json::array();
    for (const Row& row : rows) {
        list.push_back(to_json(row));
    }
    return list;
}

Json to_json(const HeadResult& head) {
    const Diagnosis d = diagnose(head);
    Json json = {{"layer", head.layer},
                 {"head", head.head},
                 {"rows", head.rows},
                 {"temperature", head.temperature},
                 {"active", head.active},
                 {"active_share", head.active_share},
                 {"entropy", head.entropy},
                 {"entropy_share", head.entropy_share},
                 {"peak", head.peak},
                 {"sink", head.sink},
                 {"sink_key", head.sink_key},
                 {"separation_ratio", d.separation},
                 {"separation_n", head.told_n > 0 ? Json(head.told_n) : Json()},
                 {"spectral", head.spectral},
                 {"infinity", head.infinity},
                 {"infinity_to_one", {{"lower", head.infinity_to_one.lower}, {"upper", head.infinity_to_one.upper}}},
                 {"selective", d.selective},
                 {"saturated", d.saturated},
                 {"is_sink", d.sink},
                 {"sensitive", d.sensitive},
                 {"diagnosis", d.text},
                 {"distance_by_length", list_of(head.by_length)},
                 {"distance_by_n", list_of(head.by_n)},
                 {"separation", list_of(head.separation)}};
    if (!std::isfinite(head.sink)) {
        json["sink_key"] = nullptr;
    }
    return json;
}

Json critical_json(const KsCurve& curve, const CriticalN& critical) {
    Json json = {{"length", curve.length}, {"n", nullptr}, {"fraction", nullptr},
                 {"ks", nullptr},          {"p", nullptr}, {"differs_later", critical.differs_later}};
    if (critical.n) {
        json["n"] = *critical.n;
        json["fraction"] = static_cast<double>(*critical.n) / static_cast<double>(curve.length);
        json["ks"] = critical.distance;
        json["p"] = critical.p;
    }
    return json;
}

void put(Json& json, const Result& result) {
    json["attention"] = result.attention;
    json["distance_by_length"] = list_of(result.by_length);
    json["distance_by_n"] = list_of(result.by_n);
    Json critical = Json::array();
    Json fixed = Json::array();
    Json curves = Json::array();
    for (const KsCurve& curve : result.critical) {
        critical.push_back(critical_json(curve, curve.by_level));
        fixed.push_back(critical_json(curve, curve.by_distance));
        curves.push_back({{"length", curve.length}, {"d", curve.distances}});
    }
    json["critical_n"] = std::move(critical);
    json["critical_n_fixed"] = {{"d", fixed_distance}, {"lengths", std::move(fixed)}};
    json["ks"] = std::move(curves);
    json["separation"] = list_of(result.separation);
    Json sensitivity = Json::array();
    const Normaliser normaliser = Normaliser::parse(result.attention);
    const bool is_softmax = normaliser.kind() == Normaliser::Kind::softmax;
    for (std::size_t i = 0; i < result.sensitivity.size(); ++i) {
        const SensitivityMeans& row = result.sensitivity[i];
        const JacobianMeans& jacobian = result.jacobian[i / step_sizes().size()];
        sensitivity.push_back({{"temperature", row.temperature},
                               {"eps", row.eps},
                               {"max", row.value},
                               {"bound", normaliser.sensitivity_bound(row.temperature, row.eps, longest(result))},
                               {"bound_paper", is_softmax ? Json(paper_sensitivity_bound(row.temperature)) : Json()},
                               {"spectral", is_softmax ? Json(jacobian.spectral) : Json()},
                               {"spectral_largest", is_softmax ? Json(jacobian.spectral_largest) : Json()},
                               {"infinity", is_softmax ? Json(jacobian.infinity) : Json()}});
    }
    json["sensitivity"] = std::move(sensitivity);
    Json coverage = Json::array();
    for (const Coverage& row : result.coverage) {
        coverage.push_back({{"layer", row.layer},
                            {"heads", row.heads},
                            {"share", row.share},
                            {"predicted", row.predicted},
                            {"measured", row.measured}});
    }
    json["coverage"] = std::move(coverage);
    json["heads"] = list_of(result.heads);
    json["rows_left_out"] = result.rows_left_out;
}

}  // namespace

Json document(const Json& model, std::size_t tokens, const Settings& settings, const std::vector<Result>& results,
              const std::vector<std::string>& notes) {
    Json json = {{"model", model},
                 {"tokens", tokens},
                 {"vectors", name(settings.vectors)},
                 {"masked", settings.include_masked ? "include" : "exclude"},
                 {"alpha", settings.alpha}};
    put(json, results.front());
    Json others = Json::array();
    for (std::size_t i = 1; i < results.size(); ++i) {
        Json other;
        put(other, results[i]);
        others.push_back(std::move(other));
    }
    json["alternatives"] = std::move(others);
    json["summary"] = summary(results);
    json["guidance"] = guidance(results);
    json["notes"] = notes;
    return json;
}

std::string heads_table(const std::vector<Result>& results) {
    std::string text = "attention,layer,head";
    for (const HeadMeasure& measure : head_measures()) {
        text += fmt::format(",{}", measure.name);
    }
    text += ",separation_n,is_selective,is_saturated,is_sink,is_sensitive,diagnosis\n";
    for (const Result& result : results) {
        for (const HeadResult& head : result.heads) {
            text += fmt::format("{},{},{}", csv_cell(result.attention), head.layer, head.head);
            for (const HeadMeasure& measure : head_measures()) {
                text += "," + format_double(measure.value(head));
            }
            const Diagnosis d = diagnose(head);
            text += fmt::format(",{},{},{},{},{},{}\n", head.told_n, d.selective, d.saturated, d.sink, d.sensitive,
                                csv_cell(d.text));
        }
    }
    return text;
}

std::string ks_table(const std::vector<Result>& results) {
    std::string text = "attention,length,n,d\n";
    for (const Result& result : results) {
        for (const KsCurve& curve : result.critical) {
            for (std::size_t n = 0; n < curve.distances.size(); ++n) {
                text += fmt::format("{},{},{},{}\n", csv_cell(result.attention), curve.length, n + 1,
                                    format_double(curve.distances[n]));
            }
        }
    }
    return text;
}

}  // namespace flyball::limits
