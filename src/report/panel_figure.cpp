// Several line figures on one page: each is a picture of its own inside the page's.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "report/figure.hpp"
#include "report/svg.hpp"

namespace flyball::report {

namespace {

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

}  // namespace

std::string to_svg(const PanelFigure& figure) {
    const std::size_t columns = std::max<std::size_t>(1, std::min(figure.columns, figure.panels.size()));
    std::string description = "A page of figures.";
    for (const LineFigure& panel : figure.panels) {
        description += " " + panel.title + ".";
    }
    const Page head(figure.title, description);
    const std::string heading = head.finish(head.top(), figure.caption);
    std::string body = placed(heading, 0, 0);
    double top = height_of(heading);
    for (std::size_t i = 0; i < figure.panels.size(); i += columns) {
        double tallest = 0;
        for (std::size_t k = i; k < std::min(i + columns, figure.panels.size()); ++k) {
            const std::string panel = to_svg(figure.panels[k]);
            body += placed(panel, Page::width * static_cast<double>(k - i), top);
            tallest = std::max(tallest, height_of(panel));
        }
        top += tallest;
    }
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flyball\" role=\"img\" width=\"{0}\" height=\"{1}\" "
               "viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n<desc>{3}</desc>\n<rect {4} width=\"{0}\" "
               "height=\"{1}\"/>\n",
               px(Page::width * static_cast<double>(columns)), px(top), escape(figure.title), escape(description),
               Page::fill(Ink::paper)) +
           body + "</svg>\n";
}

}  // namespace flyball::report
