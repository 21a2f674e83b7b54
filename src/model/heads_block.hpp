// What forward and reverse of the heads share: blocks of rows of scores, what they see, and how scores become weights.
// For heads.cpp and heads_reverse.cpp alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "attention/row_weights.hpp"
#include "core/aligned.hpp"
#include "core/small_gemm.hpp"
#include "model/heads.hpp"
#include "model/layer_kernels.hpp"
#include "model/linear.hpp"
#include "model/soft_cap.hpp"

namespace flyball::model {

inline constexpr double log2_e = 1.4426950408889634074;

// A block of scores should stay in the second-level cache. Short sequences have smaller blocks: a block computes scores
// up to its last row, half of its own square for nothing.
inline std::size_t block_rows(std::size_t tokens) {
    constexpr std::size_t numbers = std::size_t{1} << 17;
    constexpr std::size_t short_sequence = 512;
    const std::size_t most = tokens <= short_sequence ? 32 : 128;
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

inline Range range_of(const HeadsShape& shape, std::size_t row, std::size_t rows) {
    Range range{row, rows, 0, shape.batch.tokens, 0};
    if (shape.causal) {
        range.column = shape.window > 0 && row + 1 > shape.window ? row + 1 - shape.window : 0;
        range.columns = row + rows - range.column;
    }
    range.stride = padded(range.columns) + row_padding;
    return range;
}

inline std::size_t most_numbers(const HeadsShape& shape) {
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
inline Seen seen_by(const HeadsShape& shape, const Range& r, std::size_t i) {
    const std::size_t token = r.row + i;
    return {shape.window > 0 && token + 1 > shape.window ? token + 1 - shape.window - r.column : 0,
            shape.causal ? token + 1 - r.column : r.columns};
}

// Scores on their way to weights are in units of their own: the kernel of softmax takes powers of 2, and row_weights
// multiplies with the scale itself. With s = scale q k':
//
//     product with queries and keys        score_units(shape) q k'            s log2(e), or q k'; with a cap c: s/c
//     cap_scores, with a cap alone         capped_units(shape) tanh(s/c)      in the units of the line above
//     what the definition calls the score  shown_units(shape) times that
inline bool is_softmax(const HeadsShape& shape) {
    return shape.kind == attention::Kind::softmax;
}
inline double shown_units(const HeadsShape& shape) {
    return is_softmax(shape) ? 1 / log2_e : shape.scale;
}
inline double score_units(const HeadsShape& shape) {
    if (shape.cap > 0) {
        return shape.scale / shape.cap;
    }
    return is_softmax(shape) ? shape.scale * log2_e : 1.0;
}
inline double capped_units(const HeadsShape& shape) {
    return shape.cap / shown_units(shape);
}

// The keys or values of one head, which the rows of all its blocks are multiplied with:  C = alpha A K'.  Packed once
// where the CPU has kernels of ours for it.
template <class Real>
class TransposedRows {
  public:
    // rows: [count, width], `stride` apart; they must stay as they are.
    void take(std::size_t count, std::size_t width, const Real* rows, std::size_t stride) {
        rows_ = rows;
        width_ = width;
        stride_ = stride;
        count_ = count;
        if constexpr (std::is_same_v<Real, float>) {
            kernels_ = small_gemm(active_isa());
            if (kernels_ != nullptr) {
                panels_.resize(std::max(panels_.size(), kernels_->packed_size(count, width)));
                kernels_->pack(Transpose::yes, count, width, rows, stride, panels_.data());
            }
        }
    }
    // A: [m, width], C: [m, n]; rows first .. first + n of K.
    void multiply(std::size_t m, std::size_t first, std::size_t n, Real alpha, const Real* a, std::size_t lda, Real* c,
                  std::size_t ldc) const {
        if constexpr (std::is_same_v<Real, float>) {
            if (kernels_ != nullptr && first % kernels_->panel_columns == 0) {
                SmallProduct x;
                x.m = m;
                x.n = n;
                x.k = width_;
                x.alpha = alpha;
                x.a = a;
                x.lda = lda;
                x.c = c;
                x.ldc = ldc;
                kernels_->multiply_packed(x, {panels_.data(), count_, first});
                return;
            }
        }
        product<Real>(Transpose::no, Transpose::yes, m, n, width_, alpha, a, lda, rows_ + first * stride_, stride_, {},
                      c, ldc);
    }

  private:
    const SmallGemm* kernels_ = nullptr;
    LineVector<Real> panels_;
    const Real* rows_ = nullptr;
    std::size_t count_ = 0;
    std::size_t width_ = 0;
    std::size_t stride_ = 0;
};

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

// Softmax's numbers of the rows of a sequence and head from `row` on, or null.
template <class Scale>
Scale* scales_of(const HeadsShape& shape, Scale* scales, std::size_t sequence, std::size_t head, std::size_t row) {
    return scales == nullptr ? nullptr : scales + (sequence * shape.heads + head) * shape.batch.tokens + row;
}

// What the cap makes of the scores that are seen, in place. `slopes` (may be null), shaped like them: its derivative.
template <class Real>
void cap_scores(const HeadsShape& shape, const Range& r, Real* scores, Real* slopes) {
    for (std::size_t i = 0; i < r.rows; ++i) {
        const auto [begin, end] = seen_by(shape, r, i);
        Real* const row = scores + i * r.stride + begin;
        const auto units = static_cast<Real>(capped_units(shape));
        soft_cap(end - begin, units, row);
        if (slopes != nullptr) {
            soft_cap_slope(end - begin, units, row, slopes + i * r.stride + begin);
        }
    }
}

// Scores become weights in place; what the mask hides becomes 0. `keep` and `known` (may be null): where softmax's
// numbers of these rows are written, or stand.
template <class Real>
void weigh(const HeadsShape& shape, const Range& r, Real* weights, SoftmaxScale<Real>* keep,
           const SoftmaxScale<Real>* known = nullptr) {
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    for (std::size_t i = 0; i < r.rows; ++i) {
        Real* const row = weights + i * r.stride;
        const auto [begin, end] = seen_by(shape, r, i);
        std::fill(row, row + begin, Real{0});
        if (!is_softmax(shape)) {
            other_weights(shape, end - begin, row + begin);
        } else if (known != nullptr) {
            kernels.softmax_again(end - begin, known[i], row + begin);
        } else {
            const SoftmaxScale<Real> scale = kernels.softmax(end - begin, row + begin);
            if (keep != nullptr) {
                keep[i] = scale;
            }
        }
        if (end < r.columns) {
            std::fill(row + end, row + r.columns, Real{0});
        }
    }
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

}  // namespace flyball::model
