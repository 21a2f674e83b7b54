#include "cli/train_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "claims/style.hpp"
#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "core/number.hpp"
#include "report/text.hpp"

namespace flyball::cli {

namespace {

std::string digits(double value, const char* missing = "-") {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : missing;
}

std::string thousands(double value) {
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
            return fmt::format("{} ended at step {}: the {}{} was no longer a finite number.\n", s.name, f.step,
                               f.quantity, where);
        case train::Outcome::exploded:
            return fmt::format(
                "{} ended at step {}: the stream{} grew beyond 65,504, the largest number of half "
                "precision.\n",
                s.name, f.step, where);
        case train::Outcome::spike:
            return fmt::format("{} ended at step {}: the loss had risen far above its best (--spike).\n", s.name,
                               f.step);
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

std::string train_text(const std::vector<TrainRun>& runs, const train::Corpus& corpus) {
    std::string text = fmt::format("{}\n{}\n\n", corpus.description, train::describe(runs.front().plan.settings));
    std::vector<std::vector<std::string>> rows;
    const bool has_floor = runs.front().result.summary.entropy_floor.has_value();
    for (const TrainRun& run : runs) {
        const train::Summary& s = run.result.summary;
        const double gap = s.entropy_floor ? s.validation_loss - *s.entropy_floor : std::nan("");
        std::vector<std::string> row = {s.name, digits(s.loss), digits(s.validation_loss)};
        if (has_floor) {
            row.push_back(digits(gap));
        }
        row.insert(row.end(), {digits(s.growth), digits(s.smallest_gradient), digits(s.largest_gradient),
                               thousands(s.tokens_per_second), name(s.outcome)});
        rows.push_back(std::move(row));
    }
    std::vector<std::string> headers = {"run", "loss", "validation"};
    if (has_floor) {
        headers.emplace_back("above floor");
    }
    headers.insert(headers.end(), {"growth", "least grad", "most grad", "tokens/s", "outcome"});
    text += report::text_table(headers, rows);
    for (const TrainRun& run : runs) {
        if (run.result.summary.failure) {
            text += "\n" + failure_sentence(run.result.summary);
        }
        for (const std::string& note : run.result.summary.notes) {
            text += fmt::format("\n{}: {}\n", run.result.summary.name, note);
        }
    }
    text +=
        "\nLosses are in nats a token. growth: length of the stream after the last block over that of the\n"
        "embedding; least and most grad: lengths of the loss's gradient among the layers; both at the end.\n";
    const bool terminal = stdout_is_terminal();
    report::TextOptions options;
    options.colour = terminal;
    report::LineFigure figure = loss_figure(runs);
    figure.caption.clear();
    text +=
        "\n" + report::text_plot(figure, static_cast<std::size_t>(std::min(100, terminal ? terminal_columns() : 80)),
                                 18, options);
    return text;
}

void TrainView::show(const std::vector<TrainRun>& runs, const Json& line, double seconds_left) {
    const TrainRun& run = runs.back();
    const auto step = line.at("step").get<std::size_t>();
    const auto number = [&](const char* key) {
        return line.at(key).is_number() ? line.at(key).get<double>() : std::nan("");
    };
    const std::string status =
        fmt::format("{} ({} of {})  step {} of {}  loss {}  {} tokens/s  {} left", run.plan.name, runs.size(), count_,
                    step, run.plan.settings.steps, digits(number("loss"), "nan"),
                    thousands(number("tokens_per_second")), duration_text(seconds_left));
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
    std::string text = drawn_ > 0 ? fmt::format("\033[{}A\r\033[J", drawn_) : "";
    if (step > 8 || runs.size() > 1) {
        report::LineFigure figure = loss_figure(runs);
        figure.caption.clear();
        report::TextOptions options;
        options.colour = true;
        text += report::text_plot(figure, static_cast<std::size_t>(std::clamp(terminal_columns() - 1, 24, 100)), 16,
                                  options);
    }
    text += status.substr(0, static_cast<std::size_t>(std::max(20, terminal_columns() - 1))) + "\n";
    const std::size_t begin = drawn_ > 0 ? text.find("\033[J") : 0;
    drawn_ = static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), '\n'));
    print_error(text);
}

// The picture of a finished call is the one on stdout.
void TrainView::end_run(const std::vector<TrainRun>& runs) {
    if (drawn_ > 0 && runs.size() == count_) {
        print_error(fmt::format("\033[{}A\r\033[J", drawn_));
        drawn_ = 0;
    }
}

}  // namespace flyball::cli
