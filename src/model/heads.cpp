// Forward attention of the heads of a model, by blocks of rows; heads_block.hpp has what reverse mode shares.
#include "model/heads.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/blas.hpp"
#include "core/parallel.hpp"
#include "model/heads_block.hpp"

namespace flyball::model {

namespace {

// The scores as the definition has them, minus infinity where the mask hides them.
template <class Real>
void show_scores(const HeadsShape& shape, const Range& r, const Real* scores, TapView<Real> view,
                 const Taps<Real>& taps) {
    thread_local std::vector<Real> shown;
    shown.assign(r.rows * r.stride, -std::numeric_limits<Real>::infinity());
    const auto units = static_cast<Real>(shown_units(shape));
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

// Per block of rows: scores, cap, weights, and the product with the values, all while the block is in the second-level
// cache. Under a causal mask a block has columns up to its last row and, with a window, from the first that its first
// row sees; what a single row does not see inside that is set to 0.
template <class Real>
void attend(const HeadsShape& shape, const Real* qkv, Real* out, std::size_t layer, const Taps<Real>& taps,
            SoftmaxScale<Real>* scales) {
    const std::size_t tokens = shape.batch.tokens;
    const std::size_t sequences = shape.batch.sequences;
    const std::size_t block = block_rows(tokens);
    const std::size_t blocks = (tokens + block - 1) / block;
    const std::size_t stride = shape.stride();
    const std::size_t out_stride = shape.heads * shape.head_dim;
    const bool wants_scores = taps.wants(Site::scores, layer);
    const bool shown = wants_scores || taps.wants(Site::pattern, layer);
    // Shown, a head of all sequences is one piece of work; otherwise a few of its blocks are, which share its keys.
    // Either way a block is computed alike.
    constexpr std::size_t together = 4;
    const std::size_t pieces = shape.heads * sequences * blocks;
    const std::size_t slots = shown ? shape.heads : std::max(shape.heads * sequences, pieces / together);
    parallel_slots(pieces, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        thread_local LineVector<Real> weights;
        thread_local TransposedRows<Real> keys;
        weights.resize(std::max(weights.size(), most_numbers(shape)));
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t head = i / (sequences * blocks);
            const std::size_t sequence = i / blocks % sequences;
            const std::size_t row = i % blocks * block;
            const Real* const from = qkv + sequence * tokens * stride;
            const Range r = range_of(shape, row, std::min(block, tokens - row));
            if (i == begin || i % blocks == 0) {
                keys.take(tokens, shape.head_dim, key_of(shape, from, head), stride);
            }
            keys.multiply(r.rows, r.column, r.columns, static_cast<Real>(score_units(shape)),
                          query_of(shape, from, head) + r.row * stride, stride, weights.data(), r.stride);
            if (shape.cap > 0) {
                cap_scores<Real>(shape, r, weights.data(), nullptr);
            }
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
            weigh(shape, r, weights.data(), scales_of(shape, scales, sequence, head, r.row));
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

// One row a head: two products of a matrix with a vector, read at the speed of memory. Kinds, caps and windows as
// above.
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
            if (shape.cap > 0) {
                cap_scores<Real>(shape, r, weights.data(), nullptr);
            }
            weigh<Real>(shape, r, weights.data(), nullptr);
            gemv(Transpose::yes, r.columns, width, Real{1}, values + at, stride, weights.data(), Real{0},
                 out + head * width);
        }
    });
}

template void attend(const HeadsShape&, const float*, float*, std::size_t, const Taps<float>&, SoftmaxScale<float>*);
template void attend(const HeadsShape&, const double*, double*, std::size_t, const Taps<double>&,
                     SoftmaxScale<double>*);
template void attend_last(const HeadsShape&, const float*, const float*, const float*, float*);
template void attend_last(const HeadsShape&, const double*, const double*, const double*, double*);

}  // namespace flyball::model
