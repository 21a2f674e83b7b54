// Figures as plain data, and the functions that turn them into SVG, CSV and files.
//
// A figure holds numbers and words; size, ticks, labels and colours follow from them. The SVG is written here: no
// browser, LaTeX or Python. It carries light and dark colours (the viewer's preference decides, light where the viewer
// has none), a title and a description for screen readers, and stays below about 200 kB: lines are thinned to what a
// pixel shows, keeping the extremes. The CSV has every number as it was given.
//
// Promises: the same figure gives the same bytes, whatever the locale; every text is escaped; a value that cannot be
// drawn (NaN, infinite, or not positive on a log axis) is a gap; a figure without data is a picture that says so. Bad
// figures (lengths that differ, an empty axis range, a colour that is not #rrggbb) throw Error.
// Not here: interaction, legends placed by hand, and anything that prints. Text for the terminal: report/text.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::report {

// Colour "#rrggbb" and dash pattern "6 2", as in the catalogue of schemes. An empty colour: the next one of our own.
struct Style {
    std::string colour;
    std::string dash;
};

struct Series {
    std::string name;
    std::vector<double> x, y;
    std::vector<double> lo, hi;  // a band around the line; both empty, or both as long as y
    Style style;
};

// Lines of one colour and dash get different dashes: the same scheme with several settings.
void tell_apart(std::vector<Series>& series);

enum class Scale { linear, log };

// Without min or max the axis spans the data.
struct Axis {
    std::string label;
    Scale scale = Scale::linear;
    std::optional<double> min, max;
};

// Lines, labelled at their ends; with a legend below when there are too many. A series of which no point can be drawn
// is named in the caption. Settings belong in the caption; '\n' starts a new line there.
struct LineFigure {
    std::string title;
    Axis x, y;
    std::vector<Series> series;
    std::string caption;
};

// Cell (row i, column j) is values[i * x_values.size() + j], centred at x_values[j], y_values[i]. Centres strictly
// increase or strictly decrease; larger y is higher. The range of the colours is colour.min, colour.max. A cell without
// a finite value (on a log scale: a positive one) is grey. Too many cells for the file are drawn as means of blocks.
struct HeatFigure {
    std::string title;
    Axis x, y;
    std::vector<double> x_values, y_values;
    std::vector<double> values;
    Axis colour;
    std::string caption;
};

// One row a group. Either the values (quartiles, whiskers to the last value within 1.5 quartile distances, the rest as
// points) or minimum, lower quartile, median, upper quartile, maximum. Marks, such as bounds, are lines across a row;
// of the same label they look the same, and a line below the axis says which is which.
struct BoxFigure {
    struct Mark {
        std::string label;
        double value = 0;
    };
    struct Group {
        std::string label;
        std::vector<double> values;
        std::optional<std::array<double, 5>> five;
        Style style;
        std::vector<Mark> marks = {};
    };
    std::string title;
    Axis axis;
    std::vector<Group> groups;
    std::string caption;
};

// Directions on the unit sphere at up to six times (of more frames, six are taken evenly, the first and the last among
// them). All panels share one view, chosen so that where the last frame gathers is in front; what is behind is fainter.
struct SphereFigure {
    struct Frame {
        double t = 0;
        std::vector<std::array<double, 3>> points;
    };
    std::string title;
    std::vector<Frame> frames;
    std::string colour;
    std::string caption;
};

// Several line figures on one page, row by row, `columns` of them side by side.
struct PanelFigure {
    std::string title;
    std::vector<LineFigure> panels;
    std::size_t columns = 2;
    std::string caption;
};

std::string to_svg(const LineFigure& figure);
std::string to_svg(const HeatFigure& figure);
std::string to_svg(const BoxFigure& figure);
std::string to_svg(const SphereFigure& figure);
std::string to_svg(const PanelFigure& figure);

// One header line, then one line a point, cell, value or frame's point; numbers read back to the same bits.
//     LineFigure: series,x,y,lo,hi      HeatFigure: x,y,value
//     BoxFigure: group,kind,value       SphereFigure: t,point,x,y,z
//     PanelFigure: panel,series,x,y     (a panel's bands are in the figure of its own)
std::string to_csv(const LineFigure& figure);
std::string to_csv(const HeatFigure& figure);
std::string to_csv(const BoxFigure& figure);
std::string to_csv(const SphereFigure& figure);
std::string to_csv(const PanelFigure& figure);

// Writes folder/name.csv and folder/name.svg, each as a whole or not at all. The folder must exist.
void write_figure(const std::filesystem::path& folder, std::string_view name, const LineFigure& figure);
void write_figure(const std::filesystem::path& folder, std::string_view name, const HeatFigure& figure);
void write_figure(const std::filesystem::path& folder, std::string_view name, const BoxFigure& figure);
void write_figure(const std::filesystem::path& folder, std::string_view name, const SphereFigure& figure);
void write_figure(const std::filesystem::path& folder, std::string_view name, const PanelFigure& figure);

}  // namespace flyball::report
