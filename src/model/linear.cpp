// Products by tiles that threads share, and their reverse. Which tiles there are depends on sizes alone; which library
// computes one is decided by its size and the CPU.
#include "model/linear.hpp"

#include <algorithm>
#include <type_traits>

#include "core/small_gemm.hpp"
#include "model/layer_kernels.hpp"

namespace flyball::model {

namespace {

constexpr std::size_t tile_rows = 256;
constexpr std::size_t tile_columns = 768;
constexpr std::size_t work_per_tile = std::size_t{1} << 18;  // below this, handing over costs more than the product

// Pieces of nearly equal size; all but the last are multiples of 32: whole panels of a packed matrix, and a width that
// the BLAS kernels like.
struct Cut {
    Cut(std::size_t size, std::size_t target) : total(size) {
        count = std::max<std::size_t>(1, (size + target - 1) / target);
        piece = ((size + count - 1) / count + 31) / 32 * 32;
        count = std::max<std::size_t>(1, (size + piece - 1) / piece);
    }
    std::size_t total;
    std::size_t count;
    std::size_t piece;
    std::size_t begin(std::size_t i) const { return std::min(total, i * piece); }
};

}  // namespace

template <class Real>
void product(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
             const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Start<Real> start, Real* c,
             std::size_t ldc) {
    if constexpr (std::is_same_v<Real, float>) {
        // Larger ones repay the library's packing; docs/decisions/0026-small-products.md has the measurement.
        constexpr std::size_t most_work = std::size_t{1} << 24;
        static const SmallGemm* const kernels = small_gemm(active_isa());
        const bool sum_of_rows = transpose_a == Transpose::yes;  // gradients of weights: ours at any size
        if (kernels != nullptr && (sum_of_rows || m * n <= most_work / std::max<std::size_t>(k, 1))) {
            kernels->multiply({transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, start.row, start.add, c, ldc});
            return;
        }
    }
    for (std::size_t i = 0; !start.add && i < m; ++i) {
        if (start.row == nullptr) {
            std::fill_n(c + i * ldc, n, Real{0});
        } else {
            std::copy_n(start.row, n, c + i * ldc);
        }
    }
    const BlasThreads one(1);
    gemm(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, Real{1}, c, ldc);
}

namespace {

// body(tile) for each tile of C (m x n, inner length k).
template <class Body>
void for_tiles(std::size_t m, std::size_t n, std::size_t k, std::size_t rows_of_a_tile, AfterTile after,
               const Body& body) {
    const bool small = m * n <= work_per_tile / std::max<std::size_t>(k, 1);
    const Cut row_cut(m, small ? m : rows_of_a_tile);
    const Cut column_cut(n, small ? n : tile_columns);
    const std::size_t tiles = row_cut.count * column_cut.count;
    parallel_slots(tiles, tiles, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) {
            // Columns outside: neighbours in time share a tile of B, which is the larger operand.
            const std::size_t i = t % row_cut.count;
            const std::size_t j = t / row_cut.count;
            Tile tile;
            tile.row = row_cut.begin(i);
            tile.rows = row_cut.begin(i + 1) - tile.row;
            tile.column = column_cut.begin(j);
            tile.columns = column_cut.begin(j + 1) - tile.column;
            body(tile);
            after(tile);
        }
    });
}

template <class Real>
void run_tiles(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
               const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Start<Real> start, Real* c,
               std::size_t ldc, AfterTile after, std::size_t rows_of_a_tile) {
    for_tiles(m, n, k, rows_of_a_tile, after, [&](const Tile& tile) {
        const Real* const from_a = a + (transpose_a == Transpose::no ? tile.row * lda : tile.row);
        const Real* const from_b = b + (transpose_b == Transpose::no ? tile.column : tile.column * ldb);
        Real* const to = c + tile.row * ldc + tile.column;
        const Start<Real> here{start.row == nullptr ? nullptr : start.row + tile.column, start.add};
        product(transpose_a, transpose_b, tile.rows, tile.columns, k, alpha, from_a, lda, from_b, ldb, here, to, ldc);
    });
}

// C = A B + start for rows of A and a packed B.
void run_packed_tiles(const SmallGemm& kernels, std::size_t m, std::size_t n, std::size_t k, const float* a,
                      std::size_t lda, const PackedRight& right, Start<float> start, float* c, std::size_t ldc,
                      AfterTile after, const float* soon = nullptr, const float* also_soon = nullptr) {
    for_tiles(m, n, k, tile_rows, after, [&](const Tile& tile) {
        SmallProduct x;
        x.m = tile.rows;
        x.n = tile.columns;
        x.k = k;
        x.a = a + tile.row * lda;
        x.lda = lda;
        x.start = start.row == nullptr ? nullptr : start.row + tile.column;
        x.add = start.add;
        x.c = c + tile.row * ldc + tile.column;
        x.ldc = ldc;
        const std::size_t at = tile.row * ldc + tile.column;
        x.soon[0] = soon == nullptr ? nullptr : soon + at;
        x.soon[1] = also_soon == nullptr ? nullptr : also_soon + at;
        kernels.multiply_packed(x, {right.panels, right.columns, tile.column});
    });
}

}  // namespace

template <class Real>
void tiled_gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
                const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Start<Real> start, Real* c,
                std::size_t ldc, AfterTile after) {
    run_tiles(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, start, c, ldc, after, tile_rows);
}

// Pieces of so many numbers of W: what a thread reads while another is woken. Rows of a matrix [in, out] are read in
// pieces of at least 256 numbers, which the prefetcher follows.
template <class Real>
void row_product(bool in_out, std::size_t out, std::size_t in, const Real* w, const Real* x, const Real* start, Real* y,
                 AfterTile after) {
    constexpr std::size_t numbers_per_piece = std::size_t{1} << 16;
    constexpr std::size_t narrowest = 256;
    const std::size_t target = std::max(numbers_per_piece / std::max<std::size_t>(in, 1), in_out ? narrowest : 16);
    const Cut cut(out, target);
    parallel_slots(cut.count, cut.count, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        for (std::size_t i = begin; i < end; ++i) {
            const Tile tile{0, 1, cut.begin(i), cut.begin(i + 1) - cut.begin(i)};
            Real* const to = y + tile.column;
            if (start == nullptr) {
                std::fill_n(to, tile.columns, Real{0});
            } else {
                std::copy_n(start + tile.column, tile.columns, to);
            }
            if (in_out) {
                gemv(Transpose::yes, in, tile.columns, Real{1}, w + tile.column, out, x, Real{1}, to);
            } else {
                gemv(Transpose::no, tile.columns, in, Real{1}, w + tile.column * in, in, x, Real{1}, to);
            }
            after(tile);
        }
    });
}

template <class Real>
void linear(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, Real* y,
            std::size_t y_stride, AfterTile after, const PackedWeights<Real>* packed) {
    if (rows == 1) {
        row_product(part.in_out, part.out, part.in, model.at(part.weight), x, model.at(part.bias), y + part.offset,
                    after);
        return;
    }
    const Start<Real> start{model.at(part.bias)};
    if constexpr (std::is_same_v<Real, float>) {
        if (packed != nullptr && packed->kernels() != nullptr) {
            run_packed_tiles(*packed->kernels(), rows, part.out, part.in, x, part.in, packed->forward(part), start,
                             y + part.offset, y_stride, after);
            return;
        }
    }
    tiled_gemm(Transpose::no, part.in_out ? Transpose::no : Transpose::yes, rows, part.out, part.in, Real{1}, x,
               part.in, model.at(part.weight), part.in_out ? part.out : part.in, start, y + part.offset, y_stride,
               after);
}

template <class Real>
void linear(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, Real* y,
            std::size_t y_stride, const PackedWeights<Real>* packed) {
    linear(
        model, part, rows, x, y, y_stride, [](const Tile&) {}, packed);
}

namespace {

// grad_W = A'B over all rows, or grad_W += A'B when `add`. A matrix of few tiles is cut further, down to strips of 64
// rows, so that a small model keeps several threads busy; narrower strips spend their time on packing B.
template <class Real>
void add_outer_products(std::size_t m, std::size_t n, std::size_t rows, const Real* a, std::size_t lda, const Real* b,
                        std::size_t ldb, Real* c, bool add) {
    constexpr std::size_t strips = 4;
    constexpr std::size_t narrowest = 64;
    // A group of a batch (batch_step.hpp) has few rows and one thread.
    constexpr std::size_t few_rows = 512;
    const std::size_t target = rows <= few_rows ? m : std::clamp((m + strips - 1) / strips, narrowest, tile_rows);
    run_tiles(
        Transpose::yes, Transpose::no, m, n, rows, Real{1}, a, lda, b, ldb, Start<Real>{nullptr, add}, c, n,
        [](const Tile&) {}, target);
}

// to_k += sum of column k of the rows; columns are shared among threads, and each is summed from the first row on.
template <class Real>
void add_rows(std::size_t rows, std::size_t columns, const Real* from, std::size_t stride, Real* to) {
    constexpr std::size_t strip = 64;
    const std::size_t strips = (columns + strip - 1) / strip;
    const bool small = rows * columns <= work_per_tile / 4;
    const LayerKernels<Real>& kernels = layer_kernels<Real>();
    parallel_slots(strips, small ? 1 : strips, [&](std::size_t, std::size_t begin, std::size_t end) {
        const std::size_t first = begin * strip;
        const std::size_t count = std::min(columns, end * strip) - first;
        for (std::size_t i = 0; i < rows; ++i) {
            kernels.add(count, from + i * stride + first, to + first);
        }
    });
}

}  // namespace

// `soon` and x are fetched into the cache while grad_x is computed: the next products read them.
template <class Real>
void linear_reverse(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, const Real* grad_y,
                    std::size_t y_stride, Real* grad_x, bool add, Parameters<Real>& gradients,
                    const PackedWeights<Real>* packed, const Real* soon) {
    const auto nothing = [](const Tile&) {};
    const Real* const from = grad_y + part.offset;
    bool done = false;
    if constexpr (std::is_same_v<Real, float>) {
        if (packed != nullptr && packed->kernels() != nullptr) {
            // More than this, and what is fetched pushes out of the second-level cache what is worked on.
            constexpr std::size_t most_soon = std::size_t{1} << 17;
            const bool fits = rows * part.in <= most_soon;
            run_packed_tiles(*packed->kernels(), rows, part.in, part.out, from, y_stride, packed->reverse(part),
                             Start<Real>{nullptr, add}, grad_x, part.in, nothing, fits ? x : nullptr,
                             fits ? soon : nullptr);
            done = true;
        }
    }
    if (!done) {
        tiled_gemm(Transpose::no, part.in_out ? Transpose::yes : Transpose::no, rows, part.in, part.out, Real{1}, from,
                   y_stride, model.at(part.weight), part.in_out ? part.out : part.in, Start<Real>{nullptr, add}, grad_x,
                   part.in, nothing);
    }
    const bool is_first = gradients.overwrites(part.weight);
    Real* const weight = gradients.at(part.weight);
    if (part.in_out) {
        add_outer_products(part.in, part.out, rows, x, part.in, from, y_stride, weight, !is_first);
    } else {
        add_outer_products(part.out, part.in, rows, from, y_stride, x, part.in, weight, !is_first);
    }
    if (part.bias != absent) {
        add_rows(rows, part.out, from, y_stride, gradients.at(part.bias));
    }
}

template void product(Transpose, Transpose, std::size_t, std::size_t, std::size_t, float, const float*, std::size_t,
                      const float*, std::size_t, Start<float>, float*, std::size_t);
template void tiled_gemm(Transpose, Transpose, std::size_t, std::size_t, std::size_t, float, const float*, std::size_t,
                         const float*, std::size_t, Start<float>, float*, std::size_t, AfterTile);
template void row_product(bool, std::size_t, std::size_t, const float*, const float*, const float*, float*, AfterTile);
template void linear(const Model<float>&, const Linear&, std::size_t, const float*, float*, std::size_t, AfterTile,
                     const PackedWeights<float>*);
template void linear(const Model<float>&, const Linear&, std::size_t, const float*, float*, std::size_t,
                     const PackedWeights<float>*);
template void linear_reverse(const Model<float>&, const Linear&, std::size_t, const float*, const float*, std::size_t,
                             float*, bool, Parameters<float>&, const PackedWeights<float>*, const float*);
template void product(Transpose, Transpose, std::size_t, std::size_t, std::size_t, double, const double*, std::size_t,
                      const double*, std::size_t, Start<double>, double*, std::size_t);
template void tiled_gemm(Transpose, Transpose, std::size_t, std::size_t, std::size_t, double, const double*,
                         std::size_t, const double*, std::size_t, Start<double>, double*, std::size_t, AfterTile);
template void row_product(bool, std::size_t, std::size_t, const double*, const double*, const double*, double*,
                          AfterTile);
template void linear(const Model<double>&, const Linear&, std::size_t, const double*, double*, std::size_t, AfterTile,
                     const PackedWeights<double>*);
template void linear(const Model<double>&, const Linear&, std::size_t, const double*, double*, std::size_t,
                     const PackedWeights<double>*);
template void linear_reverse(const Model<double>&, const Linear&, std::size_t, const double*, const double*,
                             std::size_t, double*, bool, Parameters<double>&, const PackedWeights<double>*,
                             const double*);

}  // namespace flyball::model
