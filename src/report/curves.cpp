#include "report/curves.hpp"

#include <algorithm>
#include <cmath>

#include "report/colour.hpp"

namespace flyball::report {
namespace {

constexpr std::size_t most_points = 10000;  // about 140 kB of coordinates

// A bound of a band that a log axis cannot show lies below it.
double band_edge(const Plot& plot, double value) {
    return drawable(plot.y.scale, value) ? plot.at_y(value) : plot.bottom() + plot.height;
}

Curve make_curve(const LineFigure& figure, const Series& series, const Plot& plot, std::size_t index) {
    Curve curve{&series, resolved(series.style, index), {}, {}, {}, false};
    bool in_run = false;
    bool in_band = false;
    bool inside = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
        const bool drawn = has_point(figure, series, i);
        if (drawn) {
            const Point point{plot.at_x(series.x[i]), plot.at_y(series.y[i])};
            if (!in_run) {
                curve.runs.emplace_back();
            }
            curve.runs.back().push_back(point);
            const bool visible = plot.x.contains(series.x[i]) && plot.y.contains(series.y[i]);
            if (visible || !inside) {
                curve.end = point;
                inside = inside || visible;
            }
            curve.leaves = !visible;
        }
        in_run = drawn;
        const bool banded = !series.lo.empty() && drawable(figure.x.scale, series.x[i]) &&
                            std::isfinite(series.lo[i]) && std::isfinite(series.hi[i]);
        if (banded) {
            if (!in_band) {
                curve.bands.emplace_back();
            }
            const double one = band_edge(plot, series.lo[i]);
            const double other = band_edge(plot, series.hi[i]);
            curve.bands.back().push_back({plot.at_x(series.x[i]), std::min(one, other), std::max(one, other)});
        }
        in_band = banded;
    }
    curve.end.x = std::clamp(curve.end.x, plot.left, plot.right());
    curve.end.y = std::clamp(curve.end.y, plot.top, plot.bottom());
    return curve;
}

std::size_t points_in(const std::vector<Curve>& curves) {
    std::size_t n = 0;
    for (const Curve& curve : curves) {
        for (const Stretch& run : curve.runs) {
            n += run.size();
        }
        for (const Band& band : curve.bands) {
            n += 2 * band.size();
        }
    }
    return n;
}

// Columns as narrow as the file's size allows, and at last one that holds all.
void thin(std::vector<Curve>& curves, double width) {
    for (double column = 0.5; points_in(curves) > most_points && column < 4 * width; column *= 2) {
        for (Curve& curve : curves) {
            curve.runs = thinned(curve.runs, column);
            curve.bands = thinned(curve.bands, column);
        }
    }
}

}  // namespace

bool has_point(const LineFigure& figure, const Series& series, std::size_t i) {
    return drawable(figure.x.scale, series.x[i]) && drawable(figure.y.scale, series.y[i]);
}

std::pair<Ruler, Ruler> rulers(const LineFigure& figure) {
    Extent x;
    bool whole = true;
    for (const Series& series : figure.series) {
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            if (has_point(figure, series, i)) {
                x.add(figure.x.scale, series.x[i]);
                whole = whole && std::floor(series.x[i]) == series.x[i];
            }
        }
    }
    Ruler x_ruler = make_ruler(figure.x, x, 0);
    x_ruler.whole = whole && !x.empty();
    Extent y;
    for (const Series& series : figure.series) {
        for (std::size_t i = 0; i < series.x.size(); ++i) {
            if (has_point(figure, series, i) && x_ruler.contains(series.x[i])) {
                y.add(figure.y.scale, series.y[i]);
                if (!series.lo.empty()) {
                    y.add(figure.y.scale, series.lo[i]);
                    y.add(figure.y.scale, series.hi[i]);
                }
            }
        }
    }
    return {x_ruler, make_ruler(figure.y, y, 0.04)};
}

std::vector<Curve> make_curves(const LineFigure& figure, const Plot& plot) {
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        curves.push_back(make_curve(figure, figure.series[i], plot, i));
    }
    thin(curves, plot.width);
    return curves;
}

}  // namespace flyball::report
