#include "cli/simulate_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/simulate_figures.hpp"
#include "cli/terminal.hpp"
#include "core/number.hpp"
#include "report/text.hpp"

namespace flyball::cli {

using dynamics::Sample;

namespace {

// Tokens count from 0, as in the arrays.
Json fusings(const std::vector<dynamics::Fusing>& history) {
    Json list = Json::array();
    for (const dynamics::Fusing& fusing : history) {
        Json entry;
        entry["t"] = fusing.t;
        entry["system"] = fusing.system;
        entry["tokens"] = fusing.tokens;
        entry["apart"] = fusing.apart;
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace

Json simulate_json(const std::vector<Simulated>& runs) {
    Json list = Json::array();
    for (const Simulated& run : runs) {
        const std::vector<Sample>& samples = run.record.samples;
        Json row = Json::object();
        row["scheme"] = run.scheme.name;
        row["equation"] = run.scheme.program.text();
        row["outcome"] = dynamics::name(run.record.outcome);
        for (const dynamics::SampleField& field : dynamics::sample_fields()) {
            if (field.json == nullptr) {
                continue;
            }
            Json values = Json::array();
            for (const Sample& sample : samples) {
                values.push_back(field(sample));
            }
            const std::string place = field.json;
            const std::size_t dot = place.find('.');
            Json& group = dot == std::string::npos ? row : row[place.substr(0, dot)];
            group[place.substr(dot == std::string::npos ? 0 : dot + 1)] = std::move(values);
        }
        row["collapse_time"] = run.record.collapse_time ? Json(*run.record.collapse_time) : Json(nullptr);
        row["fused"] = fusings(run.record.fused);
        row["kernel"] = run.record.kernel;
        row["stats"] = {
            {"steps", run.record.steps}, {"evaluations", run.record.evaluations}, {"seconds", run.record.seconds}};
        list.push_back(std::move(row));
    }
    return {{"runs", std::move(list)}};
}

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
    }
    if (s.r0 != 1) {
        text += fmt::format(", r0 = {}", format_double(s.r0));
    }
    if (s.weights == dynamics::WeightKind::file) {
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
    text += s.layers ? fmt::format(", {} layers of dt = {}", *s.layers, format_double(s.dt)) : ", ODE limit";
    return text + fmt::format(", seed {}", s.seed);
}

std::string simulate_text(const dynamics::Settings& settings, const std::vector<Simulated>& all,
                          const SimulateFolder* folder) {
    std::string text = describe(settings) + "\n\n";
    std::vector<Simulated> runs;  // an interrupt in its first evaluation leaves a run nothing to show
    std::copy_if(all.begin(), all.end(), std::back_inserter(runs),
                 [](const Simulated& run) { return !run.record.samples.empty(); });
    if (runs.empty()) {
        return text + "nothing was measured\n";
    }
    std::vector<std::vector<std::string>> rows;
    for (const Simulated& run : runs) {
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
