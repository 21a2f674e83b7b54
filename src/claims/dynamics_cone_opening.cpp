// Theorem 4.3: how narrow the cone has to be when beta is small.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

// -Var'/Var from the equation's velocity: Var' = -(2/n) sum <theta_j', mean - theta_j>.
double variance_rate_now(std::vector<double> rows, std::size_t dim, double beta) {
    const dynamics::Velocities motion = dynamics::velocities(
        particles_at(scheme::find_scheme("post-ln").program, std::move(rows), dim, table_T, softmax_at(beta)));
    const std::vector<double>& theta = motion.theta;
    const auto n = static_cast<double>(motion.r.size());
    std::vector<double> mean(dim, 0.0);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        mean[i % dim] += theta[i] / n;
    }
    double slope = 0;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        slope += 2.0 / n * motion.turn[i] * (mean[i % dim] - theta[i]);
    }
    return slope / measure::variance({theta.data(), motion.r.size(), dim});
}

// n directions of R^n with one common cosine: a e_j + b (1, .., 1) with a^2 = 1 - c and 2 a b + n b^2 = c.
std::vector<double> equiangular_rows(std::size_t n, double cosine) {
    const auto count = static_cast<double>(n);
    const double a = std::sqrt(1 - cosine);
    const double b = (std::sqrt(std::max(0.0, a * a + count * cosine)) - a) / count;
    std::vector<double> rows(n * n, b);
    for (std::size_t j = 0; j < n; ++j) {
        rows[j * n + j] += a;
    }
    return rows;
}

// At beta = 0 attention is the mean m, and equiangular tokens have Var = 1 - |m|^2, Var' = -2 |m|^2 (1 - |m|^2): the
// rate is 2 |m|^2 = 2 (1 - delta + delta/n). It is a constant for delta = 1/2, and goes to 0 as n grows for delta = 1.
Measurement small_beta(const Context& context) {
    constexpr double hot = 1e-4;  // 1/(100 n^2 beta^2) is above 1 up to n = 1000: the condition says next to nothing
    constexpr double constant = 0.5;
    const double opening = context.predict("opening that will do", 0.5);
    Comparison rate = Comparison::relative(0.01);
    double on_simplex = 0;
    double slowest = HUGE_VAL;
    const std::size_t seeds = context.size<std::size_t>(20, 300);
    for (const std::size_t n : {std::size_t{8}, std::size_t{64}}) {
        const auto count = static_cast<double>(n);
        const double simplex = variance_rate_now(equiangular_rows(n, -1 / (count - 1)), n, hot);
        on_simplex = measure::larger(on_simplex, std::abs(simplex));
        const double edge = variance_rate_now(equiangular_rows(n, 1 - opening), n, hot);
        rate.see(edge, context.predict("rate at its edge", 2 * (1 - opening + opening / count), {count}));
        slowest = measure::smaller(slowest, edge);
        for (std::size_t seed = 0; seed < seeds; ++seed) {
            context.at(static_cast<double>(seed) / static_cast<double>(seeds));
            const std::vector<double> rows = cone_rows(n, n, opening, context.seed * 31 + seed);
            slowest = measure::smaller(slowest, variance_rate_now(rows, n, hot));
        }
    }
    Measurement result;
    result.predicted = "-Var'/Var >= a positive constant";
    result.measured =
        fmt::format("{:.0e} on a simplex; >= {:.2f} in cones of delta = {}", on_simplex, slowest, opening);
    result.tolerance = fmt::format("{} for the constant; 0.01 of the rate at the edge", constant);
    result.verdict = verdict_of(on_simplex > constant, on_simplex < 1e-9 && slowest > constant && rate.agrees());
    result.note = fmt::format(
        "Post-LN, n = 8 and 64, beta = {}, where the condition admits every delta; equiangular tokens at cosine 1 - "
        "delta decay at 2 (1 - delta + delta/n), which is 2/n for delta = 1",
        hot);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_cone_opening_claims() {
    return {{"dynamics-cone-small-beta",
             "An opening delta < 1/(100 n^2 beta^2) is enough for the variance to decay at its rate.", "Theorem 4.3",
             Verdict::holds_corrected,
             "delta must also be small by itself: at small beta the condition admits a regular simplex, which never "
             "moves; delta <= 1/2 will do",
             small_beta}};
}

}  // namespace flyball::claims
