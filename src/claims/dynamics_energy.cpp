// The energy -sum_jk exp(beta <theta_j, theta_k>) that drives Theorem 3.1, and what a causal mask does to it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/experiment.hpp"
#include "claims/groups.hpp"
#include "claims/paper.hpp"
#include "claims/system.hpp"

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
    attention::Settings settings;
    settings.beta = beta;
    System system(scheme::find_scheme(row.scheme).program, tokens, dim, table_T, settings);
    system.start(random_rows(tokens, dim, 1.5, seed), t);
    const Motion motion = system.motion(t);
    const std::vector<double> theta = directions_of(system.x(), dim);
    const std::vector<double> r = lengths_of(system.x(), dim);
    const PlainAttention attention = plain_attention(theta, dim, beta);
    Slopes slopes;
    for (std::size_t j = 0; j < tokens; ++j) {
        const double* A = attention.value.data() + j * dim;
        const double Z = attention.sum[j];
        const double along = dot(theta.data() + j * dim, A, dim);
        const double squares = dot(A, A, dim);
        slopes.measured -= 2 * beta * Z * dot(motion.turn.data() + j * dim, A, dim);
        slopes.predicted -= 2 * beta * Z / row.s({r[j], along, std::sqrt(squares), t}) * (squares - along * along);
    }
    return slopes;
}

// The largest rise of a system's energy between samples, as a share of its energy.
double largest_rise(const Context& context, const scheme::Program& program, bool causal, std::size_t systems,
                    std::size_t* risen) {
    dynamics::Settings s;
    s.tokens = causal ? 5 : 12;  // among few tokens one pair counts for more
    s.dim = 3;
    s.beta = 4;
    s.causal = causal;
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
            rise[m] = std::max(rise[m], (energy - last[m]) / std::abs(energy));
            last[m] = energy;
        }
    });
    constexpr double clear = 1e-4;  // far above the integrator's 1e-10
    if (risen != nullptr) {
        *risen = static_cast<std::size_t>(std::count_if(rise.begin(), rise.end(), [](double x) { return x > clear; }));
    }
    return *std::max_element(rise.begin(), rise.end());
}

Measurement energy_decreases(const Context& context) {
    constexpr double tolerance = 1e-9;
    double worst = 0;
    double steepest = -HUGE_VAL;
    double rise = 0;
    std::size_t states = 0;
    for (std::size_t i = 0; i < paper_rows().size(); ++i) {
        const PaperRow& row = paper_rows()[i];
        for (std::size_t repeat = 0; repeat < context.size<std::size_t>(5, 50); ++repeat) {
            for (const double beta : {0.5, 2.0, 8.0}) {
                for (const double t : {0.0, 3.0}) {
                    const Slopes slopes = energy_slopes(row, 10, 4, beta, t, context.seed * 7919 + states++);
                    worst = std::max(worst, std::abs(slopes.measured / slopes.predicted - 1));
                    steepest = std::max(steepest, slopes.measured);
                }
            }
        }
        const double share = static_cast<double>(i) / 6;
        rise =
            std::max(rise, largest_rise(context.part(share, share + 1.0 / 6), scheme::find_scheme(row.scheme).program,
                                        false, context.size<std::size_t>(5, 40), nullptr));
    }
    Measurement result;
    result.predicted = "dE/dt = -2 beta sum (Z/s) |PA|^2 <= 0";
    result.measured = fmt::format("the same to {:.1e}, largest rise in a run {:.1e}", worst, std::max(0.0, rise));
    result.tolerance = tolerance;
    result.verdict = verdict_of(worst < tolerance && steepest <= 0 && rise < tolerance);
    result.note = fmt::format("{} random states of six schemes, and runs of 12 tokens to t = 10", states);
    return result;
}

Measurement causal_energy(const Context& context) {
    const std::size_t systems = context.size<std::size_t>(40, 400);
    std::size_t risen = 0;
    const double rise = largest_rise(context, scheme::find_scheme("post-ln").program, true, systems, &risen);
    Measurement result;
    result.predicted = "rises in some run";
    result.measured = fmt::format("rises in {} of {} runs, by up to {:.2g} of itself", risen, systems, rise);
    result.tolerance = "a rise of 1e-4 counts";
    result.verdict = verdict_of(risen > 0);
    result.note = "Post-LN, causal mask, n = 5, d = 3, beta = 4, t to 10; the integrator is exact to 1e-10";
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
