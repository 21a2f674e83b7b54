#include "attention/cost_table.hpp"

#include <cmath>
#include <limits>

namespace flyball::attention {

// Measured by `flyball_bench_cost --table` on one Zen 3 core (AVX2 and FMA): softmax without mask, unit
// vectors, identity weights, beta = cost_table_beta, n from 8 to 2048, d from 1 to 512; each line is the least-squares
// fit of the relative errors. Only ratios between kernels matter.
const std::vector<KernelCost>& cost_table() {
    static const std::vector<KernelCost> table = {
        {"reference", false, false, 662, 1.05, 8.95, 0.933},
        {"reference", true, false, 644, 0.861, 9.31, 0.986},
        {"reference", false, true, 0, 0, 9.85, 0.954},
        {"reference", true, true, 0, 28, 9.39, 0.959},
        {"direct", false, false, 637, 4.97, 0.372, 0.231},
        {"direct", true, false, 697, 2.08, 0.189, 0.0901},
        {"direct", false, true, 0, 0, 0.366, 0.104},
        {"direct", true, true, 26985, 16.9, 0.112, 0.0348},
        {"ensemble", false, false, 50, 2.5, 0.45, 0.1},
        {"ensemble", true, false, 50, 2.5, 0.2, 0.05},
        {"ensemble", false, true, 50, 2.5, 0.45, 0.1},
        {"ensemble", true, true, 50, 2.5, 0.2, 0.05},
        {"fused", false, false, 1525, 8.56, 0.991, 0.0366},
        {"fused", true, false, 2461, 4.38, 0.617, 0.0223},
        {"fused", false, true, 20880, 10.5, 0.631, 0.0606},
        {"fused", true, true, 11161, 3.68, 0.46, 0.029},
        {"general", false, false, 1219, 3.23, 1.32, 0.0778},
        {"general", true, false, 1383, 3.36, 0.939, 0.0317},
        {"general", false, true, 0, 2.73, 1.16, 0.0894},
        {"general", true, true, 11659, 2.15, 0.618, 0.0386},
        {"blas", false, false, 1496, 2.94, 1.74, 0.0768},
        {"blas", true, false, 1780, 2.14, 1.09, 0.0396},
        {"blas", false, true, 0, 0, 2.54, 0.09},
        {"blas", true, true, 0, 0, 1.05, 0.0431},
        {"circle", false, false, 1017, 11, 0.0156, 0},
        {"circle", true, false, 188, 16.3, 0, 0},
        {"circle", false, true, 779, 13.3, 0, 0},
        {"circle", true, true, 888, 13, 0, 0},
    };
    return table;
}

namespace {

// Terms of the Fourier sums of circle: e^(-m^2/(2 beta)) = 1e-17.
double fourier_terms(const HeadProblem& problem) {
    const double factor = problem.kind == Kind::ssmax ? std::log(static_cast<double>(problem.tokens)) : 1.0;
    return 10 + std::sqrt(80 * problem.beta * factor);
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
