// A sphere as it is seen: the camera, the net of meridians, and points as dots. Spheres in figures and in films share
// it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "report/figure.hpp"
#include "report/layout.hpp"
#include "report/svg.hpp"

namespace flyball::report {

using Vector = std::array<double, 3>;

// The zero vector when there is none.
Vector direction(Vector v);

// Right, up, and towards the viewer.
struct View {
    Vector right{1, 0, 0}, up{0, 1, 0}, towards{0, 0, 1};
    double radius = 1;  // in units of the page
    bool circle = false;

    Point projected(const Vector& p) const;
    bool in_front(const Vector& p) const;
};

// The figure's own front or the place where its runs gather is in front, a little off the centre; without such a place,
// a view from the side. The circle is seen from above.
View make_view(const SphereFigure& figure, double radius);

// How a point looks, of one picture or of many that are to be alike.
struct DotLook {
    double cell = 1;      // points that fall into one square of so many units are one dot
    double diameter = 5;  // of a dot of one point
    double usual = 1;     // the count of points in a dot that is nothing special
};
struct Dot {
    Point at;  // of its first point: means would fall on a grid
    std::size_t count = 0;
};
using Dots = std::map<std::tuple<bool, int, int>, Dot>;  // in front, column, row
Dots gathered(const View& view, const SphereFigure::Frame& frame, double cell);

// For at most so many points a frame.
DotLook look_of(const View& view, std::size_t points, double cell);

// Some dot has so many points that it is drawn larger.
bool has_larger(const Dots& dots, const DotLook& look);

// Around (0, 0), in the order of drawing: the net behind, dots behind, the net in front with the outline, dots in
// front.
void draw_back(Page& page, const View& view);
void draw_rim(Page& page, const View& view);
std::string dots_svg(const Dots& dots, bool front, const DotLook& look, const std::string& colour);

}  // namespace flyball::report
