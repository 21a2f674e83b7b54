// A row with its keys joining I_N one after another, from the Gram matrix alone.
//
//     |a_i - s|^2 = alpha_i^2 |x_i|^2 - 2 alpha_i <x_i, s> + |s|^2
//
// When key j joins, <x_i, s> grows by alpha_j G_ij and |s|^2 by 2 alpha_j <x_j, s> + alpha_j^2 G_jj: O(L) a key. What
// rounding leaves below zero under a root is taken as zero. The sums of Theorem 1.2 need <a_i, S> alone, which the
// caller has from one product of a block of rows with the Gram matrix.
//
// Keys behind the mask can count too: WithMasked makes a row in which they are keys of weight 0. Being selected last,
// in the order of their places, they add |s| each to d until then.
#pragma once

#include <cstddef>
#include <vector>

#include "limits/gram.hpp"
#include "limits/limits.hpp"
#include "limits/row_kernels.hpp"

namespace flyball::limits {

struct RowInput {
    const Gram* gram = nullptr;
    Seen seen;
    const double* weights = nullptr;  // [seen.count()]
    const double* along = nullptr;    // [seen.count()] <x_i, S>; may be null where no expectation is asked for
};

// A row over all `tokens` keys.
struct WithMasked {
    RowInput row;  // points into the two arrays
    std::vector<double> weights, along;

    void assign(const RowInput& seen, std::size_t tokens);
};

class RowWalk {
  public:
    RowWalk() : kernels_(row_kernels()) {}

    // All finite. Nothing is selected yet.
    void start(const RowInput& row);

    std::size_t selected() const { return n_; }
    std::size_t keys() const { return keys_; }
    const std::vector<std::size_t>& order() const {
        return order_;
    }  // of the keys seen, counted from the first of them

    // One more key. `with_bound` keeps what bound() needs: for every key, or for none after the first without.
    void join(bool with_bound);

    double distance() const { return distance_; }
    double expected() const;
    double expected_rms() const;
    double bound() const;
    DistanceAtN at() const;  // all of them

  private:
    struct Key {
        double weight;
        std::size_t index;
    };

    const RowKernels& kernels_;
    RowInput row_;
    std::size_t keys_ = 0;
    std::size_t n_ = 0;
    double total_ = 0;     // sum of all weights
    double mass_ = 0;      // abar
    double ss_ = 0;        // |s|^2
    double logs_ = 0;      // sum over I_N of alpha log alpha
    double longest_ = 0;   // max over I_N of |x_j|^2
    double farthest_ = 0;  // d1^2
    double distance_ = 0;
    double S2_ = 0;
    double Q_ = 0;
    bool positive_ = true;  // every weight, or zero
    std::vector<Key> sorted_;
    std::vector<std::size_t> order_;
    std::vector<double> q_, b_, open_, c_, far_;
};

}  // namespace flyball::limits
