// Rotary positions (Su et al. 2021, arXiv:2104.09864) with the scalings of published models.
//
//     angle         pair (i, i + dims/2) of a head at position p turns by p * frequency_i
//     frequency_i   theta^(-2i/dims), dims less one where Rope::odd says so, changed by the scaling
//     scaling       linear, dynamic NTK, llama3, yarn (arXiv:2309.00071)
#pragma once

#include <cstddef>
#include <vector>

#include "model/architecture.hpp"

namespace flyball::model {

// [dims/2]; `tokens` matters to dynamic scaling alone. In float every step is rounded where torch rounds it: a frequency
// that is another float is off by 6e-8, and the angle at position 10,000 by 6e-4.
template <class Real>
std::vector<Real> rope_frequencies(const Rope& rope, std::size_t tokens);

// Cosines and sines for positions 0..tokens-1, [tokens, dims/2] each. In float the angle is a product of two floats, as
// published models form it.
template <class Real>
struct RopeTable {
    RopeTable() = default;
    RopeTable(const Rope& rope, std::size_t tokens);
    std::size_t half = 0;
    std::vector<Real> cosine;
    std::vector<Real> sine;
};

// Of the blocks with a window and of all others; empty without rotary positions.
template <class Real>
class RopeTables {
  public:
    RopeTables() = default;
    RopeTables(const Architecture& architecture, std::size_t tokens);
    const RopeTable<Real>& of(const Architecture& architecture, std::size_t layer) const {
        return architecture.window_rope && architecture.window(layer) > 0 ? in_windows_ : everywhere_;
    }

  private:
    RopeTable<Real> everywhere_;
    RopeTable<Real> in_windows_;
};

// Turns the `heads` heads of head_dim channels in one row by its position; `back` turns the other way, which is the
// transpose: what reverse mode needs.
template <class Real>
void turn(const RopeTable<Real>& table, std::size_t position, std::size_t heads, std::size_t head_dim, Real* row,
          bool back);

}  // namespace flyball::model
