#include "model/heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/row_weights.hpp"
#include "core/blas.hpp"
#include "core/parallel.hpp"
#include "model/layer_kernels.hpp"
#include "model/linear.hpp"

namespace flyball::model {

namespace {

constexpr double log2_e = 1.4426950408889634074;

// A block of scores should stay in the second-level cache. Short sequences have smaller blocks: a block computes scores
// up to its last row, half of its own square for nothing.
std::size_t block_rows(std::size_t tokens) {
    constexpr std::size_t numbers = std::size_t{1} << 17;
    constexpr std::size_t short_sequence = 512;
    const std::size_t most = tokens <= short_sequence ? 64 : 128;
    return std::clamp<std::size_t>(numbers / std::max<std::size_t>(tokens, 1) / 16 * 16, 16, most);
}

// The part of the score matrix of a sequence that a block of rows may be non-zero in.
struct Range {
    std::size_t row;
    std::size_t rows;
    std::size_t column;
    std::size_t columns;
    std::size_t stride;
};

Range range_of(const HeadsShape& shape, std::size_t row, std::size_t rows) {
    Range range{row, rows, 0, shape.batch.tokens, 0};
    if (shape.causal) {
        range.column = shape.window > 0 && row + 1 > shape.window ? row + 1 - shape.window : 0;
        range.columns = row + rows - range.column;
    }
    range.stride = padded(range.columns) + row_padding;
    return range;
}

std::size_t most_numbers(const HeadsShape& shape) {
    return block_rows(shape.batch.tokens) * (padded(shape.batch.tokens) + row_padding);
}

// Of a sequence whose rows begin at qkv.
template <class Real>
const Real* query_of(const HeadsShape& shape, const Real* qkv, std::size_t head) {
    return qkv + head * shape.head_dim;
}
template <class Real>
const Real* key_of(const HeadsShape& shape, const Real* qkv, std::size_t head) {
    return qkv + (shape.heads + head * shape.kv_heads / shape.heads) * shape.head_dim;
}
template <class Real>
const Real* value_of(const HeadsShape& shape, const Real* qkv, std::size_t head) {
    return key_of(shape, qkv, head) + shape.kv_heads * shape.head_dim;
}

// The columns that a row of a block may see, counted from the block's first.
struct Seen {
    std::size_t begin;
    std::size_t end;
};
Seen seen_by(const HeadsShape& shape, const Range& r, std::size_t i) {
    const std::size_t token = r.row + i;
    return {shape.window > 0 && token + 1 > shape.window ? token + 1 - shape.window - r.column : 0,
            shape.causal ? token + 1 - r.column : r.columns};
}

// What the product of queries and keys is multiplied with before it becomes weights: the kernel of softmax takes powers
// of 2, row_weights wants scores as they are.
double score_units(const HeadsShape& shape) {
    return shape.kind == attention::Kind::softmax ? shape.scale * log2_e : 1.0;
}

template <class Real>
void scores_of(const HeadsShape& shape, const Real* qkv, std::size_t head, const Range& r, Real* scores) {
    const std::size_t stride = shape.stride();
    product<Real>(Transpose::no, Transpose::yes, r.rows, r.columns, shape.head_dim,
                  static_cast<Real>(score_units(shape)), query_of(shape, qkv, head) + r.row * stride, stride,
                  key_of(shape, qkv, head) + r.column * stride, stride, {}, scores, r.stride);
}

// Kinds other than softmax, in double.
template <class Real>
void other_weights(const HeadsShape& shape, std::size_t count, Real* row) {
    thread_local std::vector<double> wide;
    thread_local std::vector<double> room;
    wide.assign(row, row + count);
    if (!std::all_of(wide.begin(), wide.end(), [](double score) { return std::isfinite(score); })) {
        std::fill_n(row, count, std::numeric_limits<Real>::quiet_NaN());
        return;
    }
    attention::row_weights(shape.kind, shape.scale, shape.batch.tokens, count, wide.data(), room);
    std::transform(wide.begin(), wide.end(), row, [](double weight) { return static_cast<Real>(weight); });
}

template <class Real>
void other_weights_reverse(const HeadsShape& shape, std::size_t count, const Real* weights, Real* grad) {
    thread_local std::vector<double> wide;
    thread_local std::vector<double> wide_grad;
    wide.assign(weights, weights + count);
    wide_grad.assign(grad, grad + count);
    attention::row_weights_reverse(shape.kind, shape.scale, count, wide.data(), wide_grad.data());
    std::transform(wide_grad.begin(), wide_grad.end(), grad, [](double g) { return static_cast<Real>(g); });
}

// Scores become weights in place; what the mask hides becomes 0.
template <class Real>
void weigh(const HeadsShape& shape, const Range& r, Real* weights) {
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    for (std::size_t i = 0; i < r.rows; ++i) {
        Real* const row = weights + i * r.stride;
        const auto [begin, end] = seen_by(shape, r, i);
        std::fill(row, row + begin, Real{0});
        if (shape.kind == attention::Kind::softmax) {
            kernels.softmax(end - begin, row + begin);
        } else {
            other_weights(shape, end - begin, row + begin);
        }
        if (end < r.columns) {
            std::fill(row + end, row + r.columns, Real{0});
        }
    }
}

// From gradients of weights to those of scores, in place. Returns the factor that is left to multiply with.
template <class Real>
Real weigh_reverse(const HeadsShape& shape, const Range& r, const Real* weights, Real* grad) {
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    for (std::size_t i = 0; i < r.rows; ++i) {
        const Real* const row = weights + i * r.stride;
        Real* const grad_row = grad + i * r.stride;
        if (shape.kind == attention::Kind::softmax) {
            kernels.softmax_reverse(r.columns, row, grad_row);
            continue;
        }
        const auto [begin, end] = seen_by(shape, r, i);
        std::fill(grad_row, grad_row + begin, Real{0});
        other_weights_reverse(shape, end - begin, row + begin, grad_row + begin);
        std::fill(grad_row + end, grad_row + r.columns, Real{0});
    }
    return static_cast<Real>(shape.kind == attention::Kind::softmax ? shape.scale : 1.0);
}

// What dropout leaves of the weights or of their gradient; out may be in.
template <class Real>
void drop(const HeadsShape& shape, std::size_t sequence, std::size_t head, const Range& r, const Real* in, Real* out) {
    const std::size_t tokens = shape.batch.tokens;
    for (std::size_t i = 0; i < r.rows; ++i) {
        const std::uint64_t row = (std::uint64_t{sequence} * shape.heads + head) * tokens + r.row + i;
        shape.dropout.apply(row * tokens + r.column, r.columns, in + i * r.stride, out + i * r.stride);
    }
}

// The scores as the definition has them, minus infinity where the mask hides them.
template <class Real>
void show_scores(const HeadsShape& shape, const Range& r, const Real* scores, TapView<Real> view,
                 const Taps<Real>& taps) {
    thread_local std::vector<Real> shown;
    shown.assign(r.rows * r.stride, -std::numeric_limits<Real>::infinity());
    const auto units = static_cast<Real>(shape.scale / score_units(shape));
    for (std::size_t i = 0; i < r.rows; ++i) {
        const auto [begin, end] = seen_by(shape, r, i);
        for (std::size_t k = i * r.stride + begin; k < i * r.stride + end; ++k) {
            shown[k] = scores[k] * units;
        }
    }
    view.site = Site::scores;
    view.data = shown.data();
    taps.send(view);
}

}  // namespace

template <class Real>
void attend(const HeadsShape& shape, const Real* qkv, Real* out, std::size_t layer, const Taps<Real>& taps) {
    const std::size_t tokens = shape.batch.tokens;
    const std::size_t sequences = shape.batch.sequences;
    const std::size_t block = block_rows(tokens);
    const std::size_t blocks = (tokens + block - 1) / block;
    const std::size_t stride = shape.stride();
    const std::size_t out_stride = shape.heads * shape.head_dim;
    const bool wants_scores = taps.wants(Site::scores, layer);
    const bool shown = wants_scores || taps.wants(Site::pattern, layer);
    // Shown, a head of all sequences is one piece of work; otherwise its blocks are. Either way a block is computed
    // alike.
    const std::size_t pieces = shape.heads * sequences * blocks;
    const std::size_t slots = shown ? shape.heads : pieces;
    parallel_slots(pieces, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        thread_local std::vector<Real> weights;
        weights.resize(std::max(weights.size(), most_numbers(shape)));
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t head = i / (sequences * blocks);
            const std::size_t sequence = i / blocks % sequences;
            const std::size_t row = i % blocks * block;
            const Real* const from = qkv + sequence * tokens * stride;
            const Range r = range_of(shape, row, std::min(block, tokens - row));
            scores_of(shape, from, head, r, weights.data());
            const TapView<Real> view{.site = Site::pattern,
                                     .layer = layer,
                                     .sequence = sequence,
                                     .head = head,
                                     .first_row = r.row,
                                     .rows = r.rows,
                                     .first_column = r.column,
                                     .columns = r.columns,
                                     .data = weights.data(),
                                     .stride = r.stride};
            if (wants_scores) {
                show_scores(shape, r, weights.data(), view, taps);
            }
            weigh(shape, r, weights.data());
            if (shown) {
                taps.send(view);
            }
            if (shape.dropout.any()) {
                drop(shape, sequence, head, r, weights.data(), weights.data());
            }
            product<Real>(Transpose::no, Transpose::no, r.rows, shape.head_dim, r.columns, Real{1}, weights.data(),
                          r.stride, value_of(shape, from, head) + r.column * stride, stride, {},
                          out + (sequence * tokens + r.row) * out_stride + head * shape.head_dim, out_stride);
        }
    });
}

template <class Real>
void attend_last(const HeadsShape& shape, const Real* query, const Real* keys, const Real* values, Real* out) {
    constexpr std::size_t work_per_slot = std::size_t{1} << 15;  // below this, handing over costs more than it gains
    const std::size_t stride = shape.kv_heads * shape.head_dim;
    const std::size_t width = shape.head_dim;
    const Range r = range_of(shape, shape.batch.tokens - 1, 1);
    const bool small = shape.heads * r.columns * width <= work_per_slot;
    parallel_slots(shape.heads, small ? 1 : shape.heads, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        thread_local std::vector<Real> weights;
        weights.resize(std::max(weights.size(), r.stride));
        for (std::size_t head = begin; head < end; ++head) {
            const std::size_t at = r.column * stride + head / (shape.heads / shape.kv_heads) * width;
            gemv(Transpose::no, r.columns, width, static_cast<Real>(score_units(shape)), keys + at, stride,
                 query + head * width, Real{0}, weights.data());
            weigh(shape, r, weights.data());
            gemv(Transpose::yes, r.columns, width, Real{1}, values + at, stride, weights.data(), Real{0},
                 out + head * width);
        }
    });
}

template <class Real>
void attend_reverse(const HeadsShape& shape, const Real* qkv, const Real* grad_out, Real* grad_qkv) {
    const std::size_t tokens = shape.batch.tokens;
    const std::size_t sequences = shape.batch.sequences;
    const std::size_t block = block_rows(tokens);
    const std::size_t stride = shape.stride();
    const std::size_t width = shape.head_dim;
    const std::size_t out_stride = shape.heads * width;
    const std::size_t group = shape.heads / shape.kv_heads;
    // One slot owns a key-value head of a sequence with all its queries: sums have one order.
    const std::size_t slots = sequences * shape.kv_heads;
    parallel_slots(slots, slots, [&](std::size_t slot, std::size_t, std::size_t) {
        thread_local std::vector<Real> room;
        const std::size_t numbers = most_numbers(shape);
        room.resize(std::max(room.size(), (shape.dropout.any() ? 3 : 2) * numbers));
        Real* const weights = room.data();
        Real* const grad = room.data() + numbers;
        Real* const used = shape.dropout.any() ? room.data() + 2 * numbers : weights;  // what multiplies the values
        const std::size_t sequence = slot / shape.kv_heads;
        const std::size_t first_row = sequence * tokens;
        const std::size_t first_head = slot % shape.kv_heads * group;
        const Real* const from = qkv + first_row * stride;
        const Real* const key = key_of(shape, from, first_head);
        const Real* const value = value_of(shape, from, first_head);
        Real* const grad_key = grad_qkv + (key - qkv);
        Real* const grad_value = grad_qkv + (value - qkv);
        for (std::size_t i = 0; i < tokens; ++i) {
            std::fill_n(grad_key + i * stride, width, Real{0});
            std::fill_n(grad_value + i * stride, width, Real{0});
        }
        for (std::size_t head = first_head; head < first_head + group; ++head) {
            const Real* const query = query_of(shape, from, head);
            Real* const grad_query = grad_qkv + (query - qkv);
            for (std::size_t row = 0; row < tokens; row += block) {
                const Range r = range_of(shape, row, std::min(block, tokens - row));
                const Real* const g = grad_out + (first_row + row) * out_stride + head * width;
                scores_of(shape, from, head, r, weights);
                weigh(shape, r, weights);
                if (shape.dropout.any()) {
                    drop(shape, sequence, head, r, weights, used);
                }
                product<Real>(Transpose::yes, Transpose::no, r.columns, width, r.rows, Real{1}, used, r.stride, g,
                              out_stride, {nullptr, true}, grad_value + r.column * stride, stride);
                product<Real>(Transpose::no, Transpose::yes, r.rows, r.columns, width, Real{1}, g, out_stride,
                              value + r.column * stride, stride, {}, grad, r.stride);
                if (shape.dropout.any()) {
                    drop(shape, sequence, head, r, grad, grad);
                }
                const Real scale = weigh_reverse(shape, r, weights, grad);
                product<Real>(Transpose::no, Transpose::no, r.rows, width, r.columns, scale, grad, r.stride,
                              key + r.column * stride, stride, {}, grad_query + row * stride, stride);
                product<Real>(Transpose::yes, Transpose::no, r.columns, width, r.rows, scale, grad, r.stride,
                              query + row * stride, stride, {nullptr, true}, grad_key + r.column * stride, stride);
            }
        }
    });
}

template void attend(const HeadsShape&, const float*, float*, std::size_t, const Taps<float>&);
template void attend(const HeadsShape&, const double*, double*, std::size_t, const Taps<double>&);
template void attend_last(const HeadsShape&, const float*, const float*, const float*, float*);
template void attend_last(const HeadsShape&, const double*, const double*, const double*, double*);
template void attend_reverse(const HeadsShape&, const float*, const float*, float*);
template void attend_reverse(const HeadsShape&, const double*, const double*, double*);

}  // namespace flyball::model
