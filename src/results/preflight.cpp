// check --out: check.json.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "results/in_short.hpp"
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

// An equation without a name is called so, which says nothing to a reader.
std::string called(const std::string& scheme) {
    return scheme == "equation" ? "your block" : scheme;
}

// What the names of growths and bounds mean.
std::string in_words(const std::string& name) {
    static const std::map<std::string, std::string> meaning = {{"bounded", "bounded: it stays as large as it is"},
                                                               {"sqrt", "grows like the root of depth"},
                                                               {"linear", "grows in proportion to depth"},
                                                               {"quadratic", "grows like the square of depth"},
                                                               {"exponential", "grows exponentially"},
                                                               {"none", "nothing in the equation holds it back"}};
    const auto found = meaning.find(name);
    return found == meaning.end() ? name : found->second;
}

// A paragraph as a list of its sentences, which is read faster.
Json sentences_in(const std::string& text) {
    Json list = Json::array();
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find(". ", begin);
        list.push_back(text.substr(begin, end == std::string::npos ? end : end + 1 - begin));
        begin = end == std::string::npos ? text.size() : end + 2;
    }
    return list;
}

Json findings(const Json& check) {
    Json part = Json::object();
    part["kind"] = "findings";
    part["title"] = called(check.at("scheme").get<std::string>());
    part["verdict"] = check.at("verdict").get<std::string>();
    part["equation"] = check.at("equation").get<std::string>();
    part["advice"] = check.contains("advice") ? words(check.at("advice")) : "";
    part["facts"] = Json::array();
    // The class alone does not say all: a stream that shrinks is exponential too. Files of older versions have no words.
    const auto fact = [&](const char* name, const char* key, const Json& said) {
        if (check.contains(key) && !check.at(key).is_null()) {
            part["facts"].push_back(
                {name, said.is_string() ? said.get<std::string>() : in_words(words(check.at(key)))});
        }
    };
    fact("size of the stream in a fresh model, over depth", "growth", check.value("growth_words", Json()));
    fact("how large the equation lets it become, whatever the weights are", "bound",
         check.contains("worst_case") ? check.at("worst_case").value("words", Json()) : Json());
    fact("suggested residual step dt", "suggested_dt", Json());
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
        reader.add(curves(
            {fmt::format("A fresh model of {}", called(words(check.at("scheme")))),
             "Before any training, after each block, counted from 1 (0: the embedding), for models of several depths.",
             "block",
             false,
             {"stream", "gradient"}},
            beginnings(check), reader.detail()));
    }
    Json rows = Json::array();
    for (const char* key : {"training", "yardsticks"}) {
        if (check.contains(key)) {
            for (const Json& run : check.at(key)) {
                // A block that is one of the yardsticks was trained once, and stands there once.
                if (key == std::string_view("yardsticks") && check.contains("training") &&
                    run.at("scheme") == check.at("scheme")) {
                    continue;
                }
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
            say_checks(reader, Json::array({document}));
            add_check(reader, document);
            return;
        }
        say_checks(reader, document.at("checks"));
        if (document.contains("difference") && document.at("difference").is_string()) {
            reader.add(sentences("Which of the two", sentences_in(document.at("difference").get<std::string>())));
        }
        for (const Json& check : document.at("checks")) {
            add_check(reader, check);
        }
    });
}

}  // namespace flyball::results
