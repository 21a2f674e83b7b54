// Extremes that keep a NaN, whichever of the two it is and whatever comes after it. std::max(1, NaN) is 1: a quantity
// that could not be computed would be reported as the extreme of what is left, and a claim would hold although one of its
// points is no number. No comparison with a NaN is true.
#pragma once

#include <cmath>
#include <vector>

namespace flyball::measure {

inline double larger(double a, double b) {
    return std::isnan(a) || a > b ? a : b;
}

inline double smaller(double a, double b) {
    return std::isnan(a) || a < b ? a : b;
}

// Infinite, on the side that loses every comparison, where there is none.
inline double largest_in(const std::vector<double>& values) {
    double largest = -HUGE_VAL;
    for (const double value : values) {
        largest = larger(largest, value);
    }
    return largest;
}

inline double smallest_in(const std::vector<double>& values) {
    double smallest = HUGE_VAL;
    for (const double value : values) {
        smallest = smaller(smallest, value);
    }
    return smallest;
}

}  // namespace flyball::measure
