// Reverse mode of the heads. With G the gradient of out, per head:
//
//     grad_V = P' G       grad_P = G V'       grad_S = softmax'(grad_P)
//     grad_Q = scale grad_S K                 grad_K = scale grad_S' Q
//
// grad_S is of the scores before their soft cap, where there is one: times 1 - tanh^2.
//
// Blocks of rows make P (again) and grad_S. A short sequence keeps both for all its rows, and grad_V and grad_K follow
// in blocks of keys: one long product each, from the first row that sees the keys on. A long one adds up what each
// block of rows gives.
#include "core/parallel.hpp"
#include "model/heads_block.hpp"

namespace flyball::model {

namespace {

template <class Real>
void other_weights_reverse(const HeadsShape& shape, std::size_t count, const Real* weights, Real* grad) {
    thread_local std::vector<double> wide;
    thread_local std::vector<double> wide_grad;
    wide.assign(weights, weights + count);
    wide_grad.assign(grad, grad + count);
    attention::row_weights_reverse(shape.kind, shape.scale, count, wide.data(), wide_grad.data());
    std::transform(wide_grad.begin(), wide_grad.end(), grad, [](double g) { return static_cast<Real>(g); });
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

// The blocks of one head, and where it writes.
template <class Real>
struct HeadReverse {
    const HeadsShape& shape;
    std::size_t sequence;
    std::size_t head;
    const Real* query;  // [tokens, head_dim], `stride` apart, as key and their gradients
    const Real* key;
    const Real* grad_out;  // [tokens, head_dim], heads * head_dim apart
    Real* grad_query;
    Real* grad_key;
    Real* grad_value;
    bool add;  // keys and values have gradients of another head already
};

// P and grad_S of a block of rows, and grad_Q. `used` is P, or what dropout left of it. `slopes`: room for the
// derivative of a soft cap, null without one.
template <class Real>
Real reverse_rows(const HeadReverse<Real>& h, const Range& r, const TransposedRows<Real>& keys,
                  const TransposedRows<Real>& values, const SoftmaxScale<Real>* scales, Real* weights, Real* used,
                  Real* grad, Real* slopes) {
    const HeadsShape& shape = h.shape;
    const std::size_t stride = shape.stride();
    const std::size_t width = shape.head_dim;
    const std::size_t out_stride = shape.heads * width;
    keys.multiply(r.rows, r.column, r.columns, static_cast<Real>(score_units(shape)), h.query + r.row * stride, stride,
                  weights, r.stride);
    if (slopes != nullptr) {
        cap_scores(shape, r, weights, slopes);
    }
    weigh<Real>(shape, r, weights, nullptr, scales_of(shape, scales, h.sequence, h.head, r.row));
    values.multiply(r.rows, r.column, r.columns, Real{1}, h.grad_out + r.row * out_stride, out_stride, grad, r.stride);
    if (shape.dropout.any()) {
        drop(shape, h.sequence, h.head, r, weights, used);
        drop(shape, h.sequence, h.head, r, grad, grad);
    }
    const Real scale = weigh_reverse(shape, r, weights, grad);
    for (std::size_t i = 0; slopes != nullptr && i < r.rows; ++i) {
        const auto [begin, end] = seen_by(shape, r, i);
        const std::size_t at = i * r.stride + begin;
        layer_kernels<Real>().multiply(end - begin, slopes + at, grad + at);
    }
    product<Real>(Transpose::no, Transpose::no, r.rows, width, r.columns, scale, grad, r.stride,
                  h.key + r.column * stride, stride, {}, h.grad_query + r.row * stride, stride);
    return scale;
}

// grad_V and grad_K of the keys [first, first + count) from the rows [from, from + rows).
template <class Real>
void reverse_columns(const HeadReverse<Real>& h, std::size_t first, std::size_t count, std::size_t from,
                     std::size_t rows, const Real* used, const Real* grad, std::size_t between, Real scale, bool add) {
    const std::size_t stride = h.shape.stride();
    const std::size_t width = h.shape.head_dim;
    const std::size_t out_stride = h.shape.heads * width;
    product<Real>(Transpose::yes, Transpose::no, count, width, rows, Real{1}, used, between,
                  h.grad_out + from * out_stride, out_stride, {nullptr, add}, h.grad_value + first * stride, stride);
    product<Real>(Transpose::yes, Transpose::no, count, width, rows, scale, grad, between, h.query + from * stride,
                  stride, {nullptr, add}, h.grad_key + first * stride, stride);
}

// Whether P and grad_S of a whole head stay in the second-level cache.
bool keeps_whole(const HeadsShape& shape) {
    constexpr std::size_t most_tokens = 256;
    return shape.window == 0 && shape.batch.tokens <= most_tokens;
}

}  // namespace

// Per key-value head: its queries' heads one after another, each block of rows computing P again from what attend()
// left of softmax, so that nothing of size tokens^2 crosses from forward to backward.
template <class Real>
void attend_reverse(const HeadsShape& shape, const Real* qkv, const Real* grad_out, Real* grad_qkv,
                    const SoftmaxScale<Real>* scales) {
    const std::size_t tokens = shape.batch.tokens;
    const std::size_t block = block_rows(tokens);
    const std::size_t stride = shape.stride();
    const std::size_t width = shape.head_dim;
    const std::size_t out_stride = shape.heads * width;
    const std::size_t group = shape.heads / shape.kv_heads;
    const bool whole = keeps_whole(shape);
    const std::size_t whole_stride = padded(tokens) + row_padding;
    const std::size_t numbers = whole ? tokens * whole_stride : most_numbers(shape);
    // One slot owns a key-value head of a sequence with all its queries: sums have one order.
    const std::size_t slots = shape.batch.sequences * shape.kv_heads;
    parallel_slots(slots, slots, [&](std::size_t slot, std::size_t, std::size_t) {
        thread_local LineVector<Real> room;
        thread_local TransposedRows<Real> keys;
        thread_local TransposedRows<Real> values;
        const std::size_t parts = shape.dropout.any() ? 3 : 2;
        room.resize(std::max(room.size(), parts * numbers + (shape.cap > 0 ? most_numbers(shape) : 0)));
        Real* const weights = room.data();
        Real* const grad = room.data() + numbers;
        Real* const used = shape.dropout.any() ? room.data() + 2 * numbers : weights;  // what multiplies the values
        Real* const slopes = shape.cap > 0 ? room.data() + parts * numbers : nullptr;  // of one block
        const std::size_t sequence = slot / shape.kv_heads;
        const std::size_t first_row = sequence * tokens;
        const std::size_t first_head = slot % shape.kv_heads * group;
        const Real* const from = qkv + first_row * stride;
        const Real* const key = key_of(shape, from, first_head);
        const Real* const value = value_of(shape, from, first_head);
        keys.take(tokens, width, key, stride);
        values.take(tokens, width, value, stride);
        Real* const grad_key = grad_qkv + (key - qkv);
        Real* const grad_value = grad_qkv + (value - qkv);
        for (std::size_t i = 0; !whole && i < tokens; ++i) {
            std::fill_n(grad_key + i * stride, width, Real{0});
            std::fill_n(grad_value + i * stride, width, Real{0});
        }
        for (std::size_t head = first_head; head < first_head + group; ++head) {
            const Real* const query = query_of(shape, from, head);
            const HeadReverse<Real> h{shape,
                                      sequence,
                                      head,
                                      query,
                                      key,
                                      grad_out + first_row * out_stride + head * width,
                                      grad_qkv + (query - qkv),
                                      grad_key,
                                      grad_value,
                                      head > first_head};
            Real scale = 1;
            for (std::size_t row = 0; row < tokens; row += block) {
                Range r = range_of(shape, row, std::min(block, tokens - row));
                r.stride = whole ? whole_stride : r.stride;
                const std::size_t at = whole ? row * whole_stride : 0;
                scale = reverse_rows(h, r, keys, values, scales, weights + at, used + at, grad + at, slopes);
                if (!whole) {
                    reverse_columns(h, r.column, r.columns, row, r.rows, used, grad, r.stride, scale, true);
                }
            }
            for (std::size_t column = 0; whole && column < tokens; column += block) {
                const std::size_t row = shape.causal ? column : 0;
                const std::size_t at = row * whole_stride + column;
                reverse_columns(h, column, std::min(block, tokens - column), row, tokens - row, used + at, grad + at,
                                whole_stride, scale, h.add);
            }
        }
    });
}

template void attend_reverse(const HeadsShape&, const float*, const float*, float*, const SoftmaxScale<float>*);
template void attend_reverse(const HeadsShape&, const double*, const double*, double*, const SoftmaxScale<double>*);

}  // namespace flyball::model
