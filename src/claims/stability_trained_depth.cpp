// What depth does in trained models: bounds, gradients, turns, and what it costs to remove a block.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_lengths.hpp"
#include "claims/stability_trained.hpp"
#include "claims/style.hpp"

namespace flyball::claims {

namespace {

double mean_part(const std::vector<double>& values, std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
        sum += values[i] / static_cast<double>(end - begin);
    }
    return sum;
}

double mean_removal(const TrainedRun& run) {
    return mean_part(run.removed, 0, run.removed.size());
}

// Of the second half of the blocks, less that of the first.
double late_removal(const TrainedRun& run) {
    const std::size_t half = run.removed.size() / 2;
    return mean_part(run.removed, half, run.removed.size()) - mean_part(run.removed, 0, half);
}

// Correlation over blocks of log angle and log cost of removal; blocks whose removal lowers the loss cost 0.001.
double turn_and_cost(const TrainedRun& run) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t l = 0; l < run.angle.size(); ++l) {
        x.push_back(std::log(run.angle[l]));
        y.push_back(std::log(std::max(run.removed[l], 1e-3)));
    }
    const double mx = mean_part(x, 0, x.size());
    const double my = mean_part(y, 0, y.size());
    double xy = 0;
    double xx = 0;
    double yy = 0;
    for (std::size_t l = 0; l < x.size(); ++l) {
        xy += (x[l] - mx) * (y[l] - my);
        xx += (x[l] - mx) * (x[l] - mx);
        yy += (y[l] - my) * (y[l] - my);
    }
    return xy / std::sqrt(xx * yy);
}

double share_where_attained() {
    SmallSizes sizes;
    sizes.layers = 2;
    model::Model<double> model = blank_model("x + dt*norm(f(norm(x)))", sizes);
    const std::vector<double> u = direction(sizes.dim);
    for (const model::BlockLayout& block : model.layout().blocks) {
        set_numbers(model, block.output.bias, u);
        set_numbers(model, block.ffn_out.bias, u);
    }
    const Flow flow = flow_of(model, u);
    return length_of(flow.streams.back()) / peri_ln_bound(1, 1, branch_radii(model, 2));
}

// Measured lengths and what the weights of the moment allow, at the start and after training.
report::LineFigure bounds_figure(const Context& context) {
    struct Moment {
        const char* name;
        std::vector<double> TrainedRun::*length;
        std::vector<double> TrainedRun::*bound;
    };
    report::LineFigure figure;
    figure.title = "Length of the stream beside its bound";
    figure.x.label = "after block";
    figure.y.label = "mean over tokens of |x_l|";
    figure.y.scale = report::Scale::log;
    figure.caption =
        describe_study(context) +
        ", means over seeds; block 0 is the embedding. Bounds are computed from the weights of the moment: "
        "Peri-LN's from the gains of its norms alone, Pre-LN's from all matrices.";
    for (const char* const scheme : {"pre-ln", "peri-ln"}) {
        const std::vector<TrainedRun> runs = trained(context, with_step(scheme, 1));
        for (const Moment& moment : {Moment{"first step", &TrainedRun::length_start, &TrainedRun::bound_start},
                                     Moment{"trained", &TrainedRun::length_end, &TrainedRun::bound_end}}) {
            const char* const title = scheme == std::string("pre-ln") ? "Pre-LN" : "Peri-LN";
            figure.series.push_back(depth_series(scheme, fmt::format("{}, {}", title, moment.name),
                                                 mean_over_seeds(runs, moment.length), 0));
            figure.series.push_back(depth_series(scheme, fmt::format("{}, {}: bound", title, moment.name),
                                                 mean_over_seeds(runs, moment.bound), 0));
        }
    }
    report::tell_apart(figure.series);
    return figure;
}

Measurement peri_bound(const Context& context) {
    const double factor = context.predict("factor of the bound", 1);
    const std::vector<Condition> all = {with_step("peri-ln", 1), with_step("peri-ln", 0.1)};
    const std::vector<Condition> drawn = {all[0], all[1], with_step("pre-ln", 1)};
    train_all(context, drawn);
    if (auto undecided = undecided_where_diverged(context, drawn)) {
        return *undecided;
    }
    double largest = 0;
    std::size_t looks = 0;
    for (const Condition& condition : all) {
        for (const TrainedRun& run : trained(context, condition)) {
            looks += run.bound_share.size();
            for (const double share : run.bound_share) {
                largest = std::isfinite(share) ? std::max(largest, share) : HUGE_VAL;
            }
        }
    }
    const double attained = share_where_attained() / factor;
    Measurement result;
    result.predicted = "|x_l| at most |x_0| + Dt (R_1 + .. + R_l)";
    result.measured = fmt::format("at most {:.3f} of the bound, {:.4f} where it is attained", largest, attained);
    result.tolerance = "never above, attained within 1 %";
    result.verdict = verdict_of(largest / factor < 1 + 1e-6 && attained < 1 + 1e-9 && attained > 0.99);
    result.note = fmt::format("{} looks while training, Dt = 1 and 0.1, R from the gains of the moment; {}", looks,
                              describe_study(context));
    result.pictures.push_back({"stability-bounds", bounds_figure(context)});
    return result;
}

// Where the stream has grown, gradients have: |dL/dx_l|/|dL/dx_L| beside sigma_L/sigma_l after the first block.
Measurement pre_gradient_trained(const Context& context) {
    const double stated = context.predict("ratio to the prediction", 1);
    const Condition pre = with_step("pre-ln", 1);
    if (auto undecided = undecided_where_diverged(context, {pre})) {
        return *undecided;
    }
    std::vector<double> ratios;
    std::vector<double> found;
    for (const TrainedRun& run : trained(context, pre)) {
        found.push_back(run.gradient[1] / run.gradient.back());
        ratios.push_back(found.back() / gradient_ratio(run.rms[1], run.rms.back()));
    }
    Measurement result;
    result.predicted = stated;
    result.measured = mean_of(ratios).value;
    result.tolerance = "a factor 1.3";
    const double off = mean_of(ratios).value / stated;
    result.verdict = verdict_of(off < 1.3 && off > 1 / 1.3);
    result.note = fmt::format("|dL/dx_1|/|dL/dx_L| is {:.2f}; {}", mean_of(found).value, describe_study(context));
    return result;
}

Measurement rotation_trained(const Context& context) {
    std::vector<double> ratios;
    const std::vector<Condition> all = {with_step("pre-ln", 1), with_step("pre-ln", 0.1), with_step("peri-ln", 1),
                                        with_step("peri-ln", 0.1)};
    const std::vector<Condition> drawn = {all[0], all[1], all[2], all[3], with_step("post-ln", 1)};
    train_all(context, drawn);
    if (auto undecided = undecided_where_diverged(context, drawn)) {
        return *undecided;
    }
    for (const Condition& condition : all) {
        for (const TrainedRun& run : trained(context, condition)) {
            for (std::size_t i = 0; i < run.sub_added.size(); ++i) {
                const double stated = context.predict("angle", rotation(1, run.sub_added[i], run.sub_sigma[i]),
                                                      {run.sub_added[i], run.sub_sigma[i]});
                ratios.push_back(run.sub_turned[i] / stated);
            }
        }
    }
    std::sort(ratios.begin(), ratios.end());
    const double median = ratios[ratios.size() / 2];
    Measurement result;
    result.predicted = 1.0;
    result.measured = median;
    result.tolerance = 0.1;
    result.verdict = verdict_of(std::abs(median - 1) < 0.1);
    result.note = fmt::format(
        "median over sub-layers of the angle over its prediction, {:.2f} to {:.2f} in nine of ten; Pre-LN and Peri-LN, "
        "Dt = 1 and 0.1; {}",
        ratios[ratios.size() / 20], ratios[ratios.size() - 1 - ratios.size() / 20], describe_study(context));
    result.pictures = rotation_figures(context);
    return result;
}

// Mean angles of the schemes, and how many pairs of them stand in the predicted order.
Measurement angles_of_schemes(const Context& context) {
    const double stated = context.predict("share of pairs", 1);
    train_all(context, plain_conditions());
    if (auto undecided = undecided_where_diverged(context, plain_conditions())) {
        return *undecided;
    }
    report::LineFigure turns;
    turns.title = "How far trained blocks turn the stream";
    turns.y.label = "angle, radians";
    report::LineFigure gradients;
    gradients.title = "Gradient over depth at the end of training";
    gradients.y.label = "|dL/dx_l| / |dL/dx_L|";
    for (report::LineFigure* const figure : {&turns, &gradients}) {
        figure->x.label = "block";
        figure->y.scale = report::Scale::log;
        figure->caption = describe_study(context) + ", means over seeds.";
    }
    std::vector<double> found;
    std::vector<double> expected;
    std::string seen;
    for (const std::string& scheme : compared_schemes()) {
        const Condition plain = with_step(scheme, 1);
        const std::vector<TrainedRun> runs = trained(context, plain);
        const std::vector<double> measured = mean_over_seeds(runs, &TrainedRun::angle);
        const std::vector<double> predicted = mean_over_seeds(runs, &TrainedRun::angle_predicted);
        found.push_back(mean_part(measured, 0, measured.size()));
        expected.push_back(mean_part(predicted, 0, predicted.size()));
        const auto mean = [&](const RunQuantity& quantity) {
            return mean_of(over_seeds(context, plain, quantity)).value;
        };
        seen += fmt::format(
            "; {}: loss {:.3f}, restlessness of the gradient {:.2f}, stream times {:.3g}, angle {:.3f} where {:.3f} "
            "is predicted",
            scheme, mean(validation_loss), mean(gradient_restlessness), std::exp(mean(stream_growth)), found.back(),
            expected.back());
        turns.series.push_back(depth_series(scheme, "", measured, 1));
        std::vector<double> gradient = mean_over_seeds(runs, &TrainedRun::gradient);
        gradient.erase(gradient.begin());
        gradients.series.push_back(depth_series(scheme, "", times(gradient, 1 / gradient.back()), 1));
    }
    double pairs = 0;
    double agree = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            pairs += 1;
            agree += (found[i] < found[j]) == (expected[i] < expected[j]) ? 1 : 0;
        }
    }
    Measurement result;
    result.predicted = stated;
    result.measured = agree / pairs;
    result.tolerance = 0.1;
    result.verdict = verdict_of(std::abs(agree / pairs - stated) < 0.1);
    result.note =
        fmt::format("share of the {:.0f} pairs of schemes whose mean angles stand in the predicted order{}; {}", pairs,
                    seen, describe_study(context));
    result.pictures.push_back({"stability-turns", std::move(turns)});
    result.pictures.push_back({"stability-gradient-trained", std::move(gradients)});
    return result;
}

Measurement removal(const Context& context) {
    train_all(context, plain_conditions());
    if (auto undecided = undecided_where_diverged(context, plain_conditions())) {
        return *undecided;
    }
    report::LineFigure costs;
    costs.title = "Loss without one block";
    costs.x.label = "block that is left out";
    costs.y.label = "loss less that of the whole model";
    costs.y.scale = report::Scale::log;
    costs.caption = describe_study(context) + ", means over seeds.";
    std::string seen;
    for (const std::string& scheme : compared_schemes()) {
        const std::vector<TrainedRun> runs = trained(context, with_step(scheme, 1));
        const std::vector<double> cost = mean_over_seeds(runs, &TrainedRun::removed);
        costs.series.push_back(depth_series(scheme, "", cost, 1));
        seen += fmt::format("{}{} {:.3f}", seen.empty() ? "" : ", ", scheme, mean_part(cost, 0, cost.size()));
    }
    Measurement result = below(context,
                               paired(over_seeds(context, with_step("post-ln", 1), mean_removal),
                                      over_seeds(context, with_step("pre-ln", 1), mean_removal)),
                               "the mean rise of the loss when one block is left out, Post-LN less Pre-LN");
    result.note += "; means: " + seen;
    result.pictures.push_back({"stability-removal", std::move(costs)});
    return result;
}

// "Below zero" of a quantity of one condition.
Claim of_one(const std::string& id, const std::string& statement, const std::string& source, Verdict expected,
             const std::string& note, const Condition& condition, const RunQuantity& quantity,
             const std::string& shown) {
    Claim claim{id, statement, source, expected, note, [=](const Context& context) {
                    return below(context, paired(over_seeds(context, condition, quantity)), shown);
                }};
    claim.alone = true;
    return claim;
}

Claim alone(Claim claim) {
    claim.alone = true;
    return claim;
}

}  // namespace

std::vector<Claim> stability_trained_depth_claims() {
    return {
        alone({"stability-trained-peri-bound", "While Peri-LN is trained, its linear bound is never exceeded.",
               "Peri-LN: growth", Verdict::holds, "", peri_bound}),
        alone({"stability-trained-post-removal", "Blocks of a trained Post-LN model can be removed at little cost.",
               "A published summary", Verdict::fails,
               "On average they cost three times as much as those of Pre-LN, whose blocks but the first cost next to "
               "nothing",
               removal}),
        of_one("stability-trained-curse-of-depth",
               "Blocks of the second half of a trained Pre-LN model cost less to remove than those of the first.",
               "Curse of depth", Verdict::holds, "Most of it is the first block", with_step("pre-ln", 1), late_removal,
               "the rise of the loss, second half less first half"),
        compared(
            "stability-trained-loss-peri", "Peri-LN ends with a lower loss than Pre-LN, embedding of rms 0.03.",
            "Peri-LN: training", Verdict::fails,
            "Branches of rms 1 hide an embedding of rms 0.03 from the first block on, and the loss is higher; with "
            "an embedding of rms 1 it is lower",
            with_step("peri-ln", 1), with_step("pre-ln", 1), validation_loss, "the validation loss"),
        compared("stability-trained-loss-peri-rms-1", "Peri-LN ends with a lower loss than Pre-LN, embedding of rms 1.",
                 "Peri-LN: training", Verdict::holds, "", with_rms_1("peri-ln", 1), with_rms_1("pre-ln", 1),
                 validation_loss, "the validation loss"),
        alone({"stability-trained-schemes",
               "Schemes stand in the order of their predicted mean angles also when they are trained.", "finding",
               Verdict::holds, "The dynamics paper lists this comparison as missing", angles_of_schemes}),
        alone({"stability-trained-rotation", "In trained models tan(angle) of sub-layer i is Dt s_i/sigma_i.",
               "finding", Verdict::fails,
               "Training lets branches point along the stream: the median sub-layer turns it by 0.8 to 0.85 of that "
               "angle",
               rotation_trained}),
        alone({"stability-trained-gradient-pre",
               "In trained Pre-LN models |dL/dx_1|/|dL/dx_L| is sigma_L/sigma_1, as at the start.", "finding",
               Verdict::holds, "", pre_gradient_trained}),
        of_one("stability-trained-turn-and-cost",
               "In a trained Pre-LN model blocks that turn the stream further cost less to remove.", "finding",
               Verdict::fails, "They cost more: angle and cost go together over the blocks of one model",
               with_step("pre-ln", 1), turn_and_cost, "the correlation of log angle and log cost over blocks from 0"),
    };
}

}  // namespace flyball::claims
