// From logits to the next token.
//
//     p_i = exp(l_i / T) / sum over the kept     i among the `top` largest logits; 0 elsewhere; T the temperature
//     p_i = 1 for the largest logit              T = 0
//
// Where logits are equal, the lower id counts as larger.
//
// In double, whatever the logits are. The token is the first whose cumulative probability, in the order of ids, exceeds
// a number that is uniform in (0, 1); that number is a function of seed and index alone (core/random.hpp), so that a
// seed gives one text on any number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace flyball::model {

struct Sampling {
    double temperature = 1;
    std::size_t top = 0;  // 0: all
};

// Throws Error(usage) for a temperature that is negative or not finite.
void check(const Sampling& sampling);

// One number for each logit; empty where they are no distribution: a NaN, plus infinity, or minus infinity alone.
template <class Real>
std::vector<double> probabilities(std::span<const Real> logits, const Sampling& sampling);

// 0 < u < 1.
std::int32_t token_at(std::span<const double> probabilities, double u);

// The token that stands at `index` of the text; nothing where probabilities() is empty.
template <class Real>
std::optional<std::int32_t> choose_token(std::span<const Real> logits, const Sampling& sampling, std::uint64_t seed,
                                         std::uint64_t index);

}  // namespace flyball::model
