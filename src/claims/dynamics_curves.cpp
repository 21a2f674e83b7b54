// The paper's theory curves: cosines and velocities of the six schemes from orthonormal tokens, and their order.
#include <fmt/format.h>

#include <algorithm>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "theory/theory.hpp"

namespace flyball::claims {

namespace {

const theory::Settings orthonormal = {256, {5}, 1, table_T, std::nullopt};

report::LineFigure curve_figure(const std::string& title, bool velocity, const std::vector<double>& times,
                                report::Axis x, report::Axis y) {
    report::LineFigure figure;
    figure.title = title;
    figure.x = std::move(x);
    figure.y = std::move(y);
    figure.caption = "n = 256, β = 5, r0 = 1, symmetric start, from the reduced law; Mix-LN switches at t = 2.5";
    for (const std::string& name : paper_schemes()) {
        std::vector<double> values;
        for (const theory::Point& point : theory::solve(scheme::find_scheme(name).program, orthonormal, times)) {
            values.push_back(velocity ? point.velocity : point.gamma);
        }
        figure.series.push_back(series_of(name, times, std::move(values)));
    }
    return figure;
}

Measurement theory_curves(const Context& context) {
    const std::vector<double> times = {1, 10, 300};
    Comparison cosine = Comparison::absolute(1e-7);
    std::vector<std::pair<double, std::string>> early;
    std::vector<std::pair<double, std::string>> late;
    for (const std::string& name : paper_schemes()) {
        const auto points = theory::solve(scheme::find_scheme(name).program, orthonormal, times);
        PaperRow row = paper_row(name);
        if (name == "ngpt") {
            row.s = [](const TokenState& x) { return x.length; };  // alpha = 1
        }
        const std::vector<GammaRadius> typed = solve_row(row, 256, 5, 1, times, 5e-3);
        for (std::size_t i = 0; i < times.size(); ++i) {
            cosine.see(points[i].gamma, context.predict("cosine", typed[i].gamma, {times[i]}));
        }
        early.emplace_back(-points[0].gamma, name);
        late.emplace_back(points[2].log_one_minus_gamma, name);
    }
    std::sort(early.begin(), early.end());
    std::sort(late.begin(), late.end());
    const auto are = [](const auto& list, std::size_t first, std::vector<std::string> names) {
        std::vector<std::string> found;
        for (std::size_t i = first; i < first + names.size(); ++i) {
            found.push_back(list[i].second);
        }
        std::sort(found.begin(), found.end());
        std::sort(names.begin(), names.end());
        return found == names;
    };
    const auto names_of = [](const auto& list) {
        std::string text;
        for (const auto& [value, name] : list) {
            text += (text.empty() ? "" : ", ") + name;
        }
        return text;
    };
    Measurement result;
    result.predicted = "nGPT and Peri-LN first; nGPT, Post-LN, then sqrt-scaling collapse";
    result.measured = fmt::format("first {} and {}; collapsed {}, {}, {}", early[0].second, early[1].second,
                                  late[0].second, late[1].second, late[2].second);
    result.tolerance = fmt::format("the ranking, and cosines to {}", cosine.tolerance());
    result.verdict = verdict_of(cosine.agrees() && are(early, 0, {"ngpt", "peri-ln"}) &&
                                are(late, 0, {"ngpt", "post-ln"}) && late[2].second == "sqrt-scaling");
    result.note = fmt::format(
        "n = 256, beta = 5; by cosine at t = 1: {}; by 1 - cosine at t = 300: {}; cosines at t = 1, 10 and 300 are "
        "those "
        "of Table 2's rows to {:.1e}",
        names_of(early), names_of(late), cosine.off());
    const std::size_t points = context.size<std::size_t>(200, 400);
    std::vector<double> even;
    for (std::size_t i = 0; i <= points; ++i) {
        even.push_back(30 * static_cast<double>(i) / static_cast<double>(points));
    }
    using report::Scale;
    const std::vector<double> spread = log_spaced(0.1, 100, points);
    result.pictures = {
        {"dynamics-theory-cosine", curve_figure("Cosine between tokens, predicted", false, spread,
                                                {"time", Scale::log, {}, {}}, {"cosine", Scale::linear, 0, 1})},
        {"dynamics-theory-velocity-power",
         curve_figure("Velocity of the cosine: powers are straight", true, log_spaced(0.1, 1e5, points),
                      {"time", Scale::log, {}, {}}, {"velocity of the cosine", Scale::log, 1e-14, {}})},
        {"dynamics-theory-velocity-exponential",
         curve_figure("Velocity of the cosine: exponentials are straight", true, even, {"time", Scale::linear, {}, {}},
                      {"velocity of the cosine", Scale::log, 1e-14, {}})}};
    return result;
}

}  // namespace

std::vector<Claim> dynamics_curves_claims() {
    return {{"dynamics-theory-curves",
             "With 256 tokens at beta = 5 nGPT and Peri-LN raise the cosine first, and Post-LN and nGPT reach "
             "consensus long "
             "before the others, sqrt-scaling next.",
             "Theory curves", Verdict::holds, "", theory_curves}};
}

}  // namespace flyball::claims
