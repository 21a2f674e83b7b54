#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "report/checks.hpp"
#include "report/colour.hpp"
#include "report/figure.hpp"
#include "report/layout.hpp"
#include "report/ruler.hpp"
#include "report/svg.hpp"

namespace flyball::report {
namespace {

using Vector = std::array<double, 3>;
constexpr std::size_t most_panels = 6;
constexpr std::size_t most_dots = 8000;  // about 100 kB
constexpr double radius = 98;

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// The zero vector when there is no direction.
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

// Right, up, and towards the viewer.
struct View {
    Vector right, up, towards;
};

// Where the last frame gathers is in front, a little off the centre; without such a place, a view from the side.
View make_view(const std::vector<const SphereFigure::Frame*>& frames) {
    Vector mean{};
    double count = 0;
    if (!frames.empty()) {
        for (const auto& point : frames.back()->points) {
            const Vector p = direction(point);
            count += dot(p, p);
            for (std::size_t k = 0; k < 3; ++k) {
                mean[k] += p[k];
            }
        }
    }
    const bool gathers = count > 0 && std::sqrt(dot(mean, mean)) > 0.2 * count;
    const Vector front = gathers ? direction(mean) : direction({0.8, -0.5, 0.35});
    const Vector pole = std::abs(front[2]) < 0.9 ? Vector{0, 0, 1} : Vector{0, 1, 0};
    const Vector side = direction(cross(pole, front));
    const Vector above = cross(front, side);
    View view;
    for (std::size_t k = 0; k < 3; ++k) {
        view.towards[k] = gathers ? front[k] + 0.35 * side[k] + 0.20 * above[k] : front[k];
    }
    view.towards = direction(view.towards);
    view.right = direction(cross(pole, view.towards));
    view.up = cross(view.towards, view.right);
    return view;
}

Point projected(const View& view, const Vector& p) {
    return {radius * dot(view.right, p), -radius * dot(view.up, p)};
}

// Meridians and circles of latitude; the half in front or the half behind.
std::string graticule(const View& view, bool front) {
    std::string path;
    const auto circle = [&](auto at) {
        constexpr int steps = 48;
        bool drawing = false;
        for (int i = 0; i <= steps; ++i) {
            const Vector p = at(2 * std::numbers::pi * i / steps);
            const bool visible = (dot(view.towards, p) >= 0) == front;
            if (visible) {
                const Point q = projected(view, p);
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

struct Dot {
    Point at;  // of its first point: means would fall on a grid
    std::size_t count = 0;
};
using Dots = std::map<std::tuple<bool, int, int>, Dot>;  // in front, column, row

// Points that fall into one square of `cell` pixels are one dot.
Dots gathered(const View& view, const SphereFigure::Frame& frame, double cell) {
    Dots dots;
    for (const auto& point : frame.points) {
        const Vector p = direction(point);
        if (dot(p, p) == 0) {
            continue;
        }
        const Point q = projected(view, p);
        Dot& found = dots[{dot(view.towards, p) >= 0, static_cast<int>(std::floor(q.x / cell)),
                           static_cast<int>(std::floor(q.y / cell))}];
        found.at = found.count == 0 ? q : found.at;
        found.count += 1;
    }
    return dots;
}

// Sizes for 1, a few, many and very many points in one place.
constexpr std::array<std::pair<double, double>, 4> sizes = {{{1, 1.0}, {2, 1.3}, {8, 1.7}, {32, 2.2}}};

// `usual` is the count of a dot that is nothing special.
std::string dots_svg(const Dots& dots, bool front, double diameter, double usual, const std::string& colour) {
    std::string out;
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        std::string path;
        for (const auto& [key, found] : dots) {
            const auto n = static_cast<double>(found.count);
            const bool reaches = s == 0 || n >= sizes[s].first * usual;
            const bool above = s + 1 < sizes.size() && n >= sizes[s + 1].first * usual;
            if (std::get<0>(key) == front && reaches && !above) {
                path += fmt::format("M{} {}h0", px(found.at.x), px(found.at.y));
            }
        }
        if (!path.empty()) {
            out += fmt::format(
                "<path d=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"{}\" "
                "stroke-linecap=\"round\" fill=\"none\"/>\n",
                path, colour, px(diameter * sizes[s].second * (front ? 1 : 0.85)), front ? "0.9" : "0.3");
        }
    }
    return out;
}

std::vector<const SphereFigure::Frame*> chosen(const SphereFigure& figure) {
    std::vector<const SphereFigure::Frame*> out;
    const std::size_t n = figure.frames.size();
    const std::size_t panels = std::min(n, most_panels);
    for (std::size_t i = 0; i < panels; ++i) {
        const std::size_t which = panels == 1 ? 0 : (2 * i * (n - 1) + (panels - 1)) / (2 * (panels - 1));  // rounded
        out.push_back(&figure.frames[which]);
    }
    return out;
}

}  // namespace

std::string to_svg(const SphereFigure& figure) {
    check(figure);
    const auto frames = chosen(figure);
    const View view = make_view(frames);
    const std::string colour = resolved({figure.colour, {}}, 0).colour;

    std::vector<Dots> dots(frames.size());
    std::size_t total = most_dots + 1;
    double cell = 0.8;
    while (total > most_dots) {
        cell *= 1.25;
        total = 0;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            dots[i] = gathered(view, *frames[i], cell);
            total += dots[i].size();
        }
    }
    std::size_t most_points = 0;
    std::size_t undirected = 0;
    bool gathers = false;
    for (const auto* frame : frames) {
        most_points = std::max(most_points, frame->points.size());
        undirected += static_cast<std::size_t>(std::count_if(frame->points.begin(), frame->points.end(),
                                                             [](const Vector& p) { return direction(p) == Vector{}; }));
    }
    // What evenly spread points would put into one square, front or back.
    const double even = static_cast<double>(most_points) * cell * cell / (2 * std::numbers::pi * radius * radius);
    const double usual = std::max(1.0, 2 * even);
    for (const Dots& panel : dots) {
        gathers = gathers || std::any_of(panel.begin(), panel.end(), [&](const auto& d) {
                      return static_cast<double>(d.second.count) >= sizes[1].first * usual;
                  });
    }
    const double diameter = most_points <= 64     ? 6.5
                            : most_points <= 300  ? 5
                            : most_points <= 1500 ? 3.4
                            : most_points <= 6000 ? 2.2
                                                  : 1.6;

    Page page(figure.title, fmt::format("{} points on the sphere at {} times.", most_points, frames.size()));
    const std::size_t columns = frames.size() == 4 ? 2 : std::clamp<std::size_t>(frames.size(), 1, 3);
    const double panel_width = (Page::width - 2 * Page::margin) / static_cast<double>(columns);
    const double panel_height = 2 * radius + 44;
    const std::string behind = graticule(view, false);
    const std::string before = graticule(view, true);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const double x = Page::margin + panel_width * (static_cast<double>(i % columns) + 0.5);
        const std::size_t row = i / columns;
        const double y = page.top() + 14 + panel_height * static_cast<double>(row);
        page.text(x, y + 8, "t = " + compact(frames[i]->t), Ink::strong, Anchor::middle, Page::label_size);
        page.raw(fmt::format("<g transform=\"translate({} {})\">\n", px(x), px(y + 22 + radius)));
        page.open_lines(Ink::grid, 0.7);
        page.raw(fmt::format("<path d=\"{}\" stroke-opacity=\"0.7\"/>\n</g>\n", behind));
        page.raw(dots_svg(dots[i], false, diameter, usual, colour));
        page.open_lines(Ink::grid, 1.1);
        page.raw(fmt::format("<path d=\"{}\"/>\n</g>\n", before));
        page.open_lines(Ink::axis, 1);
        page.raw(fmt::format("<circle r=\"{}\"/>\n</g>\n", px(radius)));
        page.raw(dots_svg(dots[i], true, diameter, usual, colour));
        page.raw("</g>\n");
    }
    const std::size_t rows = (frames.size() + columns - 1) / columns;
    double bottom = page.top() + 10 + panel_height * static_cast<double>(rows);
    if (frames.empty()) {
        page.text(Page::width / 2, page.top() + 40, "no data", Ink::muted, Anchor::middle, 13);
        bottom = page.top() + 60;
    }
    std::string note = gathers ? "Larger dots: several points in one place." : "";
    if (undirected > 0) {
        note += fmt::format("{}Not shown: {} points without a direction.", note.empty() ? "" : " ", undirected);
    }
    return page.finish(bottom, with_note(figure.caption, note));
}

}  // namespace flyball::report
