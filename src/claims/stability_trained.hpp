// What the claims about trained models share: conditions, and differences between runs of the same seeds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "claims/stability_study.hpp"

namespace flyball::claims {

// Differences of runs that have the seed in common. They count when all have one sign and their mean exceeds the 0.995
// quantile of Student's t times its standard error: 4.6 for five seeds, 9.9 for three.
struct Paired {
    std::vector<double> differences;
    double mean = 0;
    double error = 0;  // standard error of the mean
    int side = 0;      // -1: below zero, 1: above, 0: nothing can be said
};
Paired paired(const std::vector<double>& a, const std::vector<double>& b);
Paired paired(std::vector<double> differences);
double needed_errors(std::size_t seeds);
std::string describe(const Paired& paired);  // "-0.12 +- 0.01 (-0.13, -0.11, ..)", the standard error

// Nothing when all runs of these conditions came to their end. Otherwise the claim is undecided, and says which did not:
// what it compares is not there. For claims that look at ends of runs by themselves. `study`: of what models, unless it
// is describe_study().
std::optional<Measurement> undecided_where_diverged(const Context& context, const std::vector<Condition>& conditions,
                                                    const std::string& study = "");

// A quantity of a run, over the seeds of a condition; NaN for a run that diverged.
using RunQuantity = std::function<double(const TrainedRun&)>;
std::vector<double> over_seeds(const Context& context, const Condition& condition, const RunQuantity& quantity);

double validation_loss(const TrainedRun& run);
double stream_growth(const TrainedRun& run);  // log of the stream's rms, last block over embedding
double gradient_restlessness(
    const TrainedRun& run);  // standard deviation of log |gradient| over the second half of the steps

// "A is below B": asks for the difference ("difference", 0 unless replaced); `shown` names the quantity.
Measurement below(const Context& context, const Paired& found, const std::string& shown, const std::string& study = "");
// Of two conditions by one quantity.
Claim compared(const std::string& id, const std::string& statement, const std::string& source, Verdict expected,
               const std::string& note, const Condition& a, const Condition& b, const RunQuantity& quantity,
               const std::string& shown);

Condition with_step(const std::string& scheme, double dt);
Condition with_rms_1(const std::string& scheme, double dt);  // of the embedding; otherwise it is 0.03
Condition with_small_gains();                                // Peri-LN with Dt = 1 and gains of 0.1 on its branches

// The six schemes of the dynamics paper, and LN-Scaling as released.
const std::vector<std::string>& compared_schemes();
std::vector<Condition> plain_conditions();  // of each of them, with Dt = 1

// Mean over seeds, element by element; NaN where a run that diverged has no number.
std::vector<double> mean_over_seeds(const std::vector<TrainedRun>& runs, std::vector<double> TrainedRun::*values);

// A line over depth, block 0 being the embedding, or over blocks from 1.
report::Series depth_series(const std::string& scheme, const std::string& name, const std::vector<double>& y,
                            double first);

// By scheme: the angle by which every sub-layer turns the stream beside its prediction, before and after training.
std::vector<Picture> rotation_figures(const Context& context);

}  // namespace flyball::claims
