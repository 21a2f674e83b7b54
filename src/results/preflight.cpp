// check --out: check.json.
#include <fmt/format.h>

#include <cmath>

#include "results/parts.hpp"

namespace flyball::results {

namespace {

// [[name, words]..] of an object's plain values.
Json facts_of(const Json& object) {
    Json list = Json::array();
    if (object.is_object()) {
        for (const auto& [key, value] : object.items()) {
            list.push_back({key, words(value)});
        }
    } else if (!object.is_null()) {
        list.push_back({"evidence", words(object)});
    }
    return list;
}

Json findings(const Json& check) {
    Json part = Json::object();
    part["kind"] = "findings";
    part["title"] = check.at("scheme").get<std::string>();
    part["verdict"] = check.at("verdict").get<std::string>();
    part["equation"] = check.at("equation").get<std::string>();
    part["advice"] = check.contains("advice") ? words(check.at("advice")) : "";
    part["facts"] = Json::array();
    const auto fact = [&](const char* name, const char* key) {
        if (check.contains(key) && !check.at(key).is_null()) {
            part["facts"].push_back({name, words(check.at(key))});
        }
    };
    fact("growth of the stream with depth", "growth");
    fact("what the equation promises whatever the weights are", "bound");
    fact("suggested residual step dt", "suggested_dt");
    part["findings"] = Json::array();
    for (const Json& finding : check.at("findings")) {
        part["findings"].push_back({{"severity", finding.at("severity").get<std::string>()},
                                    {"id", finding.at("id").get<std::string>()},
                                    {"message", finding.at("message").get<std::string>()},
                                    {"evidence", facts_of(finding.value("evidence", Json()))}});
    }
    return part;
}

// Lists over the blocks of fresh models of several depths.
std::vector<CurveSeries> beginnings(const Json& check) {
    std::vector<CurveSeries> series;
    for (const Json& curve : check.at("beginning")) {
        CurveSeries one{fmt::format("{} blocks", words(curve.at("depth"))), {}, {}, {}};
        for (const auto& [key, value] : curve.items()) {
            if (value.is_array()) {
                one.quantities.push_back({key, numbers(value), {}});
                while (one.x.size() < value.size()) {
                    one.x.push_back(static_cast<double>(one.x.size()));
                }
            }
        }
        for (CurveQuantity& quantity : one.quantities) {
            quantity.y.resize(one.x.size(), std::nan(""));
        }
        series.push_back(std::move(one));
    }
    return series;
}

void add_check(Reader& reader, const Json& check) {
    reader.add(findings(check));
    if (check.contains("beginning") && !check.at("beginning").empty()) {
        reader.add(curves({fmt::format("A fresh model of {}", words(check.at("scheme"))),
                           "Before any training, after each block, for models of several depths.",
                           "block",
                           false,
                           {"stream", "gradient"}},
                          beginnings(check), reader.detail()));
    }
    Json rows = Json::array();
    for (const char* key : {"training", "yardsticks"}) {
        if (check.contains(key)) {
            for (const Json& run : check.at(key)) {
                rows.push_back({words(run.at("scheme")), number_or_nan(run, "depth"), words(run.at("outcome")),
                                number_or_nan(run, "steps"), number_or_nan(run, "first"), number_or_nan(run, "last")});
            }
        }
    }
    if (!rows.empty()) {
        reader.add(table("Short training runs",
                         "The block itself, then Pre-LN and Peri-LN as yardsticks. Losses are in nats a token.",
                         {"scheme", "blocks", "outcome", "steps", "loss at the start", "loss at the end"},
                         std::move(rows), reader.detail()));
    }
}

}  // namespace

void read_check(Reader& reader) {
    reader.attempt_so_far("check.json", [&] {
        const Json document = reader.json("check.json");
        if (!document.contains("checks")) {
            add_check(reader, document);
            return;
        }
        if (document.contains("difference") && document.at("difference").is_string()) {
            reader.add(sentences("Which of the two", Json::array({document.at("difference")})));
        }
        for (const Json& check : document.at("checks")) {
            add_check(reader, check);
        }
    });
}

}  // namespace flyball::results
