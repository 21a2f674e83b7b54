// How a positive quantity grows with depth: bounded, like a root, in proportion, or exponentially.
//
//     y_l, l = 1..L      for example the length of a stream after block l
//
//     bounded            log y = a
//     sqrt               y^2   = a + rate * l        branches that add up like random directions
//     linear             y     = a + rate * l        branches that all point one way
//     exponential        log y = a + rate * l        branches in proportion to the stream
//
// Each law is fitted by least squares of relative errors, and the one with the least `error` (root mean square of
// log(y/fit)) describes the curve. Bounded is preferred where growth is not the story: where the values end within a
// factor of 1.25 of where they began, or where no growing law leaves less than three quarters of the error that a
// constant leaves.
//
// Errors of rates are the usual standard errors, from the scatter around the fit: they say how well the curve follows
// the law, not what another text would give. Neighbouring layers are not independent, so read them as a scale.
#pragma once

#include <limits>
#include <vector>

namespace flyball::measure {

enum class GrowthClass { bounded, sqrt, linear, exponential, unknown };
const char* name(GrowthClass growth) noexcept;

struct Growth {
    static constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
    GrowthClass kind = GrowthClass::unknown;  // fewer than four values, or one that is not positive and finite: all NaN
    double rate = no_value;                   // of the law above; of a bounded curve the slope of log y
    double rate_error = no_value;
    double exponent = no_value;  // slope of log y over log l: 0, 1/2 and 1 for the first three laws from zero
    double exponent_error = no_value;
    double factor = no_value;  // last value over first
    double error = no_value;   // root mean square of log(y/fit)
};

Growth growth(const std::vector<double>& values);

}  // namespace flyball::measure
