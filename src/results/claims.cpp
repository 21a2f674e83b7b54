// reproduce --out: claims.json, and the figures that its claims name.
#include <set>

#include "results/in_short.hpp"
#include "results/parts.hpp"

namespace flyball::results {

namespace {

Json claim_json(const Json& claim) {
    Json one = Json::object();
    for (const char* key : {"id", "statement", "source", "verdict", "note"}) {
        one[key] = claim.at(key).get<std::string>();
    }
    for (const char* key : {"predicted", "measured", "tolerance"}) {
        one[key] = words(claim.at(key));
    }
    one["recorded"] = claim.contains("expected_verdict") ? words(claim.at("expected_verdict")) : "";
    one["seconds"] = number_or_nan(claim, "seconds");
    one["figures"] = Json::array();
    if (claim.contains("figures")) {
        for (const Json& name : claim.at("figures")) {
            one["figures"].push_back(name.get<std::string>());
        }
    }
    return one;
}

// What a reader should see without a click: what the schemes do over depth, in the words of each paper. Those that the
// folder does not have are left out by the page.
Json telling_figures() {
    return {"dynamics-theory-cosine", "dynamics-random-weights", "stability-mean-abs", "stability-gradient-trained"};
}

}  // namespace

void read_claims(Reader& reader) {
    std::set<std::string> figures;
    reader.attempt("claims.json", [&] {
        const Json document = reader.json("claims.json");
        Json part = {{"kind", "claims"}, {"claims", Json::array()}, {"telling", telling_figures()}};
        for (const Json& claim : document.at("claims")) {
            part["claims"].push_back(claim_json(claim));
            for (const Json& name : part["claims"].back()["figures"]) {
                figures.insert(name.get<std::string>());
            }
        }
        say_claims(reader, part["claims"]);
        reader.add(std::move(part));
    });
    Json drawn = Json::array();
    for (const std::string& name : figures) {
        // A name that leads out of the folder is no figure of ours.
        reader.attempt(name, [&] {
            if (name.find('/') == std::string::npos) {
                if (Json figure = figure_of(reader, name); !figure.is_null()) {
                    drawn.push_back(std::move(figure));
                }
            }
        });
    }
    if (!drawn.empty()) {
        reader.add({{"kind", "figures"}, {"title", "Figures"}, {"figures", std::move(drawn)}});
    }
}

}  // namespace flyball::results
