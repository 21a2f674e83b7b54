#include "report/sphere_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace flyball::report {
namespace {

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Meridians and circles of latitude; the half in front or the half behind.
std::string graticule(const View& view, bool front) {
    std::string path;
    const auto circle = [&](auto at) {
        constexpr int steps = 48;
        bool drawing = false;
        for (int i = 0; i <= steps; ++i) {
            const Vector p = at(2 * std::numbers::pi * i / steps);
            const bool visible = view.in_front(p) == front;
            if (visible) {
                const Point q = view.projected(p);
                path += fmt::format("{}{:.1f} {:.1f}", drawing ? 'L' : 'M', q.x, q.y);
            }
            drawing = visible;
        }
    };
    for (int k = 0; k < 4; ++k) {
        const double longitude = std::numbers::pi * k / 4;
        circle([&](double a) {
            return Vector{std::cos(a) * std::cos(longitude), std::cos(a) * std::sin(longitude), std::sin(a)};
        });
    }
    for (const int degrees : {-45, 0, 45}) {
        const double latitude = degrees * std::numbers::pi / 180;
        circle([&](double a) {
            return Vector{std::cos(latitude) * std::cos(a), std::cos(latitude) * std::sin(a), std::sin(latitude)};
        });
    }
    return path;
}

// Sizes for 1, a few, many and very many points in one place.
constexpr std::array<std::pair<double, double>, 4> sizes = {{{1, 1.0}, {2, 1.3}, {8, 1.7}, {32, 2.2}}};

}  // namespace

Vector direction(Vector v) {
    const double size = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])});
    if (size == 0 || !std::all_of(v.begin(), v.end(), [](double c) { return std::isfinite(c); })) {
        return {};
    }
    for (double& c : v) {
        c /= size;  // no overflow in the sum of squares
    }
    const double length = std::hypot(v[0], v[1], v[2]);
    return {v[0] / length, v[1] / length, v[2] / length};
}

Point View::projected(const Vector& p) const {
    return {radius * dot(right, p), -radius * dot(up, p)};
}

bool View::in_front(const Vector& p) const {
    return circle || dot(towards, p) >= 0;
}

std::optional<Vector> gathering_place(const std::vector<SphereFigure::Run>& runs) {
    Vector mean{};
    double count = 0;
    for (const SphereFigure::Run& run : runs) {
        for (const Vector& point : run.frames.empty() ? std::vector<Vector>() : run.frames.back().points) {
            const Vector p = direction(point);
            count += dot(p, p);
            for (std::size_t k = 0; k < 3; ++k) {
                mean[k] += p[k];
            }
        }
    }
    const bool gathers = count > 0 && std::sqrt(dot(mean, mean)) > 0.2 * count;
    return gathers ? std::optional(direction(mean)) : std::nullopt;
}

View make_view(const SphereFigure& figure, double radius) {
    View view;
    view.radius = radius;
    view.circle = figure.circle;
    if (figure.circle) {
        return view;
    }
    const auto place = figure.front ? figure.front : gathering_place(figure.runs);
    const Vector front = place ? direction(*place) : direction({0.8, -0.5, 0.35});
    const Vector pole = std::abs(front[2]) < 0.9 ? Vector{0, 0, 1} : Vector{0, 1, 0};
    const Vector side = direction(cross(pole, front));
    const Vector above = cross(front, side);
    for (std::size_t k = 0; k < 3; ++k) {
        view.towards[k] = place ? front[k] + 0.35 * side[k] + 0.20 * above[k] : front[k];
    }
    view.towards = direction(view.towards);
    view.right = direction(cross(pole, view.towards));
    view.up = cross(view.towards, view.right);
    return view;
}

Dots gathered(const View& view, const SphereFigure::Frame& frame, double cell) {
    Dots dots;
    for (const Vector& point : frame.points) {
        const Vector p = direction(view.circle ? Vector{point[0], point[1], 0} : point);
        if (dot(p, p) == 0) {
            continue;
        }
        const Point q = view.projected(p);
        Dot& found = dots[{view.in_front(p), static_cast<int>(std::floor(q.x / cell)),
                           static_cast<int>(std::floor(q.y / cell))}];
        found.at = found.count == 0 ? q : found.at;
        found.count += 1;
    }
    return dots;
}

DotLook look_of(const View& view, std::size_t points, double cell) {
    const double diameter = points <= 64 ? 6.5 : points <= 300 ? 5 : points <= 1500 ? 3.4 : points <= 6000 ? 2.2 : 1.6;
    // What evenly spread points would put into one square, front or back.
    const double places = view.circle ? 2 * std::numbers::pi * view.radius / cell
                                      : 2 * std::numbers::pi * view.radius * view.radius / (cell * cell);
    return {cell, diameter * std::clamp(view.radius / 90, 0.6, 2.0),
            std::max(1.0, 2 * static_cast<double>(points) / places)};
}

bool has_larger(const Dots& dots, const DotLook& look) {
    return std::any_of(dots.begin(), dots.end(), [&](const auto& d) {
        return static_cast<double>(d.second.count) >= sizes[1].first * look.usual;
    });
}

std::string dots_svg(const Dots& dots, bool front, const DotLook& look, const std::string& colour) {
    std::string out;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        std::string path;
        for (const auto& [key, found] : dots) {
            const auto n = static_cast<double>(found.count);
            const bool reaches = s == 0 || n >= sizes[s].first * look.usual;
            const bool above = s + 1 < sizes.size() && n >= sizes[s + 1].first * look.usual;
            if (std::get<0>(key) == front && reaches && !above) {
                path += fmt::format("M{:.1f} {:.1f}h0", found.at.x, found.at.y);
            }
        }
        if (!path.empty()) {
            out += fmt::format(
                "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{}\" "
                "stroke-linecap=\"round\" fill=\"none\"/>\n",
                path, colour, px(look.diameter * sizes[s].second * (front ? 1 : 0.85)), front ? "0.9" : "0.3");
        }
    }
    return out;
}

void draw_back(Page& page, const View& view) {
    if (!view.circle) {
        page.open_lines(Ink::grid, 0.7);
        page.raw(fmt::format("<path d=\"{}\" stroke-opacity=\"0.7\"/>\n</g>\n", graticule(view, false)));
    }
}

void draw_rim(Page& page, const View& view) {
    if (!view.circle) {
        page.open_lines(Ink::grid, 1.1);
        page.raw(fmt::format("<path d=\"{}\"/>\n</g>\n", graticule(view, true)));
    }
    page.open_lines(Ink::axis, 1);
    page.raw(fmt::format("<circle r=\"{}\"/>\n</g>\n", px(view.radius)));
}

}  // namespace flyball::report
