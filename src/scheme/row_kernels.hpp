// The row kernels: everything a step does between two calls of a sub-layer, on contiguous blocks of rows.
//
// Legend: rows tokens of dim channels each, row-major [rows, dim]. `in`, `out`, slopes and gradients have that shape.
//
// row_kernels_body.inl holds one readable version, compiled for the baseline, for AVX2 and for AVX-512; core/isa.hpp
// chooses at run time. Sums have a fixed number of parts and no fused multiply-add, so all give the same bits, except
// for tanh, erf and exp, where the latter two use the C library's vector versions (at most 4 units in the last place).
// rows_reference.hpp in tests is the plain definition they are compared with.
#pragma once

#include <cstddef>

#include "core/isa.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::scheme {

template <class Real>
struct RowTerm {
    const Real* source = nullptr;   // [rows, dim], or null for ones
    Real scale = 0;                 // used when channel is null
    const Real* channel = nullptr;  // [dim], or null
};

template <class Real>
struct RowKernels {
    // out = sum of terms; no terms: zero
    void (*combine)(std::size_t rows, std::size_t dim, const RowTerm<Real>* terms, std::size_t count, Real* out);
    // out += term
    void (*accumulate)(std::size_t rows, std::size_t dim, const RowTerm<Real>& term, Real* out);
    void (*apply)(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, Real* out);
    // value and derivative along slope_in
    void (*apply_dual)(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in, const Real* slope_in,
                       Real* out, Real* slope_out);
    // grad_in += J' grad_out; gradients of the map's own numbers are added to `gradient`
    void (*apply_reverse)(const RowMap<Real>& map, std::size_t rows, std::size_t dim, const Real* in,
                          const Real* grad_out, Real* grad_in, const RowMapGradient& gradient);
    // sum over everything of a*b, or of a alone when b is null
    double (*dot)(std::size_t count, const Real* a, const Real* b);
    // sums[k] += sum over rows of a[., k]*b[., k], or of a[., k] alone when b is null
    void (*dot_channels)(std::size_t rows, std::size_t dim, const Real* a, const Real* b, double* sums);
};

template <class Real>
const RowKernels<Real>& row_kernels(Isa isa);
template <class Real>
const RowKernels<Real>& row_kernels() {
    return row_kernels<Real>(active_isa());
}

}  // namespace flyball::scheme
