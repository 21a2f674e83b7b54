// Soft caps: s becomes c tanh(s/c), which keeps its order and its slope at 0 and never leaves (-c, c).
//
// Callers hand over s/c, since a product that comes before can divide for nothing. NaN stays NaN, infinity becomes c.
#pragma once

#include <cstddef>

namespace flyball::model {

// row_k becomes cap * tanh(row_k).
template <class Real>
void soft_cap(std::size_t count, Real cap, Real* row);

// d capped / d s = 1 - (capped/cap)^2, from what soft_cap gave. out is not `capped`.
template <class Real>
void soft_cap_slope(std::size_t count, Real cap, const Real* capped, Real* out);

}  // namespace flyball::model
