// The table of kernels: what each can do, how it is made, and which one a problem gets.
#pragma once

#include <string_view>
#include <vector>

#include "attention/head_kernel.hpp"

namespace flyball::attention {

struct KernelEntry {
    const char* name;
    const char* what;
    // Why this kernel cannot do the problem, or "" when it can.
    const char* (*obstacle)(const HeadProblem& problem);
    MakeKernel<double> make_double;
    MakeKernel<float> make_float;
    std::size_t systems_at_once = 1;  // a thread takes systems by this many

    template <class Real>
    MakeKernel<Real> make() const;
};
template <>
inline MakeKernel<double> KernelEntry::make<double>() const {
    return make_double;
}
template <>
inline MakeKernel<float> KernelEntry::make<float>() const {
    return make_float;
}

const std::vector<KernelEntry>& kernel_table();

// The entry called `name`, or with "auto" the cheapest one by the cost table. Throws Error(usage).
const KernelEntry& choose_kernel(const HeadProblem& problem, bool single, std::string_view name);

}  // namespace flyball::attention
