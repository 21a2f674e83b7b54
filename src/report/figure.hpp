// Figures as plain data, and the functions that turn them into SVG, CSV and files; PDF and PNG are pictures of the SVG.
//
// A figure holds numbers and words; ticks, labels and colours follow from them, size and fonts from a Sheet. The SVG is
// written here: no browser, LaTeX or Python. It carries light and dark colours (the viewer's preference decides, light
// where the viewer has none), a title and a description for screen readers, and stays below about 200 kB: lines are
// thinned to what a pixel shows, keeping the extremes. The CSV has every number as it was given.
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

// Lines of one colour, as of one scheme with several settings, get shades of it from dark to light, and different
// dashes where they have the same.
void tell_apart(std::vector<Series>& series);

enum class Format { svg, pdf, png };

// How figures are drawn and which files are written. A column of a paper: {84 mm wide, letters of 8 pt, no title}.
struct Sheet {
    static constexpr double usual_width = 560;  // pixels: on a phone of 390 the smallest letters are 9 pixels high
    static constexpr double usual_font = 14;    // pixels, of names and labels; numbers at ticks are a little smaller

    std::vector<Format> formats = {Format::svg};
    std::optional<double> width_px, width_mm;  // at most one of them; neither: usual_width
    double font_px = usual_font;
    bool titles = true;   // and captions: a paper has its own
    bool panels = false;  // a small plot for each line of a figure instead of one plot of all
};

enum class Scale { linear, log };

// Without min or max the axis spans the data.
struct Axis {
    std::string label;
    Scale scale = Scale::linear;
    std::optional<double> min, max;
};

// Lines, labelled at their ends where there is room beside them; otherwise with a legend below. Points that are few
// have markers. Where lines run on top of each other, the hidden ones show as dashes of a rope. A series of which no
// point can be drawn is named in the caption. Settings belong in the caption; '\n' starts a new line there.
struct LineFigure {
    std::string title;
    Axis x, y;
    std::vector<Series> series;
    std::string caption;
    bool names = true;  // of the lines, at their ends or in a legend
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
    // A boundary, such as a ratio of 1: the colours are those of either side of it, equally far to both, grey-white at
    // it.
    std::optional<double> centre = {};
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

// Directions on the unit sphere over time, a row of pictures for each run. Of one run up to six times are shown, of
// several up to four (of more frames, as many are taken evenly, the first and the last among them). All pictures share
// one view, chosen so that where the last frames gather is in front; what is behind is fainter. On the circle z is not
// looked at.
struct SphereFigure {
    struct Frame {
        double t = 0;
        std::vector<std::array<double, 3>> points;
    };
    struct Run {
        std::string name;
        std::string colour;
        std::vector<Frame> frames;
    };
    std::string title;
    std::vector<Run> runs;
    bool circle = false;
    std::string caption;
    std::optional<std::array<double, 3>> front = {};  // what is in front, where several figures are to share a view
};

// Where the last frames of the runs gather: the `front` of figures that share a view. Nothing where they do not.
std::optional<std::array<double, 3>> gathering_place(const std::vector<SphereFigure::Run>& runs);

// Several line figures on one page, row by row, `columns` of them side by side (fewer where they would be too narrow).
struct PanelFigure {
    std::string title;
    std::vector<LineFigure> panels;
    std::size_t columns = 2;
    std::string caption;
};

// A panel for each line, all with the same axes; the other lines stand behind it in grey.
PanelFigure in_panels(const LineFigure& figure);

std::string to_svg(const LineFigure& figure, const Sheet& sheet = {});
std::string to_svg(const HeatFigure& figure, const Sheet& sheet = {});
std::string to_svg(const BoxFigure& figure, const Sheet& sheet = {});
std::string to_svg(const SphereFigure& figure, const Sheet& sheet = {});
std::string to_svg(const PanelFigure& figure, const Sheet& sheet = {});

// One header line, then one line a point, cell, value or frame's point; numbers read back to the same bits.
//     LineFigure: series,x,y,lo,hi      HeatFigure: x,y,value
//     BoxFigure: group,kind,value       SphereFigure: run,t,point,x,y,z (without run where there is one)
//     PanelFigure: panel,series,x,y     and lo,hi where some panel has a band
std::string to_csv(const LineFigure& figure);
std::string to_csv(const HeatFigure& figure);
std::string to_csv(const BoxFigure& figure);
std::string to_csv(const SphereFigure& figure);
std::string to_csv(const PanelFigure& figure);

// Writes folder/name.csv, and folder/name.svg, .pdf and .png as the sheet says, each as a whole or not at all. The
// folder must exist. Returns the names of the files.
std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const LineFigure& figure, const Sheet& sheet = {});
std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const HeatFigure& figure, const Sheet& sheet = {});
std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const BoxFigure& figure, const Sheet& sheet = {});
std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const SphereFigure& figure, const Sheet& sheet = {});
std::vector<std::string> write_figure(const std::filesystem::path& folder, std::string_view name,
                                      const PanelFigure& figure, const Sheet& sheet = {});

}  // namespace flyball::report
