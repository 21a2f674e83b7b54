// What the first step of training meets: how streams and gradients change with depth, and how far layers turn.
#include <fmt/format.h>

#include <cmath>

#include "claims/comparison.hpp"
#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_paper.hpp"
#include "claims/stability_passes.hpp"
#include "claims/style.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

// The branches as the equation adds them, but for Dt: those of Peri-LN have the rms of gains, which start at 1.
std::vector<double> start_branches(const std::string& scheme, const Depths& seen) {
    return scheme == "peri-ln" ? std::vector<double>(seen.branch.size(), 1.0) : seen.branch;
}

StartSizes wide(const Context& context, double dt = 1) {
    StartSizes sizes;
    sizes.layers = context.size<std::size_t>(12, 24);
    sizes.dim = context.size<std::size_t>(128, 256);
    sizes.dt = dt;
    return sizes;
}

// Walks Pre-LN and Peri-LN with both steps.
template <class See>
void walk_starts(const Context& context, const See& see) {
    double done = 0;
    for (const char* const scheme : {"pre-ln", "peri-ln"}) {
        for (const double dt : {1.0, 0.1}) {
            context.at(done / 4);
            done += 1;
            const Depths seen = start_depths(scheme, wide(context, dt));
            see(scheme, dt, seen, start_branches(scheme, seen));
        }
    }
}

Measurement start_growth(const Context& context) {
    Comparison sigma = Comparison::relative(0.1);
    std::string ends;
    walk_starts(context, [&](const char* scheme, double dt, const Depths& seen, const std::vector<double>& branches) {
        for (std::size_t i = 1; i < seen.sigma.size(); ++i) {
            const std::span<const double> before(branches.data(), i);
            sigma.see(seen.sigma[i], context.predict("sigma", start_rms(seen.sigma[0], dt, before),
                                                     {seen.sigma[0], dt, start_rms(0, dt, before)}));
        }
        ends += fmt::format("{}{} at Dt = {} from {:.4f} to {:.4f}", ends.empty() ? "" : ", ", scheme, dt,
                            seen.sigma[0], seen.sigma.back());
    });
    Measurement result;
    result.predicted = sigma.predicted();
    result.measured = sigma.measured();
    result.tolerance = "0.1 of it";
    result.verdict = verdict_of(sigma.agrees());
    result.note = "root mean square of the stream, where it agrees least over sub-layers: " + ends;
    return result;
}

Measurement start_rotation(const Context& context) {
    double least = HUGE_VAL;
    double most = 0;
    walk_starts(context, [&](const char*, double dt, const Depths& seen, const std::vector<double>& branches) {
        for (std::size_t i = 0; i < branches.size(); ++i) {
            const double stated =
                context.predict("angle", rotation(dt, branches[i], seen.sigma[i]), {dt, branches[i], seen.sigma[i]});
            least = measure::smaller(least, seen.turned[i] / stated);
            most = measure::larger(most, seen.turned[i] / stated);
        }
    });
    Measurement result;
    result.predicted = "tan(angle) = Dt s_i/sigma_i";
    result.measured = fmt::format("{:.3f} to {:.3f} of that angle", least, most);
    result.tolerance = "a factor 1.25, for every sub-layer";
    result.verdict = verdict_of(least > 1 / 1.25 && most < 1.25);
    result.note = "Pre-LN and Peri-LN, Dt = 1 and 0.1";
    return result;
}

// |dL/dx_l| over |dL/dx_L| beside what is predicted, over blocks.
Comparison gradients(const Context& context, const Depths& seen, double tolerance) {
    Comparison ratios = Comparison::relative(tolerance);
    for (std::size_t l = 1; l < seen.gradient.size(); ++l) {
        const double stated = gradient_ratio(seen.sigma[2 * l], seen.sigma.back());
        ratios.see(seen.gradient[l] / seen.gradient.back(), context.predict("ratio", stated, {static_cast<double>(l)}));
    }
    return ratios;
}

Measurement pre_gradient(const Context& context) {
    const Comparison ratios = gradients(context, start_depths("pre-ln", wide(context)), 0.1);
    Measurement result;
    result.predicted = ratios.predicted();
    result.measured = ratios.measured();
    result.tolerance = "0.1 of it";
    result.verdict = verdict_of(ratios.agrees());
    result.note = "|dL/dx_l|/|dL/dx_L| where it agrees least over blocks, embedding of rms 0.028";
    return result;
}

Measurement peri_gradient(const Context& context) {
    StartSizes sizes = wide(context);
    const Comparison many = gradients(context, start_depths("peri-ln", sizes), 0.2);
    sizes.tokens = 1;
    const Comparison one = gradients(context, start_depths("peri-ln", sizes), 0.2);
    Measurement result;
    result.predicted = fmt::format("{:.2f} with 64 tokens, {:.2f} with one", many.predicted(), one.predicted());
    result.measured = fmt::format("{:.2f} and {:.2f}", many.measured(), one.measured());
    result.tolerance = "0.2 of it";
    result.verdict = verdict_of(many.agrees(), one.agrees());
    result.note = "|dL/dx_l|/|dL/dx_L| where it agrees least over blocks";
    return result;
}

Measurement post_jump(const Context& context) {
    StartSizes sizes = wide(context);
    sizes.init = "matrices=0.02,embedding=0.02";
    const Depths seen = start_depths("post-ln", sizes);
    const double stated = context.predict("jump", 1 / seen.sigma[0]);
    const double above = context.predict("above", 1);
    const double found = seen.gradient[0] / seen.gradient[1];
    const double rest = seen.gradient[1] / seen.gradient.back();
    Measurement result;
    result.predicted = stated;
    result.measured = found;
    result.tolerance = "0.15 of it";
    result.verdict = verdict_of(std::abs(found / stated - 1) < 0.15 && std::abs(rest - above) < 0.15);
    result.note = fmt::format(
        "|dL/dx_0|/|dL/dx_1|, all matrices of deviation 0.02; from the first block to the last the gradient changes by "
        "a factor {:.3f} alone",
        rest);
    return result;
}

std::vector<std::size_t> depths_from_6(const Context& context) {
    return context.size<std::vector<std::size_t>>({6, 12, 24}, {6, 12, 24, 48});
}

// The largest over the smallest |dL/dx_l| of the blocks; x_0 is left out.
double spread_of(const Depths& seen) {
    const std::vector<double> blocks(seen.gradient.begin() + 1, seen.gradient.end());
    return measure::largest_in(blocks) / measure::smallest_in(blocks);
}

double first_over_last(const Depths& seen) {
    return seen.gradient[1] / seen.gradient.back();
}

// If |dL/dx_1|/|dL/dx_L| were exp(c L), its logarithm would grow as L does.
Measurement pre_explodes(const Context& context) {
    const std::vector<std::size_t> depths = depths_from_6(context);
    const double least = context.predict("exponent of depth in the logarithm", 1);
    double found = 0;
    std::string seen;
    for (const char* const init : {"", "matrices=0.02"}) {
        std::vector<double> x;
        std::vector<double> y;
        for (const std::size_t layers : depths) {
            context.at(static_cast<double>(x.size()) / static_cast<double>(depths.size()));
            StartSizes sizes;
            sizes.layers = layers;
            sizes.init = init;
            const double ratio = first_over_last(start_depths("pre-ln", sizes));
            x.push_back(std::log(static_cast<double>(layers)));
            y.push_back(std::log(std::log(ratio)));
            seen += fmt::format("{}{:.3f} at {}",
                                x.size() > 1    ? ", "
                                : *init == '\0' ? ""
                                                : "; with all 0.02 ",
                                ratio, layers);
        }
        found = measure::larger(found, fit_line(x, y).slope);
    }
    Measurement result;
    result.predicted = least;
    result.measured = found;
    result.tolerance = 0.2;
    result.verdict = verdict_of(std::abs(found - least) < 0.2);
    result.note = "slope of log log(|dL/dx_1|/|dL/dx_L|) over log L; the ratio is " + seen + " blocks";
    return result;
}

Measurement post_flows(const Context& context) {
    const double stated = context.predict("Post-LN's spread over Pre-LN's, at most", 1);
    double least = HUGE_VAL;
    std::string seen;
    for (const std::size_t layers : depths_from_6(context)) {
        StartSizes sizes;
        sizes.layers = layers;
        const double post = spread_of(start_depths("post-ln", sizes));
        const double pre = spread_of(start_depths("pre-ln", sizes));
        least = measure::smaller(least, post / pre);
        seen += fmt::format("{}{:.2f} and {:.2f} at {}", seen.empty() ? "" : ", ", post, pre, layers);
    }
    StartSizes small;
    small.init = "matrices=0.02,embedding=0.02";
    const Depths tiny = start_depths("post-ln", small);
    Measurement result;
    result.predicted = stated;
    result.measured = least;
    result.tolerance = 0.1;
    result.verdict = verdict_of(least <= stated + 0.1);
    result.note = fmt::format(
        "at most that; largest over smallest |dL/dx_l| of Post-LN and Pre-LN: {} blocks, each started as its source "
        "says; Post-LN "
        "with all matrices of deviation 0.02 has {:.3f} over blocks, and a jump of {:.1f} at x_0",
        seen, spread_of(tiny), tiny.gradient[0] / tiny.gradient[1]);
    return result;
}

Measurement all_schemes(const Context& context) {
    report::LineFigure figure;
    figure.title = "Gradient over depth at the start";
    figure.x.label = "after block";
    figure.y.label = "|dL/dx_l| / |dL/dx_L|";
    figure.y.scale = report::Scale::log;
    std::string seen;
    double largest_share = 0;
    const std::vector<std::size_t> depths = depths_from_6(context);
    for (const char* const scheme : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling", "ln-scaling"}) {
        std::string spreads;
        for (const std::size_t layers : depths) {
            context.at(0);
            StartSizes sizes;
            sizes.layers = layers;
            const Depths at = start_depths(scheme, sizes);
            const double most = context.predict("largest spread", std::sqrt(2 * static_cast<double>(layers)));
            largest_share = measure::larger(largest_share, spread_of(at) / most);
            spreads += fmt::format("{}{:.2f}", spreads.empty() ? "" : ", ", spread_of(at));
            if (layers == depths.back()) {
                std::vector<double> x;
                std::vector<double> y;
                for (std::size_t l = 1; l < at.gradient.size(); ++l) {
                    x.push_back(static_cast<double>(l));
                    y.push_back(at.gradient[l] / at.gradient.back());
                }
                figure.series.push_back(series_of(scheme, x, y));
            }
        }
        seen += fmt::format("{}{} {}", seen.empty() ? "" : "; ", scheme, spreads);
    }
    figure.caption = fmt::format("{} blocks x 64, 64 tokens, each scheme started as its source says.", depths.back());
    Measurement result;
    result.predicted = "largest over smallest |dL/dx_l| of blocks at most sqrt(2L)";
    result.measured = fmt::format("at most {:.2f} of that", largest_share);
    result.tolerance = "never above";
    result.verdict = verdict_of(largest_share <= 1);
    result.note = fmt::format("at {} blocks: {}", fmt::join(depths, ", "), seen);
    result.pictures.push_back({"stability-gradient-start", std::move(figure)});
    return result;
}

}  // namespace

std::vector<Claim> stability_start_claims() {
    return {
        {"stability-pre-explodes-start",
         "At the start of training Pre-LN's gradients explode: |dL/dx_1|/|dL/dx_L| grows exponentially with depth.",
         "A published summary", Verdict::fails,
         "The ratio is that of the stream's rms, sigma_L/sigma_1: nearly constant with residual matrices of "
         "0.02/sqrt(2L), and like sqrt L without that factor",
         pre_explodes, 5},
        {"stability-post-flows-start",
         "At the start of training gradients over blocks are more even under Post-LN than under Pre-LN.",
         "A published summary", Verdict::fails,
         "Only with matrices so small that branches hardly matter, and then with a jump of 1/sigma_0 at x_0",
         post_flows, 5},
        {"stability-start-growth", "At the start sigma_l^2 = sigma_0^2 + sum Dt^2 s_i^2 over sub-layers i.", "finding",
         Verdict::holds,
         "sigma is the root mean square of the stream, s_i that of a branch: the rms of the gains in Peri-LN",
         start_growth, 5},
        {"stability-start-rotation", "At the start sub-layer i turns a token by an angle of tangent Dt s_i/sigma_i.",
         "finding", Verdict::holds, "", start_rotation, 5},
        {"stability-start-gradient-pre", "At the start of Pre-LN |dL/dx_l| is sigma_L/sigma_l times |dL/dx_L|.",
         "finding", Verdict::holds, "", pre_gradient, 5},
        {"stability-start-gradient-peri", "At the start of Peri-LN |dL/dx_l| is sigma_L/sigma_l times |dL/dx_L|.",
         "finding", Verdict::holds_corrected,
         "That holds for sequences of one token. In longer ones tokens soon share a direction, attention averages "
         "their "
         "gradients away, and the ratio is smaller",
         peri_gradient, 5},
        {"stability-start-jump-post",
         "At the start of Post-LN the gradient jumps by 1/sigma_0 at the embedding and nowhere else.", "finding",
         Verdict::holds, "While branches are small", post_jump, 5},
        {"stability-start-gradient-schemes",
         "At the start the gradients of blocks differ by at most sqrt(2L) in each of seven schemes.", "finding",
         Verdict::holds, "The dynamics paper leaves gradients of its six schemes to others", all_schemes, 20},
    };
}

}  // namespace flyball::claims
