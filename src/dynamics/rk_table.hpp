// Explicit Runge-Kutta methods as tables of numbers; runge_kutta.hpp is the one engine that runs them.
//
//     k_i = v(t + c_i h, y + h sum_{j<i} a_ij k_j)        i = 0 .. s-1
//     y_new = y + h sum_i b_i k_i
//
// A table may say how wrong a step is and what the solution is inside it:
//
//     error         h sum_i e_i k_i for two lower orders; without, steps are equal
//     dense         further slopes after k_s = v(t + h, y_new), and the weights that make of all of them the terms of a
//                   polynomial beyond the cubic through both ends and their slopes; without, it is that cubic
//
// A table holds any explicit method: the tests take its claimed order from the numbers themselves.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::dynamics {

struct RkTable {
    const char* name = "";
    int order = 0;
    std::vector<double> c;               // [s]
    std::vector<std::vector<double>> a;  // [s][i]: the i slopes before stage i
    std::vector<double> b;               // [s]

    std::vector<double> error;      // [s], of order error_order; empty: equal steps
    std::vector<double> error_low;  // [s], of order error_low_order
    int error_order = 0;
    int error_low_order = 0;

    int dense_order = 0;                       // of the interpolant
    std::vector<double> dense_c;               // [extra]
    std::vector<std::vector<double>> dense_a;  // [extra][s + 1 + i]
    std::vector<std::vector<double>> dense_d;  // [terms][s + 1 + extra]

    std::size_t stages() const { return b.size(); }
    bool adaptive() const { return !error.empty(); }
};

const RkTable& euler_table();
const RkTable& rk4_table();
const RkTable& dop853_table();

}  // namespace flyball::dynamics
