// Extremes that keep a NaN, whichever of the two it is and whatever comes after it. std::max(1, NaN) is 1: a quantity
// that could not be computed would be reported as the extreme of what is left.
#pragma once

#include <cmath>

namespace flyball::measure {

inline double larger(double a, double b) {
    return std::isnan(a) || a > b ? a : b;
}

inline double smaller(double a, double b) {
    return std::isnan(a) || a < b ? a : b;
}

}  // namespace flyball::measure
