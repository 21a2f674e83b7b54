// What is measured at a sample: functions of the readout's directions theta and of |x|. The quantities themselves are
// defined in measure/rows.hpp and, for those that look at pairs, in attention/pairs.hpp; here they are averaged over
// systems.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dynamics/sample.hpp"

namespace flyball::dynamics {

struct Measured {
    std::size_t systems = 1;
    std::size_t tokens = 1;
    std::size_t dim = 1;
    double beta = 1;
    double pair_cosine = 0.999;  // a pair counts in the pair fraction when its cosine is above
};

// theta: [systems, tokens, dim] unit rows (zero rows stay zero); x: the stream, of the same shape; speeds: [systems],
// mean |theta'| of each.
Measurement measure(const Measured& shape, double t, const std::vector<double>& theta, const std::vector<double>& x,
                    const std::vector<double>& speeds);

// Whether `measure` knows this quantity of so many tokens; it is NaN otherwise. And where the costly ones are known.
bool is_measured(const SampleField& field, std::size_t tokens, std::size_t dim);
std::string where_measured();

// Cosine, 1 - cosine, radius or variance alone, at O(n d): what an event is looked for with after every step. Nothing
// for the others.
std::optional<double> measure_one(const Measured& shape, const SampleField& field, const std::vector<double>& theta,
                                  const std::vector<double>& x);

}  // namespace flyball::dynamics
