#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/checks.hpp"
#include "report/colour.hpp"
#include "report/figure.hpp"
#include "report/ruler.hpp"
#include "report/sphere_view.hpp"

namespace flyball::report {
namespace {

constexpr std::size_t most_dots = 8000;  // about 100 kB
constexpr double sphere_gap = 12;        // between two spheres
constexpr double largest_radius = 110;

using Frames = std::vector<const SphereFigure::Frame*>;

Frames chosen(const SphereFigure::Run& run, std::size_t most) {
    Frames out;
    const std::size_t n = run.frames.size();
    const std::size_t panels = std::min(n, most);
    for (std::size_t i = 0; i < panels; ++i) {
        const std::size_t which = panels == 1 ? 0 : (2 * i * (n - 1) + (panels - 1)) / (2 * (panels - 1));  // rounded
        out.push_back(&run.frames[which]);
    }
    return out;
}

std::string note(std::size_t undirected, bool larger) {
    std::string out = larger ? "Larger dots: several points in one place." : "";
    if (undirected > 0) {
        out += fmt::format("{}Not shown: {} points without a direction.", out.empty() ? "" : " ", undirected);
    }
    return out;
}

}  // namespace

std::string to_svg(const SphereFigure& figure, const Sheet& sheet) {
    check(figure);
    const bool several = figure.runs.size() > 1;
    std::vector<Frames> rows;
    std::size_t most_frames = 0;
    std::size_t most_points = 0;
    std::size_t undirected = 0;
    for (const SphereFigure::Run& run : figure.runs) {
        rows.push_back(chosen(run, several ? 4 : 6));
        most_frames = std::max(most_frames, rows.back().size());
        for (const auto* frame : rows.back()) {
            most_points = std::max(most_points, frame->points.size());
            undirected += static_cast<std::size_t>(std::count_if(
                frame->points.begin(), frame->points.end(), [](const Vector& p) { return direction(p) == Vector{}; }));
        }
    }
    Page page(
        sheet, figure.title,
        fmt::format("{} points on the {} at {} times.", most_points, figure.circle ? "circle" : "sphere", most_frames));
    const std::size_t columns = several || most_frames < 4 ? std::max<std::size_t>(1, most_frames)
                                : most_frames == 4         ? 2
                                                           : 3;
    const double panel_width = (page.width() - 2 * Page::margin) / static_cast<double>(columns);
    const View view = make_view(figure, std::floor(std::min(largest_radius, (panel_width - sphere_gap) / 2)));

    std::vector<std::vector<Dots>> dots;
    std::size_t total = most_dots + 1;
    double cell = 0.8;
    while (total > most_dots) {
        cell *= 1.25;
        total = 0;
        dots.assign(rows.size(), {});
        for (std::size_t r = 0; r < rows.size(); ++r) {
            for (const auto* frame : rows[r]) {
                dots[r].push_back(gathered(view, *frame, cell));
                total += dots[r].back().size();
            }
        }
    }
    const DotLook look = look_of(view, most_points, cell);
    bool larger = false;
    double y = page.top() + 6;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const std::string colour = resolved({figure.runs[r].colour, {}}, r).colour;
        if (several) {
            y += Page::line;
            page.text(Page::margin, y, fitted(figure.runs[r].name, page.width() - 2 * Page::margin, Page::label_size),
                      colour, Anchor::start, Page::label_size);
        }
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            const double x = Page::margin + panel_width * (static_cast<double>(i % columns) + 0.5);
            y += i % columns == 0 ? Page::line + 4 : 0;
            page.text(x, y, "t = " + compact(rows[r][i]->t), Ink::strong, Anchor::middle, Page::label_size);
            page.raw(fmt::format("<g transform=\"translate({} {})\">\n", px(x), px(y + 8 + view.radius)));
            draw_back(page, view);
            page.raw(dots_svg(dots[r][i], false, look, colour));
            draw_rim(page, view);
            page.raw(dots_svg(dots[r][i], true, look, colour));
            page.raw("</g>\n");
            larger = larger || has_larger(dots[r][i], look);
            y += i % columns == columns - 1 || i + 1 == rows[r].size() ? 2 * view.radius + sphere_gap : 0;
        }
    }
    if (most_frames == 0) {
        page.text(page.width() / 2, page.top() + 40, "no data", Ink::muted, Anchor::middle, Page::label_size);
        y = page.top() + 60;
    }
    return page.finish(y, with_note(figure.caption, note(undirected, larger)));
}

}  // namespace flyball::report
