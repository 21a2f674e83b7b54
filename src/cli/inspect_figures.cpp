// The figures of `flyball inspect`: quantities over depth.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/inspect_output.hpp"
#include "results/in_short.hpp"

namespace flyball::cli {

namespace {

using inspect::LayerReport;

struct Line {
    const char* name;
    double LayerReport::*value;
    double LayerReport::*lo = nullptr;
    double LayerReport::*hi = nullptr;
};

struct Panel {
    const char* file;
    const char* title;
    const char* axis;
    std::vector<Line> lines;
    const char* note;
    bool from_zero = false;
};

std::vector<std::string> short_names(const std::vector<Inspected>& models) {
    std::vector<std::string> names;
    for (const Inspected& one : models) {
        names.push_back(one.name);
    }
    return results::short_model_names(std::move(names));
}

const std::vector<Panel>& panels() {
    using R = LayerReport;
    static const std::vector<Panel> list = {
        {"norm",
         "Length of the stream after each block",
         "length of a token's vector",
         {{"median", &R::norm_median, &R::norm_low, &R::norm_high}},
         "The band holds 90 % of the tokens."},
        {"added",
         "What each branch adds, as a share of the stream",
         "length added / length of the stream",
         {{"attention", &R::attention_ratio}, {"FFN", &R::ffn_ratio}},
         "As the equation adds it: after norms and factors."},
        {"angle",
         "How far each block turns the stream",
         "mean angle / π",
         {{"measured", &R::angular_distance}, {"predicted", &R::angular_predicted}},
         "Predicted from the equation, its gains and lengths, never from the turn itself.",
         true},
        {"cosine",
         "How alike the tokens are",
         "cosine, distance",
         {{"mean cosine of two", &R::cosine}, {"distance from collapse", &R::collapse_residual}},
         "Cosine 1: all tokens point one way. Distance 0: all tokens are one vector."},
        {"rank",
         "How many directions the tokens of a window fill",
         "effective rank",
         {{"effective rank", &R::effective_rank}},
         "",
         true},
        {"attention",
         "What attention looks at",
         "share",
         {{"weight of the first token", &R::sink}, {"heads that are sinks", &R::sink_heads}},
         "A sink gives the first token more than 30 % of its weight.",
         true},
        {"gradient",
         "Gradient of the loss with respect to the stream",
         "length of the gradient",
         {{"gradient", &R::gradient}},
         ""},
        {"drop",
         "Loss increase when a block is left out",
         "nats a token",
         {{"increase", &R::drop}},
         "All other blocks stay."},
        {"lens",
         "Loss if the model ended after each block",
         "nats a token",
         {{"loss", &R::lens_loss}},
         "The block's stream goes through the final norm and the head."},
        {"entropy", "Entropy of attention", "nats", {{"entropy", &R::entropy}}, "Mean over heads and queries.", true},
        {"logits", "Largest attention score", "before the softmax", {{"largest score", &R::largest_logit}}, ""},
        {"variance",
         "Moments of the stream",
         "value",
         {{"mean absolute value", &R::mean_abs},
          {"entry-wise variance", &R::entry_variance},
          {"data-wise variance", &R::data_variance}},
         "Data-wise variance needs several windows."},
        {"entries",
         "Largest and median entry of the stream",
         "absolute value",
         {{"largest", &R::largest}, {"median", &R::median_abs}},
         ""},
        {"norm-gains",
         "Gains of the norms",
         "absolute gain",
         {{"mean", &R::gain_mean}, {"largest", &R::gain_largest}},
         ""},
        {"branch-cosine",
         "Whether a branch points along the stream",
         "mean cosine",
         {{"attention", &R::attention_cosine}, {"FFN", &R::ffn_cosine}},
         "Above 0 it lengthens the stream, below 0 it removes what is there."},
    };
    return list;
}
constexpr std::size_t on_page = 9;

const std::vector<std::string>& line_colours() {
    static const std::vector<std::string> colours = {"#1f6fb4", "#d9622b", "#3a923a", "#8a5bb5",
                                                     "#a0522d", "#c2468f", "#6b6b6b", "#9a9a00"};
    return colours;
}

report::LineFigure figure_of(const Panel& panel, const std::vector<Inspected>& models) {
    constexpr std::array<const char*, 3> dashes = {"", "5 3", "2 3"};
    report::LineFigure figure;
    figure.title = panel.title;
    figure.x.label = "block";
    figure.y.label = panel.axis;
    double least = HUGE_VAL;
    double most = 0;
    const std::vector<std::string> names = short_names(models);
    for (std::size_t m = 0; m < models.size(); ++m) {
        for (std::size_t k = 0; k < panel.lines.size(); ++k) {
            const Line& line = panel.lines[k];
            report::Series series;
            series.name = models.size() == 1        ? line.name
                          : panel.lines.size() == 1 ? names[m]
                                                    : fmt::format("{}, {}", names[m], line.name);
            const std::size_t colour = models.size() == 1 ? k : m;
            series.style = {line_colours()[colour % line_colours().size()], models.size() == 1 ? "" : dashes[k % 3]};
            const std::vector<LayerReport>& layers = models[m].report.layers;
            bool any = false;
            for (std::size_t l = 0; l < layers.size(); ++l) {
                const double value = layers[l].*line.value;
                series.x.push_back(static_cast<double>(l));
                series.y.push_back(value);
                if (line.lo != nullptr) {
                    series.lo.push_back(layers[l].*line.lo);
                    series.hi.push_back(layers[l].*line.hi);
                }
                if (std::isfinite(value)) {
                    any = true;
                    least = std::min(least, value);
                    most = std::max(most, value);
                }
            }
            if (any) {
                figure.series.push_back(std::move(series));
            }
        }
    }
    constexpr double wide = 30;  // a range that a linear axis cannot show
    if (!panel.from_zero && least > 0 && most > wide * least) {
        figure.y.scale = report::Scale::log;
    } else if (panel.from_zero && least >= 0) {
        figure.y.min = 0;
    }
    figure.caption = panel.note;
    return figure;
}

std::string about(const std::vector<Inspected>& models) {
    std::string text;
    const std::vector<std::string> names = short_names(models);
    for (const Inspected& one : models) {
        text += fmt::format("{}{}: {}, {} x {} tokens", text.empty() ? "" : "\n",
                            names[static_cast<std::size_t>(&one - models.data())], one.equation, one.report.sequences,
                            one.report.tokens);
        if (std::isfinite(one.report.loss)) {
            text += fmt::format(", loss {:.4f}", one.report.loss);
        }
        text += fmt::format(". Median length at the embedding: {:.3g}.", one.report.embedding.norm_median);
    }
    return text;
}

}  // namespace

std::vector<InspectFigure> inspect_figures(const std::vector<Inspected>& models) {
    std::vector<InspectFigure> figures;
    for (const Panel& panel : panels()) {
        report::LineFigure figure = figure_of(panel, models);
        if (!figure.series.empty()) {
            figure.caption += (figure.caption.empty() ? "" : "\n") + about(models);
            figures.push_back({panel.file, std::move(figure)});
        }
    }
    return figures;
}

report::PanelFigure inspect_page(const std::vector<Inspected>& models) {
    report::PanelFigure page;
    page.title =
        models.size() == 1 ? "Where depth goes in " + short_names(models).front() : "Where depth goes, side by side";
    page.caption = about(models);
    for (std::size_t i = 0; i < on_page; ++i) {
        report::LineFigure figure = figure_of(panels()[i], models);
        if (!figure.series.empty()) {
            page.panels.push_back(std::move(figure));
        }
    }
    return page;
}

}  // namespace flyball::cli
