#include "inspect/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "inspect/lens.hpp"
#include "inspect/stream_watch.hpp"
#include "measure/extremes.hpp"
#include "model/pass.hpp"

namespace flyball::inspect {

namespace {

using View = model::TapView<float>;

constexpr double sink_weight = 0.3;

// Passes that count in the forecast: a pass alone is 1, on the way back it is computed again and twice as much.
constexpr double cost_of_backward = 3;

class Steps {
  public:
    Steps(const Watch& watch, double total) : watch_(watch), total_(total) {}
    void done(double passes) {
        sum_ += passes;
        if (watch_.progress) {
            watch_.progress(std::min(1.0, sum_ / total_));
        }
    }

  private:
    const Watch& watch_;
    double total_;
    double sum_ = 0;
};

void copy_moments(const measure::Moments& moments, LayerReport& report) {
    report.norm = moments.norm;
    report.mean_abs = moments.mean_abs;
    report.entry_variance = moments.entry_variance;
    report.data_variance = moments.data_variance;
}

void copy_block(const model::BlockMeasures& block, LayerReport& report) {
    constexpr double pi = std::numbers::pi;
    copy_moments(block.moments, report);
    report.attention_norm = block.attention.norm;
    report.attention_ratio = block.attention.ratio;
    report.attention_cosine = block.attention.cosine;
    report.ffn_norm = block.ffn.norm;
    report.ffn_ratio = block.ffn.ratio;
    report.ffn_cosine = block.ffn.cosine;
    report.angular_distance = block.angle / pi;
    report.angular_predicted = block.angle_predicted / pi;
    report.angular_ratio = block.angle / block.angle_predicted;
    report.influence = block.influence;
    report.gradient = block.gradient;
    report.entropy = report.sink = report.sink_heads = 0;
    report.largest_logit = block.heads.front().largest_score;
    const auto heads = static_cast<double>(block.heads.size());
    for (const model::HeadMeasures& head : block.heads) {
        report.entropy += head.entropy / heads;
        report.sink += head.first_weight / heads;
        const double is_sink = head.first_weight > sink_weight ? 1 : 0;
        report.sink_heads += std::isnan(head.first_weight) ? not_measured : is_sink / heads;
        report.largest_logit = measure::larger(report.largest_logit, head.largest_score);
    }
}

// Means and largest absolute values; the deviation is of the gains themselves, with their signs.
void add_gains(const model::Model<float>& model, Report& report) {
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        double sum = 0;
        double count = 0;
        double most = 0;
        const model::BlockLayout& block = model.layout().blocks[l];
        std::vector<int> gains;  // of the norms of the equation, then of those on queries, keys and values
        for (const model::NormPlace& place : block.norms) {
            gains.push_back(place.gain);
        }
        gains.insert(gains.end(), block.attention_gains.begin(), block.attention_gains.end());
        for (const int parameter : gains) {
            if (parameter == model::absent) {
                continue;
            }
            const model::ParameterSpec& spec = model.layout().parameters[static_cast<std::size_t>(parameter)];
            const float* const gain = model.at(parameter);
            const auto n = static_cast<double>(spec.elements());
            GainReport one{l, spec.name, 0, 0, 0};
            double mean = 0;
            double squares = 0;
            for (std::size_t k = 0; k < spec.elements(); ++k) {
                const auto value = static_cast<double>(gain[k]);
                one.mean += std::fabs(value) / n;
                one.largest = measure::larger(one.largest, std::fabs(value));
                mean += value / n;
                squares += value * value / n;
            }
            one.deviation = std::sqrt(measure::larger(squares - mean * mean, 0));
            sum += one.mean * n;
            count += n;
            most = measure::larger(most, one.largest);
            report.gains.push_back(std::move(one));
        }
        if (count > 0) {
            report.layers[l].gain_mean = sum / count;
            report.layers[l].gain_largest = most;
        }
    }
}

measure::Growth growth_of(const std::vector<LayerReport>& layers) {
    std::vector<double> lengths;
    for (const LayerReport& layer : layers) {
        lengths.push_back(layer.norm_median);
    }
    return measure::growth(lengths);
}

// One pass that measures everything, with the way back where the settings want it.
void measure_blocks(const model::Model<float>& model, model::Batch batch, const model::Input& input,
                    const std::vector<std::int32_t>& targets, bool gradient, Report& report) {
    const std::size_t dim = model.architecture().dim;
    model::BlockWatch blocks(model, batch, batch.sequences);
    blocks.taps().add("embed", [&](const View& view) { measure_stream(view.data, batch, dim, report.embedding); });
    blocks.taps().add("blocks.*.resid", [&](const View& view) {
        LayerReport& layer = report.layers[view.layer];
        measure_stream(view.data, batch, dim, layer);
        const auto found = massive_activations(view.data, batch, dim, layer.median_abs, view.layer);
        report.massive.insert(report.massive.end(), found.begin(), found.end());
    });
    model::Pass<float> pass(model, batch, gradient ? model::Keep::inputs : model::Keep::nothing);
    model::forward(pass, input, blocks.taps());
    if (gradient) {
        model::Parameters<float> unused(model.layout());
        report.loss = pass.loss_and_backward(targets, unused, 1, blocks.taps());
    } else if (!targets.empty()) {
        report.loss = pass.loss(targets);
    }
    copy_moments(blocks.embedding().moments, report.embedding);
    report.embedding.gradient = blocks.embedding().gradient;
    const std::vector<model::BlockMeasures> measured = blocks.blocks();
    for (std::size_t l = 0; l < measured.size(); ++l) {
        copy_block(measured[l], report.layers[l]);
        report.heads.push_back(measured[l].heads);
    }
    report.first_not_finite = blocks.first_not_finite();
}

// One forward pass a block, of the model without that block and otherwise as it is.
void measure_drops(const model::Model<float>& model, model::Batch batch, const model::Input& input,
                   const std::vector<std::int32_t>& targets, Steps& steps, Report& report) {
    model::Pass<float> pass(model, batch);
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        pass.edit({{l, model::Edit::What::block}});
        model::forward(pass, input, {});
        report.layers[l].drop = pass.loss(targets) - report.loss;
        steps.done(1);
    }
}

}  // namespace

void check_batch(const model::Batch& batch) {
    if (batch.tokens < 2) {
        throw Error(ErrorKind::input, "inspect.inspect",
                    fmt::format("a text of {} token{}", batch.tokens, batch.tokens == 1 ? "" : "s"),
                    "at least 2, since tokens are compared with each other", "give a longer text");
    }
}

// One pass measures everything that a pass shows; leaving out blocks and the lens are passes of their own. Without a
// head, or where rows were given in place of tokens, there is no loss and nothing that needs one.
Report inspect(const model::Model<float>& model, model::Batch batch, const model::Input& input,
               const Settings& settings, const Watch& watch) {
    check_batch(batch);
    const StopOn stop(watch.stop);
    const model::Architecture& architecture = model.architecture();
    const bool has_loss = architecture.has_head && !input.has_rows();
    const bool gradient = settings.gradient && has_loss;
    const bool drop = settings.drop && has_loss;
    const bool lens = settings.lens && has_loss;
    const auto layers = static_cast<double>(architecture.layers);
    const double first = 1 + (gradient ? cost_of_backward : 0);
    Steps steps(watch, first + (drop ? layers : 0) + (lens ? 1 + layers / 2 : 0));

    Report report;
    report.sequences = batch.sequences;
    report.tokens = batch.tokens;
    report.dim = architecture.dim;
    report.ids = input.ids;
    report.layers.resize(architecture.layers);
    report.bound = model::stream_bound(model, batch.tokens);
    const std::vector<std::int32_t> targets =
        has_loss ? model::next_tokens(input.ids, batch.sequences) : std::vector<std::int32_t>{};
    measure_blocks(model, batch, input, targets, gradient, report);
    steps.done(first);
    add_gains(model, report);
    report.growth = growth_of(report.layers);
    if (drop) {
        measure_drops(model, batch, input, targets, steps, report);
    }
    if (lens) {
        look_through_lens(model, batch, input.ids, targets, report);
        steps.done(1 + layers / 2);
    }
    return report;
}

double memory_estimate(const model::Model<float>& model, const model::Batch& batch, const Settings& settings) {
    const model::Architecture& a = model.architecture();
    const bool gradient = settings.gradient && a.has_head;
    // The streams once more in double, a Gram matrix of tokens or channels, and logits by blocks of rows.
    const auto stream = static_cast<double>(batch.rows() * a.dim);
    const auto rank = static_cast<double>(std::min<std::size_t>({batch.tokens, a.dim, 1024}));
    double bytes = model::memory_estimate(a, batch, gradient ? model::Keep::inputs : model::Keep::nothing);
    bytes += 20 * stream + 16 * rank * rank * static_cast<double>(batch.sequences) + 128e6;
    return bytes + (gradient ? 4 * static_cast<double>(model.layout().count()) : 0);
}

}  // namespace flyball::inspect
