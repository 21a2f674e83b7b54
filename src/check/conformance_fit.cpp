#include "check/conformance_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/number.hpp"
#include "scheme/typing.hpp"

namespace flyball::check {

namespace {

using scheme::Expression;
using scheme::Program;

// By golden section between a and b, where `error_at` has one minimum.
FittedNumber golden_section(double a, double b, const std::function<double(double)>& error_at) {
    constexpr double share = 0.6180339887498949;
    constexpr int steps = 60;  // 0.618^60 = 3e-13 of the interval
    double left = b - share * (b - a);
    double right = a + share * (b - a);
    double at_left = error_at(left);
    double at_right = error_at(right);
    for (int i = 0; i < steps; ++i) {
        if (at_left < at_right) {
            b = right;
            right = left;
            at_right = at_left;
            left = b - share * (b - a);
            at_left = error_at(left);
        } else {
            a = left;
            left = right;
            at_left = at_right;
            right = a + share * (b - a);
            at_right = error_at(right);
        }
    }
    return at_left < at_right ? FittedNumber{left, at_left} : FittedNumber{right, at_right};
}

void collect_numbers(const Expression& e, const std::string& parameter, std::vector<WrittenNumber>& found) {
    if (e.kind == Expression::Kind::number) {
        found.push_back({e.number, e.span, parameter, false, ""});
        return;
    }
    for (std::size_t i = 0; i < e.arguments.size(); ++i) {
        const std::size_t first = found.size();
        collect_numbers(*e.arguments[i], parameter, found);
        if (e.kind == Expression::Kind::binary && e.op == scheme::Operator::power && i == 1 &&
            e.arguments[1]->kind == Expression::Kind::number && found.size() > first) {
            found.back().exponent = true;
            found.back().base = print(*e.arguments[0]);
        }
    }
}

std::vector<double> trials_around(double value, std::size_t layers) {
    std::vector<double> trials = {-2, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2, -value};
    for (int k = -8; k <= 8; ++k) {
        trials.push_back(value * std::exp2(k / 2.0));
    }
    if (value > 0 && value <= 1) {  // it may be a share of the depth
        constexpr std::size_t most = 64;
        for (std::size_t l = 0; l <= std::min(layers, most); ++l) {
            trials.push_back(static_cast<double>(l) / static_cast<double>(layers));
        }
    }
    return trials;
}

// The simplest number near the fitted one at which the run conforms: rounding leaves the fit few digits.
FittedNumber simplest(const FittedNumber& fitted, const std::function<Reading(double)>& reading_at) {
    constexpr double near = 0.05;
    for (const double parts : {1.0, 2.0, 4.0, 3.0, 5.0, 10.0, 8.0}) {
        const double value = std::round(fitted.value * parts) / parts;
        if (std::fabs(value - fitted.value) > near * std::max(std::fabs(fitted.value), near)) {
            continue;
        }
        if (const Reading reading = reading_at(value); reading.conforms) {
            return {value, reading.error, true, true};
        }
    }
    return {fitted.value, fitted.error, reading_at(fitted.value).conforms, false};
}

}  // namespace

FittedNumber fit_number(std::vector<double> trials, const std::function<double(double)>& error_at) {
    std::sort(trials.begin(), trials.end());
    trials.erase(std::unique(trials.begin(), trials.end()), trials.end());
    std::vector<double> errors;
    for (const double trial : trials) {
        errors.push_back(error_at(trial));
    }
    const auto best = static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
    const FittedNumber between =
        golden_section(trials[best == 0 ? 0 : best - 1], trials[std::min(best + 1, trials.size() - 1)], error_at);
    return between.error < errors[best] ? between : FittedNumber{trials[best], errors[best]};
}

std::vector<WrittenNumber> written_numbers(const Program& program) {
    const Program printed = Program::parse(program.text());  // spans of what is printed, whatever was typed
    std::vector<WrittenNumber> found;
    for (const scheme::Section& section : printed.syntax().sections) {
        for (const scheme::Assignment& statement : section.statements) {
            collect_numbers(*statement.value, "", found);
        }
    }
    for (const scheme::ParameterSyntax& parameter : printed.syntax().parameters) {
        if (!parameter.learned) {
            collect_numbers(*parameter.value, parameter.name, found);
        }
    }
    std::stable_partition(found.begin(), found.end(), [](const WrittenNumber& one) { return one.exponent; });
    return found;
}

std::optional<Program> with_number(const Program& program, const WrittenNumber& number, double value) {
    std::string text = program.text();
    const std::string digits = format_double(value);
    text.replace(number.span.begin, number.span.end - number.span.begin, value < 0 ? "(" + digits + ")" : digits);
    try {
        return Program::parse(text);
    } catch (const Error&) {  // a division by zero, say: not an equation that anybody ran
        return std::nullopt;
    }
}

FittedNumber fit_dt(const RunFile& run, const Hypothesis& hypothesis) {
    Hypothesis other = hypothesis;
    const auto reading_at = [&](double value, bool rough = false) {
        other.dt = value;
        other.rough = rough;
        return read_as(run, other);
    };
    return simplest(fit_number({1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10},
                               [&](double value) { return reading_at(value, true).error; }),
                    [&](double value) { return reading_at(value); });
}

FittedNumber fit_written(const RunFile& run, const Hypothesis& hypothesis, const WrittenNumber& number) {
    const auto reading_at = [&](double value, bool rough = false) {
        Reading reading;
        reading.error = HUGE_VAL;
        if (const std::optional<Program> changed = with_number(hypothesis.program, number, value)) {
            Hypothesis other = hypothesis;
            other.program = *changed;
            other.rough = rough;
            reading = read_as(run, other);
        }
        return reading;
    };
    return simplest(fit_number(trials_around(number.value, run.layers()),
                               [&](double value) { return reading_at(value, true).error; }),
                    [&](double value) { return reading_at(value); });
}

std::optional<std::vector<std::size_t>> order_that_fits(const RunFile& run, const Hypothesis& hypothesis) {
    if (hypothesis.program.stream_count() > 1) {
        return std::nullopt;  // a step alone does not know the other streams
    }
    Hypothesis other = hypothesis;
    std::vector<std::size_t> left(run.layers());
    std::iota(left.begin(), left.end(), std::size_t{0});
    const SavedRows* before = &run.embed;
    for (std::size_t step = 0; step < run.layers(); ++step) {
        // Its own block first: most are where they belong.
        std::stable_partition(left.begin(), left.end(), [&](std::size_t block) { return block == step; });
        const auto follows = std::find_if(left.begin(), left.end(), [&](std::size_t block) {
            other.order[step] = block;
            return read_step(run, other, step, *before).conforms();
        });
        if (follows == left.end()) {
            return std::nullopt;
        }
        other.order[step] = *follows;
        before = &run.blocks[*follows].resid;
        left.erase(follows);
    }
    return other.order == hypothesis.order ? std::nullopt : std::optional(other.order);
}

std::optional<std::vector<std::size_t>> depths_that_fit(const RunFile& run, const Hypothesis& hypothesis,
                                                        const Reading& reading) {
    Hypothesis other = hypothesis;
    std::vector<std::size_t> wrong;
    for (std::size_t step = 0; step < run.layers(); ++step) {
        if (!reading.blocks[step].conforms()) {
            wrong.push_back(step);
        }
    }
    std::vector<std::size_t> left = wrong;
    for (const std::size_t step : wrong) {
        const auto as = std::find_if(left.begin(), left.end(), [&](std::size_t depth) {
            other.depth[step] = depth;
            return depth != step && read_step(run, other, step, run.before(step)).conforms();
        });
        if (as == left.end()) {
            return std::nullopt;
        }
        other.depth[step] = *as;
        left.erase(as);
    }
    return wrong.empty() ? std::nullopt : std::optional(other.depth);
}

scheme::BranchFactors of_shape(BranchShape shape, double factor) {
    return {shape == BranchShape::ffn ? 1 : factor, shape == BranchShape::attention ? 1 : factor};
}

// Each reading says which multiples of the contributions are missing at the factors of now; where these are part of a
// sum, the first step is exact, inside a norm some are needed.
std::optional<FittedBranches> fit_branches(const RunFile& run, const Hypothesis& hypothesis, std::size_t step,
                                           BranchShape shape) {
    constexpr int most_steps = 40;
    constexpr double settled = 1e-10;
    Hypothesis other = hypothesis;
    for (int i = 0; i < most_steps; ++i) {
        const BlockReading reading = read_step(run, other, step, run.before(step));
        const PlaceReading& resid = reading.at(Place::resid);
        const double both = resid.factor;
        const double attention = resid.branches.empty() ? both : resid.branches[0];
        const double ffn = resid.branches.empty() ? both : resid.branches[1];
        const bool together = shape == BranchShape::both;
        const double on_attention = together ? both : shape == BranchShape::ffn ? 1 : attention;
        const double on_ffn = together ? both : shape == BranchShape::attention ? 1 : ffn;
        if (!std::isfinite(on_attention) || !std::isfinite(on_ffn)) {
            return std::nullopt;
        }
        if (std::max(std::fabs(on_attention - 1), std::fabs(on_ffn - 1)) < settled || i + 1 == most_steps) {
            return resid.conforms() && (together || reading.at(Place::ffn_in).conforms())
                       ? std::optional(FittedBranches{other.branches, resid.misfit})
                       : std::nullopt;
        }
        other.branches.attention *= on_attention;
        other.branches.feed_forward *= on_ffn;
    }
    return std::nullopt;
}

FittedNumber fit_branch_factor(const RunFile& run, const Hypothesis& hypothesis, BranchShape shape,
                               const std::vector<double>& factors) {
    const auto reading_at = [&](double factor) {
        Hypothesis other = hypothesis;
        other.branches = of_shape(shape, factor);
        return read_as(run, other);
    };
    FittedNumber mean;
    mean.value = std::accumulate(factors.begin(), factors.end(), 0.0) / static_cast<double>(factors.size());
    mean.error = reading_at(mean.value).error;
    return simplest(mean, reading_at);
}

}  // namespace flyball::check
