#include "cli/simulate_figures.hpp"

#include <fmt/format.h>

#include "cli/simulate_output.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

using dynamics::Sample;

namespace {

std::vector<std::string> labels(const Runs& runs) {
    std::vector<scheme::Scheme> schemes;
    for (const dynamics::SchemeRun& run : runs) {
        schemes.push_back(run.scheme);
    }
    return scheme::labels_of(schemes);
}

template <class Get>
report::LineFigure lines(const dynamics::Settings& settings, const Runs& runs, std::string title, std::string label,
                         const Get& get) {
    report::LineFigure figure;
    figure.title = std::move(title);
    figure.x.label = settings.layers ? "time (layers * dt)" : "time";
    figure.x.scale = settings.log_time ? report::Scale::log : report::Scale::linear;
    figure.y.label = std::move(label);
    figure.caption = describe(settings);
    const std::vector<std::string> names = labels(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        report::Series series;
        series.name = names[i];
        series.style = style_of(runs[i].scheme);
        for (const Sample& sample : runs[i].record.samples) {
            series.x.push_back(sample.t);
            series.y.push_back(get(sample));
        }
        figure.series.push_back(std::move(series));
    }
    report::tell_apart(figure.series);
    return figure;
}

}  // namespace

report::LineFigure cosine_figure(const dynamics::Settings& settings, const Runs& runs) {
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

report::LineFigure radius_figure(const dynamics::Settings& settings, const Runs& runs) {
    report::LineFigure figure =
        lines(settings, runs, "Length of the residual stream", "mean |x|", [](const Sample& s) { return s.radius; });
    figure.y.scale = report::Scale::log;
    return figure;
}

report::LineFigure speed_figure(const dynamics::Settings& settings, const Runs& runs) {
    report::LineFigure figure =
        lines(settings, runs, "Angular speed of the tokens", "mean |theta'|", [](const Sample& s) { return s.speed; });
    figure.y.scale = report::Scale::log;
    return figure;
}

report::SphereFigure sphere_figure(const dynamics::Settings& settings, const Runs& runs, std::size_t i,
                                   const std::vector<dynamics::TrajectorySample>& frames) {
    report::SphereFigure figure{labels(runs)[i], {}, style_of(runs[i].scheme).colour, describe(settings)};
    for (const dynamics::TrajectorySample& sample : frames) {
        report::SphereFigure::Frame frame{sample.t, {}};
        for (std::size_t j = 0; j < settings.tokens; ++j) {
            frame.points.push_back({sample.theta[3 * j], sample.theta[3 * j + 1], sample.theta[3 * j + 2]});
        }
        figure.frames.push_back(std::move(frame));
    }
    return figure;
}

std::string sphere_name(const Runs& runs, std::size_t i) {
    const scheme::Scheme& scheme = runs[i].scheme;
    const std::string_view name = scheme.entry != nullptr ? scheme.entry->name
                                  : scheme.named          ? std::string_view(scheme.name)
                                                          : std::string_view("equation");
    return fmt::format("sphere-{}{}", name, runs.size() > 1 ? fmt::format("-{}", i + 1) : "");
}

}  // namespace flyball::cli
