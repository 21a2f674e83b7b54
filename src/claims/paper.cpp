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

const std::vector<std::string>& paper_schemes() {
    static const std::vector<std::string> names = {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling"};
    return names;
}

}  // namespace flyball::claims
