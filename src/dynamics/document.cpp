#include "dynamics/document.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "dynamics/method.hpp"
#include "dynamics/own_frame.hpp"
#include "dynamics/trained_weights.hpp"

namespace flyball::dynamics {

namespace {

// Tokens count from 0, as in the arrays.
Json fusings(const std::vector<Fusing>& history) {
    Json list = Json::array();
    for (const Fusing& fusing : history) {
        Json entry;
        entry["t"] = fusing.t;
        entry["system"] = fusing.system;
        entry["tokens"] = fusing.tokens;
        entry["apart"] = fusing.apart;
        list.push_back(std::move(entry));
    }
    return list;
}

// Of every quantity that a single system has: [samples][systems].
Json values_of_systems(const Record& record) {
    Json all = Json::object();
    const std::size_t samples = record.samples.size();
    const std::size_t systems = samples == 0 ? 0 : record.systems.size() / samples;
    for (const SampleField& field : sample_fields()) {
        if (!field.system) {
            continue;
        }
        check_stop();
        Json rows = Json::array();
        for (std::size_t i = 0; i < samples; ++i) {
            Json row = Json::array();
            for (std::size_t m = 0; m < systems; ++m) {
                row.push_back(field(record.systems[i * systems + m]));
            }
            rows.push_back(std::move(row));
        }
        all[field.name] = std::move(rows);
    }
    return all;
}

}  // namespace

std::optional<double> one_minus_cosine_resolution(const Settings& settings, const std::vector<SchemeRun>& runs) {
    const Control control = control_of(settings);
    const bool all_followed = std::all_of(runs.begin(), runs.end(), [&](const SchemeRun& run) {
        return follows_slow_motion(problem_without_start(settings, run.scheme.program), control);
    });
    if (settings.layers || row_for(settings).has_equal_steps() || all_followed) {
        return std::nullopt;
    }
    // Errors let tokens apart until steps notice. Measured: up to 93 squares of the tolerance, with attention in float
    // up to 2000.
    const double squares = control.precision == Precision::f32 ? 1e4 : 1e3;
    const Tolerances tolerances = tolerances_of(control);
    const double tolerance = std::max(tolerances.rtol, std::sqrt(static_cast<double>(settings.dim)) * tolerances.atol);
    return squares * tolerance * tolerance;
}

Json document(const Settings& settings, const std::vector<SchemeRun>& runs) {
    Json list = Json::array();
    for (const SchemeRun& run : runs) {
        Json row = Json::object();
        row["scheme"] = run.scheme.name;
        row["equation"] = run.scheme.program.text();
        row["outcome"] = name(run.record.outcome);
        for (const SampleField& field : sample_fields()) {
            if (field.json == nullptr) {
                continue;
            }
            check_stop();
            Json values = Json::array();
            for (const Sample& sample : run.record.samples) {
                values.push_back(field(sample));
            }
            const std::string place = field.json;
            const std::size_t dot = place.find('.');
            Json& group = dot == std::string::npos ? row : row[place.substr(0, dot)];
            group[place.substr(dot == std::string::npos ? 0 : dot + 1)] = std::move(values);
        }
        if (settings.per_system && !run.record.systems.empty()) {
            row["systems"] = values_of_systems(run.record);
        }
        row["collapse_time"] = run.record.collapse_time ? Json(*run.record.collapse_time) : Json(nullptr);
        row["fused"] = fusings(run.record.fused);
        row["kernel"] = run.record.kernel;
        row["stats"] = {
            {"steps", run.record.steps}, {"evaluations", run.record.evaluations}, {"seconds", run.record.seconds}};
        list.push_back(std::move(row));
    }
    const std::optional<double> resolution = one_minus_cosine_resolution(settings, runs);
    Json result = {{"runs", std::move(list)},
                   {"one_minus_cosine_resolution", resolution ? Json(*resolution) : Json(nullptr)}};
    if (settings.trained) {
        const TrainedWeights& trained = *settings.trained;
        result["weights"] = {{"model", trained.model},       {"blocks", trained.blocks},
                             {"heads", trained.heads},       {"beta", trained.beta},
                             {"gains", settings.norm_gains}, {"notes", trained_notes(settings)}};
    }
    return result;
}

}  // namespace flyball::dynamics
