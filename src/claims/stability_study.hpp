// Small GPTs trained for the claims about training: one set of runs that all of them share.
//
// A condition is a scheme with its step, start and regularisation; it is run with the same five seeds as every other
// (three when quick), so that runs of one seed have the same data in the same order and start from the same draws. A
// run is made once, when the first claim asks for it, and what is read off it is kept: in memory, and on the context's
// shelf for a run of the ledger that is taken up again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "claims/claim.hpp"

namespace flyball::claims {

struct Condition {
    std::string scheme;
    double dt = 1;
    std::string init = {};                    // as `flyball train --init`
    std::optional<double> weight_decay = {};  // unless given, what the scheme's source says, or 0.1
    double dropout = 0;
    double rate = 1;         // times the usual learning rate
    std::size_t layers = 0;  // 0: as many as all others have
    std::size_t seeds = 5;   // at most: fewer for what no verdict rests on

    std::string name() const;  // for files
};

// The shares of replaced tokens for which the loss is measured.
inline constexpr double replaced_shares[] = {0, 0.01, 0.02, 0.05, 0.1};

// Models of other depths are trained for so many steps at most.
inline constexpr std::size_t deep_steps = 60;

// What is kept of a run. Vectors over depth begin with the embedding; all are of one batch of the text.
struct TrainedRun {
    std::vector<double> validation;      // loss at the end: one number, NaN when the run diverged
    std::vector<double> training;        // the same on text that was trained on
    std::vector<double> gradient_norms;  // of every step
    std::vector<double> rms;             // of the stream, at the end
    std::vector<double> mean_abs;        // the three moments of the paper's figure, at the end
    std::vector<double> entry_variance;
    std::vector<double> data_variance;
    std::vector<double> gradient_start;  // |dL/dx_l| at the first step, at step 20, at step 50 and at the end
    std::vector<double> gradient_20;
    std::vector<double> gradient_50;
    std::vector<double> gradient;
    std::vector<double> sub_sigma;  // by sub-layer, at the end: stability_passes.hpp
    std::vector<double> sub_added;
    std::vector<double> sub_turned;
    std::vector<double> sub_sigma_start;  // the same before the first step
    std::vector<double> sub_added_start;
    std::vector<double> sub_turned_start;
    // |dL/dx_l| of one sequence and its bound from the weights (stability_backward.hpp), before the first step and at
    // the end; Pre-LN, Peri-LN and Post-LN with Dt = 1 as they usually start.
    std::vector<double> back_start;
    std::vector<double> back_bound_start;
    std::vector<double> back_end;
    std::vector<double> back_bound_end;
    std::vector<double> back_share;       // largest over its bound, both times
    std::vector<double> angle;            // by block, at the end
    std::vector<double> angle_predicted;  // model/predicted_angle.hpp
    // largest |x_l| behind a block over its bound from the weights, at every record; Peri-LN, Pre-LN
    std::vector<double> bound_share;
    std::vector<double> length_start;  // mean |x_l| and its bound from the weights, at the first step and at the end
    std::vector<double> bound_start;
    std::vector<double> length_end;
    std::vector<double> bound_end;
    std::vector<double> output_norm;  // root of the sum of squares of all W_out, at every record
    std::vector<double> removed;      // by block: the loss without it, less the loss with it
    std::vector<double> replaced;     // losses for replaced_shares
};

// The runs of a condition, by seed. Those that are not there yet are made; claims that call this run alone.
std::vector<TrainedRun> trained(const Context& context, const Condition& condition);
// The same for several at once, which uses all threads better; to be followed by trained().
void train_all(const Context& context, const std::vector<Condition>& conditions);

struct StudySizes {
    std::size_t layers, dim, heads, context, batch, steps, seeds, tokens;
};
StudySizes study_sizes(const Context& context);
std::string describe_study(const Context& context);  // "5 seeds of 8 blocks x 64, ..": for notes and captions

}  // namespace flyball::claims
