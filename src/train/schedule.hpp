// The learning rate of a step: a rise, then a cosine.
//
//     rate(s) = peak * (s + 1)/(w + 1)                                                 s < w, the warm-up
//     rate(s) = peak * (f + (1 - f) * (1 + cos(pi (s - w)/(S - w)))/2)                 w <= s < S
//
// s counts steps from 0, S is their number, f the share of the peak that the last steps approach. This is nanoGPT's
// schedule when it decays over all steps.
#pragma once

#include <cstddef>

#include "scheme/recipe.hpp"
#include "train/settings.hpp"

namespace flyball::train {

struct Schedule {
    double peak = 1e-3;
    double final_share = 0.1;
    std::size_t warm_up = 0;
    std::size_t steps = 1;

    double rate(std::size_t step) const;
};

// What a run optimises with: the settings, and what the scheme's source prescribes where they say nothing.
struct Optimisation {
    Schedule schedule;
    double weight_decay = 0.1;
    double clip = 1;          // of the gradient's length; 0: none
    double learned_clip = 0;  // of the gradient of the equation's learned parameters; 0: none
    double beta1 = 0.9;
    double beta2 = 0.95;
    double epsilon = 1e-8;
    scheme::UnitVectors unit_vectors = scheme::UnitVectors::none;
};
// `parameters`: how many numbers the model has; some prescriptions are for large models only.
Optimisation optimisation_of(const Settings& settings, const scheme::Training& training, std::size_t parameters);

}  // namespace flyball::train
