#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/checks.hpp"
#include "report/curves.hpp"
#include "report/figure.hpp"
#include "report/layout.hpp"
#include "report/plot.hpp"
#include "report/utf8.hpp"

namespace flyball::report {
namespace {

constexpr double plot_height = 340;
constexpr double label_gap = 15;      // between the baselines of labels
constexpr double widest_label = 190;  // wider names go into a legend below
constexpr double longest_leader = 90;
constexpr double sample_width = 18;  // of a line in the legend

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

// Points alone between gaps are dots.
void draw_line(Page& page, const Curve& curve) {
    std::string lines;
    std::string dots;
    for (const Stretch& run : curve.runs) {
        if (run.size() == 1) {
            dots += fmt::format("M{} {}h0", px(run[0].x), px(run[0].y));
            continue;
        }
        lines += 'M';
        for (const Point& point : run) {
            lines += px(point.x) + ' ' + px(point.y) + ' ';
        }
        lines.pop_back();
    }
    page.raw(fmt::format("<g stroke=\"{}\" fill=\"none\" stroke-linejoin=\"round\"><title>{}</title>\n",
                         curve.style.colour, escape(curve.series->name)));
    if (!lines.empty()) {
        page.raw(fmt::format("<path d=\"{}\" stroke-width=\"1.8\"{}/>\n", lines, dash_attribute(curve.style.dash)));
    }
    if (!dots.empty()) {
        page.raw(fmt::format("<path d=\"{}\" stroke-width=\"4.5\" stroke-linecap=\"round\"/>\n", dots));
    }
    page.raw("</g>\n");
}

void draw_sample(Page& page, const Style& style, double x, double y) {
    page.raw(fmt::format("<path d=\"M{} {}h{}\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", px(x), px(y),
                         px(sample_width), style.colour, dash_attribute(style.dash)));
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

void draw_labels(Page& page, const Plot& plot, const std::vector<Curve>& curves) {
    const auto order = by_height(curves);
    std::vector<double> wanted;
    wanted.reserve(order.size());
    for (const Curve* curve : order) {
        // Never above the one before it: the order is that of the lines.
        wanted.push_back(wanted.empty() ? curve->end.y : std::max(wanted.back(), curve->end.y));
    }
    const auto placed = pushed_apart(wanted, label_gap, plot.top - 4, plot.bottom() + 4);
    // Where a leader cannot tell which line is meant, a piece of the line stands before the name.
    bool samples = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
        samples = samples || !order[i]->style.dash.empty() || order[i]->leaves ||
                  std::abs(placed[i] - order[i]->end.y) > longest_leader;
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Curve& curve = *order[i];
        const double x = plot.right() + 16;
        const bool ends_early = curve.end.x < plot.right() - 3;
        const double moved = std::abs(placed[i] - curve.end.y);
        if (ends_early && !curve.leaves) {
            page.raw(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"2.6\" fill=\"{}\"/>\n", px(curve.end.x),
                                 px(curve.end.y), curve.style.colour));
        }
        const bool leads = !curve.leaves && moved <= longest_leader && (ends_early || moved > 1);
        if (leads) {
            page.raw(
                fmt::format("<path d=\"M{} {}H{}L{} {}h3\" fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\" "
                            "stroke-opacity=\"0.6\"{}/>\n",
                            px(curve.end.x + (ends_early ? 4 : 2)), px(curve.end.y), px(plot.right() + 2), px(x - 5),
                            px(placed[i]), curve.style.colour, ends_early ? " stroke-dasharray=\"1 3\"" : ""));
        }
        if (samples) {
            draw_sample(page, curve.style, x, placed[i]);
        }
        page.text(x + (samples ? sample_width + 5 : 0), placed[i] + 4, clean(curve.series->name), curve.style.colour,
                  Anchor::start, Page::label_size);
    }
}

// Below the plot, column by column. Returns where it ends.
double draw_legend(Page& page, const std::vector<Curve>& curves, double top) {
    std::vector<const Curve*> shown;
    double widest = 0;
    for (const Curve& curve : curves) {
        if (!curve.empty()) {
            shown.push_back(&curve);
            widest = std::max(widest, text_width(curve.series->name, Page::label_size));
        }
    }
    const double available = Page::width - 2 * Page::margin;
    const double column = std::min(widest, available - 40) + sample_width + 24;
    const std::size_t columns = std::max<std::size_t>(1, static_cast<std::size_t>(available / column));
    const std::size_t rows = (shown.size() + columns - 1) / columns;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::size_t in_column = i / rows;
        const double x = Page::margin + static_cast<double>(in_column) * (available / static_cast<double>(columns));
        const double y = top + 14 + static_cast<double>(i % rows) * 17;
        draw_sample(page, shown[i]->style, x, y);
        page.text(x + sample_width + 6, y + 4, fitted(shown[i]->series->name, available - 40, Page::label_size),
                  shown[i]->style.colour, Anchor::start, Page::label_size);
    }
    return top + 12 + static_cast<double>(rows) * 17;
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

std::string to_svg(const LineFigure& figure) {
    check(figure);
    Page page(figure.title, description(figure));
    Plot plot;
    std::tie(plot.x, plot.y) = rulers(figure);
    plot.top = page.top() + y_label_height(figure.y.label);
    plot.height = plot_height;
    plot.left = Page::margin + y_axis_width(plot);

    std::vector<const Series*> shown;
    std::vector<std::string> missing;
    double label_width = 0;
    for (const Series& series : figure.series) {
        bool any = false;
        for (std::size_t i = 0; i < series.x.size() && !any; ++i) {
            any = has_point(figure, series, i);
        }
        if (any) {
            shown.push_back(&series);
            label_width = std::max(label_width, text_width(series.name, Page::label_size));
        } else {
            missing.push_back(series.name);
        }
    }
    const bool direct =
        static_cast<double>(shown.size()) * label_gap <= plot.height + label_gap && label_width <= widest_label;
    const double labels = direct ? label_width + 20 + sample_width : 12;
    plot.width = Page::width - Page::margin - plot.left - (shown.empty() ? 12 : labels);

    const auto curves = make_curves(figure, plot);

    draw_y_axis(page, plot, figure.y.label);
    double bottom = draw_x_axis(page, plot, figure.x.label);
    open_clip(page, plot);
    for (const Curve& curve : curves) {
        draw_bands(page, curve);
    }
    for (const Curve& curve : curves) {
        if (!curve.empty()) {
            draw_line(page, curve);
        }
    }
    close_clip(page);
    if (shown.empty()) {
        say_no_data(page, plot);
    } else if (direct) {
        draw_labels(page, plot, curves);
    } else {
        bottom = draw_legend(page, curves, bottom);
    }
    return page.finish(bottom, with_note(figure.caption, not_shown(missing)));
}

}  // namespace flyball::report
