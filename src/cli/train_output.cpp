#include "cli/train_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "claims/style.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "core/amount.hpp"
#include "core/number.hpp"
#include "report/text.hpp"

namespace flyball::cli {

namespace {

std::string digits(double value, const char* missing = "-") {
    return std::isfinite(value) ? format_short(value, 4) : missing;
}

std::string thousands(double value) {
    if (!std::isfinite(value)) {
        return "-";
    }
    std::string text = fmt::format("{:.0f}", value);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string failure_sentence(const train::Summary& s) {
    const train::Failure& f = *s.failure;
    const std::string where = f.layer ? fmt::format(" after layer {}", *f.layer) : "";
    switch (f.outcome) {
        case train::Outcome::nan:
            return fmt::format("{} ended at step {}: the {}{} was no longer a finite number.", s.name, f.step,
                               f.quantity, where);
        case train::Outcome::exploded:
            return fmt::format(
                "{} ended at step {}: the stream{} grew beyond 65,504, the largest number of half "
                "precision.",
                s.name, f.step, where);
        case train::Outcome::spike:
            return fmt::format("{} ended at step {}: the loss had risen far above its best (--spike).", s.name, f.step);
        case train::Outcome::done:
        case train::Outcome::interrupted:
            return "";
    }
    return "";
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string train_table(const std::vector<train::Summary>& runs, std::size_t columns) {
    const auto gap = [](const train::Summary& s) {
        return s.entropy_floor ? s.validation_loss - *s.entropy_floor : std::nan("");
    };
    const bool has_floor =
        std::any_of(runs.begin(), runs.end(), [](const train::Summary& s) { return s.entropy_floor.has_value(); });
    std::vector<report::TableColumn> table;
    const auto add = [&](const char* header, int rank, const std::function<std::string(const train::Summary&)>& text) {
        std::vector<std::string> cells;
        for (const train::Summary& run : runs) {
            cells.push_back(text(run));
        }
        table.push_back({header, std::move(cells), rank});
    };
    add("run", 0, [](const train::Summary& s) { return s.name; });
    add("loss", 1, [](const train::Summary& s) { return digits(s.loss); });
    add("validation", 0, [](const train::Summary& s) { return digits(s.validation_loss); });
    if (has_floor) {
        add("gap", 0, [&](const train::Summary& s) { return digits(gap(s)); });
    }
    add("growth", 0, [](const train::Summary& s) { return digits(s.growth); });
    add("grad min", 0, [](const train::Summary& s) { return digits(s.smallest_gradient); });
    add("grad max", 0, [](const train::Summary& s) { return digits(s.largest_gradient); });
    add("tokens/s", 2, [](const train::Summary& s) { return thousands(s.tokens_per_second); });
    add("outcome", 0, [](const train::Summary& s) { return std::string(name(s.outcome)); });
    return report::text_table(std::move(table), columns);
}

std::string train_text(const std::vector<TrainRun>& runs, const train::Corpus& corpus) {
    const bool terminal = stdout_is_terminal();
    const std::size_t columns = std::max<std::size_t>(40, output_columns());
    std::string text = report::text_lines(corpus.description, columns) +
                       report::text_lines(train::describe(runs.front().plan.settings), columns) + "\n";
    std::vector<train::Summary> summaries;
    for (const TrainRun& run : runs) {
        summaries.push_back(run.result.summary);
    }
    text += train_table(summaries, columns);
    for (const TrainRun& run : runs) {
        if (run.result.summary.failure) {
            text += "\n" + report::text_lines(failure_sentence(run.result.summary), columns);
        }
        for (const std::string& note : run.result.summary.notes) {
            text += "\n" + report::text_lines(fmt::format("{}: {}", run.result.summary.name, note), columns);
        }
    }
    const bool has_floor = std::any_of(summaries.begin(), summaries.end(),
                                       [](const train::Summary& s) { return s.entropy_floor.has_value(); });
    text += "\n" + report::text_lines(
                       fmt::format("Losses are in nats a token.{} growth: length of the stream after the last block "
                                   "over that of the embedding; grad min and max: lengths of the loss's gradient "
                                   "with respect to the stream, among the layers; both at the end.",
                                   has_floor ? " gap: validation loss above the least that is possible." : ""),
                       columns);
    report::TextOptions options;
    options.colour = terminal;
    report::LineFigure figure = loss_figure(runs);
    figure.caption.clear();
    text += "\n" + report::text_plot(figure, columns, 18, options);
    return text;
}

void TrainView::show(const std::vector<TrainRun>& runs, const Json& line, double seconds_left) {
    const TrainRun& run = runs.back();
    const auto step = line.at("step").get<std::size_t>();
    const auto number = [&](const char* key) {
        return line.at(key).is_number() ? line.at(key).get<double>() : std::nan("");
    };
    // The runs to come take as long as this one, as far as this one tells.
    if (step < run.plan.settings.steps) {
        run_seconds_ = seconds_left / (1 - static_cast<double>(step) / static_cast<double>(run.plan.settings.steps));
    }
    const double left_for_all = seconds_left + static_cast<double>(count_ - runs.size()) * run_seconds_;
    const std::string status =
        fmt::format("{} ({} of {})  step {} of {}  loss {}  {} tokens/s  {} left{}", run.plan.name, runs.size(), count_,
                    step, run.plan.settings.steps, digits(number("loss"), "nan"),
                    thousands(number("tokens_per_second")), duration_text(left_for_all), count_ > 1 ? " for all" : "");
    if (is_quiet()) {
        return;
    }
    if (isatty(STDERR_FILENO) == 0) {
        if (line.contains("validation_loss")) {
            print_error(fmt::format("{}  validation {}\n", status, digits(line.at("validation_loss").get<double>())));
        }
        return;
    }
    const double now = seconds_now();
    if (now < next_) {
        return;
    }
    next_ = now + 0.5;
    std::string text;
    if (step > 8 || runs.size() > 1) {
        report::LineFigure figure = loss_figure(runs);
        figure.caption.clear();
        report::TextOptions options;
        options.colour = true;
        text += report::text_plot(figure, error_columns() - 1, 16, options);
    }
    text += status.substr(0, error_columns() - 1) + "\n";
    // Line by line, and what is left below at last: a terminal that is cleared from its top keeps every picture in its
    // history.
    std::string drawing = drawn_ > 0 ? fmt::format("\033[{}A\r", drawn_) : "";
    drawn_ = 0;
    for (const char c : text) {
        drawing += c == '\n' ? "\033[K\n" : std::string(1, c);
        drawn_ += c == '\n' ? 1 : 0;
    }
    print_error(drawing + "\033[J");
}

// The picture of a finished call is the one on stdout.
void TrainView::end_run(const std::vector<TrainRun>& runs) {
    const bool last = runs.size() == count_ || !runs.back().result.complete;
    if (drawn_ > 0 && last) {
        print_error(fmt::format("\033[{}A\r\033[J", drawn_));
        drawn_ = 0;
    }
}

}  // namespace flyball::cli
