#include "limits/row_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "limits/analysis.hpp"
#include "limits/head_sums.hpp"
#include "limits/jacobian.hpp"
#include "limits/separation.hpp"
#include "limits/vector_source.hpp"
#include "limits/walk.hpp"
#include "model/pass.hpp"

namespace flyball::limits {

namespace {

using View = model::TapView<float>;

// The row's scores, and the Gram matrix of its layer.
struct Taken {
    std::vector<double> logits;
    Gram gram;
    Gram::Least least;
};

void check_place(const model::Architecture& a, const Settings& settings, std::size_t tokens) {
    const std::size_t layer = settings.head->first;
    const std::size_t head = settings.head->second;
    if (layer >= a.layers || head >= a.heads) {
        throw Error(ErrorKind::usage, "limits.row", setting("head", fmt::format("{}.{}", layer, head)),
                    fmt::format("a block from 0 to {} and a head from 0 to {}", a.layers - 1, a.heads - 1));
    }
    if (*settings.row >= tokens) {
        throw Error(ErrorKind::usage, "limits.row", setting("row", std::to_string(*settings.row)),
                    fmt::format("a token from 0 to {}", tokens - 1));
    }
    if (seen_by(a, layer, *settings.row, tokens).count() < 3) {
        throw Error(ErrorKind::usage, "limits.row", setting("row", std::to_string(*settings.row)),
                    "a token that sees at least three keys");
    }
}

Taken take(const model::Model<float>& model, const model::Input& input, const Settings& settings) {
    const model::Architecture& a = model.architecture();
    const std::size_t layer = settings.head->first;
    const std::size_t head = settings.head->second;
    const Seen seen = seen_by(a, layer, *settings.row, input.tokens());
    VectorSource source(model, input, settings.vectors, settings.include_masked);
    Taken taken;
    model::Taps<float> taps;
    source.listen(taps);
    taps.add(fmt::format("blocks.{}.attn.scores", layer), [&](const View& view) {
        const std::size_t row = *settings.row;
        if (view.head != head || row < view.first_row || row >= view.first_row + view.rows) {
            return;
        }
        for (std::size_t j = seen.begin; j < seen.end; ++j) {
            taken.logits.push_back(double{view.row(row - view.first_row)[j - view.first_column]} /
                                   a.score_scale(layer));
        }
        taken.gram = source.gram(layer, head);
        taken.least = source.least(layer, head)[row];
    });
    model::Pass<float> pass(model, input.tokens());
    model::forward(pass, input, taps);
    return taken;
}

Json distances(const Settings& settings, RowWalk& walk) {
    Json list = Json::array();
    for (const std::size_t n : settings.top) {
        if (n >= walk.keys()) {
            break;
        }
        while (walk.selected() < n) {
            walk.join(true);
        }
        const DistanceAtN at = walk.at();
        list.push_back({{"n", n},
                        {"mass", at.mass},
                        {"selected", at.selected},
                        {"true", at.distance},
                        {"bound", at.bound},
                        {"expected", at.expected},
                        {"expected_rms", at.expected_rms},
                        {"uniformity", at.uniformity}});
    }
    return list;
}

Json separations(const Settings& settings, const Gram::Least& least, std::size_t keys, SeparationWalk& walk) {
    Json list = Json::array();
    for (const std::size_t n : separation_counts(settings)) {
        if (n >= keys) {
            break;
        }
        while (walk.selected() < n) {
            walk.join();
        }
        const double none = 2;  // as in HeadSums: the largest distance there is
        const SeparationAtN at = walk.at(std::min(least.any, none));
        const SeparationAtN distinct = walk.at(std::min(least.distinct, none));
        list.push_back({{"n", n},
                        {"ratio", at.ratio},
                        {"r", at.r},
                        {"lower", at.lower},
                        {"upper", at.upper},
                        {"upper_patched", at.upper_patched},
                        {"lower_exact", at.lower_exact},
                        {"upper_exact", at.upper_exact},
                        {"lower_distinct", distinct.lower},
                        {"upper_distinct", distinct.upper}});
    }
    return list;
}

std::vector<double> weights_at(const Normaliser& normaliser, double temperature, double eps,
                               const std::vector<double>& logits, const std::vector<double>& direction) {
    std::vector<double> z((logits.size() + 31) / 32 * 32);
    std::vector<double> room;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        z[i] = (logits[i] + eps * direction[i]) / temperature;
    }
    normaliser.weigh(logits.size(), z.data(), room);
    z.resize(logits.size());
    return z;
}

Json norms(const std::vector<double>& weights, double temperature) {
    const Interval sets = infinity_to_one_norm(weights);
    return {{"temperature", temperature},
            {"spectral", spectral_norm(weights) / temperature},
            {"infinity", infinity_norm(weights) / temperature},
            {"infinity_to_one", {{"lower", sets.lower / temperature}, {"upper", sets.upper / temperature}}},
            {"bound", 1 / (2 * temperature)},
            {"bound_paper", paper_sensitivity_bound(temperature)}};
}

Json sensitivities(const Normaliser& normaliser, const std::vector<double>& logits,
                   const std::vector<double>& direction) {
    Json list = Json::array();
    for (const double T : temperature_grid()) {
        const std::vector<double> base = weights_at(normaliser, T, 0, logits, direction);
        for (const double eps : step_sizes()) {
            const std::vector<double> moved = weights_at(normaliser, T, eps, logits, direction);
            const double squared = row_kernels().squared_difference(base.size(), base.data(), moved.data());
            list.push_back({{"temperature", T}, {"eps", eps}, {"g", std::sqrt(squared) / eps}});
        }
    }
    return list;
}

}  // namespace

Json row_document(const model::Model<float>& model, const model::Input& given, const Settings& settings) {
    const model::Architecture& a = model.architecture();
    check_place(a, settings, given.tokens());
    const std::size_t layer = settings.head->first;
    const std::size_t head = settings.head->second;
    const Normaliser normaliser =
        settings.attention.empty() ? Normaliser::of(a.attention_kind) : settings.attention.front();
    const Seen seen = seen_by(a, layer, *settings.row, given.tokens());
    const Taken taken = take(model, given, settings);
    if (taken.logits.empty()) {
        throw Error(ErrorKind::usage, "limits.row", setting("head", fmt::format("{}.{}", layer, head)),
                    fmt::format("a block that calls attention, which block {} does not", layer));
    }
    if (taken.logits.size() != seen.count()) {
        throw Error(ErrorKind::input, "limits.row", "an equation that calls attention twice in a block",
                    "one call of attention a block");
    }
    const double temperature = normaliser.temperature(1 / a.score_scale(layer));
    const std::vector<double> direction = direction_of(settings.seed, *settings.row, seen.count());
    const std::vector<double> weights = weights_at(normaliser, temperature, 0, taken.logits, direction);
    if (!taken.gram.is_finite() ||
        std::any_of(weights.begin(), weights.end(), [](double w) { return std::isnan(w); })) {
        throw Error(ErrorKind::input, "limits.row", "scores or vectors that are no finite numbers", "a row of numbers",
                    "where all rows are analysed, such rows are left out and counted");
    }
    std::vector<double> along(seen.count());
    for (std::size_t i = 0; i < seen.count(); ++i) {
        for (std::size_t j = 0; j < seen.count(); ++j) {
            along[i] += weights[j] * taken.gram.row(seen.begin + i)[seen.begin + j];
        }
    }
    RowInput input{&taken.gram, seen, weights.data(), along.data()};
    WithMasked masked;
    if (settings.include_masked) {
        masked.assign(input, given.tokens());
        input = masked.row;
    }
    RowWalk walk;
    walk.start(input);
    SeparationWalk separation;
    separation.start(taken.gram, input.seen, input.weights, walk.order());
    Json order = Json::array();
    for (const std::size_t key : walk.order()) {
        const std::size_t at = input.seen.begin + key;
        if (at >= seen.begin && at < seen.end) {
            order.push_back(at);
        }
    }
    Json json = {{"layer", layer},
                 {"head", head},
                 {"row", *settings.row},
                 {"first_key", seen.begin},
                 {"keys", seen.count()},
                 {"attention", normaliser.name()},
                 {"vectors", name(settings.vectors)},
                 {"temperature", temperature},
                 {"delta", taken.least.any},
                 {"delta_distinct", taken.least.distinct},
                 {"distance", distances(settings, walk)},
                 {"separation", separations(settings, taken.least, walk.keys(), separation)},
                 {"jacobian", normaliser.kind() == Normaliser::Kind::softmax ? norms(weights, temperature) : Json()},
                 {"sensitivity", sensitivities(normaliser, taken.logits, direction)},
                 {"order", std::move(order)},
                 {"weights", weights},
                 {"logits", taken.logits},
                 {"direction", direction}};
    return json;
}

}  // namespace flyball::limits
