#include "inspect/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "measure/rows.hpp"

namespace flyball::inspect {

namespace {

constexpr double quiet_share = 0.5;     // of the median block's turn
constexpr double collapsed = 0.9;       // mean cosine of two tokens
constexpr double close_to_truth = 0.2;  // a prediction of angles counts as right within this share

std::string digits(double value) {
    return format_short(value, 3);
}

std::vector<double> values_of(const Report& report, double LayerReport::*value) {
    std::vector<double> values;
    for (const LayerReport& layer : report.layers) {
        values.push_back(layer.*value);
    }
    return values;
}

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::size_t place_of_least(const std::vector<double>& values) {
    return static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
}

std::size_t place_of_most(const std::vector<double>& values) {
    return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// "3", "3 and 4", "3, 4 and 7", "3 to 9".
std::string blocks_text(const std::vector<std::size_t>& blocks) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < blocks.size();) {
        std::size_t end = i;
        while (end + 1 < blocks.size() && blocks[end + 1] == blocks[end] + 1) {
            ++end;
        }
        if (end >= i + 2) {
            parts.push_back(fmt::format("{} to {}", blocks[i], blocks[end]));
        } else {
            for (std::size_t k = i; k <= end; ++k) {
                parts.push_back(std::to_string(blocks[k]));
            }
        }
        i = end + 1;
    }
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
    }
    return text;
}

std::string how_it_grows(const measure::Growth& growth) {
    switch (growth.kind) {
        case measure::GrowthClass::bounded:
            return "does not keep growing";
        case measure::GrowthClass::sqrt:
            return fmt::format("grows like the root of depth (its square by {} +- {} a block)", digits(growth.rate),
                               digits(growth.rate_error));
        case measure::GrowthClass::linear:
            return fmt::format("grows linearly (by {} +- {} a block)", digits(growth.rate), digits(growth.rate_error));
        case measure::GrowthClass::exponential:
            return fmt::format("grows exponentially (by {:.1f} +- {:.1f} % a block)", 100 * std::expm1(growth.rate),
                               100 * std::exp(growth.rate) * growth.rate_error);
        case measure::GrowthClass::unknown:
            return "cannot be classified by its growth, which takes four blocks or more and no length of 0";
    }
    unreachable();
}

std::string growth_sentence(const Report& report) {
    const std::vector<double> medians = values_of(report, &LayerReport::norm_median);
    const double first = medians.front();
    const double last = medians.back();
    const std::size_t longest = place_of_most(medians);
    const std::string between =
        medians[longest] > 1.1 * std::max(first, last)
            ? fmt::format(", {} at its longest after block {}", digits(medians[longest]), longest)
            : std::string();
    return fmt::format(
        "The stream {}: the median token is {} long at the embedding, {} after the first block and {} after the "
        "last{}.",
        how_it_grows(report.growth), digits(report.embedding.norm_median), digits(first), digits(last), between);
}

std::string promise_sentence(const Report& report) {
    const bool grows_faster = report.growth.kind == measure::GrowthClass::exponential;
    // Of a few blocks nothing was seen that could hold.
    const std::string holds =
        report.growth.kind == measure::GrowthClass::unknown ? "These blocks are too few to see it." : "It holds.";
    switch (report.bound) {
        case model::StreamBound::bounded:
            return report.growth.kind == measure::GrowthClass::bounded ||
                           report.growth.kind == measure::GrowthClass::unknown
                       ? "The equation promises a bound: every block ends in a norm, so only gains set the length. " +
                             holds
                       : fmt::format(
                             "The equation promises a bound: every block ends in a norm, so only gains set the "
                             "length. What grows here are those gains (mean {} in the first block, {} in the "
                             "last).",
                             digits(report.layers.front().gain_mean), digits(report.layers.back().gain_mean));
        case model::StreamBound::linear:
            return fmt::format(
                "The equation allows linear growth at most, for gains of one size: each branch passes a norm before it "
                "is added. {}",
                grows_faster
                    ? fmt::format("It grows faster because the gains do (mean {} in the first block, {} in "
                                  "the last).",
                                  digits(report.layers.front().gain_mean), digits(report.layers.back().gain_mean))
                    : holds);
        case model::StreamBound::exponential:
            return "The equation allows exponential growth: a block multiplies the stream by a number above 1.";
        case model::StreamBound::none:
            return "The equation sets no limit of its own: what a branch adds is as long as the weights make it.";
    }
    unreachable();
}

std::optional<std::string> angle_sentence(const Report& report) {
    std::vector<double> ratios = values_of(report, &LayerReport::angular_ratio);
    const std::vector<double> turns = values_of(report, &LayerReport::angular_distance);
    if (!all_finite(ratios) || !all_finite(turns)) {
        return std::nullopt;
    }
    const std::size_t most = place_of_most(turns);
    const std::size_t worst = place_of_most([&] {
        std::vector<double> away;
        for (const double ratio : ratios) {
            away.push_back(std::fabs(std::log(ratio)));
        }
        return away;
    }());
    const auto right = std::count_if(ratios.begin(), ratios.end(),
                                     [](double ratio) { return std::fabs(ratio - 1) <= close_to_truth; });
    const double worst_ratio = ratios[worst];
    return fmt::format(
        "Block {} turns the stream most ({} of half a turn). The equation and its gains predict the turn of {} of {} "
        "blocks to {:.0f} %; measured over predicted is {} in the median and {} at worst (block {}).",
        most, digits(turns[most]), right, ratios.size(), 100 * close_to_truth, digits(measure::quantile(ratios, 0.5)),
        digits(worst_ratio), worst);
}

std::optional<std::string> quiet_sentence(const Report& report) {
    std::vector<std::string> sentences;
    if (all_finite(values_of(report, &LayerReport::angular_distance))) {
        const std::vector<std::size_t> quiet = quiet_blocks(report);
        const bool alone = quiet.size() == 1;
        sentences.push_back(
            quiet.empty() ? "No block turns the stream much less than the others do."
                          : fmt::format("{} {} least: {} the stream by less than half of what the median block does.",
                                        (alone ? "Block " : "Blocks ") + blocks_text(quiet), alone ? "does" : "do",
                                        alone ? "it turns" : "they turn"));
    }
    const std::vector<double> drops = values_of(report, &LayerReport::drop);
    if (all_finite(drops)) {
        const std::size_t least = place_of_least(drops);
        const std::size_t most = place_of_most(drops);
        sentences.push_back(
            drops[least] < 0
                ? fmt::format("Leaving out block {} even lowers the loss (by {} nats); block {} costs most ({}).",
                              least, digits(-drops[least]), most, digits(drops[most]))
                : fmt::format("Leaving out block {} costs least ({} nats), block {} most ({}).", least,
                              digits(drops[least]), most, digits(drops[most])));
    }
    return sentences.empty() ? std::nullopt : std::optional(fmt::format("{}", fmt::join(sentences, " ")));
}

std::optional<std::string> token_sentence(const Report& report) {
    const double first = report.embedding.cosine;
    const double last = report.layers.back().cosine;
    if (!std::isfinite(first) || !std::isfinite(last)) {
        return std::nullopt;
    }
    const std::vector<double> cosines = values_of(report, &LayerReport::cosine);
    const std::size_t most = place_of_most(cosines);
    const std::string verdict =
        last > collapsed
            ? "Tokens collapse"
            : (cosines[most] > collapsed ? fmt::format("Tokens come together at block {} and part again", most)
                                         : std::string("Tokens do not collapse"));
    const double rank = report.layers.back().effective_rank;
    return fmt::format("{}: the mean cosine of two of them goes from {} at the embedding to {} after the last block{}.",
                       verdict, digits(first), digits(last),
                       std::isfinite(rank) ? fmt::format(", where they fill {} directions of {}", digits(rank),
                                                         std::min(report.tokens, report.dim))
                                           : std::string());
}

std::string massive_sentence(const Report& report, const Spelling& spelling) {
    if (report.massive.empty()) {
        return "No massive activations (entries above 100 and a thousand times the median).";
    }
    const MassiveActivation& one =
        *std::max_element(report.massive.begin(), report.massive.end(),
                          [](const auto& a, const auto& b) { return std::fabs(a.value) < std::fabs(b.value); });
    std::vector<std::size_t> blocks;
    for (const MassiveActivation& each : report.massive) {
        if (blocks.empty() || blocks.back() != each.layer) {
            blocks.push_back(each.layer);
        }
    }
    const std::string word = spelling && !report.ids.empty()
                                 ? spelling(report.ids[one.sequence * report.tokens + one.token])
                                 : std::string();
    const double median = report.layers[one.layer].median_abs;
    return fmt::format("Massive activations after block{} {}: the largest is {} in channel {} at token {}{}, {}.",
                       blocks.size() == 1 ? "" : "s", blocks_text(blocks), digits(one.value), one.channel, one.token,
                       word.empty() ? "" : fmt::format(" ({})", flyball::quoted(word)),
                       median > 0 ? fmt::format("{:.0f} times the median entry", std::fabs(one.value) / median)
                                  : std::string("where half of the entries are 0"));
}

// Blocks that call no attention have no heads to speak of: their measures are NaN.
std::optional<std::string> sink_sentence(const Report& report) {
    std::size_t sinks = 0;
    std::size_t heads = 0;
    std::optional<std::size_t> most;
    for (std::size_t l = 0; l < report.heads.size(); ++l) {
        const LayerReport& layer = report.layers[l];
        if (!std::isfinite(layer.sink_heads)) {
            continue;
        }
        heads += report.heads[l].size();
        sinks += static_cast<std::size_t>(std::lround(layer.sink_heads * static_cast<double>(report.heads[l].size())));
        if (!most || !(report.layers[*most].largest_logit >= layer.largest_logit)) {
            most = l;
        }
    }
    if (!most) {
        return std::nullopt;
    }
    return fmt::format(
        "{} of {} heads give the first token more than 30 % of their weight; the largest attention score "
        "is {} (block {}).",
        sinks, heads, digits(report.layers[*most].largest_logit), *most);
}

std::optional<std::string> gradient_sentence(const Report& report) {
    const std::vector<double> gradients = values_of(report, &LayerReport::gradient);
    if (!all_finite(gradients)) {
        return std::nullopt;
    }
    const double last = gradients.back();
    const std::size_t most = place_of_most(gradients);
    return fmt::format(
        "Going back, the gradient is {} times as long after the first block as after the last; it is "
        "longest after block {} ({}).",
        digits(gradients.front() / last), most, digits(gradients[most]));
}

std::optional<std::string> lens_sentence(const Report& report, const Spelling& spelling) {
    if (report.lens_top.empty() || !std::isfinite(report.layers.back().lens_agreement)) {
        return std::nullopt;
    }
    std::size_t half = 0;
    while (!(report.layers[half].lens_agreement >= 0.5)) {
        ++half;
    }
    std::string text = fmt::format(
        "Through the lens, half of the model's own predictions are there after block {} of "
        "0 to {}; the first block would have a loss of {}",
        half, report.layers.size() - 1, digits(report.layers.front().lens_loss));
    if (spelling && report.final_top) {
        text += fmt::format(", and the text would go on with {}", flyball::quoted(spelling(*report.final_top)));
    }
    return text + ".";
}

}  // namespace

std::vector<std::size_t> quiet_blocks(const Report& report) {
    const std::vector<double> turns = values_of(report, &LayerReport::angular_distance);
    std::vector<std::size_t> quiet;
    if (!all_finite(turns)) {
        return quiet;
    }
    std::vector<double> sorted = turns;
    const double median = measure::quantile(sorted, 0.5);
    for (std::size_t l = 0; l < turns.size(); ++l) {
        if (turns[l] < quiet_share * median) {
            quiet.push_back(l);
        }
    }
    return quiet;
}

std::vector<std::string> summary(const Report& report, const Spelling& spelling) {
    std::vector<std::string> lines;
    const std::string batch =
        fmt::format("{} window{} of {} tokens", report.sequences, report.sequences == 1 ? "" : "s", report.tokens);
    lines.push_back(std::isfinite(report.loss) ? fmt::format("Loss {:.4f} nats a token over {}.", report.loss, batch)
                                               : fmt::format("{}; no loss.", batch));
    if (report.first_not_finite < report.layers.size()) {
        lines.push_back(fmt::format("The stream is not finite after block {}: what follows it cannot be measured.",
                                    report.first_not_finite));
        return lines;
    }
    lines.push_back(growth_sentence(report));
    lines.push_back(promise_sentence(report));
    const auto add = [&](const std::optional<std::string>& line) {
        if (line) {
            lines.push_back(*line);
        }
    };
    add(angle_sentence(report));
    add(quiet_sentence(report));
    add(token_sentence(report));
    add(massive_sentence(report, spelling));
    add(sink_sentence(report));
    add(gradient_sentence(report));
    add(lens_sentence(report, spelling));
    return lines;
}

}  // namespace flyball::inspect
