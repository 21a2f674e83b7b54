// reproduce --out: claims.json, or the claims decided so far, and the figures that they name.
#include <fmt/format.h>

#include <set>

#include "record/sealed.hpp"
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

// The claims, then the figures that they name.
void show_claims(Reader& reader, const Json& claims) {
    std::set<std::string> figures;
    Json part = {{"kind", "claims"}, {"claims", Json::array()}, {"telling", telling_figures()}};
    for (const Json& claim : claims) {
        part["claims"].push_back(claim_json(claim));
        for (const Json& name : part["claims"].back()["figures"]) {
            figures.insert(name.get<std::string>());
        }
    }
    part["papers"] = papers_of(part["claims"]);
    say_claims(reader, part["claims"]);
    reader.add(std::move(part));
    Json drawn = Json::array();
    for (const std::string& name : figures) {
        // A name that leads out of the folder is no figure of ours.
        if (name.find('/') == std::string::npos) {
            add_figure(reader, name, drawn);
        }
    }
    if (!drawn.empty()) {
        reader.add({{"kind", "figures"}, {"title", "Figures"}, {"figures", std::move(drawn)}});
    }
}

}  // namespace

void read_claims(Reader& reader) {
    if (!reader.finished() && !reader.has("claims.json")) {
        read_running_claims(reader);
        return;
    }
    reader.attempt_so_far("claims.json", [&] { show_claims(reader, reader.json("claims.json").at("claims")); });
}

// work/ledger.json has all claims of the run in their order, work/ID.json what came out of one that was decided.
void read_running_claims(Reader& reader) {
    reader.attempt_so_far("work/ledger.json", [&] {
        const Json ledger = record::read_sealed_json_of_any_run(reader.file("work/ledger.json"), "ledger").at("claims");
        Json decided = Json::array();
        for (Json claim : ledger) {
            const std::string id = claim.at("id").get<std::string>();
            const std::string name = "work/" + id + ".json";
            // An id that leads out of the folder is none of ours.
            if (id.find('/') != std::string::npos || !reader.has(name)) {
                continue;
            }
            reader.attempt_so_far(name, [&] {
                const Json found = record::read_sealed_json_of_any_run(reader.file(name), "claim " + id);
                const std::string said = claim.at("note").get<std::string>();
                const std::string measured = found.at("note").get<std::string>();
                claim["note"] = said + (said.empty() || measured.empty() ? "" : "; ") + measured;
                for (const char* key : {"predicted", "measured", "tolerance", "verdict", "seconds"}) {
                    claim[key] = found.at(key);
                }
                claim["figures"] = found.at("pictures");
                decided.push_back(std::move(claim));
            });
        }
        reader.add(sentences("How far it is",
                             {fmt::format("{} of {} claims are decided so far.", decided.size(), ledger.size())}));
        if (!decided.empty()) {
            show_claims(reader, decided);
        }
    });
}

}  // namespace flyball::results
