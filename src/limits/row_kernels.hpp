// The loops over the keys of a row that everything in this module is made of. One source (row_kernels_body.inl)
// compiled for the baseline and for AVX2. All numbers are double; NaN flows through.
//
//     m             keys of the row
//     alpha  [m]    weights; a_i = alpha_i x_i
//     q      [m]    alpha_i^2 |x_i|^2 = |a_i|^2
//     g      [m]    a row of the Gram matrix: <x_j, x_i>
//     open   [m]    1 outside I_N, 0 inside: a factor in place of a branch
//     c      [m]    <x_i, s>,    ss = |s|^2
//
// Squares that rounding leaves below zero count as zero.
#pragma once

#include <cstddef>

#include "core/isa.hpp"

namespace flyball::limits {

struct RowKernels {
    // A key j joins I_N: c_i += alpha_j g_i. Returns sum of open_i sqrt(max(0, q_i - 2 alpha_i c_i + ss)), which is d;
    // ss is already that of the new set.
    double (*join)(std::size_t m, double weight, const double* g, double ss, const double* alpha, const double* q,
                   const double* open, double* c);
    // c_i += weight g_i alone.
    void (*add)(std::size_t m, double weight, const double* g, double* c);
    // sum of sqrt(max(0, (1+k)^2 q_i - 2 k (1+k) b_i + k^2 S2)): |a_i - k (S - a_i)| with b_i = <a_i, S>, S2 = |S|^2.
    double (*main_sum)(std::size_t m, double k, double S2, const double* q, const double* b);
    // The same with variance(i) = v (Q - q_i - share |S - a_i|^2) inside the root; Q = sum of q, share = 1/(L - 1).
    double (*rms_sum)(std::size_t m, double k, double S2, double v, double Q, double share, const double* q,
                      const double* b);
    // far_i = max(far_i, diagonal_i + own - 2 g_i): the largest |x_i - x_j|^2 over I_N. Returns its maximum over open.
    double (*farthest)(std::size_t m, double own, const double* g, const double* diagonal, const double* open,
                       double* far);
    // The least max(0, square_i - 2 alpha_i inverse_i c_i + ss) over open: r^2 of unit vectors, where c was summed from
    // g_i/|x_j|, inverse_i = 1/|x_i| and square_i = alpha_i^2; all three are 0 for a zero vector.
    double (*nearest)(std::size_t m, double ss, const double* alpha, const double* square, const double* inverse,
                      const double* open, const double* c);
    // far_i = max(far_i, unit_i + own - 2 factor inverse_i g_i): the same of unit vectors, where factor = 1/|x_j| and
    // unit_i, own are 1, or 0 for a zero vector.
    void (*unit_farthest)(std::size_t m, double own, double factor, const double* g, const double* inverse,
                          const double* unit, double* far);
    // sum of (a_i - b_i)^2
    double (*squared_difference)(std::size_t m, const double* a, const double* b);
    // sum of a_i^2/(a_i - x) and of a_i^2/(a_i - x)^2
    void (*secular)(std::size_t m, double x, const double* a, double* value, double* slope);
    // out_i = factor * (l_i + eps v_i)
    void (*shifted)(std::size_t m, double factor, double eps, const double* l, const double* v, double* out);
};

const RowKernels& row_kernels(Isa isa);
inline const RowKernels& row_kernels() {
    return row_kernels(active_isa());
}

extern const RowKernels row_kernels_plain;
extern const RowKernels row_kernels_avx2;

}  // namespace flyball::limits
