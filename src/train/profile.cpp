#include "train/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "measure/moments.hpp"
#include "model/pass.hpp"

namespace flyball::train {

namespace {

// Of all entries together.
double variance(const model::TapView<float>& view) {
    return measure::moments(view.data, 1, view.rows, view.columns).entry_variance;
}

}  // namespace

// Sub-layer i is the attention (even) or the feed-forward network (odd) of block i/2. One forward pass each, with all
// omegas before it set: what it measures depends on them.
void measure_skips(model::Model<float>& model, std::string_view name, model::Batch batch,
                   const std::vector<std::int32_t>& ids) {
    const auto& learned = model.program().learned();
    const auto found = std::find_if(learned.begin(), learned.end(), [&](const auto& one) { return one.name == name; });
    const auto index = static_cast<std::size_t>(found - learned.begin());
    model::Pass<float> pass(model, batch);
    const auto parameter = [&](std::size_t sub_layer) {
        const std::vector<int>& own = model.layout().blocks[sub_layer / 2].learned;
        const std::size_t at = sub_layer % 2 * learned.size() + index;
        if (found == learned.end() || at >= own.size() || own[at] == model::absent) {
            throw Error(ErrorKind::usage, "train.profile", fmt::format("the equation {}", model.program().text()),
                        fmt::format("one with a learned {} in each sub-layer", name));
        }
        return own[at];
    };
    const auto set = [&](std::size_t sub_layer, double value) {
        const int p = parameter(sub_layer);
        std::fill_n(model.parameters()->at(p), model.layout().parameters[static_cast<std::size_t>(p)].elements(),
                    static_cast<float>(value));
    };
    double omega = 1;
    set(0, omega);
    for (std::size_t i = 0; i + 1 < 2 * model.architecture().layers; ++i) {
        double in = 0;
        double out = 0;
        model::Taps<float> taps;
        const std::string tap = fmt::format("blocks.{}.{}.", i / 2, i % 2 == 0 ? "attn" : "ffn");
        taps.add(tap + "in", [&](const model::TapView<float>& view) { in = variance(view); });
        taps.add(tap + "out", [&](const model::TapView<float>& view) { out = variance(view); });
        pass.forward(ids, taps);
        omega = std::sqrt(omega * omega * in + out);
        set(i + 1, omega);
    }
}

}  // namespace flyball::train
