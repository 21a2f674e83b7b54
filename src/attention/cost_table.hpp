// What each kernel costs, measured once and committed: the choice of a kernel must not depend on timing.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "attention/head_kernel.hpp"

namespace flyball::attention {

// From this many tokens on, kernels work by blocks and tiles: their costs there are another line of the table.
inline constexpr std::size_t many_tokens = 512;

// Nanoseconds of one head on one thread:  call + token n d + pair n^2 + pair_dim n^2 d
// For circle, whose Fourier sums get longer with beta, at cost_table_beta.
struct KernelCost {
    std::string_view kernel;
    bool single;  // float
    bool many;    // n >= many_tokens
    double call;
    double token;
    double pair;
    double pair_dim;
};

inline constexpr double cost_table_beta = 9;

const std::vector<KernelCost>& cost_table();

double estimated_nanoseconds(std::string_view kernel, const HeadProblem& problem, bool single);

}  // namespace flyball::attention
