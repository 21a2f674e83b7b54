#include "cli/check_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check/advice.hpp"
#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t page_width = 80;

std::string wrapped(const std::string& text, const std::string& indent) {
    std::string out;
    std::string line = indent;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (line.size() > indent.size() && line.size() + 1 + word.size() > page_width) {
            out += line + "\n";
            line = indent;
        }
        line += (line.size() > indent.size() ? " " : "") + word;
        begin = end + 1;
    }
    return out + line + "\n";
}

std::string verdict_words(check::Verdict verdict) {
    switch (verdict) {
        case check::Verdict::stable:
            return "STABLE: nothing was found that speaks against training it.";
        case check::Verdict::caution:
            return "CAUTION: it may train, and there is something that you should know.";
        case check::Verdict::unstable:
            return "UNSTABLE: it would not train at this depth as it is.";
        case check::Verdict::malformed:
            return "MALFORMED: the equation does not say what it was written for.";
    }
    unreachable();
}

std::string block_text(const check::BlockReport& block, const check::PreflightReport& report) {
    const check::Settings& settings = block.block.settings;
    std::string text = fmt::format("{}: {}\n{}\n\n", block.block.scheme.name, block.block.scheme.program.text(),
                                   verdict_words(block.verdict));
    text += fmt::format("for {} blocks x {} channels, {} tokens; measured on stand-ins of {} channels\n\n",
                        settings.depth, settings.width, settings.tokens, check::Settings::measured_width);
    for (const check::Finding& finding : block.findings) {
        text += fmt::format("[{}] {}\n", check::name(finding.severity), finding.id);
        text += wrapped(finding.message, "  ");
        text += wrapped("Evidence: " + finding.evidence + ".", "  ");
        text += "\n";
    }
    text +=
        "At the start, over depth (root mean square of the stream; gradient at the first\n"
        "block over that at the last):\n";
    text += fmt::format("  {:>6}  {:>10}  {:>10}  {:>10}\n", "blocks", "first", "last", "gradient");
    for (const check::DepthCurve& curve : block.beginning.curves) {
        const auto cell = [](double value) { return std::isfinite(value) ? format_short(value, 3) : std::string("-"); };
        text += fmt::format("  {:>6}  {:>10}  {:>10}  {:>10}\n", curve.depth, cell(curve.stream[1]),
                            cell(curve.stream.back()), cell(curve.gradient_ratio()));
    }
    text += fmt::format("  growth of the stream: {} (it {})\n", block.growth(), check::growth_words(block));
    text += wrapped("worst case: " + block.beginning.bound.words(), "  ") + "\n";
    text += fmt::format("Training loss, first and last of {} steps:\n", report.yardsticks[0].runs[0].losses.size());
    const auto add_runs = [&](const check::BlockReport& one) {
        text += fmt::format("  {:<16}", one.block.scheme.name);
        for (const check::ShortRun& run : one.runs) {
            text += fmt::format("  {:>2} blocks {:.3f} -> {:.3f}{}", run.depth, run.first, run.last,
                                run.failed() ? fmt::format(" ({})", train::name(run.outcome)) : "");
        }
        text += "\n";
    };
    add_runs(block);
    for (const check::BlockReport& yardstick : report.yardsticks) {
        const bool is_itself = yardstick.block.scheme.name == block.block.scheme.name && !block.runs.empty() &&
                               yardstick.runs.back().losses == block.runs.back().losses;
        if (!is_itself) {
            add_runs(yardstick);
        }
    }
    text += "\n" + wrapped(block.motion.sentence(), "");
    if (block.suggested_dt) {
        text += fmt::format("Suggested residual step: dt = {:.3g}.\n", *block.suggested_dt);
    }
    return text + "\n" + wrapped(check::advice(block, report), "");
}

struct NamedReport {
    const check::BlockReport* report;
    std::string label;
};

std::vector<NamedReport> drawn_reports(const check::PreflightReport& report) {
    std::vector<NamedReport> drawn;
    for (const auto* list : {&report.blocks, &report.yardsticks}) {
        for (const check::BlockReport& one : *list) {
            const std::string& name = one.block.scheme.name;
            const bool again =
                std::any_of(drawn.begin(), drawn.end(), [&](const NamedReport& other) { return other.label == name; });
            if (!again) {
                drawn.push_back({&one, name});
            }
        }
    }
    return drawn;
}

report::Series series_of(const NamedReport& one, const std::vector<double>& values, double first) {
    report::Series series;
    series.name = one.label;
    const scheme::Look look = scheme::look_of(one.report->block.scheme);
    series.style = {std::string(look.colour), std::string(look.dash)};
    for (std::size_t i = 0; i < values.size(); ++i) {
        series.x.push_back(first + static_cast<double>(i));
        series.y.push_back(values[i]);
    }
    return series;
}

}  // namespace

std::string check_text(const check::PreflightReport& report) {
    std::string text;
    for (const check::BlockReport& block : report.blocks) {
        text += (text.empty() ? "" : "\n" + std::string(page_width, '-') + "\n\n") + block_text(block, report);
    }
    if (report.blocks.size() == 2) {
        text += "\n" + std::string(page_width, '-') + "\n\n" +
                wrapped(check::difference(report.blocks[0], report.blocks[1]), "");
    }
    return text;
}

report::PanelFigure check_page(const check::PreflightReport& report) {
    report::PanelFigure page;
    page.title = "Preflight of a block";
    const std::vector<NamedReport> drawn = drawn_reports(report);
    report::LineFigure stream;
    stream.title = "Stream of a fresh model over depth";
    stream.x.label = "block";
    stream.y = {"root mean square", report::Scale::log, {}, {}};
    report::LineFigure gradient;
    gradient.title = "Gradient of a fresh model over depth";
    gradient.x.label = "block";
    gradient.y = {"length, that after the last block being 1", report::Scale::log, {}, {}};
    for (const NamedReport& one : drawn) {
        const check::DepthCurve& deepest = one.report->beginning.curves.back();
        stream.series.push_back(series_of(one, deepest.stream, 0));
        std::vector<double> relative = deepest.gradient;
        for (double& value : relative) {
            value /= deepest.gradient.back();
        }
        gradient.series.push_back(series_of(one, relative, 0));
    }
    page.panels = {std::move(stream), std::move(gradient)};
    for (std::size_t d = 0; d < report.yardsticks[0].runs.size(); ++d) {
        report::LineFigure losses;
        losses.title = fmt::format("Training loss at {} blocks", report.yardsticks[0].runs[d].depth);
        losses.x.label = "step";
        losses.y.label = "nats a token";
        for (const NamedReport& one : drawn) {
            losses.series.push_back(series_of(one, one.report->runs[d].losses, 1));
        }
        page.panels.push_back(std::move(losses));
    }
    for (const check::BlockReport& block : report.blocks) {
        page.caption += fmt::format("{}{}: {}. Verdict: {}.", page.caption.empty() ? "" : "\n", block.block.scheme.name,
                                    block.block.scheme.program.text(), check::name(block.verdict));
    }
    return page;
}

}  // namespace flyball::cli
