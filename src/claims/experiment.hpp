// What the experiments share: particle runs that can be stopped, and what is read off them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "claims/claim.hpp"
#include "claims/comparison.hpp"
#include "claims/fit.hpp"
#include "claims/paper.hpp"
#include "claims/style.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {

// dynamics::run with the context's progress and stop flag; throws Interrupted when it was stopped.
using Sampled = std::function<void(const dynamics::Sample&, const dynamics::Particles&)>;
dynamics::Record run_particles(const Context& context, const dynamics::Settings& settings,
                               const scheme::Program& program, const Sampled& sampled = {});

// A row of Table 2 whose s and r' ("s" and "growth" at r, <theta, A>, |A|, t) are asked for with context.predict.
PaperRow predicted_row(const Context& context, const PaperRow& row);
const PaperRow& paper_row(std::string_view scheme);  // by the name without parameters

// 1 - mean cosine over pairs of every system, without cancellation; theta is [systems, tokens, dim].
std::vector<double> one_minus_cosines(const std::vector<double>& theta, std::size_t systems, std::size_t dim);

// "a, b and c".
std::string listed(const std::vector<std::string>& words);

// `count` times from `first` to `last`, even in log t.
std::vector<double> log_spaced(double first, double last, std::size_t count);

}  // namespace flyball::claims
