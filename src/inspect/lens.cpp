#include "inspect/lens.hpp"

#include <algorithm>

#include "model/pass.hpp"

namespace flyball::inspect {

// Inside one forward pass: the last stream of a block is the last that its tap shows, so all streams are those after
// the block when the readout is asked for.
void look_through_lens(const model::Model<float>& model, model::Batch batch, std::span<const std::int32_t> ids,
                       const std::vector<std::int32_t>& targets, Report& report) {
    using View = model::TapView<float>;
    model::Pass<float> pass(model, batch);
    std::vector<float> readout;
    std::vector<std::vector<std::int32_t>> top(report.layers.size());  // [layers][rows]
    const std::string last_stream(model.program().stream_name(model.program().stream_count() - 1));
    model::Taps<float> taps;
    taps.add("blocks.*.resid." + last_stream, [&](const View& stream) {
        std::vector<std::int32_t>& likeliest = top[stream.layer];
        model::Taps<float> logits;
        logits.add("logits", [&](const View& view) {
            for (std::size_t i = 0; i < view.rows; ++i) {
                const float* const row = view.row(i);
                likeliest.push_back(static_cast<std::int32_t>(std::max_element(row, row + view.columns) - row));
            }
        });
        pass.early_readout(readout);
        report.layers[stream.layer].lens_loss = pass.loss_of(readout, targets, logits);
    });
    pass.forward(ids, taps);
    const std::vector<std::int32_t>& final = top.back();
    for (std::size_t l = 0; l < top.size(); ++l) {
        std::size_t same = 0;
        for (std::size_t i = 0; i < final.size(); ++i) {
            same += top[l][i] == final[i] ? 1 : 0;
        }
        report.layers[l].lens_agreement = static_cast<double>(same) / static_cast<double>(final.size());
        report.lens_top.push_back(top[l].back());
    }
    report.final_top = final.back();
}

}  // namespace flyball::inspect
