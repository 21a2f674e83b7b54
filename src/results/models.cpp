// inspect --out and limits --out: inspect.json, limits.json.
#include <fmt/format.h>

#include <algorithm>

#include "results/parts.hpp"

namespace flyball::results {

namespace {

// "builtin:peri-ln", or whatever the model was called.
std::string model_name(const Json& document) {
    const Json& model = document.at("model");
    for (const char* key : {"name", "model", "path"}) {
        if (model.contains(key) && model.at(key).is_string()) {
            return model.at(key).get<std::string>();
        }
    }
    return "the model";
}

constexpr const char* map_words =
    "A square is a head: blocks from top to bottom, heads from left to right, both counted from 0. A head decides, "
    "token "
    "by token, which other tokens to look at.";

void add_lists(Reader& reader, const Json& document, const std::string& name) {
    for (const auto& [key, title] : {std::pair{"summary", "In words"}, {"guidance", "What to do about it"}}) {
        if (document.contains(key) && !document.at(key).empty()) {
            reader.add(sentences(fmt::format("{}{}", title, name.empty() ? "" : ": " + name), document.at(key)));
        }
    }
}

// One series for each of the alternatives to softmax, beside softmax itself.
std::vector<CurveSeries> by_attention(const Json& document, const std::string& key, const std::string& x) {
    std::vector<CurveSeries> series;
    const auto add = [&](const Json& one) {
        if (one.contains(key) && !one.at(key).empty()) {
            series.push_back(series_of_records(one.at("attention").get<std::string>(), one.at(key), x));
        }
    };
    add(document);
    for (const Json& other : document.at("alternatives")) {
        add(other);
    }
    return series;
}

// distance_by_length has a row for each length and N: lines over the length, one for each N.
std::vector<CurveSeries> split_by(const Json& rows, const std::string& key, const std::string& label,
                                  const std::string& x) {
    std::vector<std::pair<std::string, Json>> groups;
    for (const Json& row : rows) {
        const std::string name = fmt::format("{} = {}", label, words(row.at(key)));
        if (groups.empty() || groups.back().first != name) {
            auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == name; });
            if (found == groups.end()) {
                groups.emplace_back(name, Json::array());
            } else {
                std::rotate(found, found + 1, groups.end());  // the one that is filled stands last
            }
        }
        groups.back().second.push_back(row);
    }
    std::vector<CurveSeries> series;
    for (const auto& [name, list] : groups) {
        series.push_back(series_of_records(name, list, x));
        auto& quantities = series.back().quantities;
        std::erase_if(quantities, [&](const CurveQuantity& q) { return q.name == key; });
    }
    return series;
}

}  // namespace

void read_inspection(Reader& reader) {
    reader.attempt_so_far("inspect.json", [&] {
        const Json whole = reader.json("inspect.json");
        const Json models = whole.contains("models") ? whole.at("models") : Json::array({whole});
        std::vector<CurveSeries> series;
        for (const Json& one : models) {
            series.push_back(series_of_records(model_name(one), one.at("layers"), "layer"));
        }
        for (const Json& one : models) {
            add_lists(reader, one, models.size() > 1 ? model_name(one) : "");
        }
        reader.add(
            curves({"Over depth",
                    "After each block, counted from 0; a mean over the tokens of the text unless it says otherwise.",
                    "block",
                    false,
                    {"norm_median", "angular_distance", "cosine", "gradient", "drop", "lens_loss"},
                    {{"norm_median", {"norm_low", "norm_high"}}}},
                   std::move(series), reader.detail()));
        for (const Json& one : models) {
            if (one.contains("heads") && !one.at("heads").empty()) {
                reader.add(head_map(fmt::format("Attention heads of {}", model_name(one)), map_words, "entropy",
                                    one.at("heads")));
            }
        }
    });
}

void read_limits(Reader& reader) {
    reader.attempt_so_far("limits.json", [&] {
        const Json document = reader.json("limits.json");
        add_lists(reader, document, "");
        reader.add(head_map(fmt::format("Attention heads of {}", model_name(document)), map_words, "active_share",
                            document.at("heads")));
        reader.add(
            curves({"How far what is selected lies from the rest, over the length of the text",
                    "N keys with the largest weights are selected. The expected distance is that of N keys drawn at "
                    "random: where the two meet, attention selects no better than chance.",
                    "tokens of the text",
                    true,
                    {"true", "share"}},
                   split_by(document.at("distance_by_length"), "n", "N", "length"), reader.detail()));
        reader.add(curves({"The same over how many are selected", "", "N, selected keys", true, {"true", "expected"}},
                          split_by(document.at("distance_by_n"), "length", "length", "n"), reader.detail()));
        reader.add(
            curves({"How cleanly the selected keys stand apart",
                    "The share of the N selected keys that are closer to what was selected than every other key.",
                    "N, selected keys",
                    true,
                    {"ratio", "upper"}},
                   by_attention(document, "separation", "n"), reader.detail()));
        Json rows = Json::array();
        for (const Json& row : document.at("sensitivity")) {
            rows.push_back({number_or_nan(row, "temperature"), number_or_nan(row, "eps"), number_or_nan(row, "max"),
                            number_or_nan(row, "bound"), number_or_nan(row, "bound_paper")});
        }
        reader.add(table("How fast the weights move when scores do",
                         "The largest head's change of the weights per unit, when scores are moved by eps in a random "
                         "direction; beside it what cannot be exceeded, and the bound that the paper states.",
                         {"temperature", "eps", "largest change", "bound", "the paper's bound"}, std::move(rows),
                         reader.detail()));
    });
}

}  // namespace flyball::results
