#include "inspect/lens.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/pass.hpp"

namespace flyball::inspect {

namespace {

// The first of the largest logits; nothing where one of them is not a number.
std::optional<std::int32_t> likeliest_of(const float* row, std::size_t count) {
    if (std::any_of(row, row + count, [](float logit) { return std::isnan(logit); })) {
        return std::nullopt;
    }
    return static_cast<std::int32_t>(std::max_element(row, row + count) - row);
}

}  // namespace

// Inside one forward pass: the last stream of a block is the last that its tap shows, so all streams are those after
// the block when the readout is asked for.
void look_through_lens(const model::Model<float>& model, model::Batch batch, std::span<const std::int32_t> ids,
                       const std::vector<std::int32_t>& targets, Report& report) {
    using View = model::TapView<float>;
    model::Pass<float> pass(model, batch);
    std::vector<float> readout;
    std::vector<std::vector<std::optional<std::int32_t>>> top(report.layers.size());  // [layers][rows]
    const std::string last_stream(model.program().stream_name(model.program().stream_count() - 1));
    model::Taps<float> taps;
    taps.add("blocks.*.resid." + last_stream, [&](const View& stream) {
        std::vector<std::optional<std::int32_t>>& likeliest = top[stream.layer];
        model::Taps<float> logits;
        logits.add("logits", [&](const View& view) {
            for (std::size_t i = 0; i < view.rows; ++i) {
                likeliest.push_back(likeliest_of(view.row(i), view.columns));
            }
        });
        pass.early_readout(readout);
        report.layers[stream.layer].lens_loss = pass.loss_of(readout, targets, logits);
    });
    pass.forward(ids, taps);
    const std::vector<std::optional<std::int32_t>>& final = top.back();
    for (std::size_t l = 0; l < top.size(); ++l) {
        double same = 0;
        for (std::size_t i = 0; i < final.size(); ++i) {
            const bool known = top[l][i] && final[i];
            same += known ? (top[l][i] == final[i] ? 1 : 0) : not_measured;
        }
        report.layers[l].lens_agreement = same / static_cast<double>(final.size());
        report.lens_top.push_back(top[l].back());
    }
    report.final_top = final.back();
}

}  // namespace flyball::inspect
