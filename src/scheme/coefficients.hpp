// The numbers of a code's coefficients at one place of a run: values, slopes, and what is zero.
#pragma once

#include <vector>

#include "scheme/code.hpp"
#include "scheme/plan.hpp"

namespace flyball::scheme {

// Values of learned parameters by instance (code.hpp); each of size 1 (the same for every channel) or d.
using LearnedValues = std::vector<std::vector<double>>;

// What the text says they start at, of size 1 each.
LearnedValues initial_learned(const Program& program, const Code& code, const Environment& env);
// How fast that changes with t.
LearnedValues initial_learned_slopes(const Program& program, const Code& code, const Environment& env);

struct Coefficient {
    std::vector<double> value;  // of size 1 or d
    std::vector<double> slope;
};

// Reuses the memory of its arguments: a step calls this once per block. Slopes of learned parameters matter where time
// goes on; without them they rest.
void evaluate_coefficients(const Code& code, const Environment& env, Run run, const LearnedValues& learned,
                           std::size_t dim, std::vector<Coefficient>& values, std::vector<CoefficientFacts>& facts,
                           const LearnedValues& learned_slopes = {});

// Adds to `gradient` (shaped like `learned`) what the gradients of the coefficients mean for learned parameters.
// coefficient_gradient[i] is empty, or has the size of coefficient i.
void chain_to_learned(const Code& code, const Environment& env, const LearnedValues& learned,
                      const std::vector<std::vector<double>>& coefficient_gradient, LearnedValues& gradient);

// Whether the coefficient depends on any learned parameter.
bool has_learned(const Expression& coefficient);

}  // namespace flyball::scheme
