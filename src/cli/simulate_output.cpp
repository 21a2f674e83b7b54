#include "cli/simulate_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/simulate_figures.hpp"
#include "cli/terminal.hpp"
#include "core/number.hpp"
#include "dynamics/trained_weights.hpp"
#include "report/text.hpp"

namespace flyball::cli {

using dynamics::Sample;

std::string describe(const dynamics::Settings& s) {
    std::string text = fmt::format("n = {}, d = {}, beta = {}", s.tokens, s.dim, format_double(s.beta));
    if (s.heads > 1) {
        text += fmt::format(", {} heads", s.heads);
    }
    switch (s.start) {
        case dynamics::StartKind::symmetric:
            text += ", symmetric start";
            break;
        case dynamics::StartKind::uniform:
            text += ", uniform start";
            break;
        case dynamics::StartKind::gaussian:
            text += ", gaussian start";
            break;
        case dynamics::StartKind::cone:
            text += fmt::format(", start in a cone of {}", format_double(s.cone_delta));
            break;
        case dynamics::StartKind::equiangular:
            text += fmt::format(", start with all cosines {}", format_double(s.start_cosine));
            break;
        case dynamics::StartKind::file:
            text += ", start from " + std::filesystem::path(s.start_file).filename().string();
            if (s.start_frame) {
                text += fmt::format(", sample {}", *s.start_frame);
            }
            break;
    }
    if (s.r0 != 1) {
        text += fmt::format(", r0 = {}", format_double(s.r0));
    }
    if (s.trained) {
        text +=
            fmt::format(", weights of {}{}, block after block", s.trained->model, s.norm_gains ? " with gains" : "");
        text += ", its positions, biases and FFN dropped";
    } else if (s.weights == dynamics::WeightKind::file) {
        text += ", weights of " + std::filesystem::path(s.weight_file).filename().string();
    } else if (s.weights != dynamics::WeightKind::identity) {
        text += fmt::format(", {} weights", dynamics::weights_text(s));
    }
    if (s.fresh) {
        text += " redrawn at every integer t";
    }
    if (s.causal) {
        text += ", causal mask";
    }
    if (s.attention != "softmax") {
        text += fmt::format(", {} attention", s.attention);
    }
    if (s.ffn_width > 0) {
        text += fmt::format(", FFN of width {}", s.ffn_width);
    }
    if (s.systems > 1) {
        text += fmt::format(", {} systems", s.systems);
    }
    text += s.layers ? fmt::format(", {} layers of dt = {}", *s.layers, format_double(s.step())) : ", ODE limit";
    return text + fmt::format(", seed {}", s.seed);
}

std::string simulate_text(const dynamics::Settings& settings, const std::vector<dynamics::SchemeRun>& all,
                          const dynamics::RunFolder* folder) {
    std::string text = describe(settings) + "\n";
    for (const std::string& note : dynamics::trained_notes(settings)) {
        text += "* " + note + "\n";
    }
    text += "\n";
    std::vector<dynamics::SchemeRun> runs;  // an interrupt in its first evaluation leaves a run nothing to show
    std::copy_if(all.begin(), all.end(), std::back_inserter(runs),
                 [](const dynamics::SchemeRun& run) { return !run.record.samples.empty(); });
    if (runs.empty()) {
        return text + "nothing was measured\n";
    }
    std::vector<std::vector<std::string>> rows;
    for (const dynamics::SchemeRun& run : runs) {
        const Sample& first = run.record.samples.front();
        const Sample& last = run.record.samples.back();
        rows.push_back(
            {run.scheme.name, fmt::format("{:.4g}", last.t), fmt::format("{:.4f}", first.cosine),
             fmt::format("{:.6f}", last.cosine), fmt::format("{:.4g}", last.radius), fmt::format("{:.3g}", first.speed),
             fmt::format("{:.3g}", last.speed), std::isnan(last.clusters) ? "-" : fmt::format("{:.3g}", last.clusters),
             run.record.collapse_time ? fmt::format("{:.3g}", *run.record.collapse_time) : "-",
             dynamics::name(run.record.outcome), run.record.kernel, fmt::format("{:.3g} s", run.record.seconds)});
    }
    text += report::text_table({"scheme", "t", "cosine at 0", "at the end", "radius", "speed at 0", "at the end",
                                "clusters", "collapse", "outcome", "kernel", "took"},
                               rows);
    const bool terminal = stdout_is_terminal();
    report::TextOptions options;
    options.colour = terminal;
    report::LineFigure figure = cosine_figure(settings, runs);
    figure.caption.clear();
    text +=
        "\n" + report::text_plot(figure, static_cast<std::size_t>(std::min(100, terminal ? terminal_columns() : 100)),
                                 22, options);
    if (folder != nullptr) {
        text += fmt::format("\nwritten to {}: {}\n", folder->path().string(), fmt::join(folder->files(), ", "));
    }
    return text;
}

}  // namespace flyball::cli
