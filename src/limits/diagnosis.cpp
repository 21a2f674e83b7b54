#include "limits/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/number.hpp"
#include "limits/settings.hpp"

namespace flyball::limits {

namespace {

constexpr double most_active = 0.06;
constexpr double most_saturated = 0.80;
constexpr double least_sink = 0.30;
constexpr double least_sensitive = 0.50;

std::string percent(double share) {
    return std::isnan(share) ? std::string("-") : fmt::format("{:.3g} %", 100 * share);
}

double separation_at(const std::vector<SeparationMeans>& rows, std::size_t n) {
    const auto found = std::find_if(rows.begin(), rows.end(), [n](const SeparationMeans& row) { return row.n == n; });
    return found == rows.end() ? std::nan("") : found->ratio;
}

std::string ratio_text(const HeadResult& head, const Diagnosis& d) {
    if (!std::isfinite(d.separation)) {
        return "N_s/N is not known: no row sees enough keys";
    }
    return fmt::format("N_s/N = {:.2f} at N = {}: {}", d.separation, head.told_n,
                       d.saturated ? "saturated" : "not saturated");
}

// Weights that are negative in part have no shares.
bool has_shares(const HeadResult& head) {
    return std::isfinite(head.active_share);
}

std::string shares_text(const HeadResult& head, const Diagnosis& d) {
    if (!has_shares(head)) {
        return "how many keys hold 90 % of the weight is not known, nor its entropy";
    }
    return fmt::format("{} keys, {} of those it sees, hold 90 % of the weight: {}; entropy {} nats, {} of uniform",
                       format_short(head.active, 3), percent(head.active_share),
                       d.selective ? "selective" : "not selective", format_short(head.entropy, 3),
                       percent(head.entropy_share));
}

std::string sink_text(const HeadResult& head, const Diagnosis& d) {
    if (!std::isfinite(head.sink)) {
        return has_shares(head) ? "no key is seen by half of the tokens: no sink" : "what one key gets is not known";
    }
    return fmt::format("key {} gets {} of the weight: {}", head.sink_key, percent(head.sink),
                       d.sink ? "a sink" : "no sink");
}

double speed(const HeadResult& head) {
    return head.spectral * 2 * head.temperature;
}

// Of the others nothing is known: no row of theirs could be measured, or their block calls no attention.
std::vector<HeadResult> measured_heads(const Result& result) {
    std::vector<HeadResult> heads;
    std::copy_if(result.heads.begin(), result.heads.end(), std::back_inserter(heads),
                 [](const HeadResult& head) { return head.rows > 0; });
    return heads;
}

template <class Test>
std::size_t count_if(const std::vector<HeadResult>& heads, const Test& test) {
    return static_cast<std::size_t>(
        std::count_if(heads.begin(), heads.end(), [&](const HeadResult& h) { return test(diagnose(h)); }));
}

bool any_compared(const KsCurve& curve) {
    return std::any_of(curve.distances.begin(), curve.distances.end(), [](double d) { return std::isfinite(d); });
}

// " up to 7" where larger N could not be compared: behind a window some heads have no row that selects so many.
std::string up_to_text(const KsCurve& curve) {
    std::size_t most = curve.distances.size();
    while (most > 0 && !std::isfinite(curve.distances[most - 1])) {
        --most;
    }
    return most == curve.distances.size() ? std::string() : fmt::format(" up to {}", most);
}

// "first" because larger N may differ again.
std::string critical_text(const KsCurve& curve) {
    const CriticalN& critical = curve.by_distance;
    const std::size_t length = curve.length;
    if (!critical.n) {
        return fmt::format("At {} tokens {}.", length,
                           any_compared(curve) ? "the N heaviest keys of a head differ from N random ones for every N" +
                                                     up_to_text(curve)
                                               : "there is no N at which all heads could be compared with random keys");
    }
    return fmt::format(
        "At {} tokens the N heaviest keys of a head first look like N random ones at N = {} ({} of the tokens).",
        length, *critical.n, percent(static_cast<double>(*critical.n) / static_cast<double>(length)));
}

std::string told_text(const Result& result, const std::string& saturated) {
    const std::size_t n = diagnosis_n(result.heads);
    if (n == 0) {
        return "How many of its heaviest keys a head tells from the rest: -, no query sees enough.";
    }
    return fmt::format(
        "Of its {} heaviest keys a head tells {:.0f} % from all others; {} of heads are saturated: they tell at most "
        "{:.0f} %.",
        n, 100 * separation_at(result.separation, n), saturated, 100 * most_saturated);
}

// How fast the share of weight on the heaviest keys falls as the text grows.
double kept(const Result& result) {
    return result.by_length.back().share / result.by_length.front().share;
}

}  // namespace

Diagnosis diagnose(const HeadResult& head) {
    Diagnosis d;
    d.separation = separation_at(head.separation, head.told_n);
    d.sensitivity = speed(head);
    d.selective = head.active_share <= most_active;
    d.saturated = d.separation <= most_saturated;
    d.sink = head.sink >= least_sink;
    d.sensitive = d.sensitivity >= least_sensitive;
    d.text = fmt::format("{}; {}; {}", shares_text(head, d), ratio_text(head, d), sink_text(head, d));
    if (std::isfinite(d.sensitivity)) {
        d.text += fmt::format("; its weights move at {} of the speed that softmax can reach: {}",
                              percent(d.sensitivity), d.sensitive ? "sensitive" : "not sensitive");
    }
    return d;
}

const std::vector<HeadMeasure>& head_measures() {
    static const std::vector<HeadMeasure> measures = {
        {"active", "active keys", "share of the keys",
         [](const Result&) { return std::string("Share of the keys that hold 90 % of the weight"); },
         [](const HeadResult& h) { return h.active_share; }},
        {"entropy", "evenness (entropy)", "share of the largest entropy",
         [](const Result&) { return std::string("How evenly a head spreads its weight"); },
         [](const HeadResult& h) { return h.entropy_share; }},
        {"peak", "largest weight", "weight",
         [](const Result&) { return std::string("Largest weight that a token gives, mean over tokens"); },
         [](const HeadResult& h) { return h.peak; }},
        {"sink", "weight on one key", "mean weight of that key",
         [](const Result&) { return fmt::format("Weight of the heaviest key (from {:.1f} on: a sink)", least_sink); },
         [](const HeadResult& h) { return h.sink; }},
        {"separation", "keys told apart", "share of these keys",
         [](const Result& r) {
             const std::size_t n = diagnosis_n(r.heads);
             return n == 0 ? std::string("Keys that a head tells from all others: no token sees enough keys")
                           : fmt::format("Of its {} heaviest keys, those a head tells from all others", n);
         },
         [](const HeadResult& h) { return separation_at(h.separation, h.told_n); }},
        {"sensitivity", "speed of the weights", "share of what softmax can reach",
         [](const Result&) { return std::string("How fast weights move when scores do"); }, speed},
        {"distance", "distance", "distance",
         [](const Result&) { return std::string("How far the 5 heaviest keys lie from the rest, longest text"); },
         [](const HeadResult& h) { return h.by_length.empty() ? std::nan("") : h.by_length.back().distance; }},
    };
    return measures;
}

std::size_t diagnosis_n(const std::vector<HeadResult>& heads) {
    std::size_t most = 0;
    for (const HeadResult& head : heads) {
        for (const SeparationMeans& row : head.separation) {
            most = row.n <= n_of_diagnosis && std::isfinite(row.ratio) ? std::max(most, row.n) : most;
        }
    }
    return most;
}

std::size_t longest(const Result& result) {
    return result.critical.empty() ? 0 : result.critical.back().length;
}

std::vector<std::string> summary(const std::vector<Result>& results) {
    const Result& r = results.front();
    const std::vector<HeadResult> heads = measured_heads(r);
    if (heads.empty()) {
        return {"Nothing could be measured: no row of any head has finite scores and vectors and three keys."};
    }
    const auto share = [&](std::size_t count) {
        return percent(static_cast<double>(count) / static_cast<double>(heads.size()));
    };
    const auto with_shares = static_cast<std::size_t>(std::count_if(heads.begin(), heads.end(), has_shares));
    const DistanceMeans& first = r.by_length.front();
    const DistanceMeans& last = r.by_length.back();
    std::vector<std::string> lines;
    lines.push_back(fmt::format("{} of {} heads are selective (90 % of the weight on 6 % of the keys or less).{}",
                                count_if(heads, [](const Diagnosis& d) { return d.selective; }), heads.size(),
                                heads.size() == r.heads.size() ? std::string()
                                                               : fmt::format(" The other {} could not be measured.",
                                                                             r.heads.size() - heads.size())));
    if (with_shares < heads.size()) {
        lines.back() = fmt::format(
            "How many heads are selective is not known: {} of {} have weights that are negative, or all 0, and then "
            "no share of them can be said to be on some keys.",
            heads.size() - with_shares, heads.size());
    }
    lines.push_back(fmt::format(
        "The 5 heaviest keys hold {} of the weight at {} tokens{}.", percent(first.share), first.length,
        first.length == last.length ? std::string() : fmt::format(", {} at {}", percent(last.share), last.length)));
    lines.push_back(critical_text(r.critical.back()));
    lines.push_back(told_text(r, share(count_if(heads, [](const Diagnosis& d) { return d.saturated; }))));
    std::string last_line;
    if (with_shares == heads.size()) {
        last_line = fmt::format("{} of heads are sinks: one key gets {:.0f} % of their weight or more. ",
                                share(count_if(heads, [](const Diagnosis& d) { return d.sink; })), 100 * least_sink);
    }
    // The norms of the Jacobian are those of softmax.
    if (std::all_of(heads.begin(), heads.end(), [](const HeadResult& head) { return std::isfinite(speed(head)); })) {
        last_line += fmt::format("{} sit near a tie of two keys, where weights move fastest. ",
                                 share(count_if(heads, [](const Diagnosis& d) { return d.sensitive; })));
    }
    if (!last_line.empty()) {
        last_line.pop_back();
        lines.push_back(last_line);
    }
    return lines;
}

std::string guidance(const std::vector<Result>& results) {
    const Result& r = results.front();
    const std::vector<HeadResult> heads = measured_heads(r);
    if (heads.empty()) {
        return {};
    }
    const KsCurve& critical = r.critical.back();
    std::string text;
    if (critical.by_distance.n) {
        text += fmt::format(
            "At {} tokens let no head rely on {} keys or more: such a choice cannot be told from a random one. ",
            critical.length, *critical.by_distance.n);
    } else if (any_compared(critical)) {
        text += fmt::format("At {} tokens every N{} selects what a random choice would not. ", critical.length,
                            up_to_text(critical));
    }
    if (diagnosis_n(heads) > 0) {
        const std::size_t saturated = count_if(heads, [](const Diagnosis& d) { return d.saturated; });
        text += 2 * saturated > heads.size()
                    ? "Most heads are saturated, so that more heads would help more than longer texts. "
                    : "Most heads still tell their heaviest keys from the rest. ";
    }
    double coldest = HUGE_VAL;
    for (const HeadResult& head : heads) {
        coldest = std::min(coldest, head.temperature);
    }
    text += coldest <= 0.1 ? fmt::format(
                                 "What its scores are divided by (the temperature), {:.3g}, is in the range (0.1 and "
                                 "below) where weights jump. ",
                                 coldest)
                           : fmt::format(
                                 "What its scores are divided by (the temperature), {:.3g}, is above 0.1, below which "
                                 "weights begin to jump. ",
                                 coldest);
    const auto compared =
        std::count_if(results.begin(), results.end(), [](const Result& one) { return std::isfinite(kept(one)); });
    if (compared < 2) {
        return text;
    }
    if (results.size() > 1 && r.by_length.front().length != r.by_length.back().length) {
        const auto best = std::max_element(results.begin(), results.end(), [](const Result& a, const Result& b) {
            return !(kept(a) >= kept(b)) && std::isfinite(kept(b));
        });
        const auto as_good = std::count_if(results.begin(), results.end(), [&](const Result& other) {
            return percent(kept(other)) == percent(kept(*best));
        });
        text += fmt::format(
            "From {} to {} tokens the 5 heaviest keys keep {} of their share of the weight under {}, "
            "{} under any other kind compared here",
            r.by_length.front().length, r.by_length.back().length, percent(kept(*best)), best->attention,
            as_good > 1 ? "no less than" : "more than");
        text += best == results.begin() ? "." : fmt::format(" ({} under {}).", percent(kept(r)), r.attention);
    }
    return text;
}

}  // namespace flyball::limits
