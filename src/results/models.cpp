// inspect --out and limits --out: inspect.json, limits.json.
#include <fmt/format.h>

#include <algorithm>

#include "results/in_short.hpp"
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

// "-sparsemax": what names of figures end with where several kinds of attention were compared.
std::string ending_of(const Json& of_kind) {
    std::string kind = of_kind.at("attention").get<std::string>();
    std::replace(kind.begin(), kind.end(), ':', '-');
    std::erase(kind, '/');  // a name that leads elsewhere is no figure of ours
    return "-" + kind;
}

// The figures that `limits` drew, in the order in which they are understood; those of alternatives to softmax follow their
// own. One that is not there is left out.
Json limits_pictures(Reader& reader, const Json& document) {
    std::vector<std::string> endings = {""};
    if (!document.at("alternatives").empty()) {
        endings = {ending_of(document)};
        for (const Json& other : document.at("alternatives")) {
            endings.push_back(ending_of(other));
        }
    }
    Json drawn = Json::array();
    const auto add = [&](const std::string& name) {
        if (reader.has(name + ".svg")) {
            add_figure(reader, name, drawn);
        }
    };
    add("share-length");
    for (const std::string& ending : endings) {
        for (const char* name :
             {"distance-length", "distance-n", "separation", "critical-n", "ks-curves", "sensitivity", "measures"}) {
            add(name + ending);
        }
    }
    return drawn;
}

}  // namespace

void read_inspection(Reader& reader) {
    reader.attempt_so_far("inspect.json", [&] {
        const Json whole = reader.json("inspect.json");
        const Json models = whole.contains("models") ? whole.at("models") : Json::array({whole});
        std::vector<CurveSeries> series;
        std::vector<std::string> names;
        for (const Json& one : models) {
            names.push_back(model_name(one));
        }
        names = short_model_names(std::move(names));
        for (std::size_t i = 0; i < models.size(); ++i) {
            series.push_back(series_of_records(names[i], models[i].at("layers"), "layer"));
            add_lists(reader, models[i], models.size() > 1 ? names[i] : "");
        }
        reader.add(
            curves({"Over depth",
                    "After each block, counted from 0; a mean over the tokens of the text unless it says otherwise.",
                    "block",
                    false,
                    {"norm_median", "angular_distance", "cosine", "gradient", "drop", "lens_loss"},
                    {{"norm_median", {"norm_low", "norm_high"}}}},
                   std::move(series), reader.detail()));
        for (std::size_t i = 0; i < models.size(); ++i) {
            if (const Json& one = models[i]; one.contains("heads") && !one.at("heads").empty()) {
                reader.add(
                    head_map(fmt::format("Attention heads of {}", names[i]), map_words, "entropy", one.at("heads")));
            }
        }
        say_inspection(reader, models);
    });
}

void read_limits(Reader& reader) {
    reader.attempt_so_far("limits.json", [&] {
        const Json document = reader.json("limits.json");
        add_lists(reader, document, "");
        reader.add(head_map(fmt::format("Attention heads of {}", short_model_name(model_name(document))), map_words,
                            "active_share", document.at("heads")));
        if (Json drawn = limits_pictures(reader, document); !drawn.empty()) {
            reader.add({{"kind", "figures"}, {"title", "All heads together"}, {"figures", std::move(drawn)}});
        }
        say_limits(reader, document);
    });
}

}  // namespace flyball::results
