#include "dynamics/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"
#include "core/ranking.hpp"

namespace flyball::dynamics {

namespace {

constexpr double still = 1e-3;  // a mean cosine that changes by less has not moved

std::string short_number(double value) {
    return format_short(value, 3);
}

bool went_on(const Record& record) {
    return record.outcome == Outcome::done || record.outcome == Outcome::until;
}

const Sample& first_of(const SchemeRun& run) {
    return run.record.samples.front();
}
const Sample& last_of(const SchemeRun& run) {
    return run.record.samples.back();
}

std::vector<std::string> names_of(const std::vector<SchemeRun>& runs) {
    std::vector<std::string> names;
    for (const SchemeRun& run : runs) {
        names.push_back(run.scheme.name);
    }
    return names;
}

std::string start_sentence(const std::vector<SchemeRun>& runs) {
    std::vector<Ranked> speeds;
    std::vector<std::string> without;  // infinite, or no number
    for (const SchemeRun& run : runs) {
        speeds.push_back({run.scheme.name, first_of(run).speed});
        if (!std::isfinite(first_of(run).speed)) {
            without.push_back(run.scheme.name);
        }
    }
    if (!without.empty()) {
        return fmt::format("At the start the speed of {} is not a finite number.", names_in_words(without));
    }
    const Ranking order = rank(speeds);
    if (order.empty()) {
        return "";
    }
    if (order.most == 0) {
        return "At the start nothing moves.";
    }
    if (runs.size() == 1) {
        return fmt::format("At the start the tokens of {} move at a speed of {}.", runs[0].scheme.name,
                           short_number(order.most));
    }
    if (order.all_alike) {
        return fmt::format("At the start all move equally fast, at a speed of {}.", short_number(order.most));
    }
    return fmt::format("At the start {} {} fastest (speed {}) and {} slowest ({}).", names_in_words(order.largest),
                       verb_for(order.largest, "moves", "move"), short_number(order.most),
                       names_in_words(order.smallest), short_number(order.least));
}

// Of runs that --until ended, and of those that it waits for in vain.
std::string event_sentence(const std::vector<SchemeRun>& runs) {
    std::vector<Ranked> met;
    std::vector<std::string> others;
    for (const SchemeRun& run : runs) {
        if (run.record.outcome == Outcome::until) {
            met.push_back({run.scheme.name, last_of(run).t});
        } else {
            others.push_back(run.scheme.name);
        }
    }
    const Ranking order = rank(met);
    std::string text = fmt::format("{} {} the event {}at t = {}", names_in_words(order.smallest),
                                   verb_for(order.smallest, "meets", "meet"), runs.size() > 1 ? "first, " : "",
                                   short_number(order.least));
    if (!order.all_alike) {
        text += fmt::format(", {} last, at t = {}", names_in_words(order.largest), short_number(order.most));
    }
    if (!others.empty()) {
        text += fmt::format("; {} {} not", names_in_words(others), verb_for(others, "does", "do"));
    }
    return text + ".";
}

std::string apart_clause(const std::vector<SchemeRun>& runs) {
    std::vector<Ranked> distances;
    for (const SchemeRun& run : runs) {
        distances.push_back({run.scheme.name, last_of(run).one_minus_cosine});
    }
    const Ranking order = rank(distances);
    return order.empty()
               ? ""
               : fmt::format("{} {} tokens apart longest, with a mean cosine of {}", names_in_words(order.largest),
                             verb_for(order.largest, "keeps its", "keep their"), short_number(1 - order.most));
}

// `runs` went on to the end; `alone`: there were no others.
std::string collapse_sentence(const std::vector<SchemeRun>& runs, bool alone) {
    const double end = last_of(runs[0]).t;
    std::vector<Ranked> collapsed;
    std::vector<SchemeRun> others;
    bool moved = false;
    bool together = true;  // from the start
    for (const SchemeRun& run : runs) {
        moved = moved || std::any_of(run.record.samples.begin(), run.record.samples.end(), [&](const Sample& sample) {
                    return std::fabs(sample.cosine - first_of(run).cosine) >= still;
                });
        together = together && run.record.collapse_time == first_of(run).t;
        if (run.record.collapse_time) {
            collapsed.push_back({run.scheme.name, *run.record.collapse_time});
        } else {
            others.push_back(run);
        }
    }
    const Ranking order = rank(collapsed);
    const std::string by = fmt::format("by t = {}", short_number(end));
    if (!moved) {
        return fmt::format("Nothing much happens {}: {} mean cosine changes by less than {}{}.", by,
                           runs.size() == 1 ? "its" : "every", still,
                           together ? ", for the tokens are together from the start" : "");
    }
    if (runs.size() == 1) {
        const std::string whose = alone ? "Its tokens" : fmt::format("The tokens of {}", runs[0].scheme.name);
        return order.empty()
                   ? fmt::format("{} do not collapse {}: their mean cosine goes from {} to {}.", whose, by,
                                 short_number(first_of(runs[0]).cosine), short_number(last_of(runs[0]).cosine))
                   : fmt::format("{} collapse at t = {}, where their mean cosine exceeds 0.999.", whose,
                                 short_number(order.least));
    }
    if (order.empty()) {
        return fmt::format("None collapses {} (a mean cosine above 0.999); {}.", by, apart_clause(others));
    }
    std::string text = fmt::format("{} {} first, at t = {} (mean cosine above 0.999)", names_in_words(order.smallest),
                                   verb_for(order.smallest, "collapses", "collapse"), short_number(order.least));
    if (!order.all_alike) {
        text += fmt::format("{} {} last, at t = {}", others.empty() ? ", and" : ",", names_in_words(order.largest),
                            short_number(order.most));
    }
    return others.empty() ? text + "."
                          : text + fmt::format("; {} {} not {}, and {}.", names_in_words(names_of(others)),
                                               verb_for(names_of(others), "does", "do"), by, apart_clause(others));
}

std::string failure_sentence(const std::vector<SchemeRun>& runs) {
    std::string text;
    for (const SchemeRun& run : runs) {
        text += fmt::format("{}{} ended at t = {} ({})", text.empty() ? "" : ", ", run.scheme.name,
                            short_number(run.record.ended), name(run.record.outcome));
    }
    return text + ".";
}

}  // namespace

std::string summary(const std::vector<SchemeRun>& runs, std::size_t tokens) {
    std::vector<SchemeRun> seen;
    std::vector<SchemeRun> good;
    std::vector<SchemeRun> failed;
    for (const SchemeRun& run : runs) {
        if (!run.record.samples.empty()) {
            seen.push_back(run);
            (went_on(run.record) ? good : failed).push_back(run);
        }
    }
    if (seen.empty()) {
        return "";
    }
    std::vector<std::string> sentences = {start_sentence(seen)};
    const bool has_event =
        std::any_of(good.begin(), good.end(), [](const auto& run) { return run.record.outcome == Outcome::until; });
    if (has_event) {
        sentences.push_back(event_sentence(good));
    } else if (tokens == 1) {
        sentences.emplace_back("One token alone has no other to gather with: its cosine of 1 says nothing.");
    } else if (!good.empty()) {
        sentences.push_back(collapse_sentence(good, failed.empty()));
    }
    if (!failed.empty()) {
        sentences.push_back(failure_sentence(failed));
    }
    std::erase(sentences, "");
    return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace flyball::dynamics
