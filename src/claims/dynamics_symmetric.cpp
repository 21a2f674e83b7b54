// Theorem 4.1, first half: orthonormal tokens stay equiangular, and how fast their cosine leaves 0.
#include <fmt/format.h>

#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"
#include "theory/theory.hpp"

namespace flyball::claims {

namespace {

// gamma' of the first pair, from the equation's velocity at an orthonormal state.
double pair_velocity(const scheme::Program& program, std::size_t tokens, double beta, double r0) {
    const std::vector<double> turn =
        dynamics::velocities(particles_at(program, orthonormal_rows(tokens, r0), tokens, table_T, softmax_at(beta)))
            .turn;
    return turn[1] + turn[tokens];  // <theta_1', e_2> + <e_1, theta_2'>
}

struct InitialCase {
    const char* scheme;
    const char* formula;
    double (*velocity)(double n, double beta, double r0);
};

double plain(double n, double beta, double) {
    return 2 / (std::exp(beta) + n - 1);
}

const std::vector<InitialCase> initial_cases = {
    {"post-ln", "2/(e^beta + n - 1)", plain},
    {"pre-ln", "2/(r0 (e^beta + n - 1))",
     [](double n, double b, double r0) { return 2 / (r0 * (std::exp(b) + n - 1)); }},
    {"mix-ln", "2/(e^beta + n - 1)", plain},
    {"peri-ln", "2/(r0 sqrt(e^(2 beta) + n - 1))",
     [](double n, double b, double r0) { return 2 / (r0 * std::sqrt(std::exp(2 * b) + n - 1)); }},
    {"ngpt:alpha=0.5/(1+t)", "2 alpha(0)/sqrt(e^(2 beta) + n - 1)",
     [](double n, double b, double) { return 2 * 0.5 / std::sqrt(std::exp(2 * b) + n - 1); }},
    {"sqrt-scaling", "2/(e^beta + n - 1)", plain},
};

// Three sources: the formula as printed, the particles, and the reduced law; the last two share no code.
Measurement initial_velocity(const InitialCase& which, const Context& context) {
    constexpr double tolerance = 1e-9;
    const scheme::Program program = scheme::find_scheme(which.scheme).program;
    Comparison velocity = Comparison::relative(tolerance);
    const std::vector<std::size_t> sizes = {2, 8, context.size<std::size_t>(32, 256)};
    for (const std::size_t n : sizes) {
        context.at(static_cast<double>(n) / static_cast<double>(sizes.back()) / 2);
        for (const double beta : {0.0, 1.0, 5.0}) {
            for (const double r0 : {1.0, 2.5}) {
                const auto count = static_cast<double>(n);
                const double predicted =
                    context.predict("velocity", which.velocity(count, beta, r0), {count, beta, r0});
                const double reduced = theory::initial_velocity(program, {count, {beta}, r0, table_T, std::nullopt});
                velocity.see(pair_velocity(program, n, beta, r0), predicted);
                velocity.see(reduced, predicted);
            }
        }
    }
    Measurement result;
    result.predicted = context.predict("velocity", which.velocity(256, 5, 1), {256, 5, 1});
    result.measured = theory::initial_velocity(program, {256, {5}, 1, table_T, std::nullopt});
    result.tolerance = fmt::format("{} of it", tolerance);
    result.verdict = verdict_of(velocity.agrees());
    result.note = fmt::format(
        "shown at n = 256, beta = 5, r0 = 1; over n = 2 to {}, beta = 0 to 5, r0 = 1 and 2.5 particles "
        "and reduced law differ from {} by at most {:.1e} of it",
        sizes.back(), which.formula, velocity.off());
    return result;
}

// Particles and theory against the two equations as the paper has them, solved here by plain Runge-Kutta; and all
// cosines of one token equal, which is what makes two equations enough.
Measurement reduced_law(const Context& context) {
    constexpr double tolerance = 1e-7;
    const auto n = context.size<std::size_t>(32, 256);
    const double beta = context.size(3.0, 5.0);
    Comparison particles_agree = Comparison::absolute(tolerance);
    Comparison theory_agrees = Comparison::absolute(tolerance);
    double asymmetry = 0;
    for (std::size_t i = 0; i < paper_rows().size(); ++i) {
        const PaperRow row = predicted_row(context, paper_rows()[i]);
        const scheme::Program program = scheme::find_scheme(row.scheme).program;
        dynamics::Settings s;
        s.tokens = n;
        s.dim = n;
        s.beta = beta;
        s.start = dynamics::StartKind::symmetric;
        s.r0 = 1;
        s.time = table_T;
        s.samples = 11;
        std::vector<double> times;
        std::vector<double> cosines;
        std::vector<double> lengths;
        const double share = static_cast<double>(i) / 6;
        run_particles(context.part(share, share + 1.0 / 6), s, program,
                      [&](const dynamics::Sample& sample, const dynamics::Particles& particles) {
                          times.push_back(sample.t);
                          cosines.push_back(sample.cosine);
                          lengths.push_back(sample.radius);
                          const double* theta = particles.theta().data();
                          for (std::size_t k = 1; k < n; ++k) {
                              asymmetry = measure::larger(
                                  asymmetry, std::abs(measure::dot(theta, theta + k * n, n) - sample.cosine));
                          }
                      });
        const std::vector<GammaRadius> typed = solve_row(row, static_cast<double>(n), beta, 1, times);
        const std::vector<theory::Point> solved =
            theory::solve(program, {static_cast<double>(n), {beta}, 1, table_T, std::nullopt}, times);
        for (std::size_t k = 0; k < times.size(); ++k) {
            particles_agree.see(cosines[k], typed[k].gamma);
            particles_agree.see(lengths[k] / typed[k].r, 1);
            theory_agrees.see(solved[k].gamma, typed[k].gamma);
            theory_agrees.see(solved[k].radius / typed[k].r, 1);
        }
    }
    Measurement result;
    result.predicted = "gamma' = G/(s Z) with the row's s and r'";
    result.measured =
        fmt::format("particles off by {:.1e}, reduced law by {:.1e}", particles_agree.off(), theory_agrees.off());
    result.tolerance = tolerance;
    result.verdict = verdict_of(particles_agree.agrees() && theory_agrees.agrees() && asymmetry < tolerance);
    result.note =
        fmt::format("six schemes, n = {}, beta = {}, t to {}; cosines of one token differ among themselves by {:.1e}",
                    n, beta, table_T, asymmetry);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_symmetric_claims() {
    std::vector<Claim> claims = {{"dynamics-reduced-law",
                                  "From orthonormal tokens every pair keeps one common cosine gamma and every token "
                                  "one length r, which obey two "
                                  "ordinary differential equations.",
                                  "Theorem 4.1", Verdict::holds, "", reduced_law, 60}};
    for (const InitialCase& which : initial_cases) {
        const scheme::CatalogueEntry& entry = *scheme::find_scheme(which.scheme).entry;
        Claim claim;
        claim.id = fmt::format("dynamics-initial-{}", entry.name);
        claim.statement = fmt::format("From orthonormal tokens the cosine starts with the velocity {} under {}.",
                                      which.formula, entry.title);
        claim.source = "Theorem 4.1";
        claim.experiment = [which](const Context& context) { return initial_velocity(which, context); };
        claims.push_back(std::move(claim));
    }
    return claims;
}

}  // namespace flyball::claims
