// Weight decay, dropout and noise: growth of Pre-LN, norms of W_out, the gap to new text, replaced tokens.
#include <fmt/format.h>

#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_trained.hpp"
#include "measure/extremes.hpp"
#include "measure/growth.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {

namespace {

// Where that is what the scheme's source says anyway, the condition is the usual one.
Condition with_decay(const std::string& scheme, double decay) {
    Condition condition = with_step(scheme, 1);
    const bool decays = scheme::recipe_of(scheme::find_scheme(scheme)).training.weight_decay;
    if (decay != (decays ? 0.1 : 0.0)) {
        condition.weight_decay = decay;
    }
    return condition;
}

Condition with_dropout(const std::string& scheme) {
    Condition condition = with_step(scheme, 1);
    condition.dropout = 0.1;
    return condition;
}

double gap(const TrainedRun& run) {
    return run.validation.front() - run.training.front();
}

double replaced_rise(const TrainedRun& run) {
    return run.replaced.back() - run.replaced.front();
}

// How far the norm of all W_out has gone from its start, as |log|.
double drift(const TrainedRun& run) {
    return std::abs(std::log(run.output_norm.back() / run.output_norm.front()));
}

// Blocks over which the law of growth is judged, and what it would be if every block multiplied the stream by the same
// factor: then log rms is straight, and the last half of the blocks adds as much to it as the first.
Measurement exponential(const Context& context) {
    const double stated = context.predict("second half over first half", 1);
    std::vector<Condition> all;
    for (const double decay : {0.0, 0.1, 0.5}) {
        all.push_back(with_decay("pre-ln", decay));
    }
    train_all(context, all);
    if (auto undecided = undecided_where_diverged(context, all)) {
        return *undecided;
    }
    report::LineFigure figure;
    figure.title = "Pre-LN's stream over depth with weight decay";
    figure.x.label = "after block";
    figure.y.label = "root mean square of the stream";
    figure.y.scale = report::Scale::log;
    figure.caption = describe_study(context) + ", means over seeds; block 0 is the embedding.";
    double largest = 0;
    std::string seen;
    for (const Condition& condition : all) {
        const std::vector<double> rms = mean_over_seeds(trained(context, condition), &TrainedRun::rms);
        figure.series.push_back(
            depth_series("pre-ln", fmt::format("weight decay {}", condition.weight_decay.value_or(0.1)), rms, 0));
        const std::size_t half = (rms.size() - 1) / 2;
        const double first = std::log(rms[half] / rms[0]);
        const double second = std::log(rms.back() / rms[rms.size() - 1 - half]);
        largest = measure::larger(largest, second / first);
        const measure::Growth growth = measure::growth({rms.begin() + 1, rms.end()});
        seen += fmt::format("{}decay {}: times {:.1f} and times {:.2f}, {} from the first block on, exponent {:.2f}",
                            seen.empty() ? "" : "; ", condition.weight_decay.value_or(0.1), std::exp(first),
                            std::exp(second), measure::name(growth.kind), growth.exponent);
    }
    report::tell_apart(figure.series);
    Measurement result;
    result.predicted = stated;
    result.measured = largest;
    result.tolerance = 0.25;
    result.verdict = verdict_of(std::abs(largest - stated) < 0.25);
    result.note = "growth of log rms over the second half of the blocks over that of the first; " + seen + "; " +
                  describe_study(context);
    result.pictures.push_back({"stability-weight-decay", std::move(figure)});
    return result;
}

Measurement norms_of_w_out(const Context& context) {
    const std::vector<Condition> all = {with_step("pre-ln", 1), with_step("peri-ln", 1), with_decay("pre-ln", 0),
                                        with_decay("peri-ln", 0)};
    train_all(context, all);
    if (auto undecided = undecided_where_diverged(context, all)) {
        return *undecided;
    }
    report::LineFigure figure;
    figure.title = "Norm of all W_out while training";
    figure.x.label = "step";
    figure.y.label = "over its start";
    figure.caption = describe_study(context) + ", means over seeds.";
    std::string seen;
    for (const Condition& condition : all) {
        std::vector<double> norms = mean_over_seeds(trained(context, condition), &TrainedRun::output_norm);
        const double start = norms.front();
        std::vector<double> steps;
        for (double& norm : norms) {
            norm /= start;
            steps.push_back(steps.empty() ? 1 : 10 * static_cast<double>(steps.size()));
        }
        const std::string name = fmt::format("{}, weight decay {}", condition.scheme == "pre-ln" ? "Pre-LN" : "Peri-LN",
                                             condition.weight_decay.value_or(0.1));
        seen += fmt::format("{}{} {:.2f}", seen.empty() ? "" : ", ", name, norms.back());
        report::Series series = depth_series(condition.scheme, name, norms, 0);
        series.x = steps;
        figure.series.push_back(std::move(series));
    }
    report::tell_apart(figure.series);
    Measurement result = below(
        context,
        paired(over_seeds(context, with_step("peri-ln", 1), drift), over_seeds(context, with_step("pre-ln", 1), drift)),
        "|log| of the norm of all W_out over its start, Peri-LN less Pre-LN");
    result.note += "; at the end: " + seen;
    result.pictures.push_back({"stability-w-out-norms", std::move(figure)});
    return result;
}

// For every scheme as it is usually trained, without weight decay, and with dropout.
struct Regularised {
    std::vector<Condition> all;
    std::string seen;
};

Regularised regularised(const Context& context, const RunQuantity& quantity) {
    Regularised result;
    for (const std::string& scheme : compared_schemes()) {
        result.all.insert(result.all.end(), {with_step(scheme, 1), with_decay(scheme, 0), with_dropout(scheme)});
    }
    for (std::size_t i = 0; i < result.all.size(); ++i) {
        result.all[i].seeds = i % 3 == 0 ? result.all[i].seeds : 2;
    }
    train_all(context, result.all);
    for (std::size_t i = 0; i < result.all.size(); i += 3) {
        result.seen += fmt::format("{}{} {:.3f}, {:.3f}, {:.3f}", i == 0 ? "" : "; ", result.all[i].scheme,
                                   mean_of(over_seeds(context, result.all[i], quantity)).value,
                                   mean_of(over_seeds(context, result.all[i + 1], quantity)).value,
                                   mean_of(over_seeds(context, result.all[i + 2], quantity)).value);
    }
    return result;
}

Measurement gaps(const Context& context) {
    const Regularised all = regularised(context, gap);
    Measurement result = below(
        context,
        paired(over_seeds(context, with_step("peri-ln", 1), gap), over_seeds(context, with_step("pre-ln", 1), gap)),
        "the gap, validation loss less training loss, Peri-LN less Pre-LN");
    result.note += "; gaps as usual, without weight decay, with dropout 0.1 (two seeds): " + all.seen;
    return result;
}

Measurement replacements(const Context& context) {
    const Regularised all = regularised(context, replaced_rise);
    if (auto undecided = undecided_where_diverged(context, plain_conditions())) {
        return *undecided;
    }
    report::LineFigure figure;
    figure.title = "Loss when tokens of the context are replaced";
    figure.x.label = "share of replaced tokens";
    figure.y.label = "loss less that of the text as it is";
    figure.caption = describe_study(context) + ", means over seeds.";
    for (const std::string& scheme : compared_schemes()) {
        std::vector<double> losses = mean_over_seeds(trained(context, with_step(scheme, 1)), &TrainedRun::replaced);
        const double start = losses.front();
        for (double& loss : losses) {
            loss -= start;
        }
        report::Series series = depth_series(scheme, "", losses, 0);
        series.x.assign(std::begin(replaced_shares), std::end(replaced_shares));
        figure.series.push_back(std::move(series));
    }
    Measurement result = below(context,
                               paired(over_seeds(context, with_step("peri-ln", 1), replaced_rise),
                                      over_seeds(context, with_step("pre-ln", 1), replaced_rise)),
                               "the rise of the loss when 10 % of the tokens are replaced, Peri-LN less Pre-LN");
    result.note += "; rises as usual, without weight decay, with dropout 0.1 (two seeds): " + all.seen;
    result.pictures.push_back({"stability-replaced", std::move(figure)});
    return result;
}

Claim by_itself(Claim claim) {
    claim.alone = true;
    return claim;
}

}  // namespace

std::vector<Claim> stability_trained_decay_claims() {
    return {
        by_itself({"stability-trained-exponential",
                   "With weight decay Pre-LN's trained stream grows exponentially with depth.", "Pre-LN: growth",
                   Verdict::fails,
                   "It grows like a root to linearly after the first block, with any of the three weight decays",
                   exponential}),
        compared("stability-trained-decay",
                 "Weight decay of 0.5 makes Pre-LN's trained stream grow less than none does.", "Pre-LN: growth",
                 Verdict::holds, "By two per cent in these short runs", with_decay("pre-ln", 0.5),
                 with_decay("pre-ln", 0), stream_growth, "log(sigma_L/sigma_0)"),
        by_itself({"stability-trained-w-out-norms",
                   "While training the norm of W_out moves less from its start under Peri-LN than under Pre-LN.",
                   "Peri-LN: training", Verdict::holds,
                   "Adam moves both by the same steps, and those of Peri-LN start larger", norms_of_w_out}),
        by_itself({"stability-trained-gap",
                   "The gap between new and known text is smaller under Peri-LN than under Pre-LN.",
                   "Peri-LN: training", Verdict::undecided,
                   "Both gaps are a few hundredths of a nat after one or two passes over the text", gaps}),
        by_itself({"stability-trained-replaced", "Replaced tokens cost Peri-LN less than Pre-LN.", "Peri-LN: training",
                   Verdict::holds,
                   "With the small embedding, where Peri-LN uses its context less: its loss is higher to begin with",
                   replacements}),
    };
}

}  // namespace flyball::claims
