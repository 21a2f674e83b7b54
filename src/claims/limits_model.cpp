// What the paper measures on one model: growth of distances, critical N, separation, sensitivity, coverage.
#include "claims/limits_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/fit.hpp"
#include "claims/limits.hpp"

namespace flyball::claims {

namespace {

using limits::Result;

Measurement on(const Analysed& model) {
    Measurement result;
    result.note = "on " + model.about;
    return result;
}

// A text that is too short for a quantity leaves a NaN, which decides nothing.
Measurement decided(const Measurement& found) {
    const auto missing = [](const Value& value) {
        const auto* number = std::get_if<double>(&value);
        return number != nullptr && std::isnan(*number);
    };
    if (!missing(found.measured)) {
        return found;
    }
    Measurement result = found;
    result.predicted = missing(found.predicted) ? Value() : found.predicted;
    result.measured = "no number";
    result.verdict = Verdict::undecided;
    result.note += "; the text or the model is too short for this";
    return result;
}

// The exponent of L in a quantity at N = 5, by a fit over lengths of 64 and more, where the first rows weigh little.
template <class Quantity>
double growth(const Result& result, const Quantity& quantity) {
    std::vector<double> x;
    std::vector<double> y;
    for (const limits::DistanceMeans& row : result.by_length) {
        if (row.length >= 64) {
            x.push_back(std::log(static_cast<double>(row.length)));
            y.push_back(std::log(quantity(row)));
        }
    }
    return x.size() == 2 ? (y[1] - y[0]) / (x[1] - x[0]) : fit_line(x, y).slope;
}

// Beside the exponent 1 that the paper states.
Measurement growth_of(const Context& context, double limits::DistanceMeans::*quantity) {
    const Analysed& model = analysed(context);
    const double stated = context.predict("exponent", 1);
    const double found = growth(model.result, [quantity](const limits::DistanceMeans& row) { return row.*quantity; });
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = found;
    result.tolerance = 0.2;
    result.verdict = verdict_of(std::abs(found - stated) < 0.2);
    return result;
}

Measurement true_growth(const Context& context) {
    return growth_of(context, &limits::DistanceMeans::distance);
}

Measurement expected_growth(const Context& context) {
    return growth_of(context, &limits::DistanceMeans::expected);
}

double distance_at(const Result& result, std::size_t n) {
    for (const limits::DistanceMeans& row : result.by_n) {
        if (row.n == n) {
            return row.distance;
        }
    }
    return std::nan("");
}

Measurement plateau(const Context& context) {
    const Analysed& model = analysed(context);
    const double stated = context.predict("ratio", 1);
    const double found = distance_at(model.result, 100) / distance_at(model.result, 20);
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = found;
    result.tolerance = 0.1;
    result.verdict = verdict_of(std::abs(found - stated) < 0.1);
    const double factor = distance_at(model.result, 20) / distance_at(model.result, 1);
    result.note += "; distance at N = 100 over that at N = 20";
    if (std::isfinite(factor)) {
        result.note += fmt::format("; from N = 1 to 20 it changes by a factor {:.3f}", factor);
    }
    return result;
}

// The share of L at which D first falls below 0.192, over the lengths of 128 and more.
Measurement critical(const Context& context) {
    const Analysed& model = analysed(context);
    const double stated = context.predict("fraction", 0.06);
    std::vector<double> fractions;
    std::string seen;
    for (const limits::KsCurve& curve : model.result.critical) {
        const bool any = std::any_of(curve.distances.begin(), curve.distances.end(),
                                     [](double distance) { return std::isfinite(distance); });
        if (any && (curve.length >= 128 || &curve == &model.result.critical.back())) {
            const double fraction =
                curve.by_distance.n ? static_cast<double>(*curve.by_distance.n) / static_cast<double>(curve.length) : 1;
            fractions.push_back(fraction);
            seen += fmt::format("{}{} of {}", seen.empty() ? "" : ", ",
                                curve.by_distance.n ? std::to_string(*curve.by_distance.n) : "none", curve.length);
        }
    }
    const double found = fractions.empty() ? std::nan("") : mean_of(fractions).value;
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = found;
    result.tolerance = "a factor 1.5";
    result.verdict = verdict_of(found > stated / 1.5 && found < stated * 1.5);
    result.note += fmt::format("; critical N at the fixed D = {}: {}", limits::fixed_distance, seen);
    return result;
}

Measurement separation(const Context& context) {
    const Analysed& model = analysed(context);
    const double low = context.predict("low", 0.70);
    const double high = context.predict("high", 0.85);
    bool inside = true;
    std::string seen;
    for (const limits::SeparationMeans& row : model.result.separation) {
        if (row.n >= 16 && std::isfinite(row.ratio) && 2 * row.n <= model.result.critical.back().length) {
            inside = inside && row.ratio >= low && row.ratio <= high;
            seen += fmt::format("{}{:.3f} at {}", seen.empty() ? "" : ", ", row.ratio, row.n);
        }
    }
    Measurement result = on(model);
    result.predicted = fmt::format("{} to {}", low, high);
    result.measured = seen.empty() ? "no N from 16 on" : seen;
    result.tolerance = "none";
    result.verdict = seen.empty() ? Verdict::undecided : verdict_of(inside);
    return result;
}

double sensitivity_at(const Result& result, double temperature, double eps) {
    double found = std::nan("");
    double least = HUGE_VAL;
    for (const limits::SensitivityMeans& row : result.sensitivity) {
        const double off = std::abs(std::log(row.temperature / temperature));
        if (row.eps == eps && off < least) {
            least = off;
            found = row.value;
        }
    }
    return found;
}

// log g over log T from 0.01 to 0.1, at the smallest step.
Measurement inverse_law(const Context& context) {
    const Analysed& model = analysed(context);
    const double stated = context.predict("slope", -1);
    std::vector<double> x;
    std::vector<double> y;
    for (const limits::SensitivityMeans& row : model.result.sensitivity) {
        if (row.eps == limits::step_sizes().front() && row.temperature > 0.009 && row.temperature < 0.11) {
            x.push_back(std::log(row.temperature));
            y.push_back(std::log(row.value));
        }
    }
    const double found = fit_line(x, y).slope;
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = found;
    result.tolerance = 0.15;
    result.verdict = verdict_of(std::abs(found - stated) < 0.15);
    result.note += "; slope of log g over log T from T = 0.01 to 0.1, eps = 0.001, the most sensitive head";
    return result;
}

Measurement drop(const Context& context) {
    const Analysed& model = analysed(context);
    const double stated = context.predict("ratio", 1e-2);
    const double found = sensitivity_at(model.result, 1, 1e-3) / sensitivity_at(model.result, 0.01, 1e-3);
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = found;
    result.tolerance = "a factor 3";
    result.verdict = verdict_of(found < 3 * stated && found > stated / 3);
    result.note += "; g at T = 1 over g at T = 0.01, eps = 0.001, the most sensitive head";
    return result;
}

// Entropy of the weights inside the top N over log N: 1 is a uniform choice.
Measurement uniform(const Context& context) {
    const Analysed& model = analysed(context);
    const double stated = context.predict("limit", 1);
    std::string seen;
    double last = std::nan("");
    std::size_t counts = 0;
    for (const limits::DistanceMeans& row : model.result.by_n) {
        if (row.n > 1 && std::isfinite(row.uniformity)) {
            last = row.uniformity;
            ++counts;
            seen += fmt::format("{}{:.3f} at {}", seen.empty() ? "" : ", ", row.uniformity, row.n);
        }
    }
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = counts > 1 ? last : std::nan("");  // one N says nothing of how it grows
    result.tolerance = 0.1;
    result.verdict = verdict_of(std::abs(last - stated) < 0.1);
    result.note += "; entropy over log N inside the top N: " + seen;
    return result;
}

Measurement declines(const Context& context) {
    const Analysed& model = analysed(context);
    const double least = context.predict("least decline", 0.02);
    double before = 2;
    bool declining = true;
    std::string seen;
    for (const std::size_t n : {1U, 2U, 4U, 8U, 16U}) {
        const double ratio = separation_ratio(model.result, n);
        declining = declining && ratio < before;
        before = ratio;
        seen += fmt::format("{}{:.3f}", seen.empty() ? "" : ", ", ratio);
    }
    const double decline = separation_ratio(model.result, 1) - before;
    Measurement result = on(model);
    result.predicted = "N_s/N falls from N = 1 to 16";
    result.measured = std::isnan(before) ? Value(before) : Value(seen);
    result.tolerance = fmt::format("at every doubling, by {} in all", least);
    result.verdict = verdict_of(declining && decline > least);
    return result;
}

Measurement coverage(const Context& context) {
    const Analysed& model = analysed(context);
    double predicted = 0;
    double measured = 0;
    double p = 0;
    std::size_t heads = 0;
    for (const limits::Coverage& row : model.result.coverage) {
        predicted += row.predicted / static_cast<double>(model.result.coverage.size());
        measured += row.measured / static_cast<double>(model.result.coverage.size());
        p += row.share / static_cast<double>(model.result.coverage.size());
        heads = row.heads;
    }
    const double stated = context.predict("coverage", predicted);
    Measurement result = on(model);
    result.predicted = stated;
    result.measured = measured;
    result.tolerance = "0.1 of it";
    result.verdict = verdict_of(std::abs(measured / stated - 1) < 0.1);
    if (std::isfinite(p)) {
        result.note += fmt::format(
            "; {} heads a layer, each separating {:.3f} of the keys it sees with its 20 heaviest", heads, p);
    }
    return result;
}

Claim claim_of(const char* id, const char* statement, const char* source, Verdict expected, const char* note,
               Measurement (*experiment)(const Context&)) {
    Claim claim{id,       statement, source,
                expected, note,      [experiment](const Context& context) { return decided(experiment(context)); }};
    claim.alone = true;
    claim.of_one_model = true;
    return claim;
}

}  // namespace

std::vector<Claim> limits_model_claims() {
    return {
        claim_of("limits-distance-linear", "At N = 5 the distance grows linearly with the length of the text.",
                 "Figure: distance over L", Verdict::fails,
                 "It is about (L-N)|s|, and |s| shrinks as the weight spreads over more keys", true_growth),
        claim_of("limits-expected-linear", "At N = 5 the expected distance grows linearly with the length of the text.",
                 "Figure: distance over L", Verdict::fails, "It is at most (N+1) max|x|", expected_growth),
        claim_of("limits-plateau", "Beyond N = 20 the distance changes no more.", "Figure: distance over N",
                 Verdict::holds, "Between 20 and 100 it rises and falls again; it ends at 0", plateau),
        claim_of("limits-critical-n", "True and expected distances cannot be told apart from N = 0.06 L on.",
                 "Figure: critical N", Verdict::fails,
                 "With the main sum of Theorem 1.2 as expectation they differ up to most of L", critical),
        claim_of("limits-separation-plateau", "From N = 16 on N_s/N is between 0.70 and 0.85.", "Figure: separation",
                 Verdict::holds, "With the hidden stream as vectors", separation),
        claim_of("limits-separation-declines", "N_s/N falls as N grows to 16.", "Figure: separation", Verdict::holds,
                 "", declines),
        claim_of("limits-uniform", "As N grows the choice among the selected keys tends to a uniform one.", "Abstract",
                 Verdict::fails, "The entropy over log N falls as N grows", uniform),
        claim_of("limits-inverse-law", "Below T = 0.1 the sensitivity follows 1/T.", "Figure: sensitivity",
                 Verdict::fails, "It does between T = 0.1 and 1; below, most rows are decided and move no more",
                 inverse_law),
        claim_of("limits-sensitivity-drop", "At T = 1 and above the sensitivity is two orders of magnitude lower.",
                 "Figure: sensitivity", Verdict::holds, "", drop),
        claim_of("limits-coverage", "H heads that separate a share p of the keys each separate 1-(1-p)^H together.",
                 "Section: guidelines", Verdict::fails, "Heads of a layer select the same keys more often than chance",
                 coverage),
    };
}

}  // namespace flyball::claims
