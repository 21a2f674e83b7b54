// An axis made of numbers: its range, where a value stands on it, and its ticks.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/figure.hpp"

namespace flyball::report {

// A value an axis can show: finite, and positive on a log axis.
bool drawable(Scale scale, double value) noexcept;

// The smallest and the largest of the values an axis can show.
struct Extent {
    double lo = std::numeric_limits<double>::infinity();
    double hi = -std::numeric_limits<double>::infinity();

    bool empty() const noexcept { return !(lo <= hi); }
    void add(Scale scale, double value) noexcept;
};

// An empty label: a minor tick.
struct Tick {
    double value = 0;
    std::string label;
};

struct Ruler {
    Scale scale = Scale::linear;
    double lo = 0, hi = 1;  // lo < hi, both positive on a log axis
    bool whole = false;     // numbers such as blocks: between two of them there is nothing to name

    // 0 at lo and 1 at hi; values far outside stop at -100 and 101. The value must be drawable.
    double at(double value) const noexcept;
    bool contains(double value) const noexcept { return value >= lo && value <= hi; }

    // Increasing, about `wanted` of them with labels, never less than a third of all. Linear: steps of 1, 2 or 5. Log:
    // 1-2-5, or powers of ten where those are too many, or every k-th of them; linear steps when less than a decade is
    // shown. Labels use "−", "×" and
    // superscripts: "2×10⁻⁵".
    std::vector<Tick> ticks(int wanted) const;
};

// The range is what the axis says, else the data's, widened by `padding` of its length on either side (not across zero,
// and not past min or max). Constant and missing data give a range around the value.
Ruler make_ruler(const Axis& axis, Extent data, double padding);

// A number in a few characters, as ticks write it: "0.25", "−3", "1.5×10⁶".
std::string compact(double value, int digits = 3);

}  // namespace flyball::report
