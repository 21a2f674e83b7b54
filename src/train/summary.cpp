#include "train/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"

namespace flyball::train {

namespace {

// The plain numbers of a summary, once for both directions.
template <class S, class Visitor>
void visit_numbers(S& s, const Visitor& visit) {
    visit("loss", s.loss);
    visit("validation_loss", s.validation_loss);
    visit("tokens_per_second", s.tokens_per_second);
    visit("dt", s.dt);
    visit("growth", s.growth);
    visit("smallest_gradient", s.smallest_gradient);
    visit("largest_gradient", s.largest_gradient);
    visit("memory", s.memory);
}

constexpr std::array outcomes = {Outcome::done, Outcome::interrupted, Outcome::nan, Outcome::exploded, Outcome::spike};

Json failure_json(const Failure& failure) {
    Json json = Json::object();
    json["outcome"] = name(failure.outcome);
    json["step"] = failure.step;
    json["layer"] = failure.layer ? Json(*failure.layer) : Json(nullptr);
    json["quantity"] = failure.quantity;
    return json;
}

Outcome outcome_named(const std::string& text) {
    const auto found = std::find_if(outcomes.begin(), outcomes.end(), [&](Outcome one) { return text == name(one); });
    if (found == outcomes.end()) {
        throw Error(ErrorKind::input, "train.summary", fmt::format("the outcome {}", flyball::quoted(text)),
                    "one that a training run has");
    }
    return *found;
}

Json language_json(const EntropyFloor& floor) {
    Json json = Json::object();
    json["mean"] = floor.mean;
    json["error"] = floor.error;
    json["cold"] = floor.cold;
    json["cold_error"] = floor.cold_error;
    json["rate"] = floor.rate;
    return json;
}

double number_of(const Json& json) {
    return json.is_number() ? json.get<double>() : std::nan("");
}

}  // namespace

Json to_json(const Summary& s) {
    Json json = Json::object();
    json["name"] = s.name;
    json["scheme"] = s.scheme;
    json["equation"] = s.equation;
    json["seed"] = s.seed;
    json["outcome"] = name(s.outcome);
    json["failure"] = s.failure ? failure_json(*s.failure) : Json(nullptr);
    json["steps"] = s.steps;
    json["parameters"] = s.parameters;
    visit_numbers(s, [&json](const char* key, double value) { json[key] = value; });
    json["entropy_floor"] = s.entropy_floor ? Json(*s.entropy_floor) : Json(nullptr);
    json["language"] = s.language ? language_json(*s.language) : Json(nullptr);
    json["notes"] = s.notes;
    return json;
}

Failure read_failure(const Json& json) {
    Failure failure{outcome_named(json.at("outcome").get<std::string>()), json.at("step").get<std::size_t>(),
                    std::nullopt, json.at("quantity").get<std::string>()};
    if (json.at("layer").is_number()) {
        failure.layer = json.at("layer").get<std::size_t>();
    }
    return failure;
}

Summary read_summary(const Json& json, const std::string& what) {
    Summary s;
    try {
        s.name = json.at("name").get<std::string>();
        s.scheme = json.at("scheme").get<std::string>();
        s.equation = json.at("equation").get<std::string>();
        s.seed = json.at("seed").get<std::uint64_t>();
        s.steps = json.at("steps").get<std::size_t>();
        s.parameters = json.at("parameters").get<std::size_t>();
        s.outcome = outcome_named(json.at("outcome").get<std::string>());
        visit_numbers(s, [&json](const char* key, double& value) { value = number_of(json.at(key)); });
        if (const Json& floor = json.at("entropy_floor"); floor.is_number()) {
            s.entropy_floor = floor.get<double>();
        }
        if (const Json& failure = json.at("failure"); failure.is_object()) {
            s.failure = read_failure(failure);
        }
        if (const Json& language = json.at("language"); language.is_object()) {
            s.language = EntropyFloor{};
            s.language->mean = number_of(language.at("mean"));
            s.language->error = number_of(language.at("error"));
            s.language->cold = number_of(language.at("cold"));
            s.language->cold_error = number_of(language.at("cold_error"));
            s.language->rate = number_of(language.at("rate"));
        }
        s.notes = json.at("notes").get<std::vector<std::string>>();
    } catch (const Json::exception&) {
        throw Error(ErrorKind::input, "train.summary", flyball::quoted(what), "the summary of a training run",
                    "start anew with " + setting("force"));
    }
    return s;
}

Json to_json(const StepReport& report) {
    Json line = Json::object();
    line["step"] = report.step;
    line["loss"] = report.loss;
    line["lr"] = report.rate;
    line["gradient_norm"] = report.gradient_norm;
    if (!report.layers.empty()) {
        Json embedding = to_json(report.embedding);
        Json kept = Json::object();
        for (const char* key : {"norm", "mean_abs", "entry_variance", "data_variance", "gradient"}) {
            kept[key] = embedding[key];
        }
        line["embedding"] = std::move(kept);
        Json layers = Json::array();
        for (std::size_t l = 0; l < report.layers.size(); ++l) {
            Json layer = Json::object();
            layer["layer"] = l + 1;
            layer.update(to_json(report.layers[l]));
            layers.push_back(std::move(layer));
        }
        line["layers"] = std::move(layers);
    }
    if (report.failure) {
        line["failure"] = failure_json(*report.failure);
    }
    return line;
}

}  // namespace flyball::train
