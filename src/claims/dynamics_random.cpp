// Random weights: the paper's panel of mean cosines, and how the stream grows when weights are tied or redrawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/experiment.hpp"
#include "claims/groups.hpp"
#include "claims/paper.hpp"

namespace flyball::claims {

namespace {

// One head, Kaiming weights tied over depth, beta = sqrt d, uniform tokens of length 1, d > n, time 0..10 in layers.
dynamics::Settings panel(const Context& context) {
    dynamics::Settings s;
    s.dim = context.size<std::size_t>(128, 512);
    s.tokens = context.size<std::size_t>(64, 128);
    s.beta = std::sqrt(static_cast<double>(s.dim));
    s.weights = dynamics::WeightKind::kaiming;
    s.systems = context.size<std::size_t>(8, 20);
    s.seed = context.seed;
    s.dt = 0.1;
    s.layers = 100;
    s.samples = 51;
    return s;
}

std::string described(const dynamics::Settings& s) {
    return fmt::format(
        "{} draws, n = {}, d = {}, beta = sqrt d, one head, Kaiming weights tied over depth, r0 = 1, tau = T/4, "
        "alpha = 1, layers of dt = {}",
        s.systems, s.tokens, s.dim, s.dt);
}

struct Run {
    std::string scheme;
    dynamics::Record record;
    std::vector<double> last;  // 1 - mean cosine of every draw at the end
};

// The same weights and the same tokens for all six schemes: draws can be compared one by one.
std::vector<Run> run_panel(const Context& context, const dynamics::Settings& s) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < paper_schemes().size(); ++i) {
        const double share = static_cast<double>(i) / 6;
        Run run{paper_schemes()[i], {}, {}};
        // A cut run still sees the switch of Mix-LN at a quarter of the whole.
        const std::string name = run.scheme == "mix-ln" && *s.layers < 100 ? "mix-ln:tau=1" : run.scheme;
        run.record = run_particles(context.part(share, share + 1.0 / 6), s, scheme::find_scheme(name).program,
                                   [&](const dynamics::Sample&, const dynamics::Particles& particles) {
                                       run.last = one_minus_cosines(particles.theta(), s.systems, s.dim);
                                   });
        runs.push_back(std::move(run));
    }
    return runs;
}

// In how many draws each of `first` is ahead of all others, by 1 - cosine at the end, smaller first.
std::size_t draws_led(const std::vector<Run>& runs, const std::vector<std::string>& first, std::size_t systems) {
    std::size_t led = 0;
    for (std::size_t m = 0; m < systems; ++m) {
        double leaders = 0;
        double others = HUGE_VAL;
        for (const Run& run : runs) {
            const bool is_leader = std::find(first.begin(), first.end(), run.scheme) != first.end();
            (is_leader ? leaders : others) = is_leader ? std::max(leaders, run.last[m]) : std::min(others, run.last[m]);
        }
        led += leaders < others ? 1 : 0;
    }
    return led;
}

std::string ranking(std::vector<Run> runs) {
    std::sort(runs.begin(), runs.end(),
              [](const Run& a, const Run& b) { return mean_of(a.last).value < mean_of(b.last).value; });
    std::string text;
    for (const Run& run : runs) {
        text += fmt::format("{}{} {:.2g}", text.empty() ? "" : ", ", run.scheme, mean_of(run.last).value);
    }
    return text;
}

Measurement early(const Context& context) {
    dynamics::Settings s = panel(context);
    s.layers = 10;  // to t = 1
    s.samples = 2;
    const std::vector<Run> runs = run_panel(context, s);
    const std::size_t led = draws_led(runs, {"ngpt", "peri-ln"}, s.systems);
    Measurement result;
    result.predicted = "nGPT and Peri-LN lead in every draw";
    result.measured = fmt::format("in {} of {} draws", led, s.systems);
    result.tolerance = "9 of 10 draws";
    result.verdict = verdict_of(static_cast<double>(led) >= 0.9 * static_cast<double>(s.systems));
    result.note = fmt::format("1 - mean cosine at t = 1: {}; {}", ranking(runs), described(s));
    return result;
}

Measurement late(const Context& context) {
    const dynamics::Settings s = panel(context);
    const std::vector<Run> runs = run_panel(context, s);
    const std::size_t led = draws_led(runs, {"post-ln", "ngpt"}, s.systems);
    Measurement result;
    result.predicted = "Post-LN and nGPT closest together in every draw";
    result.measured = fmt::format("in {} of {} draws", led, s.systems);
    result.tolerance = "9 of 10 draws";
    result.verdict = verdict_of(static_cast<double>(led) >= 0.9 * static_cast<double>(s.systems));
    result.note = fmt::format("1 - mean cosine at t = 10: {}; {}", ranking(runs), described(s));
    report::LineFigure figure;
    figure.title = "Random weights: mean cosine between tokens";
    figure.x.label = "time";
    figure.y.label = "mean cosine";
    figure.caption = described(s) + ".\nLine: mean over draws; band: 5 % to 95 % of draws.";
    for (const Run& run : runs) {
        report::Series series = series_of(run.scheme, {}, {});
        for (const dynamics::Sample& sample : run.record.samples) {
            series.x.push_back(sample.t);
            series.y.push_back(sample.cosine);
            series.lo.push_back(sample.cosine_lo);
            series.hi.push_back(sample.cosine_hi);
        }
        figure.series.push_back(std::move(series));
    }
    result.pictures.push_back({"dynamics-random-weights", std::move(figure)});
    return result;
}

// The slope of log r over log t in the last decade, mean over draws of weights.
Measurement growth(const Context& context, bool fresh, double predicted, double tolerance) {
    std::string note;
    Mean worst{predicted, 0};
    const std::size_t groups = context.size<std::size_t>(4, 12);
    constexpr std::size_t systems = 8;  // averaged before the logarithm: the length of one random walk is noisy
    for (const char* name : {"pre-ln", "peri-ln"}) {
        std::vector<double> slopes;
        for (std::size_t group = 0; group < groups; ++group) {
            dynamics::Settings s;
            s.systems = systems;
            s.tokens = 8;
            s.dim = 32;
            s.beta = std::sqrt(32.0);
            s.weights = dynamics::WeightKind::kaiming;
            s.fresh = fresh;
            s.layers = context.size<std::size_t>(400, 2000);
            s.dt = 1;
            s.samples = 61;
            s.log_time = true;
            s.seed = context.seed * 101 + group;
            const dynamics::Record record = run_particles(context, s, scheme::find_scheme(name).program);
            std::vector<double> clock;
            std::vector<double> value;
            for (const dynamics::Sample& sample : record.samples) {
                if (sample.t >= s.final_time() / 10) {
                    clock.push_back(std::log(sample.t));
                    value.push_back(std::log(sample.radius));
                }
            }
            slopes.push_back(fit_line(clock, value).slope);
        }
        const Mean mean = mean_of(slopes);
        note += fmt::format("{}{} {:.3f} +- {:.3f}", note.empty() ? "" : ", ", name, mean.value, mean.error);
        if (!(std::abs(mean.value - predicted) < std::abs(worst.value - predicted))) {
            worst = mean;
        }
    }
    Measurement result;
    result.predicted = predicted;
    result.measured = worst.value;
    result.tolerance = tolerance;
    result.verdict = verdict_of(std::abs(worst.value - predicted) < tolerance);
    result.note = fmt::format(
        "slope of log r over log t in the last decade of layers of dt = 1, mean over {} groups of {} draws "
        "with its 95 % interval: {}; Kaiming weights, n = 8, d = 32",
        groups, systems, note);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_random_claims() {
    return {
        {"dynamics-random-weights-early", "With random weights nGPT and Peri-LN draw tokens together first.",
         "Random-weight experiment", Verdict::holds,
         "the paper does not say how many tokens and draws it used, nor the variance of the weights; with few tokens "
         "(n = 32 at d = 128) Peri-LN loses its lead to Post-LN",
         early, 40},
        {"dynamics-random-weights-late",
         "With random weights Post-LN and nGPT collapse fast in the end, and the other four more slowly.",
         "Random-weight experiment", Verdict::holds, "", late, 400},
        {"dynamics-norm-growth-tied",
         "With the same weights at every depth the stream of Pre-LN and Peri-LN grows like t.", "Limitations",
         Verdict::holds, "", [](const Context& context) { return growth(context, false, 1.0, 0.1); }},
        {"dynamics-norm-growth-fresh",
         "With new weights in every layer the stream of Pre-LN and Peri-LN grows like sqrt t instead.", "Limitations",
         Verdict::holds, "the model, whose weights are tied, overstates how much growing streams slow tokens down",
         [](const Context& context) { return growth(context, true, 0.5, 0.1); }, 30}};
}

}  // namespace flyball::claims
