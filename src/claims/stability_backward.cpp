#include "claims/stability_backward.hpp"

#include <cmath>

#include "claims/stability_lengths.hpp"
#include "claims/stability_passes.hpp"
#include "claims/stability_sub_layer.hpp"
#include "measure/extremes.hpp"
#include "model/family.hpp"
#include "model/pass.hpp"

namespace flyball::claims {

namespace {

using model::Model;
using scheme::SubLayer;

constexpr int most_iterations = 60;
constexpr double settled = 1e-4;
constexpr double small_step = 1e-5;

// One sub-layer of a block as a model of its own, without norms and without residual.
Model<double> sub_layer_alone(const Model<double>& model, std::size_t block, SubLayer sub_layer) {
    model::Architecture a = model.architecture();
    a.layers = 1;
    a.equation = sub_layer == SubLayer::attention ? "attn(x)" : "ffn(x)";
    Model<double> alone(a, model::native_names());
    const model::BlockLayout& from = model.layout().blocks[block];
    const model::BlockLayout& to = alone.layout().blocks[0];
    const auto copy = [&](const model::Linear& source, const model::Linear& target) {
        set_table(alone, target, table_of(model, source));
        if (source.bias != model::absent) {
            set_numbers(alone, target.bias, numbers_of(model, source.bias));
        }
    };
    if (sub_layer == SubLayer::feed_forward) {
        copy(from.ffn_in[0], to.ffn_in[0]);
        copy(from.ffn_out, to.ffn_out);
        return alone;
    }
    Table joint{to.qkv[0].out, to.qkv[0].in, {}};
    std::vector<double> bias;
    for (std::size_t part = 0; part < 3; ++part) {
        const Affine one = qkv_part(model, block, part);
        joint.values.insert(joint.values.end(), one.matrix.values.begin(), one.matrix.values.end());
        bias.insert(bias.end(), one.bias.begin(), one.bias.end());
    }
    set_table(alone, to.qkv[0], joint);
    if (to.qkv[0].bias != model::absent) {
        set_numbers(alone, to.qkv[0].bias, bias);
    }
    copy(from.output, to.output);
    return alone;
}

std::vector<double> plus(std::vector<double> x, double factor, const std::vector<double>& y) {
    for (std::size_t k = 0; k < x.size(); ++k) {
        x[k] += factor * y[k];
    }
    return x;
}

double least_divisor(const std::vector<double>& rows, const model::Architecture& a) {
    double least = HUGE_VAL;
    for (std::size_t i = 0; i * a.dim < rows.size(); ++i) {
        least = measure::smaller(least, ln_divisor(row_of(rows, i, a.dim), a.eps));
    }
    return least;
}

// The bound of one sub-layer at the stream x; `first` is its first norm among those of the block.
double sub_layer_bound(const Model<double>& model, Placement placement, std::size_t block, SubLayer sub_layer,
                       std::size_t first, const std::vector<double>& x, const Flow::Branch& branch) {
    const model::Architecture& a = model.architecture();
    const std::vector<model::NormPlace> norms = norms_of(model, block);
    const auto gain = [&](std::size_t norm) { return largest_of(numbers_of(model, norms[norm].gain)); };
    BlockNumbers numbers;
    numbers.dt = a.dt;
    numbers.lipschitz = sub_layer_lipschitz(model, block, sub_layer, branch.in);
    numbers.gain_in = gain(first);
    numbers.s_in = least_divisor(x, a);
    numbers.gain_out = gain(placement == Placement::peri ? first + 1 : first);
    numbers.s_out = least_divisor(placement == Placement::post ? plus(x, a.dt, branch.out) : branch.out, a);
    return jacobian_bound(placement, numbers);
}

}  // namespace

std::optional<Placement> placement_of(const std::string& scheme) {
    return scheme == "pre-ln"    ? std::optional(Placement::pre)
           : scheme == "peri-ln" ? std::optional(Placement::peri)
           : scheme == "post-ln" ? std::optional(Placement::post)
                                 : std::nullopt;
}

double sub_layer_lipschitz(const Model<double>& model, std::size_t block, SubLayer sub_layer,
                           const std::vector<double>& input) {
    const Model<double> alone = sub_layer_alone(model, block, sub_layer);
    std::vector<double> v = normal_rows(input.size() / model.architecture().dim, model.architecture().dim, 1, 5);
    double found = 0;
    for (int i = 0; i < most_iterations; ++i) {
        const double length = length_of(v);
        if (length == 0) {
            return 0;
        }
        v = times(std::move(v), 1 / length);
        const std::vector<double> ahead = flow_of(alone, plus(input, small_step, v)).readout;
        const std::vector<double> behind = flow_of(alone, plus(input, -small_step, v)).readout;
        const std::vector<double> changed = times(plus(ahead, -1, behind), 1 / (2 * small_step));  // J v
        const double now = length_of(changed);
        if (now == 0 || std::fabs(now - found) < settled * now) {
            return now;
        }
        found = now;
        v = backward_of(alone, input, changed).streams[0];  // J' J v
    }
    return found;
}

std::vector<double> block_jacobian_bounds(const Model<double>& model, Placement placement, const Flow& flow) {
    const std::size_t norms = placement == Placement::peri ? 2 : 1;  // of a sub-layer
    std::vector<double> bounds;
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        const std::vector<double>& x = flow.streams[l];
        const std::vector<double> between =
            placement == Placement::post ? flow.ffn[l].in : plus(x, 1, flow.attention[l].added);
        bounds.push_back(sub_layer_bound(model, placement, l, SubLayer::attention, 0, x, flow.attention[l]) *
                         sub_layer_bound(model, placement, l, SubLayer::feed_forward, norms, between, flow.ffn[l]));
    }
    return bounds;
}

BoundedGradients beside_bounds(std::vector<double> gradient, const std::vector<double>& jacobians) {
    BoundedGradients result;
    result.bound.resize(gradient.size());
    result.bound.back() = gradient.back();
    Share share;
    for (std::size_t l = jacobians.size(); l-- > 0;) {
        result.bound[l] = result.bound[l + 1] * jacobians[l];
        share.see(gradient[l], result.bound[l]);
    }
    result.gradient = std::move(gradient);
    result.share = share.largest;
    return result;
}

BoundedGradients bounded_gradients(const Model<float>& model, Placement placement, const std::vector<std::int32_t>& ids,
                                   const std::vector<std::int32_t>& targets) {
    const Model<double> wide = model::widened(model);
    std::vector<double> x0;
    model::Taps<double> taps;
    taps.add("embed",
             [&](const model::TapView<double>& view) { x0.assign(view.data, view.data + view.rows * view.columns); });
    model::Pass<double>(wide, model::Batch(ids.size())).forward(ids, taps);
    return beside_bounds(depths_of(model, 1, ids, targets).gradient,
                         block_jacobian_bounds(wide, placement, flow_of(wide, x0)));
}

double gradient_share_where_attained() {
    const SubLayerCase one = attaining_case(Placement::pre);
    SmallSizes sizes;
    sizes.tokens = 1;
    sizes.dt = one.model.architecture().dt;
    Model<double> model = blank_model("x + dt*f(norm(x))", sizes);
    copy_parameters(one.model, model);
    for (const model::NormPlace& norm : norms_of(model, 0)) {
        set_numbers(model, norm.gain, numbers_of(one.model, norms_of(one.model, 0)[0].gain));
    }
    const Backward back = backward_of(model, one.x0, direction(sizes.dim, 1));
    return beside_bounds({length_of(back.streams[0]), length_of(back.streams[1])},
                         block_jacobian_bounds(model, Placement::pre, flow_of(model, one.x0)))
        .share;
}

}  // namespace flyball::claims
