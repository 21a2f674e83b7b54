#include "cli/theory_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/simulate_figures.hpp"
#include "cli/terminal.hpp"
#include "core/number.hpp"
#include "report/text.hpp"
#include "report/utf8.hpp"
#include "scheme/own_equation.hpp"
#include "theory/summary.hpp"

namespace flyball::cli {

using theory::Law;
using theory::LawKind;
using theory::Point;

namespace {

std::string describe(const TheoryOutput& output) {
    const theory::Settings& settings = output.settings;
    std::vector<std::string> betas;
    for (const double beta : output.betas.empty() ? settings.betas : output.betas) {
        betas.push_back(format_double(beta));
    }
    return fmt::format("n = {} orthonormal tokens, {}{}beta = {}, r0 = {}, T = {}", format_double(settings.tokens),
                       settings.dim ? fmt::format("d = {}, ", format_double(*settings.dim)) : "",
                       output.betas.empty() ? "heads of " : "", fmt::join(betas, ", "), format_double(settings.r0),
                       format_double(settings.T));
}

// Of every run; beta is part of it where it differs, as a word on terminals and as a letter in figures.
std::vector<std::string> labels(const TheoryOutput& output, std::string_view beta) {
    std::vector<scheme::Scheme> schemes;
    const std::size_t each = std::max<std::size_t>(1, output.betas.size());
    for (std::size_t i = 0; i < output.runs.size(); i += each) {
        schemes.push_back(output.runs[i].scheme);
    }
    std::vector<std::string> labels;
    for (const std::string& label : scheme::labels_of(schemes)) {
        for (std::size_t k = 0; k < each; ++k) {
            labels.push_back(each == 1 ? label
                                       : fmt::format("{}, {} = {}", label, beta, format_double(output.betas[k])));
        }
    }
    return labels;
}

// Digits that were measured, without a tail of rounding: 2.99999999999 is 3.
std::string number(double value) {
    return format_short(value, 6);
}

template <class Get>
report::LineFigure lines(const TheoryOutput& output, std::string title, std::string label, const Get& get) {
    report::LineFigure figure;
    figure.title = std::move(title);
    figure.x.label = "depth t (time)";
    figure.x.scale = output.log_time ? report::Scale::log : report::Scale::linear;
    figure.y.label = std::move(label);
    figure.caption = report::with_greek(describe(output));
    const std::vector<std::string> names = labels(output, "β");
    for (std::size_t i = 0; i < output.runs.size(); ++i) {
        report::Series series;
        series.name = names[i];
        series.style = style_of(output.runs[i].scheme);
        for (const Point& point : output.runs[i].points) {
            series.x.push_back(point.t);
            series.y.push_back(get(point));
        }
        figure.series.push_back(std::move(series));
    }
    report::tell_apart(figure.series);
    return figure;
}

report::LineFigure gamma_figure(const TheoryOutput& output) {
    return lines(output, "Cosine between tokens from the reduced law", "cosine γ",
                 [](const Point& point) { return point.gamma; });
}

}  // namespace

std::string law_in_words(const Law& law) {
    constexpr double hidden = -11.5;  // log of 1e-5: six digits of gamma would say 1, or next to nothing
    std::string constant;
    if (law.constant) {
        constant = ", C = " + number(*law.constant);
    } else if (law.log_constant) {
        constant = ", log C = " + number(*law.log_constant);
    }
    switch (law.kind) {
        case LawKind::exponential:
            return fmt::format("exponential  C {}exp(-{} t){}",
                               *law.power == 0 ? "" : fmt::format("t^{} ", number(*law.power)), number(*law.rate),
                               constant);
        case LawKind::stretched:
            return fmt::format("stretched  C t^{} exp(-{} t^{}){}", number(*law.power), number(*law.rate),
                               number(*law.p), constant);
        case LawKind::power:
            return fmt::format("power  C t^{}{}", number(*law.exponent), constant);
        case LawKind::frozen:
            if (!law.reached) {
                return fmt::format("not reached: gamma = {} at the end", law.limit ? number(*law.limit) : "?");
            }
            if (law.log_one_minus_limit && *law.log_one_minus_limit < hidden) {
                return fmt::format("frozen at gamma = 1 - exp({})", number(*law.log_one_minus_limit));
            }
            return fmt::format("frozen at gamma = {}", law.limit ? number(*law.limit) : "?");
        case LawKind::extinct:
            return fmt::format("extinct at t = {}", number(*law.time));
        case LawKind::other:
            break;
    }
    return "other: see below";
}

std::string theory_text(const TheoryOutput& output) {
    const std::size_t columns = output_columns();
    const std::vector<std::string> names = labels(output, "beta");
    std::vector<report::TableColumn> table = {
        {"scheme", names, 0}, {"gamma'(0)", {}, 0}, {"gamma' for large t", {}, 0}};
    std::string notes;
    for (std::size_t i = 0; i < output.runs.size(); ++i) {
        const theory::Prediction& run = output.runs[i];
        table[1].cells.push_back(number(run.initial_velocity));
        table[2].cells.push_back(law_in_words(run.law));
        if (!run.law.note.empty()) {
            notes += report::text_lines(fmt::format("{}: {}", names[i], run.law.note), columns, "", "  ");
        }
    }
    for (std::size_t c = 0; c < output.cosines.size(); ++c) {
        // Where columns are few the first of them goes first: the last cosine says most.
        table.push_back(
            {"t(" + format_double(output.cosines[c]) + ")", {}, static_cast<int>(output.cosines.size() - c)});
        for (const theory::Prediction& run : output.runs) {
            const auto& time = run.times_to_cosine[c];
            table.back().cells.push_back(time ? number(*time) : "-");
        }
    }
    std::string text = report::text_lines(describe(output), columns) + "\n" + report::text_table(table, columns);
    if (!notes.empty()) {
        text += "\n" + notes;
    }
    report::TextOptions options;
    options.colour = stdout_is_terminal();
    report::LineFigure figure = gamma_figure(output);
    figure.caption.clear();
    return text + "\n" + report::text_plot(figure, columns, plot_rows, options) + "\n" +
           report::text_lines(theory::summary(output.runs, names, output.cosines), columns);
}

std::vector<TheoryFigure> theory_figures(const TheoryOutput& output) {
    report::LineFigure radius = lines(output, "Length of the residual stream from the reduced law", "r = |x|",
                                      [](const Point& point) { return point.radius; });
    radius.y.scale = report::Scale::log;
    report::LineFigure velocity =
        lines(output, "How fast the cosine rises, from the reduced law", "velocity of the cosine, γ'",
              [](const Point& point) { return point.velocity; });
    velocity.y.scale = report::Scale::log;
    // An exponential law would push all the others to the top edge.
    double largest = 0;
    double smallest = HUGE_VAL;
    for (const report::Series& series : velocity.series) {
        for (const double value : series.y) {
            largest = std::max(largest, value);
            smallest = value > 0 ? std::min(smallest, value) : smallest;
        }
    }
    if (smallest < 1e-20 * largest) {
        velocity.y.min = 1e-20 * largest;
    }
    return {{"cosine", gamma_figure(output)}, {"radius", std::move(radius)}, {"velocity", std::move(velocity)}};
}

std::vector<std::string> write_theory_figures(const std::filesystem::path& file, const TheoryOutput& output,
                                              const report::Sheet& sheet) {
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
    const std::string name = file.stem().string();
    std::vector<std::string> written;
    for (const TheoryFigure& figure : theory_figures(output)) {
        const std::string part = figure.name == "cosine" ? "" : "-" + figure.name;
        for (const std::string& one : report::write_figure(folder, name + part, figure.figure, sheet)) {
            if (!one.ends_with(".csv")) {
                written.push_back((file.parent_path() / one).string());
            }
        }
    }
    return written;
}

Json theory_document(const TheoryOutput& output) {
    Json document = theory::document(output.runs, output.cosines);
    document["summary"] = theory::summary(output.runs, labels(output, "beta"), output.cosines);
    return document;
}

}  // namespace flyball::cli
