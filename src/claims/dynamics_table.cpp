// Table 2: the speed regulation factor s and the growth r' of each scheme, read off the velocity of its equation.
#include "claims/dynamics_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "core/random.hpp"
#include "measure/extremes.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {

namespace {

struct Case {
    std::size_t tokens;
    std::size_t dim;
    double beta;
    double t;
};

// The largest deviation of theta' and r', relative to the largest of each.
double deviation(const PaperRow& row, const scheme::Program& program, const Case& at, std::uint64_t seed) {
    std::vector<double> rows = random_rows(at.tokens, at.dim, 1, seed);
    const Random lengths(seed, 78);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] *= 0.5 + 3 * lengths.uniform(i / at.dim);
    }
    const auto [x, theta, r, turn, growth] =
        dynamics::velocities(particles_at(program, rows, at.dim, table_T, softmax_at(at.beta)), at.t);
    const PlainAttention attention = plain_attention(theta, at.dim, at.beta);
    double turn_scale = 0;
    double turn_error = 0;
    double growth_error = 0;
    for (std::size_t j = 0; j < at.tokens; ++j) {
        const double* A = attention.value.data() + j * at.dim;
        const double* direction = theta.data() + j * at.dim;
        const TokenState state{r[j], measure::dot(direction, A, at.dim), measure::length(A, at.dim), at.t};
        const double s = row.s(state);
        double error = 0;
        double scale = 0;
        for (std::size_t c = 0; c < at.dim; ++c) {
            const double predicted = (A[c] - state.along * direction[c]) / s;
            error += std::pow(turn[j * at.dim + c] - predicted, 2);
            scale += predicted * predicted;
        }
        turn_error = measure::larger(turn_error, std::sqrt(error));
        turn_scale = measure::larger(turn_scale, std::sqrt(scale));
        growth_error = measure::larger(growth_error, std::abs(growth[j] - row.growth(state)));
    }
    return measure::larger(turn_error / turn_scale, growth_error);
}

}  // namespace

Measurement compare_with_row(const PaperRow& stated, const scheme::Program& program, const Context& context) {
    const PaperRow row = predicted_row(context, stated);
    constexpr double tolerance = 1e-8;
    double worst = 0;
    std::size_t states = 0;
    const std::size_t repeats = context.size<std::size_t>(2, 20);
    for (std::size_t i = 0; i < repeats; ++i) {
        context.at(static_cast<double>(i) / static_cast<double>(repeats));
        for (const auto& [tokens, dim] : {std::pair<std::size_t, std::size_t>{2, 2}, {7, 3}, {16, 32}, {33, 8}}) {
            for (const double beta : {0.3, 1.0, 5.0}) {
                for (const double t : {0.0, 1.7, 2.6, 9.0}) {
                    const std::uint64_t seed = context.seed * 1000003 + states;
                    worst = measure::larger(worst, deviation(row, program, {tokens, dim, beta, t}, seed));
                    ++states;
                }
            }
        }
    }
    Measurement result;
    result.predicted = row.formula;
    result.measured =
        worst < tolerance ? fmt::format("the same to {:.1e}", worst) : fmt::format("off by {:.2g}", worst);
    result.tolerance = tolerance;
    result.verdict = verdict_of(worst < tolerance);
    result.note = fmt::format("theta' and r' at {} random states of 2 to 33 tokens, beta 0.3 to 5, t 0 to 9", states);
    return result;
}

std::vector<Claim> dynamics_table_claims() {
    std::vector<Claim> claims;
    for (const PaperRow& row : paper_rows()) {
        const scheme::CatalogueEntry& entry = *scheme::find_scheme(row.scheme).entry;
        Claim claim;
        claim.id = fmt::format("dynamics-table-{}", entry.name);
        claim.statement = fmt::format(
            "Under {} a token turns by the part of its attention output across it, divided by s, and grows by r', with "
            "{}.",
            entry.title, row.formula);
        claim.source = "Table 2";
        claim.experiment = [row](const Context& context) {
            return compare_with_row(row, scheme::find_scheme(row.scheme).program, context);
        };
        claims.push_back(std::move(claim));
    }
    return claims;
}

}  // namespace flyball::claims
