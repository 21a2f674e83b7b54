#include "theory/prediction.hpp"

#include <algorithm>

namespace flyball::theory {

namespace {

Json or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

template <class Get>
Json column(const std::vector<Point>& points, const Get& get) {
    Json values = Json::array();
    for (const Point& point : points) {
        values.push_back(get(point));
    }
    return values;
}

Json law_json(const Law& law) {
    return {{"law", name(law.kind)},
            {"rate", or_null(law.rate)},
            {"p", or_null(law.p)},
            {"power", or_null(law.power)},
            {"time", or_null(law.time)},
            {"exponent", or_null(law.exponent)},
            {"constant", or_null(law.constant)},
            {"log_constant", or_null(law.log_constant)},
            {"limit", or_null(law.limit)},
            {"log_one_minus_limit", or_null(law.log_one_minus_limit)},
            {"error", or_null(law.error)},
            {"speed_growth", or_null(law.speed_growth)},
            {"speed_agrees", law.speed_agrees},
            {"reached", law.reached},
            {"note", law.note}};
}

// r^2 (1 - gamma) -> K r0^2 for Pre-LN and Peri-LN, by quadrature.
void add_consensus(Json& place, const Settings& settings) {
    if (settings.betas.size() == 1) {
        place["log_consensus_constant"] = log_consensus_constant(settings.tokens, settings.betas.front());
    }
}

}  // namespace

Prediction predict(const scheme::Scheme& scheme, const Settings& settings, const std::vector<double>& times,
                   const std::vector<double>& cosines) {
    Prediction found{scheme, settings, initial_velocity(scheme.program, settings), {}, {}, {}};
    std::string why_it_ends;
    found.points = solve(scheme.program, settings, times, &why_it_ends);
    for (const double cosine : cosines) {
        found.times_to_cosine.push_back(time_to_cosine(scheme.program, settings, cosine));
    }
    found.law = terminal_law(scheme.program, settings);
    if (!why_it_ends.empty() && found.law.note.find(why_it_ends) == std::string::npos) {
        found.law.note += (found.law.note.empty() ? "" : "; ") + ("the curve ends: " + why_it_ends);
    }
    return found;
}

Json document(const std::vector<Prediction>& predictions, const std::vector<double>& cosines) {
    const bool same = std::all_of(predictions.begin(), predictions.end(), [&](const Prediction& run) {
        return run.settings.betas == predictions.front().settings.betas;
    });
    Json list = Json::array();
    for (const Prediction& run : predictions) {
        Json row = Json::object();
        row["scheme"] = run.scheme.name;
        row["equation"] = run.scheme.program.text();
        if (run.settings.betas.size() == 1) {
            row["beta"] = run.settings.betas.front();
        } else {
            row["heads_beta"] = run.settings.betas;
        }
        row["initial_velocity"] = run.initial_velocity;
        row["terminal"] = law_json(run.law);
        Json times = Json::array();
        for (std::size_t i = 0; i < cosines.size(); ++i) {
            times.push_back({{"cosine", cosines[i]}, {"t", or_null(run.times_to_cosine[i])}});
        }
        row["time_to_cosine"] = times;
        row["t"] = column(run.points, [](const Point& p) { return p.t; });
        row["gamma"] = column(run.points, [](const Point& p) { return p.gamma; });
        row["radius"] = column(run.points, [](const Point& p) { return p.radius; });
        row["velocity"] = column(run.points, [](const Point& p) { return p.velocity; });
        row["log_one_minus_gamma"] = column(run.points, [](const Point& p) { return p.log_one_minus_gamma; });
        if (!same) {
            add_consensus(row, run.settings);
        }
        list.push_back(std::move(row));
    }
    Json all = {{"runs", std::move(list)}};
    if (same && !predictions.empty()) {
        add_consensus(all, predictions.front().settings);
    }
    return all;
}

}  // namespace flyball::theory
