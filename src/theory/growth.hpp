// The law of growth of u = -log(1 - gamma). Internal to the terminal law (law.cpp).
//
// With lambda = u' = gamma'/(1 - gamma), a law gamma' ~ C t^a exp(-rate t^p) means, integrating to leading order,
//
//     1 - gamma ~ C/(rate p) t^(a+1-p) exp(-rate t^p)
//     u         = rate t^p + (p - 1 - a) log t + constant
//     t lambda  = alpha t^p + kappa + what dies out               alpha = rate p,   kappa = p - 1 - a
//     log C     = log gamma' - a log t + rate t^p
//
// and a power law is alpha = 0, exponent -1 - kappa; frozen is both 0. Two ways lead to the numbers.
//
//     far    Where the solution can be followed to t = 1e100, corrections that fall like any power of t have died: p
//            and alpha are read at the end, kappa and C where corrections and rounding balance.
//     near   Where it ends before (1 - gamma or a length leaves the numbers), corrections like 1/t are still there. On
//            times in equal ratios differences take out kappa, then p takes out alpha, and Aitken's formula sums the
//            rest.
//
// Both ways ask that the sequence settles: logarithms do not, and are called `other`.
#pragma once

#include <optional>
#include <vector>

#include "theory/limits.hpp"
#include "theory/tail.hpp"

namespace flyball::theory {

inline constexpr double fit = 0.01;   // what counts as a law
inline constexpr double early = 1e8;  // an end before: 1/log t^2 is no small number, and told from 0 with few digits

// At the end of a solution that was followed to t = 1e100, where the slope of log lambda has come to rest.
Law far_law(const Walk& walk, const Tail& tail);

// From equal ratios of t near an end that came early, or where corrections have not died by t = 1e100. p is sought in
// `late`, the rest in all of the `grid`: where t^p is large, rounding hides kappa and the constant. Nothing when no law
// fits.
std::optional<Law> near_law(const std::vector<Sample>& grid, const std::vector<Sample>& late, double noise);

// Where u tends to a limit as a power of t does, from equal ratios of t near an end that came early: that limit.
// Nothing when u goes on, or the end came too early to tell.
std::optional<Estimate> limit_of_power(const std::vector<Sample>& grid, double noise);

// Exponents are typed as short decimals or fractions: one that is met to within ten times the error is meant.
double simple_number(double value, double error);
bool is_simple(double value);

}  // namespace flyball::theory
