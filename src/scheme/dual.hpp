// Dual numbers a + b*eps with eps^2 = 0: values that carry their derivative.
//
// The derivative is with respect to dt at dt = 0 (velocities), to t (what moves by itself) or to one learned parameter
// (reverse mode). An infinite or undefined derivative comes out as inf or NaN, which callers test for: sqrt(dt) at
// dt = 0 has no derivative, and that is an answer.
#pragma once

#include <cmath>

namespace flyball::scheme {

struct Dual {
    double value = 0;
    double slope = 0;
};

inline bool finite(double a) {
    return std::isfinite(a);
}
inline bool finite(const Dual& a) {
    return std::isfinite(a.value) && std::isfinite(a.slope);
}
inline double value_of(double a) {
    return a;
}
inline double value_of(const Dual& a) {
    return a.value;
}

inline Dual operator-(const Dual& a) {
    return {-a.value, -a.slope};
}
inline Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
}
inline Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.slope - b.slope};
}
// Zero whatever it is differentiated by: dt, say, where the derivative is by t. As a factor it stays zero beside a
// number that has no slope (dt*sqrt(t) at t = 0).
inline bool constant_zero(const Dual& a) {
    return a.value == 0 && a.slope == 0;
}
inline Dual operator*(const Dual& a, const Dual& b) {
    const double value = a.value * b.value;
    const double slope = a.value * b.slope + a.slope * b.value;
    const bool stays = std::isnan(slope) && (constant_zero(a) || constant_zero(b));
    return {value, stays && std::isfinite(value) ? 0 : slope};
}
inline Dual operator/(const Dual& a, const Dual& b) {
    const double q = a.value / b.value;
    const double slope = (a.slope - q * b.slope) / b.value;
    const bool stays = std::isnan(slope) && constant_zero(a);
    return {q, stays && std::isfinite(q) ? 0 : slope};
}

// A constant argument keeps its slope of zero even where the function has none (sqrt at 0).
inline Dual chain(const Dual& a, double value, double derivative) {
    return {value, a.slope == 0 ? 0 : a.slope * derivative};
}
inline Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return chain(a, root, 0.5 / root);
}
inline Dual exp(const Dual& a) {
    const double e = std::exp(a.value);
    return chain(a, e, e);
}
inline Dual log(const Dual& a) {
    return chain(a, std::log(a.value), 1 / a.value);
}
inline Dual pow(const Dual& a, const Dual& b) {
    const double p = std::pow(a.value, b.value);
    double slope = 0;
    if (a.slope != 0 && b.value != 0) {
        slope += a.slope * b.value * std::pow(a.value, b.value - 1);
    }
    if (b.slope != 0 && p != 0) {  // 0^b is 0 for every b > 0
        slope += b.slope * p * std::log(a.value);
    }
    return {p, slope};
}

}  // namespace flyball::scheme
