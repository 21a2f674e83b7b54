// Attention in each token's own frame: the part that turns a token, by itself and with all its digits.
//
// With z_k = c_k theta_k (|theta_k| = 1, c_k a number), A_j has a part along theta_j and a part across it,
//
//     along_j  = sum_k w_jk c_k <theta_k, theta_j>
//     across_j = sum_{k != j} w_jk c_k P_j theta_k,         P_j y = y - <theta_j, y> theta_j
//
// and only the second turns the token. Where tokens have settled into clusters far apart it is of size e^(-beta ...),
// 10^-22 at beta = 40, and beside the 1 of the first it is lost to rounding: A_j in ambient coordinates stands still.
// Here nothing cancels:
//
//     P_j theta_k = d + |d|^2/2 theta_j     with d = theta_k - theta_j       for <theta_j, theta_k> >= 0
//     P_j theta_k = s - |s|^2/2 theta_j     with s = theta_k + theta_j       otherwise
//
// (both from <theta_j, theta_k> = 1 - |d|^2/2 = |s|^2/2 - 1), and weights are taken relative to the token's own, so
// that exponents are beta times differences: beta (c_j (c_k - c_j) - c_j c_k |d|^2/2). Tokens whose directions are the
// same numbers do not turn each other at all.
//
// Identity weights, every kind and mask, double only. O(n^2 d), rows shared by threads, the same bits for any number of
// threads. The result is right to about n rounding errors of its largest summand.
#pragma once

#include <cstddef>

#include "attention/attention.hpp"

namespace flyball::attention {

// All arrays have a row per token of every system; null pointers are not wanted.
struct OwnFrameResult {
    double* along = nullptr;   // [rows]
    double* across = nullptr;  // [rows, dim], orthogonal to theta_j up to rounding
    // log D_j in w_jk = S_jk/D_j with S symmetric where no mask is set: log Z_j for softmax and ssmax, 0 otherwise.
    double* log_divisor = nullptr;  // [rows]
    // sum of w_jk c_k over the other tokens of j's group: how strongly j is tied to it.
    double* tie = nullptr;  // [rows]
};

// theta: [systems, tokens, dim] unit rows; scale: [rows], the c_j; group: [rows] numbers, equal within a group of one
// system, or null when `tie` is not wanted.
void attend_in_own_frame(const Shape& shape, const Settings& settings, const double* theta, const double* scale,
                         const std::size_t* group, const OwnFrameResult& result);

}  // namespace flyball::attention
