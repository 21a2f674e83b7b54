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
#include "dynamics/velocities.hpp"
#include "measure/rows.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {

// dynamics::run with the context's progress and stop flag; throws Interrupted when it was stopped.
using Sampled = std::function<void(const dynamics::Sample&, const dynamics::Particles&)>;
dynamics::Record run_particles(const Context& context, const dynamics::Settings& settings,
                               const scheme::Program& program, const Sampled& sampled = {});

// One system of tokens at `rows`, [tokens, dim], with identity weights and heads as `attention` says; T is what the
// equation's T and depth refer to, and where a run ends.
dynamics::Problem particles_at(const scheme::Program& program, std::vector<double> rows, std::size_t dim, double T,
                               const attention::Settings& attention = {});
// The same for problems that settings cannot say, looked at at the given times.
dynamics::Record run_particles(const Context& context, dynamics::Problem problem, const std::vector<double>& times,
                               const Sampled& sampled);

attention::Settings softmax_at(double beta);

// The paper has Q, K and V and no output matrix. Kaiming's gain is sqrt 2 in each.
inline constexpr const char* paper_reading = "kaiming:o=identity";

// r0 times independent uniform points of the sphere; r0 times orthonormal rows; unit rows of which every pair has a
// cosine of at least 1 - opening.
std::vector<double> random_rows(std::size_t tokens, std::size_t dim, double r0, std::uint64_t seed);
std::vector<double> orthonormal_rows(std::size_t tokens, double r0);
std::vector<double> cone_rows(std::size_t tokens, std::size_t dim, double opening, std::uint64_t seed);

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
