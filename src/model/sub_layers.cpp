// Attention and feed-forward network of a block around their matrix products: biases, norms, positions, heads,
// activations, dropout, and all of it back.
#include "model/sub_layers.hpp"

#include "model/attention_norm.hpp"
#include "model/ffn_scale.hpp"
#include "model/layer_kernels.hpp"
#include "model/linear.hpp"
#include "scheme/row_machine.hpp"

namespace flyball::model {

namespace {

// Rows shared among threads, in pieces that depend on sizes alone.
template <class Body>
void for_rows(std::size_t rows, std::size_t width, const Body& body) {
    parallel_slots(rows, scheme::row_slots(rows, width), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            body(i);
        }
    });
}

template <class Real>
void turn_all(const RopeTable<Real>& table, const Architecture& a, const Batch& batch, std::size_t first, Real* qkv,
              bool back) {
    if (table.half == 0) {
        return;
    }
    const std::size_t width = a.qkv_width();
    for_rows(batch.rows(), width, [&](std::size_t i) {
        turn(table, first + batch.position(i), a.heads + a.kv_heads, a.head_dim, qkv + i * width, back);
    });
}

}  // namespace

template <class Real>
void queries_keys_values(const Model<Real>& model, std::size_t layer, const RopeTables<Real>& ropes, const Batch& batch,
                         std::size_t first, const Real* in, CallRoom<Real>& room, const PackedWeights<Real>* packed) {
    const std::size_t rows = batch.rows();
    const std::size_t width = model.architecture().qkv_width();
    room.qkv.resize(rows * width);
    for (const Linear& part : model.layout().blocks[layer].qkv) {
        linear(model, part, rows, in, room.qkv.data(), width, packed);
    }
    norm_attention(model, layer, NormPlacement::before_positions, rows, room.qkv.data(), room.unnormed);
    turn_all(ropes.of(model.architecture(), layer), model.architecture(), batch, first, room.qkv.data(), false);
    norm_attention(model, layer, NormPlacement::after_positions, rows, room.qkv.data(), room.unnormed);
}

template <class Real>
SubLayerRunner<Real>::SubLayerRunner(const Model<Real>& model, Batch batch)
    : model_(model), batch_(batch), rows_(batch.rows()), ropes_(model.architecture(), batch.tokens) {}

HeadsShape heads_of(const Architecture& a, const Batch& batch, std::size_t layer) {
    HeadsShape shape;
    shape.batch = batch;
    shape.heads = a.heads;
    shape.kv_heads = a.kv_heads;
    shape.head_dim = a.head_dim;
    shape.causal = a.causal;
    shape.window = a.window(layer);
    shape.scale = a.score_scale(layer);
    shape.cap = a.score_cap;
    shape.kind = a.attention_kind;
    return shape;
}

template <class Real>
HeadsShape SubLayerRunner<Real>::heads(std::size_t layer, std::size_t call) const {
    const Architecture& a = model_.architecture();
    HeadsShape shape = heads_of(a, batch_, layer);
    shape.dropout = DropoutMask(dropout_, DropoutMask::Place::weights, layer, call)
                        .from(std::uint64_t{dropout_.first_sequence} * a.heads * batch_.tokens * batch_.tokens);
    return shape;
}

template <class Real>
DropoutMask SubLayerRunner<Real>::branch_mask(std::size_t layer, std::size_t call) const {
    return DropoutMask(dropout_, DropoutMask::Place::branch, layer, call)
        .from(std::uint64_t{dropout_.first_sequence} * batch_.tokens * model_.architecture().dim);
}

template <class Real>
void SubLayerRunner<Real>::forward(std::size_t layer, scheme::SubLayer sub_layer, const Real* in, Real* out,
                                   CallRoom<Real>& room, bool keep, const Taps<Real>& taps) const {
    const std::size_t dim = model_.architecture().dim;
    const bool is_attention = sub_layer == scheme::SubLayer::attention;
    const auto show = [&](Site site, const Real* data) { taps.show(site, layer, rows_, dim, data, dim); };
    show(is_attention ? Site::attn_in : Site::ffn_in, in);
    if (is_attention) {
        attention(layer, in, out, room, taps);
    } else {
        feed_forward(layer, in, out, room, keep);
    }
    if (const DropoutMask mask = branch_mask(layer, room.call); mask.any()) {
        mask.apply_all(rows_ * dim, out, out);
    }
    show(is_attention ? Site::attn_out : Site::ffn_out, out);
}

template <class Real>
void SubLayerRunner<Real>::attention(std::size_t layer, const Real* in, Real* out, CallRoom<Real>& room,
                                     const Taps<Real>& taps) const {
    const Architecture& a = model_.architecture();
    const BlockLayout& block = model_.layout().blocks[layer];
    const std::size_t width = a.qkv_width();
    room.mixed.resize(rows_ * a.query_width());
    queries_keys_values(model_, layer, ropes_, batch_, 0, in, room, packed_);
    const auto show = [&](Site site, std::size_t offset, std::size_t columns) {
        taps.show(site, layer, rows_, columns, room.qkv.data() + offset, width);
    };
    show(Site::query, 0, a.query_width());
    show(Site::key, a.query_width(), a.key_width());
    show(Site::value, a.query_width() + a.key_width(), a.key_width());
    room.scales.resize(rows_ * a.heads);
    attend(heads(layer, room.call), room.qkv.data(), room.mixed.data(), layer, taps, room.scales.data());
    linear(model_, block.output, rows_, room.mixed.data(), out, a.dim, packed_);
}

// W_up x, activated tile by tile while it is in cache. When the way back will want it (`keep`), the place of W_up x
// holds act' instead: the activation and its slope come from one exponential, and going back is a product of numbers.
// Gated or scaled FFNs keep W_up x itself.
template <class Real>
void SubLayerRunner<Real>::feed_forward(std::size_t layer, const Real* in, Real* out, CallRoom<Real>& room,
                                        bool keep) const {
    const Architecture& a = model_.architecture();
    const BlockLayout& block = model_.layout().blocks[layer];
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const FfnScale<Real> scale(model_, layer);
    const std::size_t width = a.inner_width();
    room.hidden.resize(rows_ * width);
    Real* activated = room.hidden.data();
    if (a.gated || keep) {
        room.activated.resize(rows_ * a.ffn_dim);
        activated = room.activated.data();
    }
    for (const Linear& part : block.ffn_in) {
        const auto activate = [&](const Tile& tile) {
            for (std::size_t i = tile.row; !a.gated && i < tile.row + tile.rows; ++i) {
                const std::size_t at = i * width + tile.column;
                if (keep && !scale.any()) {
                    kernels.activate_and_slope(a.activation, tile.columns, room.hidden.data() + at, activated + at);
                    continue;
                }
                const Real* from = room.hidden.data() + at;
                if (scale.any()) {
                    scale.apply(tile.column, tile.columns, from, activated + at);
                    from = activated + at;
                }
                kernels.activate(a.activation, tile.columns, from, activated + at);
            }
        };
        linear(model_, part, rows_, in, room.hidden.data(), width, activate, packed_);
    }
    if (a.gated) {
        for_rows(rows_, width, [&](std::size_t i) {
            const Real* const row = scale.row(room.hidden.data() + i * width);
            kernels.gate(a.activation, a.ffn_dim, row, row + a.ffn_dim, activated + i * a.ffn_dim);
        });
    }
    linear(model_, block.ffn_out, rows_, activated, out, a.dim, packed_);
}

template <class Real>
void SubLayerRunner<Real>::reverse(std::size_t layer, scheme::SubLayer sub_layer, const Real* in, const Real* grad_out,
                                   Real* grad_in, const CallRoom<Real>& room, Parameters<Real>& gradients) {
    if (const DropoutMask mask = branch_mask(layer, room.call); mask.any()) {
        grad_branch_.resize(rows_ * model_.architecture().dim);
        mask.apply_all(grad_branch_.size(), grad_out, grad_branch_.data());
        grad_out = grad_branch_.data();
    }
    if (sub_layer == scheme::SubLayer::attention) {
        attention_reverse(layer, in, grad_out, grad_in, room, gradients);
    } else {
        feed_forward_reverse(layer, in, grad_out, grad_in, room, gradients);
    }
}

// The forward steps undone from the last to the first: output projection, heads, norm, rotary positions (a turn back),
// norm, projections, whose gradients by `in` add up.
template <class Real>
void SubLayerRunner<Real>::attention_reverse(std::size_t layer, const Real* in, const Real* grad_out, Real* grad_in,
                                             const CallRoom<Real>& room, Parameters<Real>& gradients) {
    const Architecture& a = model_.architecture();
    const BlockLayout& block = model_.layout().blocks[layer];
    grad_narrow_.resize(rows_ * std::max(a.query_width(), a.ffn_dim));
    grad_wide_.resize(rows_ * std::max(a.qkv_width(), 2 * a.ffn_dim));
    linear_reverse(model_, block.output, rows_, room.mixed.data(), grad_out, a.dim, grad_narrow_.data(), false,
                   gradients, packed_);
    attend_reverse(heads(layer, room.call), room.qkv.data(), grad_narrow_.data(), grad_wide_.data(),
                   room.scales.data());
    norm_attention_reverse(model_, layer, NormPlacement::after_positions, rows_, room.unnormed, grad_wide_.data(),
                           gradients);
    turn_all(ropes_.of(a, layer), a, batch_, 0, grad_wide_.data(), true);
    norm_attention_reverse(model_, layer, NormPlacement::before_positions, rows_, room.unnormed, grad_wide_.data(),
                           gradients);
    bool add = false;
    for (const Linear& part : block.qkv) {
        linear_reverse(model_, part, rows_, in, grad_wide_.data(), a.qkv_width(), grad_in, add, gradients, packed_);
        add = true;
    }
}

// With h = W_in x (gate and up one after another), g the gradient of what W_down is given:
//
//     plain    grad_h = g act'(h)
//     gated    grad_gate = g up act'(gate),    grad_up = g act(gate)
template <class Real>
void SubLayerRunner<Real>::feed_forward_reverse(std::size_t layer, const Real* in, const Real* grad_out, Real* grad_in,
                                                const CallRoom<Real>& room, Parameters<Real>& gradients) {
    const Architecture& a = model_.architecture();
    const BlockLayout& block = model_.layout().blocks[layer];
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const FfnScale<Real> scale(model_, layer);
    const std::size_t width = a.inner_width();
    const std::size_t f = a.ffn_dim;
    grad_narrow_.resize(rows_ * std::max(a.query_width(), a.ffn_dim));
    grad_wide_.resize(rows_ * std::max(a.qkv_width(), 2 * a.ffn_dim));
    const bool has_slopes = !a.gated && !scale.any();  // kept
    linear_reverse(model_, block.ffn_out, rows_, room.activated.data(), grad_out, a.dim, grad_narrow_.data(), false,
                   gradients, packed_, has_slopes ? room.hidden.data() : nullptr);
    Real* const grad_hidden = has_slopes ? grad_narrow_.data() : grad_wide_.data();
    for_rows(rows_, width, [&](std::size_t i) {
        if (has_slopes) {
            kernels.multiply(f, room.hidden.data() + i * width, grad_hidden + i * f);
            return;
        }
        const Real* const g = grad_narrow_.data() + i * f;
        const Real* const pre = scale.row(room.hidden.data() + i * width);
        Real* const to = grad_hidden + i * width;
        kernels.slope(a.activation, f, pre, to);
        if (!a.gated) {
            for (std::size_t k = 0; k < f; ++k) {
                to[k] *= g[k];
            }
            return;
        }
        const Real* const up = pre + f;
        kernels.activate(a.activation, f, pre, to + f);
        for (std::size_t k = 0; k < f; ++k) {
            to[k] *= g[k] * up[k];
            to[f + k] *= g[k];
        }
    });
    scale.reverse(rows_, room.hidden.data(), grad_hidden, gradients);
    bool add = false;
    for (const Linear& part : block.ffn_in) {
        linear_reverse(model_, part, rows_, in, grad_hidden, width, grad_in, add, gradients, packed_);
        add = true;
    }
}

template void queries_keys_values(const Model<float>&, std::size_t, const RopeTables<float>&, const Batch&, std::size_t,
                                  const float*, CallRoom<float>&, const PackedWeights<float>*);
template void queries_keys_values(const Model<double>&, std::size_t, const RopeTables<double>&, const Batch&,
                                  std::size_t, const double*, CallRoom<double>&, const PackedWeights<double>*);
template class SubLayerRunner<float>;
template class SubLayerRunner<double>;

}  // namespace flyball::model
