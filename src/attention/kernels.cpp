// The table of kernels and who may do what. An obstacle is a sentence: it ends up in the message when a user asks for a
// kernel by name.
#include "attention/kernels.hpp"

#include <fmt/format.h>

#include "attention/cost_table.hpp"
#include "attention/row_weights.hpp"
#include "attention/tile_kernels.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t ensemble_most_tokens = 256;  // beyond, tokens of 16 systems leave the cache

const char* any(const HeadProblem&) {
    return "";
}

const char* symmetric(const HeadProblem& problem) {
    if (!problem.identity) {
        return "the scores are not symmetric: weights are given";
    }
    if (problem.mask != Mask::none) {
        return "the scores are not symmetric: a mask is set";
    }
    if (form_of(problem.kind).weights != Form::Weights::exponential) {
        return "the weights are not exponentials of the scores";
    }
    return "";
}

const char* small_dimension(const HeadProblem& problem) {
    return problem.width > 8 ? "the dimension is above 8" : symmetric(problem);
}

const char* many_small_systems(const HeadProblem& problem) {
    if (problem.systems < ensemble_systems<float>) {
        return "there are fewer than 16 systems";
    }
    return problem.tokens > ensemble_most_tokens ? "a system has more than 256 tokens" : small_dimension(problem);
}

const char* plane(const HeadProblem& problem) {
    return problem.width != 2 ? "the dimension is not 2" : symmetric(problem);
}

const char* elementwise(const HeadProblem& problem) {
    return form_of(problem.kind).weights == Form::Weights::whole_row ? "the weights need a whole row of scores at once"
                                                                     : "";
}

}  // namespace

const std::vector<KernelEntry>& kernel_table() {
    static const std::vector<KernelEntry> table = {
        {"reference", "plain double loops: the definition", any, make_reference<double>, make_reference<float>},
        {"direct", "vectors across tokens", small_dimension, make_direct<double>, make_direct<float>},
        {"ensemble", "vectors across systems", many_small_systems, make_ensemble<double>, make_ensemble<float>,
         ensemble_systems<float>},
        {"fused", "cache tiles, each score used for both triangles", symmetric, make_fused<double>, make_fused<float>},
        {"general", "cache tiles with a running maximum", elementwise, make_general<double>, make_general<float>},
        {"blas", "blocks of whole rows through BLAS", any, make_blas<double>, make_blas<float>},
        {"circle", "Fourier sums", plane, make_circle<double>, make_circle<float>},
    };
    return table;
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const KernelEntry& entry : kernel_table()) {
        names.emplace_back(entry.name);
    }
    return names;
}

// `reference` can do everything, so there is always a kernel. With "auto" the estimates of the table decide; the first
// of equals wins. Asked for by name, a kernel that cannot do the problem says why.
const KernelEntry& choose_kernel(const HeadProblem& problem, bool single, std::string_view name) {
    if (name == "auto") {
        const KernelEntry* best = &kernel_table().front();
        double least = estimated_nanoseconds(best->name, problem, single);
        for (const KernelEntry& entry : kernel_table()) {
            const double cost = estimated_nanoseconds(entry.name, problem, single);
            if (*entry.obstacle(problem) == '\0' && cost < least) {
                best = &entry;
                least = cost;
            }
        }
        return *best;
    }
    for (const KernelEntry& entry : kernel_table()) {
        if (name != entry.name) {
            continue;
        }
        const std::string obstacle = entry.obstacle(problem);
        if (!obstacle.empty()) {
            throw Error(
                ErrorKind::usage, "attention.Attention",
                fmt::format("{} for a problem it cannot do ({})", setting("kernel", flyball::quoted(name)), obstacle),
                "a kernel that fits the problem", "leave the choice to 'auto'");
        }
        return entry;
    }
    const std::vector<std::string> names = kernel_names();
    const std::string near = nearest(name, names);
    throw Error(ErrorKind::usage, "attention.Attention", setting("kernel", flyball::quoted(name)),
                fmt::format("auto or one of {}", fmt::join(names, ", ")),
                near.empty() ? std::string() : fmt::format("did you mean {}?", flyball::quoted(near)));
}

}  // namespace flyball::attention
