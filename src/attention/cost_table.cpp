#include "attention/cost_table.hpp"

#include "attention/row_weights.hpp"

#include <cmath>
#include <limits>

namespace flyball::attention {

// Measured by `flyball_bench_cost --table` on one Zen 3 core (AVX2 and FMA): softmax without mask, unit
// vectors, identity weights, beta = cost_table_beta, n from 8 to 2048, d from 1 to 512; each line is the least-squares
// fit of the relative errors. Only ratios between kernels matter. `ensemble` is for few tokens alone.
const std::vector<KernelCost>& cost_table() {
    static const std::vector<KernelCost> table = {
        {"reference", false, false, 1068, 0, 10.3, 0.969},
        {"reference", true, false, 633, 1.4, 10.5, 1.04},
        {"reference", false, true, 0, 0, 10.5, 1.09},
        {"reference", true, true, 0, 0, 10.9, 1.03},
        {"direct", false, false, 661, 3.1, 0.608, 0.203},
        {"direct", true, false, 698, 1.42, 0.166, 0.0895},
        {"direct", false, true, 12833, 0, 0.343, 0.102},
        {"direct", true, true, 1384, 23.6, 0.152, 0.0403},
        {"ensemble", false, false, 29, 1.29, 0.306, 0.184},
        {"ensemble", true, false, 41, 0.643, 0.116, 0.0889},
        {"fused", false, false, 1566, 6.7, 0.864, 0.0512},
        {"fused", true, false, 2380, 5.13, 0.615, 0.0201},
        {"fused", false, true, 10779, 7.31, 0.654, 0.0699},
        {"fused", true, true, 34456, 3.63, 0.414, 0.0282},
        {"general", false, false, 1133, 3.48, 1.22, 0.0707},
        {"general", true, false, 1414, 2.28, 0.795, 0.0477},
        {"general", false, true, 24161, 3.6, 1.08, 0.0822},
        {"general", true, true, 0, 0, 0.638, 0.0388},
        {"blas", false, false, 1568, 3.54, 1.71, 0.0743},
        {"blas", true, false, 1754, 1.77, 1.01, 0.0407},
        {"blas", false, true, 0, 0, 2.47, 0.0931},
        {"blas", true, true, 0, 0.072, 1.07, 0.0459},
        {"circle", false, false, 1015, 11.3, 0.0142, 0},
        {"circle", true, false, 1010, 11, 0.0132, 0},
        {"circle", false, true, 798, 13.3, 0, 0},
        {"circle", true, true, 844, 12.9, 0, 0},
    };
    return table;
}

namespace {

// Terms of the Fourier sums of circle: e^(-m^2/(2 beta)) = 1e-17.
double fourier_terms(const HeadProblem& problem) {
    return 10 + std::sqrt(80 * problem.beta * score_factor(problem.kind, problem.tokens));
}

}  // namespace

double estimated_nanoseconds(std::string_view kernel, const HeadProblem& problem, bool single) {
    const double n = static_cast<double>(problem.tokens);
    const double d = static_cast<double>(problem.width);
    const bool many = problem.tokens >= many_tokens;
    for (const KernelCost& cost : cost_table()) {
        if (cost.kernel != kernel || cost.single != single || cost.many != many) {
            continue;
        }
        double token = cost.token;
        if (kernel == "circle") {
            HeadProblem measured;
            measured.beta = cost_table_beta;
            token *= fourier_terms(problem) / fourier_terms(measured);
        }
        return cost.call + token * n * d + n * n * (cost.pair + cost.pair_dim * d);
    }
    return std::numeric_limits<double>::infinity();
}

}  // namespace flyball::attention
