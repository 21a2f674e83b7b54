// Linear maps on rows, forward and in reverse, over tiles that threads share.
//
//     y = x W' + b        grad_x = grad_y W        grad_W += grad_y' x        grad_b += sum of rows of grad_y
//
// Tiles depend on sizes alone and each is one single-threaded BLAS call: the same bits at any number of threads.
#pragma once

#include <cstddef>

#include "core/blas.hpp"
#include "core/parallel.hpp"
#include "model/layout.hpp"
#include "model/model.hpp"

namespace flyball::model {

struct Tile {
    std::size_t row = 0;
    std::size_t rows = 0;
    std::size_t column = 0;
    std::size_t columns = 0;
};
using AfterTile = FunctionRef<void(const Tile&)>;

// gemm (core/blas.hpp) in tiles; `after` sees each tile of C while it is in cache.
template <class Real>
void tiled_gemm(Transpose transpose_a, Transpose transpose_b, std::size_t m, std::size_t n, std::size_t k, Real alpha,
                const Real* a, std::size_t lda, const Real* b, std::size_t ldb, Real beta, Real* c, std::size_t ldc,
                AfterTile after);

// y: [rows, y_stride], its columns [part.offset, part.offset + part.out) are written. `after` gets tiles with columns
// counted from part.offset, bias included.
template <class Real>
void linear(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, Real* y,
            std::size_t y_stride, AfterTile after);
template <class Real>
void linear(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, Real* y,
            std::size_t y_stride);

// grad_x: [rows, in], overwritten, or added to when `add`. Gradients of the parameters are added to.
template <class Real>
void linear_reverse(const Model<Real>& model, const Linear& part, std::size_t rows, const Real* x, const Real* grad_y,
                    std::size_t y_stride, Real* grad_x, bool add, Parameters<Real>& gradients);

}  // namespace flyball::model
