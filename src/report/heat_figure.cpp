#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "report/checks.hpp"
#include "report/colour.hpp"
#include "report/figure.hpp"
#include "report/plot.hpp"

namespace flyball::report {
namespace {

constexpr double shape = 0.6;       // of the plot: height over width
constexpr double bar_room = 96;     // to the right of it
constexpr double most_cells = 400;  // along an axis
constexpr std::size_t most_bytes = 180'000;
constexpr std::string_view grey = "#9aa0a8";

double forward(Scale scale, double v) {
    return scale == Scale::log ? std::log(v) : v;
}

double backward(Scale scale, double v) {
    return scale == Scale::log ? std::exp(v) : v;
}

// n + 1 edges around n centres, half-way between them on the axis as drawn.
std::vector<double> edges_of(const std::vector<double>& centres, Scale scale) {
    const std::size_t n = centres.size();
    const auto at = [&](std::size_t i) { return forward(scale, centres[i]); };
    std::vector<double> edges(n + 1);
    if (n == 1) {
        const double half = scale == Scale::log ? std::log(2.0) / 2 : std::max(0.5, 0.1 * std::abs(centres[0]));
        edges = {at(0) - half, at(0) + half};
    } else {
        for (std::size_t i = 1; i < n; ++i) {
            edges[i] = at(i - 1) + (at(i) - at(i - 1)) / 2;
        }
        edges[0] = at(0) - (edges[1] - at(0));
        edges[n] = at(n - 1) + (at(n - 1) - edges[n - 1]);
    }
    for (double& edge : edges) {
        edge = backward(scale, edge);
    }
    return edges;
}

Ruler spanning(const std::vector<double>& edges, Axis axis) {
    axis.min.reset();
    axis.max.reset();
    Extent extent;
    for (const double edge : edges) {
        extent.add(axis.scale, edge);
    }
    return make_ruler(axis, extent, 0);
}

// Few cells are numbered one by one.
std::vector<Tick> centre_ticks(const std::vector<double>& centres) {
    std::vector<Tick> out;
    for (std::size_t i = 0; i < centres.size() && centres.size() <= 16; ++i) {
        out.push_back({centres[i], compact(centres[i], 4)});
    }
    return out;
}

// Whole pixels, so that neighbours neither overlap nor leave a seam.
std::vector<int> pixels(const std::vector<double>& edges, std::size_t block, auto position) {
    std::vector<int> out;
    for (std::size_t i = 0; i + 1 < edges.size(); i += block) {
        out.push_back(static_cast<int>(std::lround(position(edges[i]))));
    }
    out.push_back(static_cast<int>(std::lround(position(edges.back()))));
    return out;
}

Colour colour_of(const HeatFigure& figure, double share) {
    return figure.centre ? side_colour(share) : heat_colour(share);
}

// Around a centre both sides are equally long, so that its place is the middle of the colours.
Ruler colour_ruler(const HeatFigure& figure, const Extent& extent) {
    const Ruler found = make_ruler(figure.colour, extent, 0);
    if (!figure.centre) {
        return found;
    }
    const Scale scale = figure.colour.scale;
    const double middle = forward(scale, *figure.centre);
    const double reach =
        std::max(std::abs(forward(scale, found.hi) - middle), std::abs(forward(scale, found.lo) - middle));
    Axis axis = figure.colour;
    axis.min = backward(scale, middle - reach);
    axis.max = backward(scale, middle + reach);
    return make_ruler(axis, extent, 0);
}

// Mean on the colour scale of the values in a block; NaN when there is none.
double block_share(const HeatFigure& figure, const Ruler& colour, std::size_t row, std::size_t column,
                   std::size_t block) {
    const std::size_t nx = figure.x_values.size();
    double sum = 0;
    double count = 0;
    for (std::size_t i = row; i < std::min(row + block, figure.y_values.size()); ++i) {
        for (std::size_t j = column; j < std::min(column + block, nx); ++j) {
            const double value = figure.values[i * nx + j];
            if (drawable(colour.scale, value)) {
                sum += std::clamp(colour.at(value), 0.0, 1.0);
                count += 1;
            }
        }
    }
    return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

// Cells of one colour are one path of strokes as thick as the row is high.
std::string cells(const HeatFigure& figure, const Plot& plot, const Ruler& colour, std::size_t block) {
    const auto x = pixels(edges_of(figure.x_values, figure.x.scale), block, [&](double v) { return plot.at_x(v); });
    const auto y = pixels(edges_of(figure.y_values, figure.y.scale), block, [&](double v) { return plot.at_y(v); });
    std::map<std::pair<int, std::string>, std::string> paths;
    for (std::size_t i = 0; i + 1 < y.size(); ++i) {
        const int height = std::max(1, std::abs(y[i + 1] - y[i]));
        const std::string middle = px((y[i] + y[i + 1]) / 2.0);
        std::string current;
        int start = x[0];
        for (std::size_t j = 0; j < x.size(); ++j) {
            std::string next;
            if (j + 1 < x.size()) {
                const double share = block_share(figure, colour, i * block, j * block, block);
                next = std::isnan(share) ? std::string(grey) : to_hex(colour_of(figure, share));
            }
            if (next != current) {
                if (!current.empty()) {
                    paths[{height, current}] += fmt::format("M{} {}h{}", start, middle, x[j] - start);
                }
                current = next;
                start = x[j];
            }
        }
    }
    std::string out = "<g fill=\"none\" shape-rendering=\"crispEdges\">\n";
    for (const auto& [key, path] : paths) {
        out += fmt::format("<path stroke=\"{}\" stroke-width=\"{}\" d=\"{}\"/>\n", key.second, key.first, path);
    }
    return out + "</g>\n";
}

std::vector<std::string> bar_label_lines(const Page& page, const HeatFigure& figure) {
    return wrapped(figure.colour.label, page.width() - 2 * Page::margin, Page::label_size);
}

// The label stands above the plot, on lines of its own, and ends above the bar.
void draw_colour_bar(Page& page, const Plot& plot, const Ruler& colour, const HeatFigure& figure) {
    constexpr int steps = 100;
    const double bar_width = 14;
    Plot bar = plot;
    bar.left = plot.right() + 18;
    bar.width = bar_width;
    bar.y = colour;
    page.raw("<g shape-rendering=\"crispEdges\">\n");
    for (int i = 0; i < steps; ++i) {
        const double top = std::round(bar.bottom() - bar.height * (i + 1) / steps);
        const double bottom = std::round(bar.bottom() - bar.height * i / steps);
        page.raw(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", px(bar.left),
                             px(top), px(bar_width), px(bottom - top), to_hex(colour_of(figure, (i + 0.5) / steps))));
    }
    page.raw("</g>\n");
    std::string marks;
    for (const Tick& tick : colour.ticks(std::max(2, static_cast<int>(bar.height / 40)))) {
        const double y = bar.at_y(tick.value);
        marks += fmt::format("M{} {}h{}", px(bar.right()), px(y), tick.label.empty() ? 3 : 5);
        page.text(bar.right() + 9, y + 4.5, tick.label, Ink::muted, Anchor::start, Page::tick_size);
    }
    page.open_lines(Ink::axis, 1);
    page.raw("<path d=\"" + marks + "\"/>\n</g>\n");
    const auto names = bar_label_lines(page, figure);
    for (std::size_t i = 0; i < names.size(); ++i) {
        page.text(page.width() - Page::margin, page.top() + Page::line * static_cast<double>(i + 1) - 1, names[i],
                  Ink::strong, Anchor::end, Page::label_size);
    }
}

std::string note(const HeatFigure& figure, std::size_t block) {
    const auto missing = std::count_if(figure.values.begin(), figure.values.end(),
                                       [&](double v) { return !drawable(figure.colour.scale, v); });
    std::string out;
    if (missing > 0) {
        out = fmt::format("Grey: no {} value ({} of {} cells).",
                          figure.colour.scale == Scale::log ? "positive finite" : "finite", missing,
                          figure.values.size());
    }
    if (block > 1) {
        out += fmt::format("{}Drawn as means of {} × {} cells.", out.empty() ? "" : " ", block, block);
    }
    return out;
}

}  // namespace

std::string to_svg(const HeatFigure& figure, const Sheet& sheet) {
    check(figure);
    Extent extent;
    for (const double value : figure.values) {
        extent.add(figure.colour.scale, value);
    }
    const Ruler colour = colour_ruler(figure, extent);
    Page page(
        sheet, figure.title,
        fmt::format("Heat map of {} over {} and {}: {} rows of {} cells, values from {} to {}.", figure.colour.label,
                    figure.x.label, figure.y.label, figure.y_values.size(), figure.x_values.size(),
                    extent.empty() ? "none" : compact(extent.lo), extent.empty() ? "none" : compact(extent.hi)));
    const bool empty = figure.values.empty();
    Plot plot;
    plot.x = empty ? make_ruler(figure.x, {}, 0) : spanning(edges_of(figure.x_values, figure.x.scale), figure.x);
    plot.y = empty ? make_ruler(figure.y, {}, 0) : spanning(edges_of(figure.y_values, figure.y.scale), figure.y);
    plot.x_ticks = centre_ticks(figure.x_values);
    plot.y_ticks = centre_ticks(figure.y_values);
    plot.top = std::round(page.top() + y_label_height(page, figure.y.label) +
                          Page::line * static_cast<double>(bar_label_lines(page, figure).size()));
    plot.height = std::round(shape * page.width());
    plot.left = std::round(Page::margin + y_axis_width(plot));
    plot.width = std::round(page.width() - plot.left - bar_room);

    std::size_t block = 1;
    if (!empty) {
        const auto most = static_cast<double>(std::max(figure.x_values.size(), figure.y_values.size()));
        block = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(most / most_cells)));
        std::string drawn = cells(figure, plot, colour, block);
        while (drawn.size() > most_bytes) {
            drawn = cells(figure, plot, colour, ++block);
        }
        page.raw(drawn);
    }
    draw_y_axis(page, plot, figure.y.label, empty);
    const double bottom = draw_x_axis(page, plot, figure.x.label, empty);
    if (empty) {
        say_no_data(page, plot);
    }
    draw_colour_bar(page, plot, colour, figure);
    return page.finish(bottom, with_note(figure.caption, note(figure, block)));
}

}  // namespace flyball::report
