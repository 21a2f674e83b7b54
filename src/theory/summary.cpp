#include "theory/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"
#include "core/ranking.hpp"
#include "core/unreachable.hpp"

namespace flyball::theory {

namespace {

std::string short_number(double value) {
    return format_short(value, 3);
}

std::string start_sentence(const std::vector<Prediction>& runs, const std::vector<std::string>& names) {
    std::vector<Ranked> speeds;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        speeds.push_back({names[i], runs[i].initial_velocity});
    }
    const Ranking order = rank(speeds);
    if (order.empty()) {
        return "";
    }
    const bool falls = order.least < 0;
    if (runs.size() == 1) {
        return fmt::format("At the start the cosine of {} {} at the rate {}.", names[0], falls ? "falls" : "rises",
                           short_number(std::abs(order.most)));
    }
    if (order.all_alike) {
        return fmt::format("At the start the cosines of all {} at the rate {}.", falls ? "fall" : "rise",
                           short_number(std::abs(order.most)));
    }
    if (falls) {
        return fmt::format("At the start the cosine of {} falls fastest (rate {}) and that of {} {} ({}).",
                           names_in_words(order.smallest), short_number(-order.least), names_in_words(order.largest),
                           order.most > 0 ? "rises fastest" : "falls slowest", short_number(std::abs(order.most)));
    }
    return fmt::format("At the start the cosine of {} rises fastest (rate {}) and that of {} slowest ({}).",
                       names_in_words(order.largest), short_number(order.most), names_in_words(order.smallest),
                       short_number(order.least));
}

// Gamma comes to rest, or its solution ends. Otherwise a cosine that is not reached may be so where numbers do not go.
bool ends_for_good(const Law& law) {
    return law.kind == LawKind::extinct || (law.kind == LawKind::frozen && law.reached);
}

// For the largest cosine that was asked for.
std::string arrival_sentence(const std::vector<Prediction>& runs, const std::vector<std::string>& names,
                             const std::vector<double>& cosines) {
    const auto largest = std::max_element(cosines.begin(), cosines.end());
    if (largest == cosines.end()) {
        return "";
    }
    const auto which = static_cast<std::size_t>(largest - cosines.begin());
    std::vector<Ranked> times;
    std::vector<std::string> never;
    std::vector<std::string> not_seen;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i].times_to_cosine.at(which)) {
            times.push_back({names[i], *runs[i].times_to_cosine[which]});
        } else {
            (ends_for_good(runs[i].law) ? never : not_seen).push_back(names[i]);
        }
    }
    const Ranking order = rank(times);
    const std::string cosine = format_double(*largest);
    if (order.empty()) {
        const char* const verb = runs.size() == 1   ? not_seen.empty() ? "It never reaches" : "It does not reach"
                                 : not_seen.empty() ? "None ever reaches"
                                                    : "None reaches";
        return fmt::format("{} a cosine of {}{}.", verb, cosine, not_seen.empty() ? "" : " as far as numbers go");
    }
    if (runs.size() == 1) {
        return fmt::format("It reaches a cosine of {} at t = {}.", cosine, short_number(order.least));
    }
    std::string text = fmt::format("{} {} a cosine of {} first, at t = {}", names_in_words(order.smallest),
                                   verb_for(order.smallest, "reaches", "reach"), cosine, short_number(order.least));
    if (!order.all_alike) {
        text += fmt::format(", and {} last, at t = {}", names_in_words(order.largest), short_number(order.most));
    }
    if (!never.empty()) {
        text += fmt::format("; {} never {}", names_in_words(never), verb_for(never, "does", "do"));
    }
    if (!not_seen.empty()) {
        text += fmt::format("; {} {} not, as far as numbers go", names_in_words(not_seen),
                            verb_for(not_seen, "does", "do"));
    }
    return text + ".";
}

// How long a law leaves tokens apart: the larger, the longer. 0: it says nothing of that.
int endurance(const Law& law) {
    switch (law.kind) {
        case LawKind::frozen:
            return law.reached ? 4 : 0;
        case LawKind::power:
            return 3;
        case LawKind::stretched:
            return *law.p < 1 ? 2 : 0;
        case LawKind::exponential:
            return 1;
        case LawKind::extinct:
        case LawKind::other:
            return 0;
    }
    unreachable();
}

const char* ending(int endurance, bool one) {
    return endurance == 4   ? one ? "its tokens never meet" : "their tokens never meet"
           : endurance == 3 ? "the last of the way goes by a power of t"
           : endurance == 2 ? "the last of the way goes by a stretched exponential of t"
                            : "the last of the way goes exponentially";
}

// Whether a leaves its tokens apart for longer than b, both by a law of the same endurance: of
// t^power exp(-rate t^p) first p decides, then the rate, then the power.
bool outlasts(const Law& a, const Law& b) {
    const auto less = [](double x, double y) { return x < y - 1e-3 * std::max(std::abs(x), std::abs(y)); };
    if (a.kind == LawKind::frozen) {
        return false;
    }
    if (a.kind == LawKind::power) {
        return less(*b.exponent, *a.exponent);
    }
    const double p_a = a.p.value_or(1);
    const double p_b = b.p.value_or(1);
    if (less(p_a, p_b) || less(p_b, p_a)) {
        return less(p_a, p_b);
    }
    if (less(*a.rate, *b.rate) || less(*b.rate, *a.rate)) {
        return less(*a.rate, *b.rate);
    }
    return a.power.value_or(0) > b.power.value_or(0) + 1e-3;
}

std::string end_sentence(const std::vector<Prediction>& runs, const std::vector<std::string>& names) {
    int most = 0;
    int least = 5;
    for (const Prediction& run : runs) {
        const int value = endurance(run.law);
        most = std::max(most, value);
        least = value == 0 ? least : std::min(least, value);
    }
    if (most == 0) {
        return "";
    }
    std::vector<std::string> longest;
    std::vector<Ranked> slowness;  // how many of the others a run outlasts
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (endurance(runs[i].law) == most) {
            longest.push_back(names[i]);
            const auto outlasted = std::count_if(runs.begin(), runs.end(), [&](const Prediction& other) {
                return endurance(other.law) == most && outlasts(runs[i].law, other.law);
            });
            slowness.push_back({names[i], static_cast<double>(outlasted)});
        }
    }
    if (runs.size() == 1) {
        return fmt::format("In the end {}.", ending(most, true));
    }
    if (most == least && longest.size() == runs.size()) {
        const Ranking order = rank(slowness);
        return order.all_alike
                   ? fmt::format("In the end all are alike: {}.", ending(most, false))
                   : fmt::format("In the end {} {} longest, though for all of them {}.", names_in_words(order.largest),
                                 verb_for(order.largest, "lasts", "last"), ending(most, false));
    }
    return fmt::format("In the end {} {} longest: {}.", names_in_words(longest), verb_for(longest, "lasts", "last"),
                       ending(most, longest.size() == 1));
}

}  // namespace

std::string summary(const std::vector<Prediction>& predictions, const std::vector<std::string>& names,
                    const std::vector<double>& cosines) {
    std::vector<std::string> sentences = {start_sentence(predictions, names),
                                          arrival_sentence(predictions, names, cosines),
                                          end_sentence(predictions, names)};
    std::erase(sentences, "");
    return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace flyball::theory
