// A residual step below 1: what it does to growth, to gradients and to the loss of trained models, and its controls.
#include <fmt/format.h>

#include <cmath>

#include "claims/stability.hpp"
#include "claims/stability_trained.hpp"

namespace flyball::claims {

namespace {

constexpr const char* by_the_paper = "Residual step below 1";

constexpr double large_rate = 30;  // times the usual learning rate
constexpr double rates[] = {1, 10, large_rate};

Condition at_rate(Condition condition, double rate) {
    condition.rate = rate;
    return condition;
}

// The least loss of each seed over learning rates.
std::vector<double> tuned_losses(const Context& context, const Condition& condition) {
    std::vector<double> best;
    for (const double rate : rates) {
        const std::vector<double> losses = over_seeds(context, at_rate(condition, rate), validation_loss);
        best.resize(losses.size(), HUGE_VAL);
        for (std::size_t i = 0; i < losses.size(); ++i) {
            best[i] = std::fmin(best[i], losses[i]);  // a run that diverged has no loss
        }
    }
    return best;
}

Claim tuned(const std::string& id, const std::string& statement, Verdict expected, const std::string& note,
            const Condition& a, const Condition& b) {
    Claim claim{id, statement, by_the_paper, expected, note, [=](const Context& context) {
                    std::vector<Condition> all;
                    for (const double rate : rates) {
                        all.insert(all.end(), {at_rate(a, rate), at_rate(b, rate)});
                    }
                    train_all(context, all);
                    return below(context, paired(tuned_losses(context, a), tuned_losses(context, b)),
                                 "the least validation loss over 1, 10 and 30 times the usual learning rate");
                }};
    claim.alone = true;
    return claim;
}

// The paper's figure: three moments over depth of trained models, {Pre-LN, Peri-LN} x {Dt = 1, 0.1}.
Measurement moments_over_depth(const Context& context) {
    std::vector<Condition> all;
    for (const char* const scheme : {"pre-ln", "peri-ln"}) {
        for (const double dt : {1.0, 0.1}) {
            all.push_back(with_step(scheme, dt));
        }
    }
    train_all(context, all);
    if (auto undecided = undecided_where_diverged(context, all)) {
        return *undecided;
    }
    const auto last = [](std::vector<double> TrainedRun::*values) {
        return [values](const TrainedRun& run) { return std::log((run.*values).back()); };
    };
    struct Moment {
        const char* file;
        const char* title;
        std::vector<double> TrainedRun::*values;
    };
    const Moment moments[] = {
        {"stability-mean-abs", "Mean absolute value of hidden states", &TrainedRun::mean_abs},
        {"stability-entry-variance", "Entry-wise variance of hidden states", &TrainedRun::entry_variance},
        {"stability-data-variance", "Data-wise variance of hidden states", &TrainedRun::data_variance}};
    Measurement result;
    Paired worst;
    std::string seen;
    for (const Moment& moment : moments) {
        report::LineFigure figure;
        figure.title = moment.title;
        figure.x.label = "after block";
        figure.y.label = "at the end of training";
        figure.y.scale = report::Scale::log;
        figure.caption = describe_study(context) + ", means over seeds; block 0 is the embedding.";
        for (const Condition& condition : all) {
            const std::string name =
                fmt::format("{}, Dt = {}", condition.scheme == "pre-ln" ? "Pre-LN" : "Peri-LN", condition.dt);
            figure.series.push_back(
                depth_series(condition.scheme, name, mean_over_seeds(trained(context, condition), moment.values), 0));
        }
        report::tell_apart(figure.series);
        result.pictures.push_back({moment.file, std::move(figure)});
        for (std::size_t scheme = 0; scheme < 2; ++scheme) {
            const Paired one = paired(over_seeds(context, all[2 * scheme + 1], last(moment.values)),
                                      over_seeds(context, all[2 * scheme], last(moment.values)));
            seen += fmt::format("{}{} {}: {:.2f}", seen.empty() ? "" : ", ", moment.title, all[2 * scheme].scheme,
                                one.mean);
            if (worst.differences.empty() || one.mean > worst.mean) {
                worst = one;
            }
        }
    }
    Measurement judged =
        below(context, worst, "the logarithm after the last block, Dt = 0.1 less Dt = 1, where it is largest");
    judged.pictures = std::move(result.pictures);
    judged.note += "; means: " + seen;
    return judged;
}

}  // namespace

std::vector<Claim> stability_trained_step_claims() {
    const Condition pre = with_step("pre-ln", 1);
    const Condition peri = with_step("peri-ln", 1);
    const Condition small_pre = with_step("pre-ln", 0.1);
    const Condition small_peri = with_step("peri-ln", 0.1);
    const std::string loss = "the validation loss";
    Claim figure{"stability-trained-step-moments",
                 "With Dt = 0.1 the moments of trained hidden states are smaller than with Dt = 1, under Pre-LN and "
                 "Peri-LN.",
                 by_the_paper,
                 Verdict::holds,
                 "",
                 moments_over_depth};
    figure.alone = true;
    return {
        figure,
        compared("stability-trained-step-growth-pre",
                 "With Dt = 0.1 trained streams grow less over depth under Pre-LN.", by_the_paper, Verdict::holds, "",
                 small_pre, pre, stream_growth, "log(sigma_L/sigma_0)"),
        compared("stability-trained-step-growth-peri",
                 "With Dt = 0.1 trained streams grow less over depth under Peri-LN.", by_the_paper, Verdict::holds, "",
                 small_peri, peri, stream_growth, "log(sigma_L/sigma_0)"),
        compared("stability-trained-step-rate-pre",
                 "At 30 times the usual learning rate Dt = 0.1 lowers the loss of Pre-LN.", by_the_paper,
                 Verdict::holds, "", at_rate(small_pre, large_rate), at_rate(pre, large_rate), validation_loss, loss),
        compared("stability-trained-step-rate-peri",
                 "At 30 times the usual learning rate Dt = 0.1 lowers the loss of Peri-LN.", by_the_paper,
                 Verdict::holds, "", at_rate(small_peri, large_rate), at_rate(peri, large_rate), validation_loss, loss),
        tuned("stability-trained-step-tuned-pre", "With the learning rate tuned Dt = 0.1 lowers the loss of Pre-LN.",
              Verdict::undecided, "It needs about ten times the learning rate, and then ends where Dt = 1 does",
              small_pre, pre),
        tuned("stability-trained-step-tuned-peri", "With the learning rate tuned Dt = 0.1 lowers the loss of Peri-LN.",
              Verdict::holds, "", small_peri, peri),
        compared(
            "stability-trained-step-loss-pre", "Dt = 0.1 lowers the loss of Pre-LN, embedding of rms 0.03.",
            by_the_paper, Verdict::fails,
            "It raises the loss a little: at the usual learning rate small steps of the stream are learned more slowly",
            small_pre, pre, validation_loss, loss),
        compared(
            "stability-trained-step-loss-peri", "Dt = 0.1 lowers the loss of Peri-LN, embedding of rms 0.03.",
            by_the_paper, Verdict::holds,
            "Because the smaller branches hide the embedding less: with an embedding of rms 1 there is no such gain",
            small_peri, peri, validation_loss, loss),
        compared("stability-trained-step-loss-pre-rms-1", "Dt = 0.1 lowers the loss of Pre-LN, embedding of rms 1.",
                 by_the_paper, Verdict::fails, "It raises the loss a little, as with the small embedding",
                 with_rms_1("pre-ln", 0.1), with_rms_1("pre-ln", 1), validation_loss, loss),
        compared(
            "stability-trained-step-loss-peri-rms-1", "Dt = 0.1 lowers the loss of Peri-LN, embedding of rms 1.",
            by_the_paper, Verdict::undecided,
            "The losses agree to a hundredth of a nat: what Dt gains with a small embedding comes from that embedding",
            with_rms_1("peri-ln", 0.1), with_rms_1("peri-ln", 1), validation_loss, loss),
        compared("stability-trained-step-control",
                 "Dt = 0.1 lowers Peri-LN's loss by more than gains of 0.1 on its branches do.", "finding",
                 Verdict::undecided, "Dt cannot be told from the gains of the branches: both runs end alike",
                 small_peri, with_small_gains(), validation_loss, loss),
        compared("stability-trained-embedding",
                 "An embedding of rms 1 lowers Peri-LN's loss by more than Dt = 0.1 does.", "finding", Verdict::holds,
                 "So what a comparison with Peri-LN shows depends on the length of the embedding",
                 with_rms_1("peri-ln", 1), small_peri, validation_loss, loss),
    };
}

}  // namespace flyball::claims
