// Gradients over depth while models of 6 to 48 blocks are trained, under Pre-LN and Post-LN.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_trained.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

std::vector<std::size_t> trained_depths(const Context& context) {
    return context.size<std::vector<std::size_t>>({6, 24}, {6, 12, 24, 48});
}

// The verdict rests on the deepest.
Condition deep(const Context& context, const std::string& scheme, std::size_t layers) {
    Condition condition = with_step(scheme, 1);
    condition.layers = layers;
    condition.seeds = layers == trained_depths(context).back() ? condition.seeds : 2;
    return condition;
}

std::vector<Condition> deep_conditions(const Context& context) {
    std::vector<Condition> all;
    for (const std::size_t layers : trained_depths(context)) {
        all.insert(all.end(), {deep(context, "pre-ln", layers), deep(context, "post-ln", layers)});
    }
    return all;
}

// As describe_study, of these models.
std::string describe_deep(const Context& context) {
    const StudySizes s = study_sizes(context);
    return fmt::format(
        "{} blocks x {}, {} seeds of the deepest and 2 of the others, {} steps of {} tokens of generated text",
        fmt::join(trained_depths(context), ", "), s.dim, s.seeds, std::min(s.steps, deep_steps), s.batch * s.context);
}

// Largest over smallest |dL/dx_l| of blocks, as a logarithm; at step 20, at step 50 or at the end, where it is largest.
double log_spread(const TrainedRun& run) {
    double largest = 0;
    for (const std::vector<double>* gradient : {&run.gradient_20, &run.gradient_50, &run.gradient}) {
        const std::vector<double> blocks(gradient->begin() + 1, gradient->end());
        largest = measure::larger(largest, std::log(measure::largest_in(blocks) / measure::smallest_in(blocks)));
    }
    return largest;
}

// If the spread were exp(c L), its logarithm would be in proportion to the number of blocks.
Measurement pre_explodes_in_training(const Context& context) {
    train_all(context, deep_conditions(context));
    if (auto undecided = undecided_where_diverged(context, deep_conditions(context), describe_deep(context))) {
        return *undecided;
    }
    const std::vector<std::size_t> depths = trained_depths(context);
    std::vector<double> spreads;
    std::string seen;
    for (const std::size_t layers : depths) {
        spreads.push_back(mean_of(over_seeds(context, deep(context, "pre-ln", layers), log_spread)).value);
        seen += fmt::format("{}{:.2f} at {}", seen.empty() ? "" : ", ", std::exp(spreads.back()), layers);
    }
    const double stated = context.predict("log spread of the deepest over that of the shallowest",
                                          static_cast<double>(depths.back()) / static_cast<double>(depths.front()));
    Measurement result;
    result.predicted = stated;
    result.measured = spreads.back() / spreads.front();
    result.tolerance = "a factor 1.5";
    const double ratio = spreads.back() / spreads.front() / stated;
    result.verdict = verdict_of(ratio < 1.5 && ratio > 1 / 1.5);
    result.note = fmt::format(
        "logarithm of the largest over the smallest |dL/dx_l|, deepest over shallowest model; the spread is {} blocks, "
        "at "
        "steps 20, 50 or 60, where it is largest; {}",
        seen, describe_deep(context));
    return result;
}

Measurement post_flows_in_training(const Context& context) {
    train_all(context, deep_conditions(context));
    if (auto undecided = undecided_where_diverged(context, deep_conditions(context), describe_deep(context))) {
        return *undecided;
    }
    const std::vector<std::size_t> depths = trained_depths(context);
    report::LineFigure figure;
    figure.title = "Gradient over depth in training";
    figure.x.label = "after block";
    figure.y.label = "|dL/dx_l| / |dL/dx_L|";
    figure.y.scale = report::Scale::log;
    const StudySizes sizes = study_sizes(context);
    figure.caption = fmt::format("{} blocks x {}, means over {} seeds, {} tokens of generated text a step.",
                                 depths.back(), sizes.dim, sizes.seeds, sizes.batch * sizes.context);
    std::string seen;
    for (const std::size_t layers : depths) {
        seen += fmt::format("{}{:.2f} and {:.2f} at {}", seen.empty() ? "" : ", ",
                            std::exp(mean_of(over_seeds(context, deep(context, "post-ln", layers), log_spread)).value),
                            std::exp(mean_of(over_seeds(context, deep(context, "pre-ln", layers), log_spread)).value),
                            layers);
    }
    struct Moment {
        const char* name;
        std::vector<double> TrainedRun::*values;
    };
    for (const char* const scheme : {"pre-ln", "post-ln"}) {
        for (const Moment& moment :
             {Moment{"step 1", &TrainedRun::gradient_start}, Moment{"step 20", &TrainedRun::gradient_20},
              Moment{"step 50", &TrainedRun::gradient_50}}) {
            std::vector<double> y =
                mean_over_seeds(trained(context, deep(context, scheme, depths.back())), moment.values);
            y.erase(y.begin());
            const double last = y.back();
            for (double& value : y) {
                value /= last;
            }
            const std::string name =
                fmt::format("{}, {}", scheme == std::string("pre-ln") ? "Pre-LN" : "Post-LN", moment.name);
            figure.series.push_back(depth_series(scheme, name, y, 1));
        }
    }
    report::tell_apart(figure.series);
    Measurement result = below(
        context,
        paired(over_seeds(context, deep(context, "post-ln", depths.back()), log_spread),
               over_seeds(context, deep(context, "pre-ln", depths.back()), log_spread)),
        fmt::format("log of the largest over the smallest |dL/dx_l| at {} blocks, Post-LN less Pre-LN", depths.back()),
        describe_deep(context));
    result.note += fmt::format("; the spreads of Post-LN and Pre-LN are {} blocks", seen);
    result.pictures.push_back({"stability-gradient-training", std::move(figure)});
    return result;
}

}  // namespace

std::vector<Claim> stability_trained_flow_claims() {
    std::vector<Claim> claims = {
        {"stability-trained-pre-explodes",
         "In training Pre-LN's gradients explode: how far those of blocks differ grows exponentially with depth.",
         "A published summary", Verdict::fails,
         "The gradients differ by a factor that grows far more slowly than exponentially", pre_explodes_in_training},
        {"stability-trained-post-flows",
         "In training gradients over blocks are more even under Post-LN than under Pre-LN.", "A published summary",
         Verdict::fails,
         "While deep Post-LN models train, gradients vanish towards the first blocks: they differ by orders of "
         "magnitude",
         post_flows_in_training},
    };
    for (Claim& claim : claims) {
        claim.alone = true;
    }
    return claims;
}

}  // namespace flyball::claims
