#include "cli/simulate_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/simulate_output.hpp"
#include "measure/rows.hpp"
#include "report/utf8.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

using dynamics::Sample;
using dynamics::SchemeRun;
using report::SphereFigure;

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
    figure.x.label = settings.layers ? "depth (layers * dt)" : "depth (time)";
    figure.x.scale = settings.log_time ? report::Scale::log : report::Scale::linear;
    figure.y.label = std::move(label);
    figure.caption = report::with_greek(describe(settings));
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

// What a layer did, it did between two times. The sample at the start tells of the first layer, as the one after it
// does.
void at_middles_of_layers(report::Series& series, double dt) {
    report::Series moved = series;
    for (std::vector<double>* const list : {&moved.x, &moved.y, &moved.lo, &moved.hi}) {
        list->clear();
    }
    for (std::size_t i = 0; i < series.x.size(); ++i) {
        const double x = std::max(series.x[i] - dt / 2, dt / 2);
        if (moved.x.empty() || x > moved.x.back()) {
            moved.x.push_back(x);
            moved.y.push_back(series.y[i]);
            if (!series.lo.empty()) {
                moved.lo.push_back(series.lo[i]);
                moved.hi.push_back(series.hi[i]);
            }
        }
    }
    series = std::move(moved);
}

using Member = double Sample::*;

void add_bands(report::LineFigure& figure, const Runs& runs, Member lo, Member hi, const char* words) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (const Sample& sample : runs[i].record.samples) {
            figure.series[i].lo.push_back(sample.*lo);
            figure.series[i].hi.push_back(sample.*hi);
        }
    }
    figure.caption += fmt::format("; band: {}", words);
}

// Quantiles over systems of a quantity that each of them has, where there are several.
void add_spread(report::LineFigure& figure, const dynamics::Settings& settings, const Runs& runs, Member value) {
    const std::size_t systems = settings.systems;
    if (systems < 2) {
        return;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::vector<Sample>& all = runs[i].record.systems;
        for (std::size_t k = 0; k < runs[i].record.samples.size(); ++k) {
            std::vector<double> values;
            for (std::size_t m = 0; m < systems && k * systems + m < all.size(); ++m) {
                values.push_back(all[k * systems + m].*value);
            }
            std::erase_if(values, [](double one) { return !std::isfinite(one); });
            figure.series[i].lo.push_back(values.empty() ? std::nan("") : measure::quantile(values, 0.05));
            figure.series[i].hi.push_back(values.empty() ? std::nan("") : measure::quantile(values, 0.95));
        }
    }
    figure.caption += "; band: 5 % to 95 % of systems";
}

SphereFigure::Run sphere_run(const dynamics::Settings& settings, const SchemeRun& run, std::string name,
                             const Frames& frames) {
    SphereFigure::Run drawn{std::move(name), style_of(run.scheme).colour, {}};
    const std::size_t d = settings.dim;
    for (const dynamics::TrajectorySample& sample : frames) {
        SphereFigure::Frame frame{sample.t, {}};
        for (std::size_t j = 0; d * j < sample.theta.size(); ++j) {
            const double* const at = sample.theta.data() + d * j;
            frame.points.push_back({at[0], at[1], d == 3 ? at[2] : 0});
        }
        drawn.frames.push_back(std::move(frame));
    }
    return drawn;
}

}  // namespace

report::LineFigure cosine_figure(const dynamics::Settings& settings, const Runs& runs) {
    report::LineFigure figure =
        lines(settings, runs, "Mean cosine between tokens", "mean cosine", [](const Sample& s) { return s.cosine; });
    figure.caption += "\n1: all tokens have become alike. 0: they are unrelated";
    if (settings.systems > 1) {
        add_bands(figure, runs, &Sample::cosine_lo, &Sample::cosine_hi, "5 % to 95 % of systems");
    }
    return figure;
}

report::LineFigure radius_figure(const dynamics::Settings& settings, const Runs& runs) {
    report::LineFigure figure = lines(settings, runs, "Length of the residual stream", "mean length |x|",
                                      [](const Sample& s) { return s.radius; });
    figure.y.scale = report::Scale::log;
    add_bands(figure, runs, &Sample::radius_min, &Sample::radius_max, "the shortest to the longest token");
    return figure;
}

report::LineFigure speed_figure(const dynamics::Settings& settings, const Runs& runs) {
    report::LineFigure figure = lines(settings, runs, "Angular speed of the tokens", "mean turn per unit of depth |θ'|",
                                      [](const Sample& s) { return s.speed; });
    figure.y.scale = report::Scale::log;
    add_spread(figure, settings, runs, &Sample::speed);
    if (settings.layers) {
        for (report::Series& series : figure.series) {
            at_middles_of_layers(series, settings.step());
        }
        figure.caption += "; each layer at its middle";
    }
    return figure;
}

SphereFigure sphere_figure(const dynamics::Settings& settings, const Runs& runs, const std::vector<Frames>& frames) {
    SphereFigure figure;
    figure.circle = settings.dim == 2;
    figure.title = figure.circle ? "Tokens on the circle" : "Tokens on the sphere";
    figure.caption = report::with_greek(describe(settings)) +
                     "\nA dot is the direction of one token. Dots that gather are tokens that have become alike.";
    const std::size_t drawn = frames.front().empty() ? 0 : frames.front().front().theta.size() / settings.dim;
    if (drawn > 0 && drawn < settings.tokens) {
        figure.caption += fmt::format(" Shown: {} of {} tokens.", drawn, settings.tokens);
    }
    const std::vector<std::string> names = labels(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        figure.runs.push_back(sphere_run(settings, runs[i], names[i], frames[i]));
    }
    figure.front = report::gathering_place(figure.runs);
    return figure;
}

SphereFigure of_run(const SphereFigure& all, std::size_t i) {
    return {all.runs[i].name, {all.runs[i]}, all.circle, all.caption, all.front};
}

SphereFigure with_frames(const SphereFigure& all, std::size_t most) {
    SphereFigure some = all;
    for (SphereFigure::Run& run : some.runs) {
        const std::size_t n = run.frames.size();
        const std::size_t kept = std::min(n, most);
        std::vector<SphereFigure::Frame> frames;
        for (std::size_t i = 0; i < kept; ++i) {
            frames.push_back(run.frames[kept == 1 ? 0 : (2 * i * (n - 1) + kept - 1) / (2 * (kept - 1))]);  // rounded
        }
        run.frames = std::move(frames);
    }
    return some;
}

std::string sphere_name(const dynamics::Settings& settings, const Runs& runs, std::size_t i) {
    const scheme::Scheme& scheme = runs[i].scheme;
    const std::string_view name = scheme.entry != nullptr ? scheme.entry->name
                                  : scheme.named          ? std::string_view(scheme.name)
                                                          : std::string_view("equation");
    return fmt::format("{}-{}{}", settings.dim == 2 ? "circle" : "sphere", name,
                       runs.size() > 1 ? fmt::format("-{}", i + 1) : "");
}

}  // namespace flyball::cli
