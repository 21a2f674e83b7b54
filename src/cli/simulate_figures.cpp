#include "cli/simulate_figures.hpp"

#include <fmt/format.h>

namespace flyball::cli {

using dynamics::Sample;

namespace {

// The name that tells runs apart: the scheme, or an equation of one's own as far as it fits.
std::string label_of(const Simulated& run) {
    if (run.scheme.entry != nullptr) {
        return run.scheme.name;
    }
    const std::string text = run.scheme.program.body_text();
    return text.size() <= 32 ? text : text.substr(0, 29) + "...";
}

template <class Get>
report::LineFigure lines(const dynamics::Settings& settings, const std::vector<Simulated>& runs, std::string title,
                         std::string label, const Get& get) {
    report::LineFigure figure;
    figure.title = std::move(title);
    figure.x.label = settings.layers ? "time (layers * dt)" : "time";
    figure.x.scale = settings.log_time ? report::Scale::log : report::Scale::linear;
    figure.y.label = std::move(label);
    figure.caption = describe(settings);
    for (const Simulated& run : runs) {
        report::Series series;
        series.name = label_of(run);
        series.style = style_of(run.scheme);
        for (const Sample& sample : run.record.samples) {
            series.x.push_back(sample.t);
            series.y.push_back(get(sample));
        }
        figure.series.push_back(std::move(series));
    }
    return figure;
}

}  // namespace

report::LineFigure cosine_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs) {
    report::LineFigure figure =
        lines(settings, runs, "Mean cosine between tokens", "mean cosine", [](const Sample& s) { return s.cosine; });
    if (settings.systems > 1) {
        for (std::size_t i = 0; i < runs.size(); ++i) {
            for (const Sample& sample : runs[i].record.samples) {
                figure.series[i].lo.push_back(sample.cosine_lo);
                figure.series[i].hi.push_back(sample.cosine_hi);
            }
        }
        figure.caption += "; band: 5 % to 95 % of systems";
    }
    return figure;
}

report::LineFigure radius_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs) {
    report::LineFigure figure =
        lines(settings, runs, "Length of the residual stream", "mean |x|", [](const Sample& s) { return s.radius; });
    figure.y.scale = report::Scale::log;
    return figure;
}

report::LineFigure speed_figure(const dynamics::Settings& settings, const std::vector<Simulated>& runs) {
    report::LineFigure figure =
        lines(settings, runs, "Angular speed of the tokens", "mean |theta'|", [](const Sample& s) { return s.speed; });
    figure.y.scale = report::Scale::log;
    return figure;
}

report::SphereFigure sphere_figure(const dynamics::Settings& settings, const Simulated& run) {
    const report::Style style = style_of(run.scheme);
    return {label_of(run), run.frames, style.colour.empty() ? "#4269d0" : style.colour, describe(settings)};
}

}  // namespace flyball::cli
