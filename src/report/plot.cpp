#include "report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flyball::report {
namespace {

constexpr double tick_length = 5;
constexpr double minor_length = 3;

// No two labels touch. `size` gives the length of a label along the axis, `at` its middle.
bool stand_apart(const std::vector<Tick>& ticks, auto at, auto size) {
    std::vector<std::pair<double, double>> spans;
    for (const Tick& tick : ticks) {
        if (!tick.label.empty()) {
            const double half = size(tick.label) / 2;
            spans.emplace_back(at(tick.value) - half, at(tick.value) + half);
        }
    }
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) {
        if (spans[i].first < spans[i - 1].second) {
            return false;
        }
    }
    return true;
}

std::vector<Tick> y_ticks(const Plot& plot) {
    const auto apart = [&](const std::vector<Tick>& ticks) {
        return stand_apart(
            ticks, [&](double v) { return plot.height * plot.y.at(v); }, [](const auto&) { return 16.0; });
    };
    if (!plot.y_ticks.empty() && apart(plot.y_ticks)) {
        return plot.y_ticks;
    }
    return plot.y.ticks(std::max(2, static_cast<int>(plot.height / (plot.y.scale == Scale::log ? 25 : 55))));
}

std::vector<Tick> x_ticks(const Plot& plot) {
    const auto apart = [&](const std::vector<Tick>& ticks) {
        return stand_apart(
            ticks, [&](double v) { return plot.at_x(v); },
            [](const std::string& label) { return text_width(label, Page::tick_size) + 8; });
    };
    if (!plot.x_ticks.empty() && apart(plot.x_ticks)) {
        return plot.x_ticks;
    }
    const double each = plot.x.scale == Scale::log ? 30 : 55;
    for (int wanted = std::max(2, static_cast<int>(plot.width / each)); wanted > 1; --wanted) {
        auto ticks = plot.x.ticks(wanted);
        if (apart(ticks)) {
            return ticks;
        }
    }
    return plot.x.ticks(1);
}

std::vector<std::string> y_label_lines(const Page& page, std::string_view label) {
    return wrapped(label, page.width() - 2 * Page::margin, Page::label_size);
}

}  // namespace

double y_axis_width(const Plot& plot) {
    double widest = 0;
    for (const Tick& tick : y_ticks(plot)) {
        widest = std::max(widest, text_width(tick.label, Page::tick_size));
    }
    return std::max(widest + 10, 24.0);
}

double y_label_height(const Page& page, std::string_view label) {
    return 12 + Page::line * static_cast<double>(y_label_lines(page, label).size());
}

double draw_x_axis(Page& page, const Plot& plot, std::string_view label, bool grid) {
    const auto ticks = x_ticks(plot);
    std::string lines;
    std::string marks = fmt::format("<path d=\"M{} {}H{}", px(plot.left), px(plot.bottom()), px(plot.right()));
    for (const Tick& tick : ticks) {
        const double x = plot.at_x(tick.value);
        marks +=
            fmt::format("M{} {}v{}", px(x), px(plot.bottom()), px(tick.label.empty() ? minor_length : tick_length));
        if (!tick.label.empty()) {
            lines += fmt::format("M{} {}V{}", px(x), px(plot.top), px(plot.bottom()));
            page.text(x, plot.bottom() + 19, tick.label, Ink::muted, Anchor::middle, Page::tick_size);
        }
    }
    if (grid && !lines.empty()) {
        page.open_lines(Ink::grid, 1);
        page.raw("<path d=\"" + lines + "\"/>\n</g>\n");
    }
    page.open_lines(Ink::axis, 1);
    page.raw(marks + "\"/>\n</g>\n");
    if (label.empty()) {
        return plot.bottom() + 24;
    }
    const double middle = plot.left + plot.width / 2;
    const double room = 2 * (std::min(middle, page.width() - middle) - 4);
    page.text(middle, plot.bottom() + 39, fitted(label, room, Page::label_size), Ink::strong, Anchor::middle,
              Page::label_size);
    return plot.bottom() + 46;
}

void draw_y_axis(Page& page, const Plot& plot, std::string_view label, bool grid) {
    std::string lines;
    const bool ticked = plot.y.scale == Scale::log || !grid;
    std::string marks = fmt::format("M{} {}V{}", px(plot.left), px(plot.top), px(plot.bottom()));
    for (const Tick& tick : y_ticks(plot)) {
        const double y = plot.at_y(tick.value);
        if (ticked) {
            marks +=
                fmt::format("M{} {}h{}", px(plot.left), px(y), px(tick.label.empty() ? -minor_length : -tick_length));
        }
        if (!tick.label.empty()) {
            lines += fmt::format("M{} {}H{}", px(plot.left), px(y), px(plot.right()));
            page.text(plot.left - 8, y + 4.5, tick.label, Ink::muted, Anchor::end, Page::tick_size);
        }
    }
    if (grid && !lines.empty()) {
        page.open_lines(Ink::grid, 1);
        page.raw("<path d=\"" + lines + "\"/>\n</g>\n");
    }
    page.open_lines(Ink::axis, 1);
    page.raw("<path d=\"" + marks + "\"/>\n</g>\n");
    const auto names = y_label_lines(page, label);
    for (std::size_t i = 0; i < names.size(); ++i) {
        page.text(Page::margin, plot.top - 12 - Page::line * static_cast<double>(names.size() - 1 - i), names[i],
                  Ink::strong, Anchor::start, Page::label_size);
    }
}

void open_clip(Page& page, const Plot& plot) {
    // Lines along the edge keep their full width.
    const double slack = 2;
    const std::string box = fmt::format("{} {} {} {}", px(plot.left - slack), px(plot.top - slack),
                                        px(plot.width + 2 * slack), px(plot.height + 2 * slack));
    page.raw(fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{}\" overflow=\"hidden\">\n",
                         px(plot.left - slack), px(plot.top - slack), px(plot.width + 2 * slack),
                         px(plot.height + 2 * slack), box));
}

void close_clip(Page& page) {
    page.raw("</svg>\n");
}

void say_no_data(Page& page, const Plot& plot) {
    page.text(plot.left + plot.width / 2, plot.top + plot.height / 2, "no data", Ink::muted, Anchor::middle, 13);
}

}  // namespace flyball::report
