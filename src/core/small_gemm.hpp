// Products of small matrices of floats, without the costs that a library has before it starts.
//
//     C (m x n) = alpha op(A) op(B) + start,    start: 0, one row for all rows, or C itself
//
// A training step of a small model is thousands of products with an inner length of 32 to 512. There OpenBLAS spends a
// quarter of its time on packing both operands, and oneDNN some of it (docs/decisions/0026-small-products.md has the
// measurement). Here B is packed into panels that stream through the first-level cache, unless there are few rows of A
// to use it; A is read where it is, unless its rows are far apart; and what the product is added to is never written
// first.
//
//     for each 512 of the inner length, 384 columns:   pack B
//         for each 256 rows:                           pack A if need be
//             for each panel of B, each few rows:      a tile of C in registers; the next panel is fetched meanwhile
//
// Promises: single-threaded; the order of sums depends on sizes and the instruction set alone. NaN and infinity flow
// through, and a factor of 0 does not hide them. Sizes may be 0.
// Not here: doubles, and CPUs without AVX2 (there the table is null): core/blas.hpp. The BLAS product is the
// definition that tests compare with.
#pragma once

#include <cstddef>

#include "core/blas.hpp"
#include "core/isa.hpp"

namespace flyball {

struct SmallProduct {
    Transpose transpose_a = Transpose::no;
    Transpose transpose_b = Transpose::no;
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t k = 0;
    float alpha = 1;
    const float* a = nullptr;  // leading dimensions as in blas.hpp
    std::size_t lda = 0;
    const float* b = nullptr;
    std::size_t ldb = 0;
    const float* start = nullptr;  // [n]; null: 0
    bool add = false;              // to C instead
    float* c = nullptr;
    std::size_t ldc = 0;
    // What will be read after this product and lies as C does, element (i, j) at i * ldc + j; null: nothing. It is
    // fetched into the second-level cache on the way, and does not change the result.
    const float* soon[2] = {nullptr, nullptr};
};

// The right-hand operand of many products, packed once: the weights of a model during a training step. Only products
// by the table that packed it may read it.
struct PackedRight {
    const float* panels = nullptr;  // as SmallGemm::pack left them
    std::size_t columns = 0;        // of the whole operand
    std::size_t first_column = 0;   // where op(B) of this product begins: a multiple of SmallGemm::panel_columns
};

struct SmallGemm {
    std::size_t panel_columns = 0;
    void (*multiply)(const SmallProduct& product) = nullptr;
    // The same bits. B, its leading dimension and transposition are not looked at.
    void (*multiply_packed)(const SmallProduct& product, const PackedRight& right) = nullptr;
    // op(B) k x n into k * (n rounded up to panel_columns) numbers.
    void (*pack)(Transpose transpose_b, std::size_t n, std::size_t k, const float* b, std::size_t ldb,
                 float* panels) = nullptr;

    std::size_t packed_size(std::size_t n, std::size_t k) const {
        return k * ((n + panel_columns - 1) / panel_columns * panel_columns);
    }
};

// Null where the instruction set has none.
const SmallGemm* small_gemm(Isa isa);

extern const SmallGemm* const small_gemm_avx2;
extern const SmallGemm* const small_gemm_avx512;

}  // namespace flyball
