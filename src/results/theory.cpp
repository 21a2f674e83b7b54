// theory --out: theory.json, and the figures of the reduced law.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "core/number.hpp"
#include "results/parts.hpp"

namespace flyball::results {

namespace {

std::string brief(const Json& object, const char* key) {
    const double value = number_or_nan(object, key);
    return std::isfinite(value) ? format_short(value, 4) : std::string("?");
}

// How the velocity of the cosine goes in the end, in words.
std::string last_of_law(const Json& terminal) {
    const std::string law = terminal.at("law").get<std::string>();
    if (law == "power") {
        return fmt::format("slows down like t^{}", brief(terminal, "exponent"));
    }
    if (law == "exponential") {
        return fmt::format("slows down like exp(-{} t)", brief(terminal, "rate"));
    }
    if (law == "stretched") {
        return fmt::format("slows down like exp(-{} t^{})", brief(terminal, "rate"), brief(terminal, "p"));
    }
    if (law == "frozen") {
        return terminal.value("reached", true)
                   ? fmt::format("stops below 1, at a cosine of {}", brief(terminal, "limit"))
                   : fmt::format("not reached, at a cosine of {} at t = 1e100", brief(terminal, "limit"));
    }
    if (law == "extinct") {
        return fmt::format("vectors shrink to nothing at depth {}", brief(terminal, "time"));
    }
    return "by no law that fits";
}

// "pre-ln", or "pre-ln, β = 5" where beta differs between the runs.
std::string name_of_run(const Json& run, bool several) {
    const std::string scheme = run.at("scheme").get<std::string>();
    return several && run.contains("beta") ? fmt::format("{}, \u03b2 = {}", scheme, words(run.at("beta"))) : scheme;
}

bool betas_differ(const Json& runs) {
    for (const Json& run : runs) {
        if (run.value("beta", Json()) != runs[0].value("beta", Json())) {
            return true;
        }
    }
    return false;
}

Json laws_table(const Json& runs, const Detail& detail) {
    std::vector<std::string> columns = {"scheme", "equation", "rise of the cosine at the start", "in the end its rise"};
    for (const Json& one : runs[0].at("time_to_cosine")) {
        columns.push_back("depth of cosine " + words(one.at("cosine")));
    }
    Json rows = Json::array();
    for (const Json& run : runs) {
        Json row = {name_of_run(run, betas_differ(runs)), words(run.at("equation")),
                    number_or_nan(run, "initial_velocity"), last_of_law(run.at("terminal"))};
        for (const Json& one : run.at("time_to_cosine")) {
            row.push_back(number_or_nan(one, "t"));
        }
        rows.push_back(std::move(row));
    }
    return table("How each scheme begins and ends",
                 "Depth counts layers (thin ones, as time). A cosine that is not reached has no number.", columns,
                 std::move(rows), detail);
}

}  // namespace

void read_theory(Reader& reader) {
    reader.attempt_so_far("theory.json", [&] {
        const Json document = reader.json("theory.json");
        const Json& runs = document.at("runs");
        std::set<std::string> different;
        for (const Json& run : runs) {
            different.insert(run.at("equation").get<std::string>());
        }
        const std::size_t equations = different.size();
        reader.say(fmt::format(
            "{} {} asked what becomes of {} tokens that start at right angles to each other{}: all pairs then keep one "
            "common cosine, 0 at the start and 1 when the tokens have become one.",
            equations == 1 ? "One equation" : fmt::format("{} equations", equations), equations == 1 ? "was" : "were",
            reader.setting("tokens"),
            reader.setting("beta").empty() ? ""
                                           : fmt::format(" (inverse temperature \u03b2 = {}{})", reader.setting("beta"),
                                                         betas_differ(runs) ? ", one run each" : "")));
        if (document.contains("summary")) {
            reader.say(words(document.at("summary")));
        }
        if (!runs.empty()) {
            reader.add(laws_table(runs, reader.detail()));
        }
    });
    Json drawn = Json::array();
    for (const std::string name : {"cosine", "velocity", "radius"}) {
        if (reader.finished() || reader.has(name + ".svg")) {
            add_figure(reader, name, drawn);
        }
    }
    if (!drawn.empty()) {
        reader.add({{"kind", "figures"}, {"title", "Over depth"}, {"figures", std::move(drawn)}});
    }
}

}  // namespace flyball::results
