#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/checks.hpp"
#include "report/curves.hpp"
#include "report/figure.hpp"
#include "report/layout.hpp"
#include "report/plot.hpp"
#include "report/ropes.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

constexpr double line_shape = 0.56;  // of the plot: height over the page's width
constexpr double lowest_plot = 170;
constexpr double narrow = 360;         // a page on which names beside the plot would take too much of it
constexpr double widest_label = 0.28;  // share of the page; wider names go into a legend below
constexpr double farthest_label = 20;  // from the end of its line; farther ones would fan out
constexpr double sample_width = 26;    // of a line in the legend
constexpr double room_of_a_marker = 14;
constexpr double stroke = 2;

void draw_bands(Page& page, const Curve& curve) {
    std::string path;
    for (const Band& band : curve.bands) {
        if (band.size() < 2) {
            continue;
        }
        path += 'M';
        for (const Slice& slice : band) {
            path += px(slice.x) + ' ' + px(slice.lo) + ' ';
        }
        for (auto slice = band.rbegin(); slice != band.rend(); ++slice) {
            path += px(slice->x) + ' ' + px(slice->hi) + ' ';
        }
        path.back() = 'z';
    }
    if (!path.empty()) {
        page.raw(fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.16\"/>\n", path, curve.style.colour));
    }
}

std::string dash_attribute(const std::string& dash) {
    return dash.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash);
}

std::size_t points_of(const Curve& curve) {
    std::size_t points = 0;
    for (const Stretch& run : curve.runs) {
        points += run.size();
    }
    return points;
}

// Points that are few are marked: the line between them was not measured. The ends of a straight line need no marks.
bool is_marked(const Curve& curve, const Plot& plot) {
    const std::size_t points = points_of(curve);
    return points > 2 && static_cast<double>(points) * room_of_a_marker <= plot.width;
}

std::string path_of(const Stretch& points) {
    std::string path = "M";
    for (const Point& point : points) {
        path += px(point.x) + ' ' + px(point.y) + ' ';
    }
    path.pop_back();
    return path;
}

// Points alone between gaps are dots.
void draw_line(Page& page, const Curve& curve, bool marked) {
    std::string lines;
    std::string dots;
    for (const Stretch& run : curve.runs) {
        lines += run.size() > 1 ? path_of(run) : std::string();
        for (std::size_t i = 0; (marked || run.size() == 1) && i < run.size(); ++i) {
            dots += fmt::format("M{} {}h0", px(run[i].x), px(run[i].y));
        }
    }
    page.raw(fmt::format("<g stroke=\"{}\" fill=\"none\" stroke-linejoin=\"round\"><title>{}</title>\n",
                         curve.style.colour, escape(curve.series->name)));
    if (!lines.empty()) {
        page.raw(fmt::format("<path d=\"{}\" stroke-width=\"{}\"{}/>\n", lines, px(stroke),
                             dash_attribute(curve.style.dash)));
    }
    if (!dots.empty()) {
        page.raw(fmt::format("<path d=\"{}\" stroke-width=\"5.5\" stroke-linecap=\"round\"/>\n", dots));
    }
    page.raw("</g>\n");
}

void draw_strands(Page& page, const std::vector<Curve>& curves, const Plot& plot) {
    for (const Strand& strand : strands(curves, plot)) {
        const double period = strand_dash + strand.gap;
        page.raw(
            fmt::format("<path d=\"{}\" class=\"strand\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
                        "stroke-dasharray=\"{} {}\" stroke-dashoffset=\"{}\"/>\n",
                        path_of(strand.points), curves[strand.curve].style.colour, px(stroke + 0.2), px(strand_dash),
                        px(strand.gap), px(period - strand.before)));
    }
}

void draw_sample(Page& page, const Curve& curve, bool marked, double x, double y) {
    page.raw(fmt::format("<path d=\"M{} {}h{}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", px(x), px(y),
                         px(sample_width), curve.style.colour, px(stroke), dash_attribute(curve.style.dash)));
    if (marked) {
        page.raw(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"2.75\" fill=\"{}\"/>\n", px(x + sample_width / 2), px(y),
                             curve.style.colour));
    }
}

// Where lines end together, their labels stand in the order of the lines before that.
std::vector<const Curve*> by_height(const std::vector<Curve>& curves) {
    std::vector<const Curve*> order;
    std::vector<std::pair<double, double>> keys(curves.size());
    for (const Curve& curve : curves) {
        if (curve.empty()) {
            continue;
        }
        order.push_back(&curve);
        double sum = 0;
        double count = 0;
        for (const Stretch& run : curve.runs) {
            for (const Point& point : run) {
                sum += point.y;
                count += 1;
            }
        }
        keys[static_cast<std::size_t>(&curve - curves.data())] = {std::round(curve.end.y / 3), sum / count};
    }
    const auto key = [&](const Curve* curve) { return keys[static_cast<std::size_t>(curve - curves.data())]; };
    std::stable_sort(order.begin(), order.end(), [&](const Curve* a, const Curve* b) { return key(a) < key(b); });
    return order;
}

// Labels to the right of the plot, each at the end of its line as far as others let it.
struct Labels {
    std::vector<const Curve*> order;
    std::vector<double> placed;
};
Labels place_labels(const Plot& plot, const std::vector<Curve>& curves) {
    Labels labels{by_height(curves), {}};
    std::vector<double> wanted;
    for (const Curve* curve : labels.order) {
        // Never above the one before it: the order is that of the lines.
        wanted.push_back(wanted.empty() ? curve->end.y : std::max(wanted.back(), curve->end.y));
    }
    labels.placed = pushed_apart(wanted, Page::line, plot.top - 4, plot.bottom() + 4);
    return labels;
}

// Every label stands beside the end of its line, at the right edge: nobody has to follow a leader.
bool stand_at_the_ends(const Plot& plot, const Labels& labels) {
    for (std::size_t i = 0; i < labels.order.size(); ++i) {
        const Curve& curve = *labels.order[i];
        if (curve.leaves || curve.end.x < plot.right() - 3 ||
            std::abs(labels.placed[i] - curve.end.y) > farthest_label) {
            return false;
        }
    }
    return true;
}

void draw_labels(Page& page, const Plot& plot, const Labels& labels) {
    const bool samples = std::any_of(labels.order.begin(), labels.order.end(),
                                     [](const Curve* curve) { return !curve->style.dash.empty(); });
    for (std::size_t i = 0; i < labels.order.size(); ++i) {
        const Curve& curve = *labels.order[i];
        const double x = plot.right() + 16;
        const double y = labels.placed[i];
        if (std::abs(y - curve.end.y) > 1) {
            page.raw(
                fmt::format("<path d=\"M{} {}L{} {}h3\" fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\" "
                            "stroke-opacity=\"0.6\"/>\n",
                            px(plot.right() + 2), px(curve.end.y), px(x - 5), px(y), curve.style.colour));
        }
        if (samples) {
            draw_sample(page, curve, false, x, y);
        }
        page.text(x + (samples ? sample_width + 5 : 0), y + 4.5, clean(curve.series->name), curve.style.colour,
                  Anchor::start, Page::label_size);
    }
}

// Below the plot, column by column. Returns where it ends.
double draw_legend(Page& page, const Plot& plot, const std::vector<Curve>& curves, double top) {
    std::vector<const Curve*> shown;
    double widest = 0;
    for (const Curve& curve : curves) {
        if (!curve.empty()) {
            shown.push_back(&curve);
            widest = std::max(widest, text_width(curve.series->name, Page::label_size));
        }
    }
    const double available = page.width() - 2 * Page::margin;
    const double room = available - sample_width - 6;
    const double column = std::min(widest, room) + sample_width + 18;
    const std::size_t columns = std::max<std::size_t>(1, static_cast<std::size_t>((available + 12) / column));
    const std::size_t rows = (shown.size() + columns - 1) / columns;
    double y = top + 14;
    std::vector<std::size_t> lines_of(rows, 1);  // a name may take several lines, and its row with it
    for (std::size_t i = 0; i < shown.size(); ++i) {
        lines_of[i % rows] =
            std::max(lines_of[i % rows], wrapped(shown[i]->series->name, room, Page::label_size).size());
    }
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = row; i < shown.size(); i += rows) {
            const std::size_t place = i / rows;
            const double x = Page::margin + static_cast<double>(place) * (available / static_cast<double>(columns));
            draw_sample(page, *shown[i], is_marked(*shown[i], plot), x, y);
            const auto names = wrapped(shown[i]->series->name, room, Page::label_size);
            for (std::size_t k = 0; k < names.size(); ++k) {
                page.text(x + sample_width + 6, y + 4.5 + Page::line * static_cast<double>(k), names[k],
                          shown[i]->style.colour, Anchor::start, Page::label_size);
            }
        }
        y += Page::line * static_cast<double>(lines_of[row]) + 2;
    }
    return y - 2;
}

std::string description(const LineFigure& figure) {
    std::string out = fmt::format("Lines of {} against {}.", figure.y.label, figure.x.label);
    for (const Series& series : figure.series) {
        std::size_t last = series.x.size();
        while (last > 0 && !has_point(figure, series, last - 1)) {
            --last;
        }
        if (last > 0 && out.size() < 1000) {
            out += fmt::format(" {} ends at {}, {}.", series.name, compact(series.x[last - 1]),
                               compact(series.y[last - 1]));
        }
    }
    return out;
}

}  // namespace

std::string to_svg(const LineFigure& figure, const Sheet& sheet) {
    check(figure);
    Page page(sheet, figure.title, description(figure));
    Plot plot;
    std::tie(plot.x, plot.y) = rulers(figure);
    plot.top = page.top() + y_label_height(page, figure.y.label);
    plot.height = std::max(lowest_plot, std::round(line_shape * page.width()));
    plot.left = Page::margin + y_axis_width(plot);
    const double room = page.width() - Page::margin - plot.left;

    bool any_shown = false;
    std::vector<std::string> missing;
    double label_width = 0;
    for (const Series& series : figure.series) {
        bool any = false;
        for (std::size_t i = 0; i < series.x.size() && !any; ++i) {
            any = has_point(figure, series, i);
        }
        any_shown = any_shown || any;
        if (any) {
            label_width = std::max(label_width, text_width(series.name, Page::label_size));
        } else {
            missing.push_back(series.name);
        }
    }
    plot.width = std::max(0.3 * room, room - label_width - 20 - sample_width);
    auto curves = make_curves(figure, plot);
    const Labels labels = place_labels(plot, curves);
    const bool direct = any_shown && figure.names && page.width() >= narrow &&
                        label_width <= widest_label * page.width() && stand_at_the_ends(plot, labels);
    if (!direct) {
        plot.width = room - 8;
        curves = make_curves(figure, plot);
    }

    draw_y_axis(page, plot, figure.y.label);
    double bottom = draw_x_axis(page, plot, figure.x.label);
    open_clip(page, plot);
    for (const Curve& curve : curves) {
        draw_bands(page, curve);
    }
    for (const Curve& curve : curves) {
        if (!curve.empty()) {
            draw_line(page, curve, is_marked(curve, plot));
        }
    }
    draw_strands(page, curves, plot);
    close_clip(page);
    if (!any_shown) {
        say_no_data(page, plot);
    } else if (direct) {
        draw_labels(page, plot, labels);
    } else if (figure.names) {
        bottom = draw_legend(page, plot, curves, bottom);
    }
    return page.finish(bottom, with_note(figure.caption, not_shown(missing)));
}

}  // namespace flyball::report
