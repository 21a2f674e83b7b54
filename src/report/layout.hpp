// Where things stand: labels that must not overlap, and lines with no more points than pixels can show.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flyball::report {

// Positions as near as possible (least squares) to the wanted ones, at least `gap` apart and within lo .. hi. Labels
// that want the same place keep their order. More labels than fit: spread evenly, closer than `gap`.
std::vector<double> pushed_apart(std::span<const double> wanted, double gap, double lo, double hi);

struct Point {
    double x = 0, y = 0;
};
using Stretch = std::vector<Point>;  // drawn without a gap

// Of the consecutive points in one column of `column` pixels, the first, the lowest, the highest and the last, in their
// order; gaps inside a column are closed. Steps are measured from x = 0.
std::vector<Stretch> thinned(const std::vector<Stretch>& runs, double column);

// A band's slice at x.
struct Slice {
    double x = 0, lo = 0, hi = 0;
};
using Band = std::vector<Slice>;

// One slice a column that covers all it stands for; the ends stay in place.
std::vector<Band> thinned(const std::vector<Band>& bands, double column);

}  // namespace flyball::report
