#include "model/attention_norm.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "scheme/row_kernels.hpp"
#include "scheme/row_machine.hpp"

namespace flyball::model {

namespace {

using scheme::AttentionNorm;

// A stretch of a row of qkv that is normed with one call: `count` vectors of `width` numbers that share their gains.
struct Piece {
    std::size_t offset;
    std::size_t count;
    std::size_t width;
    int gain;
    std::size_t gain_offset;
};

// All heads with gains in common are one piece of `heads` vectors; with gains per channel each head is a piece of its
// own; a norm over the projection has one long vector.
std::vector<Piece> pieces_of(const Architecture& a, const BlockLayout& block, NormPlacement placement) {
    const AttentionNorm& norm = a.attention_norm;
    std::vector<Piece> pieces;
    if (!norm.any() || norm.after_positions != (placement == NormPlacement::after_positions)) {
        return pieces;
    }
    const std::array<bool, 3> on = {norm.query, norm.key, norm.value};
    const std::array<std::size_t, 3> heads = {a.heads, a.kv_heads, a.kv_heads};
    std::size_t offset = 0;
    for (std::size_t part = 0; part < 3; offset += heads[part] * a.head_dim, ++part) {
        const int gain = block.attention_gains[part];
        if (!on[part]) {
            continue;
        }
        if (norm.over == AttentionNorm::Over::projection) {
            pieces.push_back({offset, 1, heads[part] * a.head_dim, gain, 0});
        } else if (norm.gains != AttentionNorm::Gains::channel) {
            pieces.push_back({offset, heads[part], a.head_dim, gain, 0});
        } else {
            for (std::size_t h = 0; h < heads[part]; ++h) {
                pieces.push_back({offset + h * a.head_dim, 1, a.head_dim, gain, h * a.head_dim});
            }
        }
    }
    return pieces;
}

template <class Real>
scheme::RowMap<Real> map_of(const Model<Real>& model, const Piece& piece) {
    const Architecture& a = model.architecture();
    scheme::RowMap<Real> map;
    map.function = scheme::find_normaliser(a.attention_norm.norm).function;
    map.eps = map.function == scheme::RowFunction::sphere ? Real{0} : static_cast<Real>(a.eps);
    map.gain = piece.gain == absent ? nullptr : model.at(piece.gain) + piece.gain_offset;
    return map;
}

}  // namespace

template <class Real>
void norm_attention(const Model<Real>& model, std::size_t layer, NormPlacement placement, std::size_t rows, Real* qkv,
                    std::vector<Real>& before) {
    const Architecture& a = model.architecture();
    const std::vector<Piece> pieces = pieces_of(a, model.layout().blocks[layer], placement);
    if (pieces.empty()) {
        return;
    }
    const std::size_t width = a.qkv_width();
    before.assign(qkv, qkv + rows * width);
    const scheme::RowKernels<Real>& kernels = scheme::row_kernels<Real>();
    parallel_slots(rows, scheme::row_slots(rows, width), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (const Piece& piece : pieces) {
            const scheme::RowMap<Real> map = map_of(model, piece);
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t at = i * width + piece.offset;
                kernels.apply(map, piece.count, piece.width, before.data() + at, qkv + at);
            }
        }
    });
}

// apply_reverse adds to grad_in, so the gradient is moved out of the way and its place cleared first.
template <class Real>
void norm_attention_reverse(const Model<Real>& model, std::size_t layer, NormPlacement placement, std::size_t rows,
                            const std::vector<Real>& before, Real* grad, Parameters<Real>& gradients) {
    const Architecture& a = model.architecture();
    const std::vector<Piece> pieces = pieces_of(a, model.layout().blocks[layer], placement);
    const std::size_t width = a.qkv_width();
    const std::size_t slots = scheme::row_slots(rows, width);
    const scheme::RowKernels<Real>& kernels = scheme::row_kernels<Real>();
    for (const Piece& piece : pieces) {
        const scheme::RowMap<Real> map = map_of(model, piece);
        const std::size_t numbers = piece.count * piece.width;
        std::vector<double> sums(piece.gain == absent ? 0 : slots * piece.width);  // by slot, so bits are the same
        parallel_slots(rows, slots, [&](std::size_t slot, std::size_t begin, std::size_t end) {
            std::vector<Real> above(numbers);
            scheme::RowMapGradient gradient;
            gradient.gain = sums.empty() ? nullptr : sums.data() + slot * piece.width;
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t at = i * width + piece.offset;
                std::copy_n(grad + at, numbers, above.data());
                std::fill_n(grad + at, numbers, Real{0});
                kernels.apply_reverse(map, piece.count, piece.width, before.data() + at, above.data(), grad + at,
                                      gradient);
            }
        });
        for (std::size_t k = 0; k < sums.size(); ++k) {
            gradients.at(piece.gain)[piece.gain_offset + k % piece.width] += static_cast<Real>(sums[k]);
        }
    }
}

template void norm_attention(const Model<float>&, std::size_t, NormPlacement, std::size_t, float*, std::vector<float>&);
template void norm_attention(const Model<double>&, std::size_t, NormPlacement, std::size_t, double*,
                             std::vector<double>&);
template void norm_attention_reverse(const Model<float>&, std::size_t, NormPlacement, std::size_t,
                                     const std::vector<float>&, float*, Parameters<float>&);
template void norm_attention_reverse(const Model<double>&, std::size_t, NormPlacement, std::size_t,
                                     const std::vector<double>&, double*, Parameters<double>&);

}  // namespace flyball::model
