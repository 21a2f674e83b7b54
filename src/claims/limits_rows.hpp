// Rows for the claims about selection, and what src/limits measures of them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "claims/limits_paper.hpp"
#include "limits/limits.hpp"

namespace flyball::claims {

// Softmax weights of Gaussian logits times `sharpness`, Gaussian vectors.
SelectionRow gaussian_row(std::size_t keys, std::size_t dim, double sharpness, std::uint64_t seed);
SelectionRow on_the_sphere(SelectionRow row);  // vectors divided by their lengths

// The n keys of largest weight.
std::vector<std::size_t> top_of(const SelectionRow& row, std::size_t n);

// By limits::RowWalk and limits::SeparationWalk.
limits::DistanceAtN measured_distance(const SelectionRow& row, std::size_t n);
limits::SeparationAtN measured_separation(const SelectionRow& row, std::size_t n);

// d for any set of keys, for Monte Carlo.
double measured_distance(const SelectionRow& row, const std::vector<std::size_t>& set);

// `count` of `keys` without replacement; `draw` numbers the draws.
std::vector<std::size_t> random_subset(std::size_t keys, std::size_t count, std::uint64_t seed, std::uint64_t draw);

// A quantity that should stay below a bound: the largest share of it that was seen, and the least share in the cases
// that are said to attain it. `sound` is both: never above, and there within 1 %.
class BoundCheck {
  public:
    void see(double value, double bound);
    void see_attaining(double value, double bound);

    bool never_above() const { return largest_ <= 1 + slack; }
    bool attained() const { return attaining_ >= 0.99 && attaining_ <= 1 + slack; }
    bool sound() const { return never_above() && attained(); }
    double largest() const { return largest_; }
    double attaining() const { return attaining_; }
    std::size_t count() const { return count_; }

  private:
    static constexpr double slack = 1e-7;
    double largest_ = 0;
    double attaining_ = HUGE_VAL;  // the least of the cases that are said to attain it
    std::size_t count_ = 0;
};

}  // namespace flyball::claims
