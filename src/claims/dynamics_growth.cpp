// Random weights: how the stream grows when they are tied over depth or redrawn in every layer.
#include <fmt/format.h>

#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"

namespace flyball::claims {

namespace {

// The slope of log r over log t in the last decade, mean over draws of weights.
struct Growth {
    bool fresh;
    double exponent;
    double tolerance;
    double span;                               // from the end divided by this, to the end
    std::size_t tokens, dim, layers, systems;  // systems are averaged before the logarithm: one random walk is noisy
};

Measurement growth(const Growth& which, const Context& context) {
    const double predicted = context.predict("exponent", which.exponent);
    std::string note;
    Comparison slope = Comparison::absolute(which.tolerance);
    const std::size_t groups = context.size<std::size_t>(4, 12);
    for (const char* name : {"pre-ln", "peri-ln"}) {
        std::vector<double> slopes;
        for (std::size_t group = 0; group < groups; ++group) {
            dynamics::Settings s;
            s.systems = which.systems;
            s.tokens = which.tokens;
            s.dim = which.dim;
            s.beta = std::sqrt(static_cast<double>(which.dim));
            dynamics::parse_weights(paper_reading, s);
            s.fresh = which.fresh;
            s.layers = which.layers;
            s.dt = 1;
            s.r0 = 0.1;  // forgotten soon
            s.samples = 61;
            s.log_time = true;
            s.seed = context.seed * 101 + group;
            const dynamics::Record record = run_particles(context, s, scheme::find_scheme(name).program);
            std::vector<double> clock;
            std::vector<double> value;
            for (const dynamics::Sample& sample : record.samples) {
                if (sample.t >= s.final_time() / which.span) {
                    clock.push_back(std::log(sample.t));
                    value.push_back(std::log(sample.radius));
                }
            }
            slopes.push_back(fit_line(clock, value).slope);
        }
        const Mean mean = mean_of(slopes);
        note += fmt::format("{}{} {:.3f} +- {:.3f}", note.empty() ? "" : ", ", name, mean.value, mean.error);
        slope.see(mean.value, predicted);
    }
    Measurement result;
    result.predicted = predicted;
    result.measured = slope.measured();
    result.tolerance = which.tolerance;
    result.verdict = verdict_of(slope.agrees());
    result.note = fmt::format(
        "slope of log r over log t from T/{} on in {} layers of dt = 1, mean over {} groups of {} draws with "
        "its "
        "95 % interval: {}; weights {}, n = {}, d = {}",
        which.span, which.layers, groups, which.systems, note, paper_reading, which.tokens, which.dim);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_growth_claims() {
    return {
        {"dynamics-norm-growth-tied",
         "With the same weights at every depth the stream of Pre-LN and Peri-LN grows like t.", "Limitations",
         Verdict::holds, "",
         [](const Context& context) {
             return growth({false, 1, 0.04, 10, 8, 32, context.size<std::size_t>(1500, 6000), 8}, context);
         },
         20},
        {"dynamics-norm-growth-fresh",
         "With new weights in every layer the stream of Pre-LN and Peri-LN grows like sqrt t instead.", "Limitations",
         Verdict::holds, "the model, whose weights are tied, overstates how much growing streams slow tokens down",
         [](const Context& context) {
             return growth({true, 0.5, 0.04, 50, 4, 16, context.size<std::size_t>(300, 1000), 32}, context);
         },
         30}};
}

}  // namespace flyball::claims
