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

// The part of the score matrix that a block of rows may be non-zero in.
struct Range {
    std::size_t row;
    std::size_t rows;
    std::size_t column;
    std::size_t columns;
    std::size_t stride;
};

Range range_of(const HeadsShape& shape, std::size_t row, std::size_t rows) {
    Range range{row, rows, 0, shape.tokens, 0};
    if (shape.causal) {
        range.column = shape.window > 0 && row + 1 > shape.window ? row + 1 - shape.window : 0;
        range.columns = row + rows - range.column;
    }
    range.stride = padded(range.columns) + row_padding;
    return range;
}

std::size_t most_numbers(const HeadsShape& shape) {
    return block_rows(shape.tokens) * (padded(shape.tokens) + row_padding);
}

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
void attend(const HeadsShape& shape, const Real* qkv, Real* out, const WeightSink<Real>* sink) {
    const std::size_t block = block_rows(shape.tokens);
    const std::size_t blocks = (shape.tokens + block - 1) / block;
    const std::size_t stride = shape.stride();
    const std::size_t out_stride = shape.heads * shape.head_dim;
    // With a sink a head is one piece of work; without one its blocks are. Either way a block is computed alike.
    const std::size_t slots = sink != nullptr ? shape.heads : shape.heads * blocks;
    parallel_slots(shape.heads * blocks, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        thread_local std::vector<Real> weights;
        weights.resize(std::max(weights.size(), most_numbers(shape)));
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t head = i / blocks;
            const std::size_t row = i % blocks * block;
            const Range r = range_of(shape, row, std::min(block, shape.tokens - row));
            weigh(shape, qkv, head, r, weights.data());
            if (sink != nullptr) {
                (*sink)({head, r.row, r.rows, r.column, r.columns, weights.data(), r.stride});
            }
            product<Real>(Transpose::no, Transpose::no, r.rows, shape.head_dim, r.columns, Real{1}, weights.data(),
                          r.stride, value_of(shape, qkv, head) + r.column * stride, stride, nullptr,
                          out + r.row * out_stride + head * shape.head_dim, out_stride);
        }
    });
}

template <class Real>
void attend_reverse(const HeadsShape& shape, const Real* qkv, const Real* grad_out, Real* grad_qkv) {
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    const std::size_t block = block_rows(shape.tokens);
    const std::size_t stride = shape.stride();
    const std::size_t width = shape.head_dim;
    const std::size_t out_stride = shape.heads * width;
    const std::size_t group = shape.heads / shape.kv_heads;
    std::fill_n(grad_qkv, shape.tokens * stride, Real{0});
    // One slot owns a key-value head with all its queries: sums have one order.
    parallel_slots(shape.kv_heads, shape.kv_heads, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        thread_local std::vector<Real> room;
        const std::size_t numbers = most_numbers(shape);
        room.resize(std::max(room.size(), 2 * numbers));
        Real* const weights = room.data();
        Real* const grad = room.data() + numbers;
        for (std::size_t head = begin * group; head < end * group; ++head) {
            const Real* const query = query_of(shape, qkv, head);
            const Real* const key = key_of(shape, qkv, head);
            const Real* const value = value_of(shape, qkv, head);
            Real* const grad_query = grad_qkv + (query - qkv);
            Real* const grad_key = grad_qkv + (key - qkv);
            Real* const grad_value = grad_qkv + (value - qkv);
            for (std::size_t row = 0; row < shape.tokens; row += block) {
                const Range r = range_of(shape, row, std::min(block, shape.tokens - row));
                const Real* const g = grad_out + row * out_stride + head * width;
                weigh(shape, qkv, head, r, weights);
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

template void attend(const HeadsShape&, const float*, float*, const WeightSink<float>*);
template void attend(const HeadsShape&, const double*, double*, const WeightSink<double>*);
template void attend_reverse(const HeadsShape&, const float*, const float*, float*);
template void attend_reverse(const HeadsShape&, const double*, const double*, double*);

}  // namespace flyball::model
