#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "measure/rows.hpp"
#include "report/checks.hpp"
#include "report/colour.hpp"
#include "report/figure.hpp"
#include "report/plot.hpp"

namespace flyball::report {
namespace {

constexpr double row_height = 32;
constexpr double box_height = 15;
constexpr std::size_t most_outliers = 400;  // a group

struct Box {
    std::string label;
    std::string count;  // "n = 24", or nothing when only five numbers are known
    Style style;
    std::array<double, 5> five{};  // whisker, lower quartile, median, upper quartile, whisker
    std::vector<double> outliers;
    std::vector<BoxFigure::Mark> marks;  // those that the axis can show
};

// Colour and dash of the marks of a label: by the order in which labels come.
class MarkStyles {
  public:
    std::size_t index(const std::string& label) {
        const auto found = std::find(labels_.begin(), labels_.end(), label);
        if (found != labels_.end()) {
            return static_cast<std::size_t>(found - labels_.begin());
        }
        labels_.push_back(label);
        return labels_.size() - 1;
    }
    const std::vector<std::string>& labels() const { return labels_; }
    static std::string attributes(std::size_t index) {
        constexpr std::array<const char*, 4> dashes = {"", "5 2", "2 2", "6 2 2 2"};
        const char* const dash = dashes[index % dashes.size()];
        // The colours of ours that boxes, drawn first, are least likely to have.
        const Style style = resolved({}, index + 1);
        return fmt::format("stroke=\"{}\"{}", style.colour,
                           *dash == '\0' ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash));
    }
    static std::string colour(std::size_t index) { return resolved({}, index + 1).colour; }

  private:
    std::vector<std::string> labels_;
};

// False when the group has nothing the axis can show.
bool summarise(const BoxFigure::Group& group, Scale scale, Box& box) {
    if (group.five) {
        box.five = *group.five;
        return std::all_of(box.five.begin(), box.five.end(), [&](double v) { return drawable(scale, v); });
    }
    std::vector<double> sorted;
    std::copy_if(group.values.begin(), group.values.end(), std::back_inserter(sorted),
                 [&](double v) { return drawable(scale, v); });
    if (sorted.empty()) {
        return false;
    }
    std::sort(sorted.begin(), sorted.end());
    box.count = fmt::format("n = {}", sorted.size());
    const double lower = measure::quantile(sorted, 0.25);
    const double upper = measure::quantile(sorted, 0.75);
    const double reach = 1.5 * (upper - lower);
    // A whisker never ends inside the box.
    box.five = {lower, lower, measure::quantile(sorted, 0.5), upper, upper};
    for (const double value : sorted) {
        if (value < lower - reach || value > upper + reach) {
            box.outliers.push_back(value);
        } else {
            box.five[0] = std::min(box.five[0], value);
            box.five[4] = std::max(box.five[4], value);
        }
    }
    return true;
}

// The extremes, and evenly chosen ones between them.
std::vector<double> at_most(const std::vector<double>& sorted, std::size_t most) {
    if (sorted.size() <= most) {
        return sorted;
    }
    std::vector<double> out;
    for (std::size_t i = 0; i < most; ++i) {
        out.push_back(sorted[i * (sorted.size() - 1) / (most - 1)]);
    }
    return out;
}

void draw_box(Page& page, const Plot& plot, const Box& box, double middle) {
    std::array<double, 5> x{};
    std::transform(box.five.begin(), box.five.end(), x.begin(), [&](double v) { return plot.at_x(v); });
    const double half = box_height / 2;
    page.raw(
        fmt::format("<g stroke=\"{}\" fill=\"none\" stroke-width=\"1.4\"><title>{}: median {}, quartiles {} and "
                    "{}</title>\n",
                    box.style.colour, escape(box.label), compact(box.five[2], 4), compact(box.five[1], 4),
                    compact(box.five[3], 4)));
    page.raw(fmt::format("<path d=\"M{0} {1}H{2}M{3} {1}H{4}M{0} {5}v{6}M{4} {5}v{6}\"/>\n", px(x[0]), px(middle),
                         px(x[1]), px(x[3]), px(x[4]), px(middle - half / 2), px(half)));
    page.raw(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"0.22\"{}/>\n",
                         px(x[1]), px(middle - half), px(std::max(x[3] - x[1], 0.5)), px(box_height), box.style.colour,
                         box.style.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", box.style.dash)));
    page.raw(
        fmt::format("<path d=\"M{} {}v{}\" stroke-width=\"2.6\"/>\n", px(x[2]), px(middle - half), px(box_height)));
    std::string dots;
    for (const double value : at_most(box.outliers, most_outliers)) {
        dots += fmt::format("M{} {}h0", px(plot.at_x(value)), px(middle));
    }
    if (!dots.empty()) {
        page.raw("<path d=\"" + dots + "\" stroke-width=\"4\" stroke-linecap=\"round\" stroke-opacity=\"0.55\"/>\n");
    }
    page.raw("</g>\n");
}

void draw_marks(Page& page, const Plot& plot, const Box& box, double middle, MarkStyles& styles) {
    constexpr double height = 0.8 * row_height;
    for (const BoxFigure::Mark& mark : box.marks) {
        page.raw(fmt::format("<path d=\"M{} {}v{}\" stroke-width=\"2.2\" {}><title>{}: {} {}</title></path>\n",
                             px(plot.at_x(mark.value)), px(middle - height / 2), px(height),
                             MarkStyles::attributes(styles.index(mark.label)), escape(box.label), escape(mark.label),
                             compact(mark.value, 4)));
    }
}

// What the marks mean, in a line below the axis. Returns where it ends.
double draw_mark_legend(Page& page, const Plot& plot, const MarkStyles& styles, double bottom) {
    constexpr double line = 18;
    constexpr double tick = 22;
    if (styles.labels().empty()) {
        return bottom;
    }
    double x = plot.left;
    double y = bottom + line;
    for (std::size_t i = 0; i < styles.labels().size(); ++i) {
        const double wide = tick + text_width(styles.labels()[i], Page::label_size) + 18;
        if (x > plot.left && x + wide > page.width() - Page::margin) {
            x = plot.left;
            y += line;
        }
        page.raw(fmt::format("<path d=\"M{} {}h16\" stroke-width=\"2.2\" fill=\"none\" {}/>\n", px(x), px(y - 4),
                             MarkStyles::attributes(i)));
        page.text(x + tick, y, styles.labels()[i], MarkStyles::colour(i), Anchor::start, Page::label_size);
        x += wide;
    }
    return y + 4;
}

std::string description(const BoxFigure& figure, const std::vector<Box>& boxes) {
    std::string out = fmt::format("Box plot of {}.", figure.axis.label);
    for (const Box& box : boxes) {
        if (out.size() < 1000) {
            out += fmt::format(" {}: median {}.", box.label, compact(box.five[2]));
        }
    }
    return out;
}

}  // namespace

std::string to_svg(const BoxFigure& figure, const Sheet& sheet) {
    check(figure);
    std::vector<Box> boxes;
    std::vector<std::string> missing;
    Extent extent;
    double label_width = 0;
    double count_width = 0;
    for (std::size_t i = 0; i < figure.groups.size(); ++i) {
        const BoxFigure::Group& group = figure.groups[i];
        Box box;
        box.label = group.label;
        box.style = resolved(group.style, i);
        if (!summarise(group, figure.axis.scale, box)) {
            missing.push_back(group.label);
            continue;
        }
        for (const auto* values : {&box.outliers}) {
            std::for_each(values->begin(), values->end(), [&](double v) { extent.add(figure.axis.scale, v); });
        }
        for (const BoxFigure::Mark& mark : group.marks) {
            if (drawable(figure.axis.scale, mark.value)) {
                extent.add(figure.axis.scale, mark.value);
                box.marks.push_back(mark);
            }
        }
        extent.add(figure.axis.scale, box.five[0]);
        extent.add(figure.axis.scale, box.five[4]);
        label_width = std::max(label_width, text_width(box.label, Page::label_size));
        count_width = std::max(count_width, text_width(box.count, Page::tick_size));
        boxes.push_back(std::move(box));
    }
    Page page(sheet, figure.title, description(figure, boxes));
    label_width = std::min(label_width, 0.4 * page.width());
    Plot plot;
    plot.x = make_ruler(figure.axis, extent, 0.04);
    plot.left = Page::margin + std::max(label_width, 12.0) + 12;
    plot.width = page.width() - Page::margin - plot.left - std::max(count_width + 10, 12.0);
    plot.top = page.top() + 10;
    plot.height = boxes.empty() ? 100 : row_height * static_cast<double>(boxes.size());
    double bottom = draw_x_axis(page, plot, figure.axis.label);
    MarkStyles styles;
    open_clip(page, plot);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const double middle = plot.top + row_height * (static_cast<double>(i) + 0.5);
        draw_box(page, plot, boxes[i], middle);
        draw_marks(page, plot, boxes[i], middle, styles);
    }
    close_clip(page);
    bottom = draw_mark_legend(page, plot, styles, bottom);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const double y = plot.top + row_height * (static_cast<double>(i) + 0.5) + 4;
        page.text(plot.left - 10, y, fitted(boxes[i].label, label_width, Page::label_size), boxes[i].style.colour,
                  Anchor::end, Page::label_size);
        page.text(page.width() - Page::margin, y, boxes[i].count, Ink::muted, Anchor::end, Page::tick_size);
    }
    if (boxes.empty()) {
        say_no_data(page, plot);
    }
    return page.finish(bottom, with_note(figure.caption, not_shown(missing)));
}

}  // namespace flyball::report
