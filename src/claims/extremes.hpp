// The largest and the smallest of measured numbers. std::max and std::min pass over a NaN that comes second, and a
// claim would hold although one of its points is no number. Here a NaN stays, and no comparison with it is true.
#pragma once

#include <cmath>
#include <vector>

namespace flyball::claims {

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

}  // namespace flyball::claims
