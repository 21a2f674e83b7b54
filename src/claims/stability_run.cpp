#include "claims/stability_run.hpp"

#include <algorithm>
#include <cmath>

#include "claims/stability_backward.hpp"
#include "claims/stability_lengths.hpp"
#include "claims/stability_passes.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "measure/moments.hpp"
#include "model/pass.hpp"
#include "scheme/catalogue.hpp"
#include "train/batches.hpp"
#include "train/trainer.hpp"

namespace flyball::claims {

namespace {

using FloatModel = model::Model<float>;

constexpr std::size_t windows_seen = 128;    // for losses
constexpr std::size_t windows_without = 64;  // for the loss without a block
constexpr std::size_t sequences_at_once = 16;

// Windows of a text, [sequences, context] ids with their targets; a share of the ids is replaced by drawn ones.
struct Windows {
    std::size_t sequences = 0;
    std::vector<std::int32_t> ids, targets;
};

Windows windows_of(const std::vector<train::Token>& text, std::size_t context, std::size_t most, std::size_t vocab,
                   double replaced) {
    const std::vector<std::size_t> starts = train::validation_windows(text.size(), context, most);
    Windows windows;
    windows.sequences = starts.size();
    const Random random(17, 80);  // the same places for every model
    for (const std::size_t start : starts) {
        for (std::size_t j = 0; j < context; ++j) {
            const std::uint64_t index = 2 * windows.ids.size();
            const bool replace = random.uniform(index) < replaced;
            windows.ids.push_back(replace ? static_cast<std::int32_t>(random.bits(index + 1) % vocab)
                                          : static_cast<std::int32_t>(text[start + j]));
            windows.targets.push_back(static_cast<std::int32_t>(text[start + j + 1]));
        }
    }
    return windows;
}

double mean_loss(const FloatModel& model, const Windows& windows, const std::vector<model::Edit>& edits = {}) {
    const std::size_t context = windows.ids.size() / windows.sequences;
    double sum = 0;
    for (std::size_t first = 0; first < windows.sequences; first += sequences_at_once) {
        const std::size_t count = std::min(sequences_at_once, windows.sequences - first);
        model::Pass<float> pass(model, {count, context});
        pass.edit(edits);
        pass.forward({windows.ids.data() + first * context, count * context});
        sum += pass.loss({windows.targets.data() + first * context, count * context}) * static_cast<double>(count);
    }
    return sum / static_cast<double>(windows.sequences);
}

// Lengths of streams beside their bounds. Equations are those of the catalogue.
struct Bounded {
    double share = 0;            // the largest |x_l| over its bound, over blocks and tokens
    std::vector<double> length;  // mean over tokens of |x_l|, and of its bound; from the embedding on
    std::vector<double> bound;
};

Bounded bounded_lengths(const FloatModel& model, const std::string& scheme, const Windows& windows) {
    const model::Architecture& a = model.architecture();
    const model::Model<double> wide = model::widened(model);
    std::vector<double> radii;
    if (scheme == "peri-ln") {
        radii = branch_radii(wide, a.layers);
    } else {
        for (std::size_t l = 0; l < a.layers; ++l) {
            const PreBounds bounds = pre_bounds(wide, l);
            radii.insert(radii.end(), {bounds.attention, bounds.ffn});
        }
    }
    Share share;
    Bounded result;
    std::vector<double> start;
    const auto lengths = [&](const model::TapView<float>& view) {
        std::vector<double> found;
        for (std::size_t i = 0; i < view.rows; ++i) {
            found.push_back(measure::frobenius(view.row(i), view.columns));
        }
        return found;
    };
    const auto add_point = [&](const std::vector<double>& now, std::size_t sub_layers) {
        double length = 0;
        double bound = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            const double most = peri_ln_bound(start[i], a.dt, std::span(radii).first(sub_layers));
            if (sub_layers > 0) {  // the embedding is its own bound
                share.see(now[i], most);
            }
            length += now[i] / static_cast<double>(now.size());
            bound += most / static_cast<double>(now.size());
        }
        result.length.push_back(length);
        result.bound.push_back(bound);
    };
    model::Taps<float> taps;
    taps.add("embed", [&](const auto& view) {
        start = lengths(view);
        add_point(start, 0);
    });
    taps.add("blocks.*.resid", [&](const auto& view) { add_point(lengths(view), 2 * (view.layer + 1)); });
    const std::size_t count = std::min<std::size_t>(4, windows.sequences);
    const std::size_t context = windows.ids.size() / windows.sequences;
    model::Pass<float> pass(model, {count, context});
    pass.forward({windows.ids.data(), count * context}, taps);
    result.share = share.largest;
    return result;
}

double output_norm(const FloatModel& model) {
    double squares = 0;
    for (const model::BlockLayout& block : model.layout().blocks) {
        for (const model::Linear& linear : {block.output, block.ffn_out}) {
            squares += std::pow(measure::frobenius(model.at(linear.weight), linear.in * linear.out), 2);
        }
    }
    return std::sqrt(squares);
}

std::vector<double> over_depth(const train::StepReport& report, double train::LayerRecord::*value) {
    std::vector<double> values = {report.embedding.*value};
    for (const train::LayerRecord& layer : report.layers) {
        values.push_back(layer.*value);
    }
    return values;
}

void read_end(const train::StepReport& report, double root, TrainedRun& run) {
    run.rms = times(over_depth(report, &train::LayerRecord::norm), 1 / root);
    run.mean_abs = over_depth(report, &train::LayerRecord::mean_abs);
    run.entry_variance = over_depth(report, &train::LayerRecord::entry_variance);
    run.data_variance = over_depth(report, &train::LayerRecord::data_variance);
    run.gradient = over_depth(report, &train::LayerRecord::gradient);
    for (const train::LayerRecord& layer : report.layers) {
        run.angle.push_back(layer.angle);
        run.angle_predicted.push_back(layer.angle_predicted);
    }
}

train::Settings settings_of(const Condition& condition, const StudySizes& sizes, std::uint64_t seed) {
    train::Settings s;
    s.layers = condition.layers == 0 ? sizes.layers : condition.layers;
    s.dim = sizes.dim;
    s.heads = sizes.heads;
    s.context = sizes.context;
    s.batch = sizes.batch;
    s.steps = sizes.steps;
    s.dt = condition.dt;
    s.init = condition.init;
    s.dropout = condition.dropout;
    s.weight_decay = condition.weight_decay;
    s.untied = true;  // so that the embedding can have another length without changing the logits
    s.seed = seed;
    s.spike = 0;  // a run that becomes worse goes on: its end is what is compared
    s.rate = condition.rate * s.largest_rate();
    s.record = 10;
    if (condition.layers != 0) {
        s.steps = std::min(s.steps, deep_steps);
    }
    return s;
}

void read_losses(const FloatModel& model, const train::Corpus& corpus, const StudySizes& sizes, TrainedRun& run) {
    const auto windows = [&](const std::vector<train::Token>& text, std::size_t most, double replaced) {
        return windows_of(text, sizes.context, most, corpus.vocab, replaced);
    };
    run.training = {mean_loss(model, windows(corpus.train, windows_seen, 0))};
    for (const double share : replaced_shares) {
        run.replaced.push_back(mean_loss(model, windows(corpus.validation, windows_seen, share)));
    }
    run.validation = {run.replaced.front()};
    const Windows some = windows(corpus.validation, windows_without, 0);
    const double whole = mean_loss(model, some);
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        run.removed.push_back(mean_loss(model, some, {{l, model::Edit::What::block, 0}}) - whole);
    }
}

bool is_plain(const Condition& condition) {
    return condition.dt == 1 && condition.init.empty() && !condition.weight_decay && condition.dropout == 0 &&
           condition.rate == 1 && condition.layers == 0;
}

// Rotation and gradients over depth beside what is predicted of them, with the weights of the moment.
void read_depths(const FloatModel& model, const Condition& condition, const Windows& windows, bool start,
                 TrainedRun& run) {
    Depths depths = depths_of(model, windows.sequences, windows.ids, windows.targets, condition.scheme == "post-ln");
    (start ? run.sub_sigma_start : run.sub_sigma) = std::move(depths.sigma);
    (start ? run.sub_added_start : run.sub_added) = std::move(depths.added);
    (start ? run.sub_turned_start : run.sub_turned) = std::move(depths.turned);
    const std::optional<Placement> placement = placement_of(condition.scheme);
    if (!placement || !is_plain(condition)) {
        return;
    }
    const auto context = static_cast<std::ptrdiff_t>(windows.ids.size() / windows.sequences);
    BoundedGradients found = bounded_gradients(model, *placement, {windows.ids.begin(), windows.ids.begin() + context},
                                               {windows.targets.begin(), windows.targets.begin() + context});
    run.back_share.push_back(found.share);
    (start ? run.back_start : run.back_end) = std::move(found.gradient);
    (start ? run.back_bound_start : run.back_bound_end) = std::move(found.bound);
}

}  // namespace

TrainedRun train_one(const Condition& condition, const StudySizes& sizes, std::uint64_t seed,
                     const train::Corpus& corpus, const std::atomic<bool>* stop) {
    const train::Settings s = settings_of(condition, sizes, seed);
    train::Trainer trainer(s, scheme::find_scheme(condition.scheme), corpus);
    const Windows some = windows_of(corpus.validation, s.context, 8, corpus.vocab, 0);
    const bool is_bounded = condition.scheme == "peri-ln" || condition.scheme == "pre-ln";
    TrainedRun run;
    try {
        read_depths(trainer.model(), condition, some, true, run);
        while (!trainer.finished()) {
            const train::StepReport report = trainer.step(stop);
            run.gradient_norms.push_back(report.gradient_norm);
            if (report.failure) {
                run.validation = run.training = {std::nan("")};
                return run;
            }
            if (report.layers.empty()) {
                continue;
            }
            const auto gradient = over_depth(report, &train::LayerRecord::gradient);
            if (report.step == 1) {
                run.gradient_start = gradient;
            } else if (report.step == 20) {
                run.gradient_20 = gradient;
            } else if (report.step == 50) {
                run.gradient_50 = gradient;
            }
            run.output_norm.push_back(output_norm(trainer.model()));
            if (is_bounded && (condition.scheme == "peri-ln" || report.step == 1 || trainer.finished())) {
                Bounded found = bounded_lengths(trainer.model(), condition.scheme, some);
                run.bound_share.push_back(found.share);
                (report.step == 1 ? run.length_start : run.length_end) = std::move(found.length);
                (report.step == 1 ? run.bound_start : run.bound_end) = std::move(found.bound);
            }
            if (trainer.finished()) {
                read_end(report, std::sqrt(static_cast<double>(s.dim)), run);
            }
        }
        read_depths(trainer.model(), condition, some, false, run);
        if (condition.layers == 0) {
            read_losses(trainer.model(), corpus, sizes, run);
        }
    } catch (const Stopped&) {
        throw Interrupted{};
    }
    return run;
}

}  // namespace flyball::claims
