// Several line figures on one page: each is a picture of its own inside the page's.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "report/colour.hpp"
#include "report/curves.hpp"
#include "report/figure.hpp"
#include "report/svg.hpp"

namespace flyball::report {

namespace {

constexpr double narrowest = 240;  // in units of the page
constexpr std::string_view opening = "<svg ";

// As Page::finish writes it.
double height_of(const std::string& svg) {
    constexpr std::string_view attribute = " height=\"";
    const std::size_t at = svg.find(attribute) + attribute.size();
    double height = 0;
    std::from_chars(svg.data() + at, svg.data() + svg.size(), height);
    return height;
}

std::string placed(const std::string& svg, double x, double y) {
    assert(svg.starts_with(opening));
    return fmt::format("<svg x=\"{}\" y=\"{}\" {}", px(x), px(y), svg.substr(opening.size()));
}

// A sheet of so many units, one a pixel. Panels keep their titles: they say which is which.
Sheet inner_sheet(double width, bool titles) {
    Sheet sheet;
    sheet.width_px = width;
    sheet.titles = titles;
    return sheet;
}

}  // namespace

PanelFigure in_panels(const LineFigure& figure) {
    constexpr const char* behind = "#c4c8ce";
    PanelFigure page{figure.title, {}, 2, figure.caption};
    const auto [x, y] = rulers(figure);
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
        LineFigure panel{figure.series[i].name, figure.x, figure.y, {}, ""};
        panel.x.min = x.lo;
        panel.x.max = x.hi;
        panel.y.min = y.lo;
        panel.y.max = y.hi;
        panel.names = false;
        for (std::size_t k = 0; k < figure.series.size(); ++k) {
            if (k != i) {
                Series other = figure.series[k];
                other.style = {behind, ""};
                other.lo.clear();
                other.hi.clear();
                panel.series.push_back(std::move(other));
            }
        }
        panel.series.push_back(figure.series[i]);
        panel.series.back().style = resolved(figure.series[i].style, i);
        page.panels.push_back(std::move(panel));
    }
    return page;
}

std::string to_svg(const PanelFigure& figure, const Sheet& sheet) {
    const double width = Page::width_on(sheet);
    const auto fitting = static_cast<std::size_t>(std::max(1.0, std::floor(width / narrowest)));
    const std::size_t columns = std::max<std::size_t>(1, std::min({figure.columns, figure.panels.size(), fitting}));
    const double each = std::floor(width / static_cast<double>(columns));
    std::string description = "A page of figures.";
    for (const LineFigure& panel : figure.panels) {
        description += " " + panel.title + ".";
    }
    const Page head(inner_sheet(width, sheet.titles), figure.title, description);
    const std::string heading = head.finish(head.top(), figure.caption);
    std::string body = placed(heading, 0, 0);
    double top = height_of(heading);
    for (std::size_t i = 0; i < figure.panels.size(); i += columns) {
        double tallest = 0;
        for (std::size_t k = i; k < std::min(i + columns, figure.panels.size()); ++k) {
            const std::string panel = to_svg(figure.panels[k], inner_sheet(each, true));
            body += placed(panel, each * static_cast<double>(k - i), top);
            tallest = std::max(tallest, height_of(panel));
        }
        top += tallest;
    }
    return Page::opening(sheet, top, figure.title, description, "") + body + "</svg>\n";
}

}  // namespace flyball::report
