// Normalisers: what `norm` means, and the row-wise functions of the language. One row x of d numbers goes to
//
//     y = gain * u + bias                    gain and bias per channel, where the normaliser has them
//     u = c / sqrt(m(c^2) + eps)             sphere    c = x            m = sum
//                                            rms       c = x            m = mean
//                                            centred   c = x - mean     m = mean
//     u = tanh(alpha x + shift)              tanh
//     u = erf(alpha x + shift)               erf
//
// A row that is zero (for `centred`: constant) gives zero when eps = 0. The table below lists the normalisers that a
// model may bind to `norm`; particles bind `unit`. Tests walk the table.
#pragma once

#include <string_view>
#include <vector>

#include "scheme/expression.hpp"

namespace flyball::scheme {

enum class RowFunction { sphere, rms, centred, tanh, erf };

struct Normaliser {
    std::string_view name;
    std::string_view title;
    std::string_view formula;
    std::string_view reference;
    RowFunction function = RowFunction::sphere;
    double eps = 0;
    bool gain = false;   // learned, per channel, starts at 1
    bool bias = false;   // learned, per channel, starts at 0
    bool shape = false;  // learned scalar alpha
    double alpha = 1;    // where alpha starts
    bool shift = false;  // learned scalar, starts at 0
};
const std::vector<Normaliser>& normalisers();
const Normaliser& find_normaliser(std::string_view name);  // throws, with the nearest name

// The row-wise function behind unit, rms, ln, tanh, erf of the language, and behind `norm` for particles.
RowFunction row_function(Function function);
// Whether it acts on whole vectors alone, so that it maps the plane of an equiangular configuration to itself.
bool keeps_plane(RowFunction function);
// Whether it has a derivative where its argument is zero; a direction has none there.
bool smooth_at_zero(RowFunction function);

// A normaliser with its numbers: what a kernel is given.
template <class Real>
struct RowMap {
    RowFunction function = RowFunction::sphere;
    Real eps = 0;
    Real alpha = 1;
    Real shift = 0;
    const Real* gain = nullptr;  // [d] or null for 1
    const Real* bias = nullptr;  // [d] or null for 0
};

// Where reverse mode adds up the gradients of one RowMap; null pointers are skipped.
struct RowMapGradient {
    double* gain = nullptr;  // [d]
    double* bias = nullptr;  // [d]
    double* alpha = nullptr;
    double* shift = nullptr;
};

}  // namespace flyball::scheme
