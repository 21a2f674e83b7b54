#include "model/heads.hpp"

#include <algorithm>
#include <vector>

#include "core/blas.hpp"
#include "model/layer_kernels.hpp"
#include "model/linear.hpp"

namespace flyball::model {

namespace {

constexpr double log2_e = 1.4426950408889634074;

// A block of scores should stay in the second-level cache.
std::size_t block_rows(std::size_t tokens) {
    constexpr std::size_t numbers = std::size_t{1} << 17;
    return std::clamp<std::size_t>(numbers / std::max<std::size_t>(tokens, 1) / 16 * 16, 16, 128);
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

template <class Real>
void weigh(const HeadsShape& shape, const Real* qkv, std::size_t head, const Range& r, Real* weights) {
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const std::size_t stride = shape.stride();
    product<Real>(Transpose::no, Transpose::yes, r.rows, r.columns, shape.head_dim,
                  static_cast<Real>(shape.scale * log2_e), query_of(shape, qkv, head) + r.row * stride, stride,
                  key_of(shape, qkv, head) + r.column * stride, stride, nullptr, weights, r.stride);
    for (std::size_t i = 0; i < r.rows; ++i) {
        Real* const row = weights + i * r.stride;
        const std::size_t token = r.row + i;
        const std::size_t begin =
            shape.window > 0 && token + 1 > shape.window ? token + 1 - shape.window - r.column : 0;
        const std::size_t end = shape.causal ? token + 1 - r.column : r.columns;
        std::fill(row, row + begin, Real{0});
        kernels.softmax(end - begin, row + begin);
        if (end < r.columns) {
            std::fill(row + end, row + r.columns, Real{0});
        }
    }
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
    const bool shown = taps.wants(Site::pattern, layer);
    // Shown, a head of all sequences is one piece of work; otherwise its blocks are. Either way a block is computed
    // alike.
    const std::size_t pieces = shape.heads * sequences * blocks;
    const std::size_t slots = shown ? shape.heads : pieces;
    parallel_slots(pieces, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        thread_local std::vector<Real> weights;
        weights.resize(std::max(weights.size(), most_numbers(shape)));
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t head = i / (sequences * blocks);
            const std::size_t sequence = i / blocks % sequences;
            const std::size_t row = i % blocks * block;
            const Real* const from = qkv + sequence * tokens * stride;
            const Range r = range_of(shape, row, std::min(block, tokens - row));
            weigh(shape, from, head, r, weights.data());
            if (shown) {
                taps.send({.site = Site::pattern,
                           .layer = layer,
                           .sequence = sequence,
                           .head = head,
                           .first_row = r.row,
                           .rows = r.rows,
                           .first_column = r.column,
                           .columns = r.columns,
                           .data = weights.data(),
                           .stride = r.stride});
            }
            product<Real>(Transpose::no, Transpose::no, r.rows, shape.head_dim, r.columns, Real{1}, weights.data(),
                          r.stride, value_of(shape, from, head) + r.column * stride, stride, nullptr,
                          out + (sequence * tokens + r.row) * out_stride + head * shape.head_dim, out_stride);
        }
    });
}

template <class Real>
void attend_reverse(const HeadsShape& shape, const Real* qkv, const Real* grad_out, Real* grad_qkv) {
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
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
        const BlasThreads one(1);
        thread_local std::vector<Real> room;
        const std::size_t numbers = most_numbers(shape);
        room.resize(std::max(room.size(), 2 * numbers));
        Real* const weights = room.data();
        Real* const grad = room.data() + numbers;
        const std::size_t first_row = slot / shape.kv_heads * tokens;
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
                weigh(shape, from, head, r, weights);
                gemm(Transpose::yes, Transpose::no, r.columns, width, r.rows, Real{1}, weights, r.stride, g, out_stride,
                     Real{1}, grad_value + r.column * stride, stride);
                gemm(Transpose::no, Transpose::yes, r.rows, r.columns, width, Real{1}, g, out_stride,
                     value + r.column * stride, stride, Real{0}, grad, r.stride);
                for (std::size_t i = 0; i < r.rows; ++i) {
                    kernels.softmax_reverse(r.columns, weights + i * r.stride, grad + i * r.stride);
                }
                const auto scale = static_cast<Real>(shape.scale);
                gemm(Transpose::no, Transpose::no, r.rows, width, r.columns, scale, grad, r.stride,
                     key + r.column * stride, stride, Real{0}, grad_query + row * stride, stride);
                gemm(Transpose::yes, Transpose::no, r.columns, width, r.rows, scale, grad, r.stride,
                     query + row * stride, stride, Real{1}, grad_key + r.column * stride, stride);
            }
        }
    });
}

template void attend(const HeadsShape&, const float*, float*, std::size_t, const Taps<float>&);
template void attend(const HeadsShape&, const double*, double*, std::size_t, const Taps<double>&);
template void attend_reverse(const HeadsShape&, const float*, const float*, float*);
template void attend_reverse(const HeadsShape&, const double*, const double*, double*);

}  // namespace flyball::model
