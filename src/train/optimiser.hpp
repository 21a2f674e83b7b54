// AdamW (Loshchilov and Hutter, arXiv:1711.05101) on the parameters of a model, with what a scheme asks of a step.
//
//     g <- g * min(1, clip/|g|)                      all gradients together
//     m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2
//     w <- w - rate (m/(1 - beta1^s)/(sqrt(v/(1 - beta2^s)) + eps) + decay w)          s = 1, 2, ..
//     vectors along the embedding axis back to unit length, where the scheme keeps them so
//
// `rate` is the schedule's, times a factor where the scheme's source lets a kind of parameter learn faster (nGPT).
//
// Decay is of matrices (embeddings and the head among them); biases, gains, curves and learned scalars have none.
// Weights and moments are float, norms are summed in double; the same bits at any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/model.hpp"
#include "train/schedule.hpp"

namespace flyball::train {

// Of one parameter, in one step.
struct ParameterStep {
    double gradient = 0;  // length of its gradient, before clipping
    double weight = 0;    // its length before the step
    double update = 0;    // length of what the step changed, decay and renormalisation included
};

// Whether weight decay is for this parameter.
bool is_decayed(model::Role role);

class Optimiser {
  public:
    // `rate_factors`: what the rate is multiplied by, for each parameter of the layout (model/initialise.hpp);
    // empty: 1.
    Optimiser(model::Model<float>& model, const Optimisation& how, std::vector<double> rate_factors = {});

    struct Result {
        double gradient_norm = 0;  // of all gradients, before `clip`, after learned_clip
        bool finite = true;        // false: a gradient is not finite, and nothing was changed
    };
    // Step number `step`, from 0. `watched` gets a ParameterStep for each parameter of the layout; null: not wanted.
    Result step(std::size_t step, model::Parameters<float>& gradients, std::vector<ParameterStep>* watched = nullptr);

    // What a restart has to know beside the weights.
    model::Parameters<float>& first_moments() { return first_; }
    model::Parameters<float>& second_moments() { return second_; }
    const model::Parameters<float>& first_moments() const { return first_; }
    const model::Parameters<float>& second_moments() const { return second_; }

  private:
    void clip_learned(model::Parameters<float>& gradients) const;

    model::Model<float>& model_;
    Optimisation how_;
    std::vector<double> rate_factors_;
    model::Parameters<float> first_;
    model::Parameters<float> second_;
    LineVector<float> before_;  // weights before a watched step
};

}  // namespace flyball::train
