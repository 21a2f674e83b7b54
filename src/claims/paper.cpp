#include "claims/paper.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::claims {

PlainAttention plain_attention(const std::vector<double>& theta, std::size_t dim, double beta) {
    const std::size_t n = theta.size() / dim;
    PlainAttention result{std::vector<double>(theta.size(), 0.0), std::vector<double>(n, 0.0)};
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) {
            double cosine = 0;
            for (std::size_t c = 0; c < dim; ++c) {
                cosine += theta[j * dim + c] * theta[k * dim + c];
            }
            const double weight = std::exp(beta * cosine);
            result.sum[j] += weight;
            for (std::size_t c = 0; c < dim; ++c) {
                result.value[j * dim + c] += weight * theta[k * dim + c];
            }
        }
        for (std::size_t c = 0; c < dim; ++c) {
            result.value[j * dim + c] /= result.sum[j];
        }
    }
    return result;
}

const std::vector<PaperRow>& paper_rows() {
    using State = TokenState;
    static const auto early = [](const State& x) { return x.t <= table_T / 4; };
    static const std::vector<PaperRow> rows = {
        {"post-ln", "s = 1, r' = 0", [](const State&) { return 1.0; }, [](const State&) { return 0.0; }},
        {"pre-ln", "s = r, r' = <theta, A>", [](const State& x) { return x.r; },
         [](const State& x) { return x.along; }},
        {"mix-ln", "s = 1, r' = 0 until tau, then s = r, r' = <theta, A>",
         [](const State& x) { return early(x) ? 1 : x.r; }, [](const State& x) { return early(x) ? 0 : x.along; }},
        {"peri-ln", "s = r |A|, r' = <theta, A>/|A|", [](const State& x) { return x.r * x.length; },
         [](const State& x) { return x.along / x.length; }},
        {"ngpt:alpha=1/(1+t)", "s = |A|/alpha, r' = 0", [](const State& x) { return x.length * (1 + x.t); },
         [](const State&) { return 0.0; }},
        {"sqrt-scaling", "s = sqrt(t + 1), r' = 0", [](const State& x) { return std::sqrt(x.t + 1); },
         [](const State&) { return 0.0; }},
    };
    return rows;
}

Equiangular equiangular(double n, double beta, double gamma) {
    // e^beta divided out everywhere: p = 1, q = exp(-beta (1-gamma)).
    const double q = std::exp(-beta * (1 - gamma));
    const double Z = 1 + (n - 1) * q;
    Equiangular result;
    result.along = (1 + (n - 1) * gamma * q) / Z;
    result.length = std::sqrt(1 + 2 * (n - 1) * gamma * q + (n - 1) * (1 + (n - 2) * gamma) * q * q) / Z;
    result.rate = 2 * q * (1 - gamma) * (1 + (n - 1) * gamma) / Z;
    return result;
}

// Classical Runge-Kutta with steps of at most 1e-3: errors of order 1e-12 at these rates, far below what is compared.
std::vector<GammaRadius> solve_row(const PaperRow& row, double n, double beta, double r0,
                                   const std::vector<double>& times, double largest_step) {
    const auto slope = [&](double t, const GammaRadius& at) {
        const Equiangular a = equiangular(n, beta, at.gamma);
        const TokenState state{at.r, a.along, a.length, t};
        return GammaRadius{a.rate / row.s(state), row.growth(state)};
    };
    std::vector<GammaRadius> solution;
    GammaRadius now{0, r0};
    double t = 0;
    for (const double end : times) {
        // A switch of the row (Mix-LN at T/4) must not lie inside a step: stop there too.
        while (t < end) {
            const double to = t < table_T / 4 && end > table_T / 4 ? table_T / 4 : end;
            const auto steps = static_cast<std::size_t>(std::ceil((to - t) / largest_step));
            const double h = (to - t) / static_cast<double>(steps);
            for (std::size_t i = 0; i < steps; ++i) {
                // Just inside the step, so that both ends of it are on the same side of the switch.
                const double a = t + h * static_cast<double>(i) + 1e-12;
                const auto moved = [&](const GammaRadius& k, double by) {
                    return GammaRadius{now.gamma + by * k.gamma, now.r + by * k.r};
                };
                const GammaRadius k1 = slope(a, now);
                const GammaRadius k2 = slope(a + h / 2, moved(k1, h / 2));
                const GammaRadius k3 = slope(a + h / 2, moved(k2, h / 2));
                const GammaRadius k4 = slope(a + h - 2e-12, moved(k3, h));
                now.gamma += h / 6 * (k1.gamma + 2 * k2.gamma + 2 * k3.gamma + k4.gamma);
                now.r += h / 6 * (k1.r + 2 * k2.r + 2 * k3.r + k4.r);
            }
            t = to;
        }
        solution.push_back(now);
    }
    return solution;
}

double log_K(double n, double beta) {
    constexpr int panels = 200000;
    const auto integrand = [&](double w) {  // w = 1 - g
        const double head = w == 0 ? beta : std::expm1(beta * w) / w;
        return head / (n - (n - 1) * w);
    };
    double sum = integrand(0) + integrand(1);
    for (int i = 1; i < panels; ++i) {
        sum += (i % 2 == 1 ? 4 : 2) * integrand(static_cast<double>(i) / panels);
    }
    return sum / (3 * panels);
}

const std::vector<std::string>& paper_schemes() {
    static const std::vector<std::string> names = {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"};
    return names;
}

}  // namespace flyball::claims
