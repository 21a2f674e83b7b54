// The energy -sum_jk exp(beta <theta_j, theta_k>) that drives Theorem 3.1, and what a causal mask does to it.
#include <fmt/format.h>

#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

double energy_of(const std::vector<double>& theta, std::size_t dim, double beta) {
    const PlainAttention attention = plain_attention(theta, dim, beta);
    double sum = 0;
    for (const double Z : attention.sum) {
        sum -= Z;
    }
    return sum;
}

// dE/dt along the equation's motion, and what the paper's row makes of it: -2 beta sum_j (Z_j/s_j) |P A_j|^2.
struct Slopes {
    double measured = 0;
    double predicted = 0;
};
Slopes energy_slopes(const PaperRow& row, std::size_t tokens, std::size_t dim, double beta, double t,
                     std::uint64_t seed) {
    const dynamics::Velocities motion =
        dynamics::velocities(particles_at(scheme::find_scheme(row.scheme).program, random_rows(tokens, dim, 1.5, seed),
                                          dim, table_T, softmax_at(beta)),
                             t);
    const PlainAttention attention = plain_attention(motion.theta, dim, beta);
    Slopes slopes;
    for (std::size_t j = 0; j < tokens; ++j) {
        const double* A = attention.value.data() + j * dim;
        const double Z = attention.sum[j];
        const double along = measure::dot(motion.theta.data() + j * dim, A, dim);
        const double squares = measure::dot(A, A, dim);
        slopes.measured -= 2 * beta * Z * measure::dot(motion.turn.data() + j * dim, A, dim);
        slopes.predicted -=
            2 * beta * Z / row.s({motion.r[j], along, std::sqrt(squares), t}) * (squares - along * along);
    }
    return slopes;
}

// The largest rise of a system's energy between samples, as a share of its energy.
double largest_rise(const Context& context, const scheme::Program& program, std::size_t systems) {
    dynamics::Settings s;
    s.tokens = 12;
    s.dim = 3;
    s.beta = 4;
    s.systems = systems;
    s.time = 10;
    s.samples = 41;
    s.seed = context.seed;
    const std::size_t each = s.tokens * s.dim;
    std::vector<double> last(systems, HUGE_VAL);
    std::vector<double> rise(systems, 0.0);
    run_particles(context, s, program, [&](const dynamics::Sample&, const dynamics::Particles& particles) {
        for (std::size_t m = 0; m < systems; ++m) {
            const auto begin = particles.theta().begin() + static_cast<std::ptrdiff_t>(m * each);
            const double energy = energy_of({begin, begin + static_cast<std::ptrdiff_t>(each)}, s.dim, s.beta);
            rise[m] = measure::larger(rise[m], (energy - last[m]) / std::abs(energy));
            last[m] = energy;
        }
    });
    return measure::largest_in(rise);
}

// dE/dt = sum_j <dE/dtheta_j, theta_j'> with dE/dtheta_j = -2 beta Z_j A_j: from the equation's own motion, and from
// the row of the table with theta' = P A/s put in. Runs must never rise either.
Measurement energy_decreases(const Context& context) {
    constexpr double tolerance = 1e-9;
    Comparison slope = Comparison::relative(tolerance);
    double steepest = -HUGE_VAL;
    double rise = 0;
    std::size_t states = 0;
    for (std::size_t i = 0; i < paper_rows().size(); ++i) {
        const PaperRow row = predicted_row(context, paper_rows()[i]);
        for (std::size_t repeat = 0; repeat < context.size<std::size_t>(5, 50); ++repeat) {
            for (const double beta : {0.5, 2.0, 8.0}) {
                for (const double t : {0.0, 3.0}) {
                    const Slopes slopes = energy_slopes(row, 10, 4, beta, t, context.seed * 7919 + states++);
                    slope.see(slopes.measured, context.predict("dE/dt", slopes.predicted, {beta}));
                    steepest = measure::larger(steepest, slopes.measured);
                }
            }
        }
        const double share = static_cast<double>(i) / 6;
        rise = measure::larger(
            rise, largest_rise(context.part(share, share + 1.0 / 6), scheme::find_scheme(row.scheme).program,
                               context.size<std::size_t>(5, 40)));
    }
    Measurement result;
    result.predicted = "dE/dt = -2 beta sum (Z/s) |PA|^2 <= 0";
    result.measured =
        fmt::format("the same to {:.1e}, largest rise in a run {:.1e}", slope.off(), measure::larger(0.0, rise));
    result.tolerance = tolerance;
    result.verdict = verdict_of(slope.agrees() && steepest <= 0 && rise < tolerance);
    result.note = fmt::format("{} random states of six schemes, and runs of 12 tokens to t = 10", states);
    return result;
}

// Token 2 sees only itself and token 1, and turns away from the many tokens on its other side; each of those hears it
// ever less. Without a mask it would turn to them.
Measurement causal_energy(const Context& context) {
    constexpr double beta = 2;
    const std::size_t many = context.size<std::size_t>(30, 300);
    std::vector<double> rows = {1, 0, std::cos(1.2), std::sin(1.2)};
    for (std::size_t k = 0; k < many; ++k) {
        rows.insert(rows.end(), {std::cos(2.0), std::sin(2.0)});
    }
    const auto slope = [&](const std::string& name, attention::Mask mask) {
        attention::Settings settings = softmax_at(beta);
        settings.mask = mask;
        const dynamics::Velocities motion =
            dynamics::velocities(particles_at(scheme::find_scheme(name).program, rows, 2, table_T, settings));
        const PlainAttention attention = plain_attention(motion.theta, 2, beta);
        double sum = 0;
        double scale = 0;
        for (std::size_t j = 0; j < many + 2; ++j) {
            const double part =
                -2 * beta * attention.sum[j] * measure::dot(&motion.turn[2 * j], &attention.value[2 * j], 2);
            sum += part;
            scale += std::abs(part);
        }
        return sum / scale;
    };
    double lowest = HUGE_VAL;
    double highest_without = -HUGE_VAL;
    for (const std::string& name : paper_schemes()) {
        lowest = measure::smaller(lowest, slope(name, attention::Mask::causal));
        highest_without = measure::larger(highest_without, slope(name, attention::Mask::none));
    }
    Measurement result;
    result.predicted = "dE/dt > 0 with the mask, < 0 without";
    result.measured = fmt::format("at least {:.2f} with, at most {:.2f} without", lowest, highest_without);
    result.tolerance = "half of the parts' sizes";
    const double with_mask = context.predict("sign with the mask", 1);
    const double without_mask = context.predict("sign without", -1);
    result.verdict = verdict_of(with_mask * lowest > 0.5 && without_mask * highest_without > 0.5);
    result.note = fmt::format(
        "dE/dt over the sum of its parts' sizes for six schemes, tokens on the circle at angles 0, 1.2 and {} times 2, "
        "beta = "
        "{}",
        many, beta);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_energy_claims() {
    return {{"dynamics-energy",
             "The energy -sum exp(beta <theta_j, theta_k>) never rises, for each of the six schemes, without a mask "
             "and with "
             "identity weights.",
             "Theorem 3.1", Verdict::holds, "", energy_decreases},
            {"dynamics-energy-causal", "Under a causal mask that energy is no longer monotone.", "finding",
             Verdict::holds, "so the argument behind Theorem 3.1 does not carry over to decoders", causal_energy}};
}

}  // namespace flyball::claims
