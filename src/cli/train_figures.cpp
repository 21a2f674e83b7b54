// The figures of training runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "claims/style.hpp"
#include "cli/train_output.hpp"

namespace flyball::cli {

namespace {

double number_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

report::LineFigure empty_figure(const std::vector<TrainRun>& runs, std::string title, std::string x, std::string y) {
    report::LineFigure figure;
    figure.title = std::move(title);
    figure.x.label = std::move(x);
    figure.y.label = std::move(y);
    figure.caption = train::describe(runs.front().plan.settings);
    return figure;
}

// "peri-ln" where that is enough, otherwise the name of the run.
std::string label_of(const std::vector<TrainRun>& runs, const TrainRun& run) {
    const auto same = std::count_if(runs.begin(), runs.end(), [&](const TrainRun& other) {
        return other.plan.scheme.name == run.plan.scheme.name;
    });
    return same == 1 ? run.plan.scheme.name : run.plan.name;
}

report::Series series_of(const std::vector<TrainRun>& runs, const TrainRun& run) {
    report::Series series;
    series.name = label_of(runs, run);
    series.style = claims::style_of(run.plan.scheme);
    return series;
}

bool same_but_for_the_seed(const TrainRun& one, const TrainRun& other) {
    return one.plan.scheme.name == other.plan.scheme.name && one.plan.settings.dt == other.plan.settings.dt;
}

// The mean of the seeds, with a band from the least to the largest. A run that ended early counts as far as it went:
// its last loss may be no number.
report::Series mean_of(const std::vector<const report::Series*>& seeds) {
    const auto longest = *std::max_element(
        seeds.begin(), seeds.end(), [](const auto* one, const auto* other) { return one->x.size() < other->x.size(); });
    report::Series mean = *longest;
    mean.lo.assign(mean.x.size(), std::nan(""));
    mean.hi = mean.lo;
    for (std::size_t i = 0; i < mean.x.size(); ++i) {
        double sum = 0;
        double count = 0;
        for (const report::Series* seed : seeds) {
            if (i < seed->y.size() && !std::isnan(seed->y[i])) {
                sum += seed->y[i];
                ++count;
                mean.lo[i] = std::fmin(mean.lo[i], seed->y[i]);  // of a number and none: the number
                mean.hi[i] = std::fmax(mean.hi[i], seed->y[i]);
            }
        }
        mean.y[i] = sum / count;
    }
    return mean;
}

// One line for each run becomes one for each scheme and step where there are several seeds; `each` has the order of
// the runs.
void join_seeds(const std::vector<TrainRun>& runs, std::vector<report::Series>& each, report::LineFigure& figure) {
    std::vector<report::Series> joined;
    std::size_t most = 1;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::vector<const report::Series*> seeds;
        bool is_first = true;
        for (std::size_t k = 0; k < runs.size(); ++k) {
            if (same_but_for_the_seed(runs[i], runs[k])) {
                is_first = is_first && k >= i;
                seeds.push_back(&each[k]);
            }
        }
        if (is_first) {
            joined.push_back(seeds.size() == 1 ? each[i] : mean_of(seeds));
            most = std::max(most, seeds.size());
            if (seeds.size() > 1) {  // "peri-ln-dt0.5" of "peri-ln-dt0.5-1"
                const std::string& run = runs[i].plan.name;
                joined.back().name = run.substr(0, run.rfind('-'));
            }
        }
    }
    each = std::move(joined);
    if (most > 1) {
        figure.caption += fmt::format("; lines are means of {} seeds, bands reach from the least to the largest", most);
    }
    report::tell_apart(each);
}

// Means of neighbouring steps, so that a figure shows the course and not the noise of single batches.
report::Series smoothed_losses(const std::vector<TrainRun>& runs, const TrainRun& run) {
    constexpr std::size_t points = 150;
    report::Series series = series_of(runs, run);
    const std::vector<Json>& lines = run.result.lines;
    const std::size_t together = std::max<std::size_t>(1, run.plan.settings.steps / points);
    for (std::size_t first = 0; first < lines.size(); first += together) {
        const std::size_t end = std::min(lines.size(), first + together);
        double loss = 0;
        double step = 0;
        for (std::size_t i = first; i < end; ++i) {
            loss += number_at(lines[i], "loss");
            step += number_at(lines[i], "step");
        }
        series.x.push_back(step / static_cast<double>(end - first));
        series.y.push_back(loss / static_cast<double>(end - first));
    }
    return series;
}

using OfLine = std::function<double(const Json& line)>;

report::LineFigure over_steps(const std::vector<TrainRun>& runs, std::string title, std::string label,
                              const OfLine& value) {
    report::LineFigure figure = empty_figure(runs, std::move(title), "step", std::move(label));
    for (const TrainRun& run : runs) {
        report::Series series = series_of(runs, run);
        for (const Json& line : run.result.lines) {
            if (const double y = value(line); !std::isnan(y)) {
                series.x.push_back(number_at(line, "step"));
                series.y.push_back(y);
            }
        }
        figure.series.push_back(std::move(series));
    }
    join_seeds(runs, figure.series, figure);
    return figure;
}

const Json* last_record(const TrainRun& run) {
    const auto found = std::find_if(run.result.lines.rbegin(), run.result.lines.rend(),
                                    [](const Json& line) { return line.contains("layers"); });
    return found == run.result.lines.rend() ? nullptr : &*found;
}

bool is_of_embedding(const Json& record, const char* field) {
    return record.at("embedding").contains(field);
}

// Depth 0 is the embedding, where it has the quantity.
report::LineFigure over_depth(const std::vector<TrainRun>& runs, const train::LayerField& field) {
    report::LineFigure figure =
        empty_figure(runs, fmt::format("{}, block by block", field.title), "block", field.title);
    figure.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(figure.title[0])));
    figure.y.scale = field.is_logarithmic ? report::Scale::log : report::Scale::linear;
    const bool beside_prediction = std::string_view(field.name) == "angle";
    std::vector<report::Series> predictions;
    for (const TrainRun& run : runs) {
        report::Series series = series_of(runs, run);
        report::Series predicted = series;
        const Json* const record = last_record(run);
        if (record == nullptr) {
            figure.series.push_back(std::move(series));
            predictions.push_back(std::move(predicted));
            continue;
        }
        if (is_of_embedding(*record, field.name)) {
            figure.x.label = "block (0: the embedding)";
            series.x.push_back(0);
            series.y.push_back(number_at(record->at("embedding"), field.name));
        }
        for (const Json& layer : record->at("layers")) {
            series.x.push_back(number_at(layer, "layer"));
            series.y.push_back(number_at(layer, field.name));
            predicted.x.push_back(number_at(layer, "layer"));
            predicted.y.push_back(number_at(layer, "angle_predicted"));
        }
        figure.series.push_back(std::move(series));
        predictions.push_back(std::move(predicted));
    }
    figure.caption += "; at the end of training";
    if (beside_prediction) {
        report::LineFigure ignored;
        join_seeds(runs, predictions, ignored);
    }
    join_seeds(runs, figure.series, figure);
    for (std::size_t i = 0; beside_prediction && i < predictions.size(); ++i) {
        report::Series& predicted = predictions[i];
        predicted.name += ", predicted";
        predicted.style.dash = "2 3";
        predicted.lo.clear();  // bands of both would hide each other
        predicted.hi.clear();
        figure.series.push_back(std::move(predicted));
    }
    return figure;
}

}  // namespace

report::LineFigure loss_figure(const std::vector<TrainRun>& runs) {
    report::LineFigure figure = empty_figure(runs, "Training loss", "step", "loss (nats a token)");
    for (const TrainRun& run : runs) {
        figure.series.push_back(smoothed_losses(runs, run));
    }
    join_seeds(runs, figure.series, figure);
    const auto& floor = runs.front().result.summary.entropy_floor;
    if (floor) {
        const auto steps = static_cast<double>(runs.front().plan.settings.steps);
        figure.series.push_back({"entropy floor", {1, steps}, {*floor, *floor}, {}, {}, {"#888888", "2 3"}});
    }
    return figure;
}

std::vector<NamedFigure> train_figures(const std::vector<TrainRun>& runs) {
    std::vector<NamedFigure> figures;
    figures.push_back({"loss", loss_figure(runs)});
    figures.push_back({"validation", over_steps(runs, "Validation loss", "loss (nats a token)",
                                                [](const Json& line) { return number_at(line, "validation_loss"); })});
    NamedFigure gradient{"steps-gradient",
                         over_steps(runs, "Length of the whole gradient", "length of the gradient",
                                    [](const Json& line) { return number_at(line, "gradient_norm"); })};
    NamedFigure norm{
        "steps-norm",
        over_steps(runs, "Length of the stream after the last block", "length of the stream", [](const Json& line) {
            return line.contains("layers") ? number_at(line.at("layers").back(), "norm") : std::nan("");
        })};
    gradient.figure.y.scale = norm.figure.y.scale = report::Scale::log;
    figures.push_back(std::move(gradient));
    figures.push_back(std::move(norm));
    for (const train::LayerField& field : train::layer_fields()) {
        if (std::string_view(field.name) != "angle_predicted") {  // drawn beside the angle
            figures.push_back({fmt::format("depth-{}", field.name), over_depth(runs, field)});
        }
    }
    return figures;
}

}  // namespace flyball::cli
