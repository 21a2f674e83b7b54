// The series of a line figure in pixels: runs between gaps, bands, and where the label goes.
#pragma once

#include <utility>
#include <vector>

#include "report/figure.hpp"
#include "report/layout.hpp"
#include "report/plot.hpp"

namespace flyball::report {

struct Curve {
    const Series* series = nullptr;
    Style style;
    std::vector<Stretch> runs;
    std::vector<Band> bands;
    Point end;            // the last point inside the plot
    bool leaves = false;  // the last point is outside

    bool empty() const { return runs.empty(); }
};

// Both coordinates of the i-th point can be drawn.
bool has_point(const LineFigure& figure, const Series& series, std::size_t i);

// Scales over all points that can be drawn; y only over those inside x's bounds, bands included.
std::pair<Ruler, Ruler> rulers(const LineFigure& figure);

// One curve a series, thinned until the file is small enough.
std::vector<Curve> make_curves(const LineFigure& figure, const Plot& plot);

}  // namespace flyball::report
