// What the paper leaves open: a norm on the output of attention, alone and beside normed queries and keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/curve.hpp"
#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "theory/theory.hpp"

namespace flyball::claims {

namespace {

// Attention that sees the raw stream has the inverse temperature beta r^2, which grows: tokens stop hearing each other.
Measurement output_ln(const Context& context) {
    constexpr double tolerance = 1e-3;
    const double n = 32;
    const auto seen_beta = [&](double r) { return context.predict("inverse temperature", r * r, {r}); };
    const double predicted = distance_over_radius(context, n, seen_beta, {std::log(1e3)}).front();
    const scheme::Program program = scheme::find_scheme("output-ln").program;
    dynamics::Settings s;
    s.tokens = 32;
    s.dim = 32;
    s.start = dynamics::StartKind::symmetric;
    s.time = 1000;
    s.samples = 3;
    const dynamics::Sample last = run_particles(context, s, program).samples.back();
    const double particles = last.variance * n / (n - 1);
    const theory::Law law = theory::terminal_law(program, {n, {1}, 1, 10, std::nullopt});
    const double limit = law.limit ? 1 - *law.limit : std::nan("");
    Measurement result;
    result.predicted = predicted;
    result.measured = particles;
    result.tolerance = fmt::format("{} of it", tolerance);
    result.verdict = verdict_of(std::abs(particles / predicted - 1) < tolerance &&
                                law.kind == theory::LawKind::frozen && std::abs(limit / predicted - 1) < 0.01);
    result.note = fmt::format(
        "1 - cosine where it stops, n = 32, beta = 1, particles at t = 1000; the reduced law says {}, 1 - limit = "
        "{:.5f}",
        theory::name(law.kind), limit);
    return result;
}

// Attention whose queries and keys are normed while its values are the raw stream, by the definition:
//     out_j = sum_k w_jk x_k,    w_j = softmax of beta <theta_j, theta_k>
void normed_scores(const double* x, std::size_t tokens, std::size_t dim, double beta, double* out) {
    const std::vector<double> theta = measure::directions({x, tokens, dim});
    std::fill_n(out, tokens * dim, 0.0);
    for (std::size_t j = 0; j < tokens; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < tokens; ++k) {
            const double weight = std::exp(beta * measure::dot(&theta[j * dim], &theta[k * dim], dim));
            sum += weight;
            for (std::size_t c = 0; c < dim; ++c) {
                out[j * dim + c] += weight * x[k * dim + c];
            }
        }
        for (std::size_t c = 0; c < dim; ++c) {
            out[j * dim + c] /= sum;
        }
    }
}

// x at the end of a run.
std::vector<double> end_of(const Context& context, dynamics::Problem problem) {
    std::vector<double> x;
    const double T = problem.time;
    run_particles(context, std::move(problem), {T},
                  [&](const dynamics::Sample&, const dynamics::Particles& particles) { x = particles.x(); });
    return x;
}

// Output-LN with such attention beside Peri-LN, from the same start of equal lengths. From orthonormal tokens lengths
// stay equal and the whole motion is compared; from random ones they part, and the velocities of the start are.
Measurement output_ln_normed(const Context& context) {
    constexpr double tolerance = 1e-9;
    constexpr double r0 = 2;
    constexpr double T = 20;
    const std::size_t n = context.size<std::size_t>(12, 48);
    const scheme::Program output_program = scheme::find_scheme("output-ln").program;
    const scheme::Program peri_program = scheme::find_scheme("peri-ln").program;
    Comparison difference = Comparison::absolute(tolerance);
    for (const double beta : {0.5, 1.0, 4.0}) {
        context.at(beta / 5);
        attention::Settings softmax;
        softmax.beta = context.predict("inverse temperature", beta, {r0});
        const auto output_at = [&](const std::vector<double>& rows) {
            dynamics::Problem problem = particles_at(output_program, rows, n, T);
            problem.attention.instead = [n, beta](const double* in, double* out) {
                normed_scores(in, n, n, beta, out);
            };
            return problem;
        };
        const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b) {
            if (a.empty() || a.size() != b.size()) {  // a run did not come to its end
                difference.see(HUGE_VAL, 0);
            }
            for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
                difference.see(a[i], b[i]);
            }
        };
        const std::vector<double> random = random_rows(n, n, r0, context.seed);
        const dynamics::Velocities peri = dynamics::velocities(particles_at(peri_program, random, n, T, softmax));
        const dynamics::Velocities output = dynamics::velocities(output_at(random));
        compare(output.turn, peri.turn);
        compare(output.growth, peri.growth);
        const std::vector<double> orthogonal = orthonormal_rows(n, r0);
        compare(end_of(context, output_at(orthogonal)),
                end_of(context, particles_at(peri_program, orthogonal, n, T, softmax)));
    }
    Measurement result;
    result.predicted = "the motion of Peri-LN";
    result.measured = difference.agrees() ? fmt::format("the same to {:.1e}", difference.off())
                                          : fmt::format("off by {:.2g}", difference.off());
    result.tolerance = tolerance;
    result.verdict = verdict_of(difference.agrees());
    result.note = fmt::format(
        "all coordinates at t = {} from {} orthogonal tokens of length {}, and velocities at random tokens of that "
        "length; beta = 0.5, 1 and 4",
        T, n, r0);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_output_norm_claims() {
    return {
        {"dynamics-output-ln",
         "A norm on the output and nothing else freezes tokens: Output-LN never reaches consensus, since its attention "
         "sees the growing stream at an ever lower temperature.",
         "finding", Verdict::holds,
         "this is about the placement of the norm alone; a block that also norms its queries and keys does not freeze, "
         "see dynamics-output-ln-qk-norm",
         output_ln},
        {"dynamics-output-ln-qk-norm",
         "An output norm with normed queries and keys, as in the block of OLMo 2, moves tokens of equal length exactly "
         "as "
         "Peri-LN.",
         "finding", Verdict::holds,
         "scores see directions only, and the norm of the output does not see a common length of the values",
         output_ln_normed},
    };
}

}  // namespace flyball::claims
