// The figures of `flyball limits`: the paper's five as it draws them, maps of layers and heads, and distributions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/limits_output.hpp"
#include "limits/diagnosis.hpp"
#include "measure/rows.hpp"

namespace flyball::cli {

namespace {

using limits::DistanceMeans;
using limits::HeadResult;
using limits::Result;

constexpr const char* true_colour = "#1f6fb4";
constexpr const char* expected_colour = "#d9622b";
constexpr const char* bound_colour = "#888888";

double quantile_of(std::vector<double> values, double share) {
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    return values.empty() ? std::nan("") : measure::quantile(values, share);
}

// Heads above the drawn bound are no mistake: it is a mean.
std::string own_bounds(const std::vector<DistanceMeans>& means) {
    const bool has_bound =
        std::any_of(means.begin(), means.end(), [](const DistanceMeans& row) { return std::isfinite(row.bound); });
    return has_bound ? " Every head is below its own bound; the one shown is their mean." : "";
}

using Rows = std::vector<DistanceMeans> HeadResult::*;

// True distance with the middle 80 % of heads around it, expectation, its upper form, and the bound.
report::LineFigure distance_figure(const Result& result, const std::vector<DistanceMeans>& means, Rows rows,
                                   std::size_t DistanceMeans::*place, const std::string& about) {
    report::LineFigure figure;
    figure.caption = about +
                     "\nMeasured: the heaviest keys. Expected: as many keys drawn at random. Lines are means over "
                     "heads, the band holds the middle 80 % "
                     "of heads." +
                     own_bounds(means);
    figure.y.label = "distance (mean over heads)";
    report::Series truth{"measured", {}, {}, {}, {}, {true_colour, ""}};
    report::Series expected{"expected", {}, {}, {}, {}, {expected_colour, ""}};
    report::Series rms{"expected, RMS", {}, {}, {}, {}, {expected_colour, "5 3"}};
    report::Series bound{"bound", {}, {}, {}, {}, {bound_colour, "2 3"}};
    for (std::size_t i = 0; i < means.size(); ++i) {
        std::vector<double> heads;
        for (const HeadResult& head : result.heads) {
            heads.push_back((head.*rows)[i].distance);
        }
        for (report::Series* const series : {&truth, &expected, &rms, &bound}) {
            series->x.push_back(static_cast<double>(means[i].*place));
        }
        truth.y.push_back(means[i].distance);
        truth.lo.push_back(quantile_of(heads, 0.1));
        truth.hi.push_back(quantile_of(heads, 0.9));
        expected.y.push_back(means[i].expected);
        rms.y.push_back(means[i].expected_rms);
        bound.y.push_back(means[i].bound);
    }
    figure.series = {truth, expected, rms, bound};
    return figure;
}

report::LineFigure length_figure(const Result& result, const std::string& about) {
    report::LineFigure figure =
        distance_figure(result, result.by_length, &HeadResult::by_length, &DistanceMeans::length, about);
    figure.title = "How far the 5 heaviest keys lie from the rest";
    figure.x.label = "length L (tokens)";
    return figure;
}

report::LineFigure n_figure(const Result& result, const std::string& about) {
    report::LineFigure figure = distance_figure(result, result.by_n, &HeadResult::by_n, &DistanceMeans::n, about);
    figure.title = fmt::format("How far the N heaviest keys lie from the rest, L = {}", limits::longest(result));
    figure.x.label = "selected keys N";
    figure.x.scale = report::Scale::log;
    return figure;
}

report::LineFigure critical_figure(const Result& result, const std::string& about) {
    report::LineFigure figure;
    figure.title = "From how many keys on a choice looks random";
    figure.x = {"length L (tokens)", report::Scale::log, {}, {}};
    figure.y = {"keys N", report::Scale::log, 1.0, static_cast<double>(limits::longest(result))};
    figure.caption =
        about +
        fmt::format(
            "\nThe smallest number N of a head's heaviest keys whose distances from the rest cannot be told from those "
            "of N random keys: by a test at the chosen level, and where the two distributions differ by less than "
            "{}. 0.06 L is what the paper states.",
            limits::fixed_distance);
    report::Series level{"by a test", {}, {}, {}, {}, {true_colour, ""}};
    report::Series fixed{
        fmt::format("difference below {}", limits::fixed_distance), {}, {}, {}, {}, {expected_colour, ""}};
    report::Series line{"0.06 L (paper)", {}, {}, {}, {}, {bound_colour, "4 3"}};
    for (const limits::KsCurve& curve : result.critical) {
        const auto length = static_cast<double>(curve.length);
        const auto add = [&](report::Series& series, const limits::CriticalN& critical) {
            series.x.push_back(length);
            series.y.push_back(critical.n ? static_cast<double>(*critical.n) : std::nan(""));
        };
        add(level, curve.by_level);
        add(fixed, curve.by_distance);
        line.x.push_back(length);
        line.y.push_back(0.06 * length);
    }
    figure.series = {level, fixed, line};
    return figure;
}

report::LineFigure ks_figure(const Result& result, const std::string& about) {
    report::LineFigure figure;
    figure.title = "How different the heaviest N keys are from N random ones";
    figure.x = {"selected keys N", report::Scale::log, {}, {}};
    figure.y = {"difference D (1: wholly, 0: not at all)", report::Scale::linear, 0.0, 1.0};
    figure.caption = about +
                     "\nD is the Kolmogorov-Smirnov distance between the distances of heads' heaviest keys and those "
                     "of random keys. L is the "
                     "length of the text.";
    std::size_t longest = 1;
    for (const limits::KsCurve& curve : result.critical) {
        report::Series series{fmt::format("L = {}", curve.length), {}, {}, {}, {}, {}};
        for (std::size_t n = 0; n < curve.distances.size(); ++n) {
            series.x.push_back(static_cast<double>(n + 1));
            series.y.push_back(curve.distances[n]);
        }
        longest = std::max(longest, curve.length);
        figure.series.push_back(std::move(series));
    }
    figure.series.push_back({fmt::format("D = {}", limits::fixed_distance),
                             {1, static_cast<double>(longest)},
                             {limits::fixed_distance, limits::fixed_distance},
                             {},
                             {},
                             {bound_colour, "4 3"}});
    return figure;
}

report::BoxFigure separation_boxes(const Result& result, const std::string& about) {
    report::BoxFigure figure;
    figure.title = fmt::format("Heaviest keys that a head tells from all others, L = {}", limits::longest(result));
    figure.axis = {"share of the N heaviest keys (N_s/N)", report::Scale::linear, 0.0, 1.05};
    figure.caption =
        about +
        "\nA key is told apart when it is closer to what was selected than every key that was not. Boxes are over "
        "heads, marks are the "
        "bounds of the paper as means over heads and tokens; a lower bound below 0 says nothing and is not shown.";
    for (std::size_t k = 0; k < result.separation.size(); ++k) {
        if (!std::isfinite(result.separation[k].ratio)) {
            continue;  // no row has so many keys
        }
        report::BoxFigure::Group group;
        group.label = fmt::format("N = {}", result.separation[k].n);
        group.style = {true_colour, ""};
        for (const HeadResult& head : result.heads) {
            group.values.push_back(head.separation[k].ratio);
        }
        const limits::SeparationMeans& row = result.separation[k];
        group.marks = {{"upper, as printed", row.upper}, {"upper, corrected", row.upper_exact}};
        if (row.lower >= 0) {
            group.marks.push_back({"lower, as printed", row.lower});
        }
        group.marks.push_back({"lower, corrected", row.lower_exact});
        figure.groups.push_back(std::move(group));
    }
    return figure;
}

report::BoxFigure distance_boxes(const Result& result, const std::string& about) {
    report::BoxFigure figure;
    figure.title = "How far the 5 heaviest keys lie from the rest, over heads";
    figure.axis = {"distance", report::Scale::log, {}, {}};
    figure.caption =
        about + "\nL is the length of the text. Marks are means over heads; expected: if 5 keys were drawn at random." +
        own_bounds(result.by_length);
    for (std::size_t k = 0; k < result.by_length.size(); ++k) {
        report::BoxFigure::Group group;
        group.label = fmt::format("L = {}", result.by_length[k].length);
        group.style = {true_colour, ""};
        for (const HeadResult& head : result.heads) {
            group.values.push_back(head.by_length[k].distance);
        }
        group.marks = {{"expected", result.by_length[k].expected}, {"bound", result.by_length[k].bound}};
        figure.groups.push_back(std::move(group));
    }
    return figure;
}

report::LineFigure sensitivity_figure(const Result& result, const std::string& about) {
    report::LineFigure figure;
    figure.title = "How fast weights move when scores do: the fastest head";
    figure.x = {"temperature T", report::Scale::log, {}, {}};
    figure.y = {"change of weights per change of scores", report::Scale::log, 1e-4, {}};
    figure.caption = about +
                     "\nScores are divided by the temperature T; \u03b5 is how far they are moved. |J|: the speed for "
                     "very small steps "
                     "(the Jacobian's norm), and two bounds for it.";
    const limits::Normaliser normaliser = limits::Normaliser::parse(result.attention);
    const std::vector<double>& steps = limits::step_sizes();
    for (std::size_t e = 0; e < steps.size(); ++e) {
        report::Series series{fmt::format("ε = {}", steps[e]), {}, {}, {}, {}, {}};
        for (std::size_t i = e; i < result.sensitivity.size(); i += steps.size()) {
            series.x.push_back(result.sensitivity[i].temperature);
            series.y.push_back(result.sensitivity[i].value);
        }
        figure.series.push_back(std::move(series));
    }
    if (normaliser.kind() != limits::Normaliser::Kind::softmax) {
        return figure;
    }
    report::Series exact{"|J|, largest row", {}, {}, {}, {}, {"#333333", ""}};
    report::Series bound{"1/(2T)", {}, {}, {}, {}, {bound_colour, "6 3"}};
    report::Series printed{"min(1/(4T), sqrt 2)", {}, {}, {}, {}, {bound_colour, "2 3"}};
    for (const limits::JacobianMeans& row : result.jacobian) {
        for (report::Series* const series : {&exact, &bound, &printed}) {
            series->x.push_back(row.temperature);
        }
        exact.y.push_back(row.spectral_largest);
        bound.y.push_back(1 / (2 * row.temperature));
        printed.y.push_back(limits::paper_sensitivity_bound(row.temperature));
    }
    figure.series.push_back(exact);
    figure.series.push_back(bound);
    figure.series.push_back(printed);
    return figure;
}

report::HeatFigure map_of(const Result& result, const limits::HeadMeasure& measure, const std::string& about) {
    report::HeatFigure figure;
    figure.title = measure.title(result);
    figure.x.label = "head";
    figure.y.label = "block";
    figure.colour.label = measure.unit;
    figure.caption = about;
    std::size_t layers = 0;
    std::size_t heads = 0;
    for (const HeadResult& head : result.heads) {
        layers = std::max(layers, head.layer + 1);
        heads = std::max(heads, head.head + 1);
        figure.values.push_back(measure.value(head));
    }
    for (std::size_t i = 0; i < layers; ++i) {
        figure.y_values.push_back(static_cast<double>(i));
    }
    for (std::size_t i = 0; i < heads; ++i) {
        figure.x_values.push_back(static_cast<double>(i));
    }
    return figure;
}

report::BoxFigure measure_boxes(const Result& result, const std::string& about) {
    report::BoxFigure figure;
    figure.title = "What heads do: the spread over all of them";
    figure.axis = {"share (0: none, 1: all)", report::Scale::linear, 0.0, 1.0};
    figure.caption = about +
                     "\nActive keys: the share of the keys that hold 90 % of the weight. Keys told apart: of the "
                     "heaviest ones, those closer "
                     "to what was selected than every other key. Speed: how fast weights move when scores do, of what "
                     "softmax can reach.";
    for (const limits::HeadMeasure& measure : limits::head_measures()) {
        if (std::string_view(measure.name) == "distance") {
            continue;
        }
        report::BoxFigure::Group group;
        group.label = measure.words;
        group.style = {true_colour, ""};
        for (const HeadResult& head : result.heads) {
            group.values.push_back(measure.value(head));
            if (group.values.back() > 1) {
                figure.axis.max = {};  // weights that need not sum to 1, as those of sa-softmax
            }
        }
        figure.groups.push_back(std::move(group));
    }
    return figure;
}

report::LineFigure share_figure(const std::vector<Result>& results, const std::string& about) {
    report::LineFigure figure;
    figure.title = "Weight on the 5 heaviest keys as the text grows";
    figure.x = {"length L (tokens)", report::Scale::log, {}, {}};
    figure.y = {"share of the weight", report::Scale::linear, 0.0, 1.0};
    figure.caption = about + "\nLines are means over heads, bands hold the middle 80 % of heads.";
    for (const Result& result : results) {
        report::Series series{result.attention, {}, {}, {}, {}, {}};
        for (std::size_t i = 0; i < result.by_length.size(); ++i) {
            std::vector<double> heads;
            for (const HeadResult& head : result.heads) {
                heads.push_back(head.by_length[i].share);
            }
            series.x.push_back(static_cast<double>(result.by_length[i].length));
            series.y.push_back(result.by_length[i].share);
            series.lo.push_back(quantile_of(heads, 0.1));
            series.hi.push_back(quantile_of(heads, 0.9));
        }
        figure.series.push_back(std::move(series));
    }
    return figure;
}

}  // namespace

std::vector<LimitsFigure> limits_figures(const std::vector<Result>& results, const std::string& about) {
    std::vector<LimitsFigure> figures;
    figures.push_back({"share-length", share_figure(results, about)});
    for (const Result& result : results) {
        std::string kind = result.attention;
        std::replace(kind.begin(), kind.end(), ':', '-');
        const std::string ending = results.size() > 1 ? "-" + kind : "";
        const std::string caption = about + (results.size() > 1 ? ", " + result.attention : "");
        const auto add = [&](const std::string& name, auto figure) {
            figures.push_back({name + ending, std::move(figure)});
        };
        add("distance-length", length_figure(result, caption));
        add("distance-n", n_figure(result, caption));
        add("critical-n", critical_figure(result, caption));
        add("ks-curves", ks_figure(result, caption));  // ks.csv has the numbers of all of them
        add("separation", separation_boxes(result, caption));
        add("distance-heads", distance_boxes(result, caption));
        add("sensitivity", sensitivity_figure(result, caption));
        add("measures", measure_boxes(result, caption));
        for (const limits::HeadMeasure& measure : limits::head_measures()) {
            add(fmt::format("map-{}", measure.name), map_of(result, measure, caption));
        }
    }
    return figures;
}

}  // namespace flyball::cli
