#include "claims/stability_trained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "claims/style.hpp"

namespace flyball::claims {

namespace {

double deviation_of_mean(const std::vector<double>& values, double mean) {
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    const auto n = static_cast<double>(values.size());
    return std::sqrt(squares / (n - 1) / n);
}

double average(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string described(const Context& context, const std::string& study) {
    return study.empty() ? describe_study(context) : study;
}

// Such a run has no end to look at.
bool diverged(const TrainedRun& run) {
    return run.rms.empty();
}

}  // namespace

std::optional<Measurement> undecided_where_diverged(const Context& context, const std::vector<Condition>& conditions,
                                                    const std::string& study) {
    std::string which;
    for (const Condition& condition : conditions) {
        const std::vector<TrainedRun> runs = trained(context, condition);
        if (const auto count = std::count_if(runs.begin(), runs.end(), diverged); count > 0) {
            which +=
                fmt::format("{}{} of {} runs of {}", which.empty() ? "" : ", ", count, runs.size(), condition.name());
        }
    }
    if (which.empty()) {
        return std::nullopt;
    }
    Measurement result;
    result.verdict = Verdict::undecided;
    result.note = fmt::format("{} diverged: there is no end to compare; {}", which, described(context, study));
    return result;
}

double needed_errors(std::size_t seeds) {
    assert(seeds == 3 || seeds == 5);
    return seeds == 3 ? 9.9 : 4.6;
}

Paired paired(std::vector<double> differences) {
    Paired result;
    result.mean = average(differences);
    result.error = deviation_of_mean(differences, result.mean);
    const bool below_zero = std::all_of(differences.begin(), differences.end(), [](double d) { return d < 0; });
    const bool above_zero = std::all_of(differences.begin(), differences.end(), [](double d) { return d > 0; });
    if ((below_zero || above_zero) && std::abs(result.mean) > needed_errors(differences.size()) * result.error) {
        result.side = below_zero ? -1 : 1;
    }
    result.differences = std::move(differences);
    return result;
}

Paired paired(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> differences(a.size());
    std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
    return paired(std::move(differences));
}

std::string describe(const Paired& paired) {
    std::string each;
    for (const double difference : paired.differences) {
        each += fmt::format("{}{:.3g}", each.empty() ? "" : ", ", difference);
    }
    return fmt::format("{:.3g} +- {:.2g} ({})", paired.mean, paired.error, each);
}

std::vector<double> over_seeds(const Context& context, const Condition& condition, const RunQuantity& quantity) {
    std::vector<double> values;
    for (const TrainedRun& run : trained(context, condition)) {
        values.push_back(diverged(run) ? std::nan("") : quantity(run));
    }
    return values;
}

double validation_loss(const TrainedRun& run) {
    return run.validation.front();
}

double stream_growth(const TrainedRun& run) {
    return std::log(run.rms.back() / run.rms.front());
}

double gradient_restlessness(const TrainedRun& run) {
    std::vector<double> logs;
    for (std::size_t i = run.gradient_norms.size() / 2; i < run.gradient_norms.size(); ++i) {
        logs.push_back(std::log(run.gradient_norms[i]));
    }
    const double mean = average(logs);
    double squares = 0;
    for (const double value : logs) {
        squares += (value - mean) * (value - mean) / static_cast<double>(logs.size());
    }
    return std::sqrt(squares);
}

Measurement below(const Context& context, const Paired& found, const std::string& shown, const std::string& study) {
    const double stated = context.predict("difference", 0);
    std::vector<double> differences = found.differences;
    for (double& difference : differences) {
        difference -= stated;
    }
    const Paired beside = paired(std::move(differences));
    Measurement result;
    result.predicted = stated;
    result.measured = found.mean;
    result.tolerance =
        fmt::format("below it, by {} standard errors and for every seed", needed_errors(found.differences.size()));
    result.verdict = beside.side < 0 ? Verdict::holds : beside.side > 0 ? Verdict::fails : Verdict::undecided;
    result.note = fmt::format("difference of {}: {}; {}", shown, describe(found), described(context, study));
    if (std::isnan(found.mean)) {
        result.note += "; a run that diverged has no number to compare";
    }
    return result;
}

Claim compared(const std::string& id, const std::string& statement, const std::string& source, Verdict expected,
               const std::string& note, const Condition& a, const Condition& b, const RunQuantity& quantity,
               const std::string& shown) {
    Claim claim{id, statement, source, expected, note, [=](const Context& context) {
                    train_all(context, {a, b});
                    return below(context, paired(over_seeds(context, a, quantity), over_seeds(context, b, quantity)),
                                 shown);
                }};
    claim.alone = true;
    return claim;
}

Condition with_step(const std::string& scheme, double dt) {
    Condition condition;
    condition.scheme = scheme;
    condition.dt = dt;
    return condition;
}

Condition with_rms_1(const std::string& scheme, double dt) {
    Condition condition = with_step(scheme, dt);
    condition.init = "embedding=1/sqrt(2)";  // of tokens and of positions, which are added
    return condition;
}

Condition with_small_gains() {
    Condition condition = with_step("peri-ln", 1);
    condition.init = "gain.2=0.1,gain.4=0.1";
    return condition;
}

const std::vector<std::string>& compared_schemes() {
    static const std::vector<std::string> schemes = {"post-ln", "pre-ln",       "mix-ln",    "peri-ln",
                                                     "ngpt",    "sqrt-scaling", "ln-scaling"};
    return schemes;
}

std::vector<Condition> plain_conditions() {
    std::vector<Condition> all;
    for (const std::string& scheme : compared_schemes()) {
        all.push_back(with_step(scheme, 1));
    }
    return all;
}

std::vector<double> mean_over_seeds(const std::vector<TrainedRun>& runs, std::vector<double> TrainedRun::*values) {
    std::vector<double> mean;
    for (const TrainedRun& run : runs) {
        mean.resize(std::max(mean.size(), (run.*values).size()), 0.0);
    }
    for (const TrainedRun& run : runs) {
        for (std::size_t i = 0; i < mean.size(); ++i) {
            const double value = i < (run.*values).size() ? (run.*values)[i] : std::nan("");
            mean[i] += value / static_cast<double>(runs.size());
        }
    }
    return mean;
}

report::Series depth_series(const std::string& scheme, const std::string& name, const std::vector<double>& y,
                            double first) {
    std::vector<double> x(y.size());
    std::iota(x.begin(), x.end(), first);
    report::Series series = series_of(scheme, x, y);
    if (!name.empty()) {
        series.name = name;
    }
    return series;
}

}  // namespace flyball::claims
