// The rectangle data is drawn in, and its axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/ruler.hpp"
#include "report/svg.hpp"

namespace flyball::report {

struct Plot {
    double left = 0, top = 0, width = 0, height = 0;
    Ruler x, y;
    std::vector<Tick> x_ticks, y_ticks;  // instead of the rulers' own, where labels have the room

    double right() const noexcept { return left + width; }
    double bottom() const noexcept { return top + height; }
    double at_x(double value) const noexcept { return left + width * x.at(value); }
    double at_y(double value) const noexcept { return top + height * (1 - y.at(value)); }
};

// Room the numbers of the y axis need, to the left of it; the plot's height and y must be set.
double y_axis_width(const Plot& plot);

// Numbers, ticks, grid and label; y's label stands above the axis. draw_x_axis returns where it ends.
double draw_x_axis(Page& page, const Plot& plot, std::string_view label, bool grid = true);
void draw_y_axis(Page& page, const Plot& plot, std::string_view label, bool grid = true);

// Room above the plot for the label of its y axis, which takes more than one line where it is long.
double y_label_height(const Page& page, std::string_view label);

// What is drawn between these does not leave the plot.
void open_clip(Page& page, const Plot& plot);
void close_clip(Page& page);

void say_no_data(Page& page, const Plot& plot);

}  // namespace flyball::report
