// Linear maps on rows, forward and in reverse, over tiles that threads share.
//
//     y = x W' + b        grad_x = grad_y W        grad_W += grad_y' x        grad_b += sum of rows of grad_y
//
// Tiles depend on sizes alone and each is one single-threaded product: the same bits at any number of threads.
// One row (a token of a text that is being written) is a product of matrix and vector, cut by outputs.
// Gradients of weights are cut by what is written, never by rows of x: one buffer however many threads, one order of
// sums (docs/decisions/0017-batches.md has the measurement).
#pragma once

#include <cstddef>

#include "core/blas.hpp"
#include "core/parallel.hpp"
#include "model/layout.hpp"
#include "model/model.hpp"
#include "model/packed_weights.hpp"

namespace flyball::model {

struct Tile {
    std::size_t row = 0;
    std::size_t rows = 0;
    std::size_t column = 0;
    std::size_t columns = 0;
};
using AfterTile = FunctionRef<void(const Tile&)>;

// What a product is added to: a row for all rows (null: 0), or C itself.
template <class Real>
struct Start {
    const Real* row = nullptr;
    bool add = false;
};

// C = alpha op(A) op(B) + start, in the calling thread. Small products of floats go to core/small_gemm.hpp where the
// CPU has it, all else to BLAS: there, writing the start first and adding the product is faster than the library's own
// beta = 0.
template <class Real>
void product(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
             const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Start<Real> start, Real* c,
             std::size_t ldc);

// The same in tiles; `after` sees each tile of C while it is in cache.
template <class Real>
void tiled_gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
                const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Start<Real> start, Real* c,
                std::size_t ldc, AfterTile after);

// y = W x + start (null: 0) for one row: W [out, in], or [in, out] when in_out. Tiles as `after` gets them.
template <class Real>
void row_product(bool in_out, std::size_t out, std::size_t in, const Real* w, const Real* x, const Real* start, Real* y,
                 AfterTile after);

// `packed`: the model's weights as they are now, packed, or null.
// y: [rows, y_stride], its columns [part.offset, part.offset + part.out) are written. `after` gets tiles with columns
// counted from part.offset, bias included.
template <class Real>
void linear(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, Real* y,
            std::size_t y_stride, AfterTile after, const PackedWeights<Real>* packed = nullptr);
template <class Real>
void linear(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, Real* y,
            std::size_t y_stride, const PackedWeights<Real>* packed = nullptr);

// grad_x: [rows, in], overwritten, or added to when `add`. Gradients of the parameters are added to. `soon` (may be
// null): [rows, in], what the caller reads next.
template <class Real>
void linear_reverse(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, const Real* grad_y,
                    std::size_t y_stride, Real* grad_x, bool add, Parameters<Real>& gradients,
                    const PackedWeights<Real>* packed = nullptr, const Real* soon = nullptr);

}  // namespace flyball::model
