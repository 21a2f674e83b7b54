// Theorem 2 for the keys of a row joining I_N one after another, on unit vectors, from the Gram matrix.
//
//     A = sum of alpha over I_N, A2 = sum of alpha^2 over I_N:
//     xi_i^2 = (A2 - alpha_i^2) + (1 - delta^2/2) ((A - alpha_i)^2 - (A2 - alpha_i^2))
//
// O(L) a key, and O(N) more where the values are asked for.
#pragma once

#include <cstddef>
#include <vector>

#include "limits/gram.hpp"
#include "limits/limits.hpp"
#include "limits/row_kernels.hpp"

namespace flyball::limits {

class SeparationWalk {
  public:
    SeparationWalk() : kernels_(row_kernels()) {}

    // `order` as RowWalk has it; both arrays must outlive the walk.
    void start(const Gram& gram, const Seen& seen, const double* weights, const std::vector<std::size_t>& order);

    std::size_t selected() const { return n_; }
    void join();

    // delta: the least distance of two unit vectors. Fewer keys than all must be selected.
    SeparationAtN at(double delta) const;

    // The keys seen that count in N_s, as positions in the row.
    void separated(std::vector<std::size_t>& keys) const;

  private:
    double squared_distance(std::size_t i) const;  // |a_i - s|^2
    double nearest() const;                        // r^2

    const RowKernels& kernels_;
    const Gram* gram_ = nullptr;
    Seen seen_;
    const double* weights_ = nullptr;
    const std::vector<std::size_t>* order_ = nullptr;
    std::size_t n_ = 0;
    double sum_ = 0;      // A
    double squares_ = 0;  // A2
    double ss_ = 0;
    double widest_ = 0;                                   // the largest squared distance inside I_N
    std::vector<double> square_, open_, c_, unit_, far_;  // unit: |direction|^2; far: largest squared distance to I_N
};

}  // namespace flyball::limits
