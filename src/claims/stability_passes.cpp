#include "claims/stability_passes.hpp"

#include <cmath>

#include "core/random.hpp"
#include "measure/moments.hpp"
#include "model/pass.hpp"
#include "scheme/catalogue.hpp"
#include "train/initial.hpp"

namespace flyball::claims {

namespace {

using FloatView = model::TapView<float>;

double root_mean_square(const std::vector<float>& x) {
    return measure::frobenius(x.data(), x.size()) / std::sqrt(static_cast<double>(x.size()));
}

std::vector<float> rows_of(const FloatView& view) {
    return {view.data, view.data + view.rows * view.columns};
}

}  // namespace

Depths depths_of(const model::Model<float>& model, std::size_t sequences, const std::vector<std::int32_t>& ids,
                 const std::vector<std::int32_t>& targets, bool ffn_reads_stream) {
    const model::Architecture& a = model.architecture();
    Depths seen;
    seen.gradient.resize(a.layers + 1);
    std::vector<float> x;  // the stream as the sub-layer found it
    const auto turn = [&](std::vector<float> after) {
        seen.sigma.push_back(root_mean_square(after));
        seen.turned.push_back(measure::mean_turn(x.data(), after.data(), x.size() / a.dim, a.dim).angle);
        x = std::move(after);
    };
    model::Taps<float> taps;
    taps.add("embed", [&](const FloatView& view) {
        x = rows_of(view);
        seen.sigma.push_back(root_mean_square(x));
    });
    taps.add("blocks.*.attn.out",
             [&](const FloatView& view) { seen.branch.push_back(root_mean_square(rows_of(view))); });
    taps.add("blocks.*.ffn.out",
             [&](const FloatView& view) { seen.branch.push_back(root_mean_square(rows_of(view))); });
    taps.add("blocks.*.attn.added", [&](const FloatView& view) {
        std::vector<float> after = rows_of(view);
        seen.added.push_back(root_mean_square(after));
        if (ffn_reads_stream) {
            return;
        }
        for (std::size_t k = 0; k < after.size(); ++k) {
            after[k] += x[k];
        }
        turn(std::move(after));
    });
    if (ffn_reads_stream) {
        taps.add("blocks.*.ffn.in", [&](const FloatView& view) { turn(rows_of(view)); });
    }
    taps.add("blocks.*.ffn.added",
             [&](const FloatView& view) { seen.added.push_back(root_mean_square(rows_of(view))); });
    taps.add("blocks.*.resid", [&](const FloatView& view) { turn(rows_of(view)); });
    const auto gradient = [&](std::size_t place, const FloatView& view) {
        seen.gradient[place] = measure::frobenius(view.data, view.rows * view.columns);
    };
    taps.add("blocks.*.grad", [&](const FloatView& view) { gradient(view.layer + 1, view); });
    taps.add("embed.grad", [&](const FloatView& view) { gradient(0, view); });
    model::Pass<float> pass(model, {sequences, ids.size() / sequences}, model::Keep::everything);
    model::Parameters<float> gradients(model.layout());
    pass.forward(ids, taps);
    pass.loss_and_backward(targets, gradients, 1, taps);
    return seen;
}

Depths start_depths(const std::string& name, const StartSizes& sizes) {
    constexpr std::size_t vocab = 64;
    const std::size_t sequences = 256 / sizes.tokens;
    train::Settings s;
    s.layers = sizes.layers;
    s.dim = sizes.dim;
    s.dt = sizes.dt;
    s.context = sizes.tokens;
    s.init = sizes.init;
    s.seed = sizes.seed;
    const train::Initial initial = train::initial_model(s, scheme::find_scheme(name), vocab);
    const Random random(sizes.seed, 79);
    std::vector<std::int32_t> ids(sequences * s.context);
    std::vector<std::int32_t> targets(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = static_cast<std::int32_t>(random.bits(2 * i) % vocab);
        targets[i] = static_cast<std::int32_t>(random.bits(2 * i + 1) % vocab);
    }
    return depths_of(initial.model, sequences, ids, targets);
}

}  // namespace flyball::claims
