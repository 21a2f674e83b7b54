#include "report/film.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/file.hpp"
#include "core/parallel.hpp"
#include "report/checks.hpp"
#include "report/colour.hpp"
#include "report/figure_about.hpp"
#include "report/print.hpp"
#include "report/ruler.hpp"
#include "report/sphere_view.hpp"

namespace flyball::report {
namespace {

constexpr double per_second = 15;
constexpr double gap = 16;
constexpr double cell = 0.8;

std::size_t frames_in(const SphereFigure& figure) {
    std::size_t most = 0;
    for (const SphereFigure::Run& run : figure.runs) {
        most = std::max(most, run.frames.size());
    }
    return most;
}

// Where everything stands; the same in every frame.
struct Stage {
    std::size_t frames = 0;
    std::size_t columns = 1;
    double panel = 0;    // width of a run's picture
    double heading = 0;  // above each
    View view;
    DotLook look;

    Stage(const SphereFigure& figure, const Page& page) : frames(frames_in(figure)) {
        columns = std::clamp<std::size_t>(figure.runs.size(), 1, figure.runs.size() == 4 ? 2 : 3);
        panel = (page.width() - 2 * Page::margin) / static_cast<double>(columns);
        heading = figure.runs.size() > 1 ? Page::line + 6 : 6;
        view = make_view(figure, std::floor((panel - gap) / 2));
        std::size_t points = 0;
        for (const SphereFigure::Run& run : figure.runs) {
            for (const SphereFigure::Frame& frame : run.frames) {
                points = std::max(points, frame.points.size());
            }
        }
        look = look_of(view, points, cell);
    }
    double height_of_row() const { return heading + 2 * view.radius + gap; }
    Point centre(const Page& page, std::size_t run) const {
        const std::size_t row = run / columns;
        return {Page::margin + panel * (static_cast<double>(run % columns) + 0.5),
                page.top() + Page::line + 6 + height_of_row() * static_cast<double>(row) + heading + view.radius};
    }
    double bottom(const Page& page, std::size_t runs) const {
        const std::size_t rows = (runs + columns - 1) / columns;
        return page.top() + Page::line + 6 + height_of_row() * static_cast<double>(rows);
    }
};

const SphereFigure::Frame& frame_of(const SphereFigure::Run& run, std::size_t i) {
    static const SphereFigure::Frame nothing;
    return run.frames.empty() ? nothing : run.frames[std::min(i, run.frames.size() - 1)];
}

// Dots of frame i of all runs, behind or in front.
std::string dots_of(const SphereFigure& figure, const Page& page, const Stage& stage, std::size_t i, bool front) {
    std::string out;
    for (std::size_t r = 0; r < figure.runs.size(); ++r) {
        const Point at = stage.centre(page, r);
        const Dots dots = gathered(stage.view, frame_of(figure.runs[r], i), cell);
        out += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", px(at.x), px(at.y),
                           dots_svg(dots, front, stage.look, resolved({figure.runs[r].colour, {}}, r).colour));
    }
    return out;
}

double time_of(const SphereFigure& figure, std::size_t i) {
    for (const SphereFigure::Run& run : figure.runs) {
        if (i < run.frames.size()) {
            return run.frames[i].t;
        }
    }
    return 0;
}

void draw_all(Page& page, const SphereFigure& figure, const Stage& stage, void (*draw)(Page&, const View&)) {
    for (std::size_t r = 0; r < figure.runs.size(); ++r) {
        const Point at = stage.centre(page, r);
        page.raw(fmt::format("<g transform=\"translate({} {})\">\n", px(at.x), px(at.y)));
        draw(page, stage.view);
        page.raw("</g>\n");
    }
}

// `shown` draws what changes: dots behind or in front, and with the latter the time.
std::string drawn(const SphereFigure& figure, const Sheet& sheet,
                  const std::function<void(Page&, const Stage&, bool front)>& shown) {
    check(figure);
    Page page(sheet, figure.title,
              fmt::format("Particles on the {}, {} frames.", figure.circle ? "circle" : "sphere", frames_in(figure)));
    const Stage stage(figure, page);
    if (stage.frames == 0) {
        page.text(page.width() / 2, page.top() + 40, "no data", Ink::muted, Anchor::middle, Page::label_size);
        return page.finish(page.top() + 60, figure.caption);
    }
    draw_all(page, figure, stage, draw_back);
    shown(page, stage, false);
    draw_all(page, figure, stage, draw_rim);
    shown(page, stage, true);
    for (std::size_t r = 0; figure.runs.size() > 1 && r < figure.runs.size(); ++r) {
        const Point at = stage.centre(page, r);
        page.text(at.x, at.y - stage.view.radius - 8, fitted(figure.runs[r].name, stage.panel, Page::label_size),
                  resolved({figure.runs[r].colour, {}}, r).colour, Anchor::middle, Page::label_size);
    }
    return page.finish(stage.bottom(page, figure.runs.size()), figure.caption);
}

void draw_time(Page& page, const SphereFigure& figure, std::size_t i) {
    page.text(Page::margin, page.top() + Page::line, "t = " + compact(time_of(figure, i)), Ink::strong, Anchor::start,
              Page::label_size);
}

// Visible in its share of the time alone; the last frame also where nothing moves.
std::string opening_of(std::size_t i, std::size_t frames) {
    const double seconds = static_cast<double>(frames) / per_second;
    const double from = static_cast<double>(i) / static_cast<double>(frames);
    const double to = static_cast<double>(i + 1) / static_cast<double>(frames);
    const bool last = i + 1 == frames;
    std::string values = i == 0 ? "visible" : "hidden;visible";
    std::string times = i == 0 ? "0" : fmt::format("0;{:.5f}", from);
    if (!last) {
        values += ";hidden";
        times += fmt::format(";{:.5f}", to);
    }
    return fmt::format(
        "<g visibility=\"{}\"><animate attributeName=\"visibility\" calcMode=\"discrete\" dur=\"{:.2f}s\" "
        "repeatCount=\"indefinite\" values=\"{}\" keyTimes=\"{}\"/>\n",
        last ? "visible" : "hidden", seconds, values, times);
}

}  // namespace

std::string film_svg(const SphereFigure& figure, const Sheet& sheet) {
    return drawn(figure, sheet, [&](Page& page, const Stage& stage, bool front) {
        for (std::size_t i = 0; i < stage.frames; ++i) {
            check_stop();
            page.raw(opening_of(i, stage.frames));
            page.raw(dots_of(figure, page, stage, i, front));
            if (front) {
                draw_time(page, figure, i);
            }
            page.raw("</g>\n");
        }
    });
}

std::string film_frame(const SphereFigure& figure, std::size_t frame, const Sheet& sheet) {
    return drawn(figure, sheet, [&](Page& page, const Stage& stage, bool front) {
        page.raw(dots_of(figure, page, stage, frame, front));
        if (front) {
            draw_time(page, figure, frame);
        }
    });
}

std::vector<std::string> write_film(const std::filesystem::path& folder, std::string_view name,
                                    const SphereFigure& figure, const Sheet& sheet) {
    std::vector<std::string> written;
    const auto put = [&](const std::string& file, const std::string& bytes) {
        remove_abandoned(folder, file);
        write_file_atomically(folder / file, bytes);
    };
    const bool pictures = std::find(sheet.formats.begin(), sheet.formats.end(), Format::png) != sheet.formats.end();
    const std::size_t frames = pictures ? frames_in(figure) : 0;
    for (std::size_t i = 0; i < frames; ++i) {
        written.push_back(fmt::format("{}-{:04}.png", name, i + 1));
    }
    parallel_slots(frames, frames, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            put(written[i], printed(film_frame(figure, i, sheet), Format::png, sheet));
        }
    });
    written.push_back(fmt::format("{}.svg", name));
    put(written.back(), with_about(film_svg(figure, sheet), about(figure)));
    return written;
}

}  // namespace flyball::report
