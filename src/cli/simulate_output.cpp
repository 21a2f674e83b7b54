#include "cli/simulate_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "cli/simulate_figures.hpp"
#include "cli/terminal.hpp"
#include "core/number.hpp"
#include "dynamics/method.hpp"
#include "dynamics/own_frame.hpp"
#include "dynamics/summary.hpp"
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

namespace {

// What matters least has the highest rank and is left out first where columns are few.
std::string run_table(const std::vector<dynamics::SchemeRun>& runs, std::size_t columns) {
    using Run = dynamics::SchemeRun;
    std::vector<report::TableColumn> table;
    const auto add = [&](const std::string& header, int rank, const std::function<std::string(const Run&)>& text) {
        std::vector<std::string> cells;
        for (const Run& run : runs) {
            cells.push_back(text(run));
        }
        table.push_back({header, std::move(cells), rank});
    };
    const auto first = [](const Run& run) -> const Sample& { return run.record.samples.front(); };
    const auto last = [](const Run& run) -> const Sample& { return run.record.samples.back(); };
    const auto number = [](double value) { return std::isnan(value) ? std::string("-") : format_short(value, 3); };
    add("scheme", 0, [](const Run& run) { return run.scheme.name; });
    add("end t", 0, [&](const Run& run) { return format_short(last(run).t, 4); });
    add("cosine at 0", 5, [&](const Run& run) { return fmt::format("{:.4f}", first(run).cosine); });
    add("cosine", 0, [&](const Run& run) { return fmt::format("{:.6f}", last(run).cosine); });
    add("radius", 1, [&](const Run& run) { return format_short(last(run).radius, 4); });
    add("speed at 0", 2, [&](const Run& run) { return number(first(run).speed); });
    add("speed", 4, [&](const Run& run) { return number(last(run).speed); });
    add("clusters", 3, [&](const Run& run) { return number(last(run).clusters); });
    add("collapse", 0, [&](const Run& run) { return number(run.record.collapse_time.value_or(std::nan(""))); });
    add("outcome", 0, [](const Run& run) { return std::string(dynamics::name(run.record.outcome)); });
    add("kernel", 7, [](const Run& run) { return run.record.kernel; });
    add("took", 6, [](const Run& run) { return fmt::format("{} s", format_short(run.record.seconds, 2)); });
    return report::text_table(std::move(table), columns);
}

// Empty where no sample is below what the solver resolves.
std::string tolerance_note(const dynamics::Settings& settings, const std::vector<dynamics::SchemeRun>& runs) {
    const double least = dynamics::one_minus_cosine_resolution(settings, runs).value_or(0);
    for (const dynamics::SchemeRun& run : runs) {
        for (const dynamics::Sample& sample : run.record.samples) {
            if (sample.one_minus_cosine > 0 && sample.one_minus_cosine < least) {
                return fmt::format(
                    "Values of 1 - cosine below {} are within the solver's tolerance and say nothing about the "
                    "motion; smaller --rtol and --atol show more of it.",
                    format_short(least, 2));
            }
        }
    }
    return "";
}

}  // namespace

std::string simulate_text(const dynamics::Settings& settings, const std::vector<dynamics::SchemeRun>& all,
                          const dynamics::RunFolder* folder) {
    const std::size_t columns = output_columns();
    std::string text = report::text_lines(describe(settings), columns);
    for (const std::string& note : dynamics::trained_notes(settings)) {
        text += report::text_lines(note, columns, "* ", "  ");
    }
    text += "\n";
    std::vector<dynamics::SchemeRun> runs;  // an interrupt in its first evaluation leaves a run nothing to show
    std::copy_if(all.begin(), all.end(), std::back_inserter(runs),
                 [](const dynamics::SchemeRun& run) { return !run.record.samples.empty(); });
    if (runs.empty()) {
        return text + "nothing was measured\n";
    }
    text += run_table(runs, columns);
    report::TextOptions options;
    options.colour = stdout_is_terminal();
    report::LineFigure figure = cosine_figure(settings, runs);
    figure.caption.clear();
    text += "\n" + report::text_plot(figure, columns, plot_rows, options);
    std::vector<dynamics::SchemeRun> ended;  // what was interrupted has not failed, and is not told as if it had
    std::vector<std::string> words;
    for (const dynamics::SchemeRun& run : runs) {
        if (run.record.outcome == dynamics::Outcome::interrupted) {
            words.push_back(run.scheme.name + " was interrupted.");
        } else {
            ended.push_back(run);
        }
    }
    if (std::string told = dynamics::summary(ended, settings.tokens); !told.empty()) {
        words.insert(words.begin(), std::move(told));
    }
    text += "\n" + report::text_lines(fmt::format("{}", fmt::join(words, " ")), columns);
    if (const std::string note = tolerance_note(settings, runs); !note.empty()) {
        text += report::text_lines(note, columns);
    }
    if (folder != nullptr) {
        text += "\n" + report::text_lines(
                           fmt::format("written to {}: {}", folder->path().string(), fmt::join(folder->files(), ", ")),
                           columns);
    }
    return text;
}

}  // namespace flyball::cli
