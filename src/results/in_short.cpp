#include "results/in_short.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/number.hpp"

namespace flyball::results {

namespace {

// "1 token", "64 tokens".
std::string counted(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string counted_setting(const Reader& reader, const std::string& key, std::string_view one) {
    const std::string value = reader.setting(key);
    return fmt::format("{} {}{}", value, one, value == "1" ? "" : "s");
}

// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    }
    return text;
}

// Cosines with three decimals: more are noise at the head of a page, and -0.000 is 0.000.
std::string cosine_words(double value) {
    const std::string text = fmt::format("{:.3f}", value);
    return text == "-0.000" ? "0.000" : text.starts_with('-') ? "\u2212" + text.substr(1) : text;
}

std::string number_words(double value) {
    return std::isfinite(value) ? format_short(value, 4) : std::string("unknown");
}

std::string moved(const Reader& reader, std::size_t schemes, const std::string& name) {
    std::string text = schemes == 1 ? name + " moved " : fmt::format("{} schemes moved the same ", schemes);
    text += counted_setting(reader, "tokens", "token") + " in " + counted_setting(reader, "dim", "dimension");
    if (!reader.setting("layers").empty()) {
        text += " through " + counted_setting(reader, "layers", "layer");
    } else if (!reader.setting("time").empty()) {
        text += fmt::format(" over a depth of {} (thin layers, depth counted as time)", reader.setting("time"));
    }
    if (!reader.setting("beta").empty()) {
        text += fmt::format(
            ". Attention has the inverse temperature \u03b2 = {}: the larger, the more a token looks at its nearest "
            "alone",
            reader.setting("beta"));
    }
    if (const std::string systems = reader.setting("systems"); !systems.empty() && systems != "1") {
        text += fmt::format(". It was done from {} independent starts", systems);
    }
    return text + ".";
}

// What became of the tokens: alike, in groups, or neither.
std::string became(const std::vector<SimulatedEnd>& runs) {
    std::vector<SimulatedEnd> alike;
    std::vector<SimulatedEnd> others;
    for (const SimulatedEnd& run : runs) {
        (std::isfinite(run.collapse_time) ? alike : others).push_back(run);
    }
    std::sort(alike.begin(), alike.end(),
              [](const SimulatedEnd& a, const SimulatedEnd& b) { return a.collapse_time < b.collapse_time; });
    std::erase_if(others, [](const SimulatedEnd& run) { return !std::isfinite(run.cosine); });
    std::sort(others.begin(), others.end(),
              [](const SimulatedEnd& a, const SimulatedEnd& b) { return a.cosine > b.cosine; });
    std::string text;
    if (!alike.empty()) {
        std::vector<std::string> places;
        for (const SimulatedEnd& run : alike) {
            places.push_back(fmt::format("{} (at depth {})", run.name, number_words(run.collapse_time)));
        }
        text += fmt::format("All tokens became one (mean cosine above 0.999) under {}. ", listed(places));
    }
    if (!others.empty()) {
        std::vector<std::string> places;
        for (const SimulatedEnd& run : others) {
            places.push_back(fmt::format("{} under {}", cosine_words(run.cosine), run.name));
        }
        text +=
            fmt::format("{}he mean cosine at the end, 0 for unrelated tokens and 1 for equal ones, is {}. ",
                        alike.empty() ? "Under no scheme did all tokens become one: t" : "Elsewhere t", listed(places));
    }
    return text;
}

// Tokens may have gathered in several places: then the mean cosine is far from 1, and hides it.
std::string gathered(const std::vector<SimulatedEnd>& runs, double tokens) {
    std::vector<std::string> places;
    for (const SimulatedEnd& run : runs) {
        if (!std::isfinite(run.collapse_time) && run.cosine < 0.9 && run.groups > 1.5 && run.groups <= tokens / 8) {
            places.push_back(fmt::format("{}{} under {}", number_words(std::round(run.groups)),
                                         places.empty() ? " groups" : "", run.name));
        }
    }
    return places.empty()
               ? std::string()
               : fmt::format("Tokens did gather, but in several places: at the end there are {}. ", listed(places));
}

const char* claim_words(const std::string& verdict, std::size_t count) {
    struct Words {
        const char* verdict;
        const char* one;
        const char* several;
    };
    static constexpr std::array<Words, 6> words = {{{"holds", "holds as stated", "hold as stated"},
                                                    {"holds-corrected", "holds once corrected", "hold once corrected"},
                                                    {"fails", "fails", "fail"},
                                                    {"undecided", "is undecided", "are undecided"},
                                                    {"skipped", "was skipped", "were skipped"},
                                                    {"not-tested", "cannot be tested", "cannot be tested"}}};
    for (const Words& one : words) {
        if (verdict == one.verdict) {
            return count == 1 ? one.one : one.several;
        }
    }
    return count == 1 ? "has another verdict" : "have another verdict";
}

// " of the paper .." or " of 2 papers"; nothing where a claim is of none that is known.
std::string papers_text(const Json& claims) {
    const std::map<std::string, std::string> papers = papers_of(claims);
    for (const auto& [group, title] : papers) {
        if (title.empty()) {
            return "";
        }
    }
    if (papers.size() != 1) {
        return papers.empty() ? "" : fmt::format(" of {} papers", papers.size());
    }
    return " of the paper \u201c" + papers.begin()->second + "\u201d";
}

// The scheme of a run and what it reached, best first.
std::string losses_of(const Json& summaries) {
    std::vector<std::pair<double, std::string>> runs;
    for (const Json& one : summaries) {
        runs.emplace_back(number_or_nan(one, "validation_loss"), words(one.at("name")));
    }
    std::erase_if(runs, [](const auto& run) { return !std::isfinite(run.first); });
    if (runs.empty()) {
        return "";
    }
    std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text = fmt::format("On text that was kept aside, {} ended with the lowest loss, {} nats a token",
                                   runs.front().second, number_words(runs.front().first));
    if (runs.size() > 1) {
        text += fmt::format(", and {} with the highest, {}", runs.back().second, number_words(runs.back().first));
    }
    return text + " (lower is better).";
}

std::string model_text(const std::string& name, const Json& model) {
    for (const char* key : {"layers", "heads", "dim", "equation"}) {
        if (!model.contains(key)) {
            return name;
        }
    }
    return fmt::format("{} ({} blocks of {} heads, {} wide, block equation {})", name, words(model.at("layers")),
                       words(model.at("heads")), words(model.at("dim")), words(model.at("equation")));
}

}  // namespace

std::map<std::string, std::string> papers_of(const Json& claims) {
    static const std::map<std::string, std::string> titles = {
        {"dynamics", "Normalization in Attention Dynamics"},
        {"limits", "Limitations of Normalization in Attention Mechanism"},
        {"stability", "Stability of Transformers under Layer Normalization"}};
    std::map<std::string, std::string> found;
    for (const Json& claim : claims) {
        const std::string id = claim.at("id").get<std::string>();
        const std::string group = id.substr(0, id.find('-'));
        const auto title = titles.find(group);
        found[group] = title == titles.end() ? std::string() : title->second;
    }
    return found;
}

std::string short_model_name(const std::string& name) {
    const std::size_t last = name.find_last_not_of('/');
    const std::string path = name.substr(0, last == std::string::npos ? 0 : last + 1);
    const std::size_t slash = path.find_last_of('/');
    return path.empty() ? name : slash == std::string::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> short_model_names(std::vector<std::string> names) {
    std::vector<std::string> brief;
    for (const std::string& name : names) {
        brief.push_back(short_model_name(name));
    }
    const std::set<std::string> different(brief.begin(), brief.end());
    return different.size() == names.size() ? brief : names;
}

void say_simulation(Reader& reader, const std::vector<SimulatedEnd>& runs) {
    reader.say(moved(reader, runs.size(), runs.front().name));
    const double tokens = parse_double(reader.setting("tokens")).value_or(std::nan(""));
    std::string text = tokens == 1 ? std::string("One token alone has no other to gather with. ")
                                   : became(runs) + gathered(runs, tokens);
    for (const SimulatedEnd& run : runs) {
        if (run.outcome != "done" && run.outcome != "until") {
            text += fmt::format("The run of {} ended early, at depth {}: {}. ", run.name, number_words(run.end),
                                run.outcome);
        }
    }
    if (!text.empty()) {
        text.pop_back();
        reader.say(text);
    }
}

void say_claims(Reader& reader, const Json& claims) {
    std::map<std::string, std::size_t> counts;
    for (const Json& claim : claims) {
        ++counts[claim.at("verdict").get<std::string>()];
    }
    std::vector<std::string> parts;
    for (const char* verdict : {"holds", "holds-corrected", "fails", "undecided", "skipped", "not-tested"}) {
        if (const auto found = counts.find(verdict); found != counts.end()) {
            parts.push_back(fmt::format("{} {}", found->second, claim_words(verdict, found->second)));
            counts.erase(found);
        }
    }
    for (const auto& [verdict, count] : counts) {
        parts.push_back(fmt::format("{} {}", count, claim_words(verdict, count)));
    }
    reader.say(fmt::format("Of {}{} {}.{}", counted(claims.size(), "claim"), papers_text(claims), listed(parts),
                           reader.setting("quick") == "true"
                               ? " This was a quick run: small sizes, which leave more undecided than the full ones."
                               : ""));
    std::vector<std::string> failed;
    for (const Json& claim : claims) {
        if (claim.at("verdict") == "fails") {
            failed.push_back("\u201c" + claim.at("statement").get<std::string>() + "\u201d");
        }
    }
    if (!failed.empty() && failed.size() <= 2) {
        reader.say("What fails: " + listed(failed));
    }
}

void say_training(Reader& reader, const Json& summaries) {
    std::string text = fmt::format(
        "{} trained for {}",
        summaries.size() == 1 ? words(summaries[0].at("name")) + " was" : counted(summaries.size(), "model") + " were",
        counted_setting(reader, "steps", "step"));
    if (const std::string data = reader.setting("data"); !data.empty()) {
        text += " on " + (data == "synthetic" ? "generated text" : short_model_name(data));
    }
    if (!reader.setting("layers").empty()) {
        text += fmt::format(", {} {} wide", counted_setting(reader, "layers", "block"), reader.setting("dim"));
    }
    if (const std::string seeds = reader.setting("seeds"); !seeds.empty() && seeds != "1") {
        text += fmt::format("; each scheme {} times, from other random numbers (-1, -2, .. in its name)", seeds);
    }
    reader.say(text + ".");
    text = losses_of(summaries);
    for (const Json& one : summaries) {
        if (const std::string outcome = words(one.at("outcome")); outcome != "done") {
            text += fmt::format("{}{} ended with: {}.", text.empty() ? "" : " ", words(one.at("name")), outcome);
        }
    }
    reader.say(text);
}

void say_inspection(Reader& reader, const Json& models) {
    std::vector<std::string> names;
    for (const Json& one : models) {
        names.push_back(words(one.at("model").at("name")));
    }
    names = short_model_names(std::move(names));
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = model_text(names[i], models[i].at("model"));
    }
    // Every model has a tokenizer of its own, which may cut the same text into another number of tokens.
    const auto tokens_of = [](const Json& model) { return model.value("tokens", std::size_t{0}); };
    const std::size_t tokens = tokens_of(models.at(0));
    std::string went = fmt::format("{} of text went through {}", counted(tokens, "token"), listed(names));
    if (std::any_of(models.begin(), models.end(), [&](const Json& one) { return tokens_of(one) != tokens; })) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            names[i] = fmt::format("{} through {}", counted(tokens_of(models[i]), "token"), names[i]);
        }
        went = "Of the same text went " + listed(names);
    }
    reader.say(went +
               ". Every block was measured: how long the vectors of its tokens are, how far it turns them, and how "
               "alike they become.");
}

void say_limits(Reader& reader, const Json& document) {
    // Of heads without rows, or with weights that have no shares, it is not known; the summary says so.
    std::size_t selective = 0;
    std::size_t heads = 0;
    for (const Json& head : document.at("heads")) {
        selective += head.value("selective", false) ? 1U : 0U;
        heads += head.contains("active_share") && head.at("active_share").is_null() ? 0U : 1U;
    }
    reader.say(fmt::format(
        "{} of text went through {}. A head of attention gives every token that it sees (a key) a share of "
        "its weight; {}.",
        counted(document.value("tokens", std::size_t{0}), "token"),
        model_text(short_model_name(words(document.at("model").at("name"))), document.at("model")),
        heads == 0
            ? std::string("how many keys hold most of it could not be measured")
            : fmt::format("{} of {} put 90 % of it on 6 % of the keys or fewer", selective, counted(heads, "head"))));
}

void say_checks(Reader& reader, const Json& checks) {
    static const std::map<std::string, std::string> meaning = {
        {"stable", "nothing speaks against training it"},
        {"caution", "it trains, with something to watch"},
        {"unstable", "it would not train as it stands"},
        {"malformed", "a part of its equation does not do what it seems to"}};
    for (const Json& check : checks) {
        const std::string verdict = check.at("verdict").get<std::string>();
        const auto found = meaning.find(verdict);
        std::string text = fmt::format(
            "{} is {}", words(check.at("scheme")) == "equation" ? "The block" : words(check.at("scheme")), verdict);
        text += found == meaning.end() ? "." : ": " + found->second + ".";
        if (!check.at("findings").empty()) {
            text += " " + check.at("findings")[0].at("message").get<std::string>();
        }
        reader.say(text);
    }
}

}  // namespace flyball::results
