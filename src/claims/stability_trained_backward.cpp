// Gradients and rotation over depth in models before and after training, drawn beside what the weights of the moment
// allow or predict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/stability.hpp"
#include "claims/stability_backward.hpp"
#include "claims/stability_trained.hpp"

namespace flyball::claims {

namespace {

struct DrawnScheme {
    const char* name;
    const char* title;
};
constexpr DrawnScheme drawn_schemes[] = {{"pre-ln", "Pre-LN"}, {"peri-ln", "Peri-LN"}, {"post-ln", "Post-LN"}};

std::vector<Condition> drawn_conditions() {
    std::vector<Condition> all;
    for (const DrawnScheme& scheme : drawn_schemes) {
        all.push_back(with_step(scheme.name, 1));
    }
    return all;
}

// A figure a scheme: measured and stated, before and after training.
report::LineFigure empty_figure(const std::string& title, const char* x_label, const char* y_label) {
    report::LineFigure figure;
    figure.title = title;
    figure.x.label = x_label;
    figure.y.label = y_label;
    figure.y.scale = report::Scale::log;
    return figure;
}

// Geometric means over seeds: bounds of different seeds differ by orders of magnitude.
std::vector<double> geometric_mean(std::vector<TrainedRun> runs, std::vector<double> TrainedRun::*values) {
    for (TrainedRun& run : runs) {
        for (double& value : run.*values) {
            value = std::log(value);
        }
    }
    std::vector<double> mean = mean_over_seeds(runs, values);
    for (double& value : mean) {
        value = std::exp(value);
    }
    return mean;
}

std::vector<Picture> gradient_figures(const Context& context) {
    struct Moment {
        const char* name;
        std::vector<double> TrainedRun::*gradient;
        std::vector<double> TrainedRun::*bound;
    };
    std::vector<Picture> pictures;
    for (const DrawnScheme& scheme : drawn_schemes) {
        const std::vector<TrainedRun> runs = trained(context, with_step(scheme.name, 1));
        report::LineFigure figure = empty_figure(fmt::format("{}: gradient over depth beside its bound", scheme.title),
                                                 "after block", "|dL/dx_l|");
        figure.caption =
            describe_study(context) +
            "; one sequence of text, geometric means over seeds; block 0 is the embedding.\nThe bound is the last "
            "gradient times the largest factors by which the blocks behind can lengthen a gradient, computed from the "
            "weights of the moment.";
        for (const Moment& moment : {Moment{"start", &TrainedRun::back_start, &TrainedRun::back_bound_start},
                                     Moment{"trained", &TrainedRun::back_end, &TrainedRun::back_bound_end}}) {
            figure.series.push_back(depth_series(scheme.name, moment.name, geometric_mean(runs, moment.gradient), 0));
            figure.series.push_back(depth_series(scheme.name, fmt::format("{}: bound", moment.name),
                                                 geometric_mean(runs, moment.bound), 0));
        }
        report::tell_apart(figure.series);
        pictures.push_back({fmt::format("stability-gradient-bound-{}", scheme.name), std::move(figure)});
    }
    return pictures;
}

// By sub-layer: arctan(Dt s_i/sigma_i) of a run.
std::vector<double> predicted_angles(const std::vector<double>& added, const std::vector<double>& sigma) {
    std::vector<double> angles;
    for (std::size_t i = 0; i < added.size(); ++i) {
        angles.push_back(rotation(1, added[i], sigma[i]));
    }
    return angles;
}

}  // namespace

std::vector<Picture> rotation_figures(const Context& context) {
    train_all(context, drawn_conditions());
    std::vector<Picture> pictures;
    for (const DrawnScheme& scheme : drawn_schemes) {
        std::vector<TrainedRun> runs = trained(context, with_step(scheme.name, 1));
        report::LineFigure figure = empty_figure(
            fmt::format("{}: how far each sub-layer turns the stream", scheme.title), "sub-layer", "angle, radians");
        figure.caption =
            describe_study(context) +
            "; geometric means over seeds. Sub-layers 1, 3, .. are attention, 2, 4, .. feed-forward.\nThe prediction "
            "is the angle whose tangent is Dt s/sigma, s and sigma being the root mean squares of what the sub-layer "
            "adds and of the stream before it.";
        const auto draw_moment = [&](const char* moment, std::vector<double> TrainedRun::*turned,
                                     std::vector<double> TrainedRun::*added, std::vector<double> TrainedRun::*sigma) {
            figure.series.push_back(depth_series(scheme.name, moment, geometric_mean(runs, turned), 1));
            for (TrainedRun& run : runs) {
                run.*added = predicted_angles(run.*added, run.*sigma);
            }
            figure.series.push_back(
                depth_series(scheme.name, fmt::format("{}: predicted", moment), geometric_mean(runs, added), 1));
        };
        draw_moment("start", &TrainedRun::sub_turned_start, &TrainedRun::sub_added_start, &TrainedRun::sub_sigma_start);
        draw_moment("trained", &TrainedRun::sub_turned, &TrainedRun::sub_added, &TrainedRun::sub_sigma);
        report::tell_apart(figure.series);
        pictures.push_back({fmt::format("stability-rotation-{}", scheme.name), std::move(figure)});
    }
    return pictures;
}

namespace {

Measurement gradient_bound(const Context& context) {
    const double factor = context.predict("factor of the bound", 1);
    train_all(context, drawn_conditions());
    if (auto undecided = undecided_where_diverged(context, drawn_conditions())) {
        return *undecided;
    }
    double largest = 0;
    std::size_t looks = 0;
    for (const Condition& condition : drawn_conditions()) {
        for (const TrainedRun& run : trained(context, condition)) {
            looks += run.back_share.size();
            for (const double share : run.back_share) {
                largest = std::isfinite(share) ? std::max(largest, share) : HUGE_VAL;
            }
        }
    }
    const double attained = gradient_share_where_attained() / factor;
    Measurement result;
    result.predicted = "|dL/dx_l| at most |dL/dx_L| times the bounds of the blocks behind";
    result.measured = fmt::format("at most {:.3g} of the bound, {:.4f} where it is attained", largest, attained);
    result.tolerance = "never above, attained within 1 %";
    result.verdict = verdict_of(largest / factor < 1 + 1e-6 && attained < 1 + 1e-6 && attained > 0.99);
    result.note = fmt::format("{} looks at Pre-LN, Peri-LN and Post-LN models, before and after training; {}", looks,
                              describe_study(context));
    result.pictures = gradient_figures(context);
    return result;
}

}  // namespace

std::vector<Claim> stability_trained_backward_claims() {
    Claim claim = {"stability-trained-gradient-bound",
                   "Before and after training |dL/dx_l| is at most |dL/dx_L| times the Jacobian bounds of the blocks "
                   "behind.",
                   "finding",
                   Verdict::holds,
                   "",
                   gradient_bound};
    claim.alone = true;
    return {claim};
}

}  // namespace flyball::claims
