#include "scheme/normaliser.hpp"

#include <fmt/format.h>

#include <string>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/unreachable.hpp"

namespace flyball::scheme {

const std::vector<Normaliser>& normalisers() {
    static const std::vector<Normaliser> table = {
        {.name = "unit",
         .title = "unit sphere",
         .formula = "x/|x|",
         .reference = "Karagodin et al. 2025, arXiv:2510.22026",
         .function = RowFunction::sphere},
        {.name = "layernorm",
         .title = "LayerNorm",
         .formula = "gain*(x - mean)/sqrt(var + eps) + bias",
         .reference = "Ba et al. 2016, arXiv:1607.06450",
         .function = RowFunction::centred,
         .eps = 1e-5,
         .gain = true,
         .bias = true},
        {.name = "rmsnorm",
         .title = "RMSNorm",
         .formula = "gain*x/sqrt(mean(x^2) + eps)",
         .reference = "Zhang and Sennrich 2019, arXiv:1910.07467",
         .function = RowFunction::rms,
         .eps = 1e-6,
         .gain = true},
        {.name = "dyt",
         .title = "Dynamic Tanh",
         .formula = "gain*tanh(alpha*x) + bias",
         .reference = "Zhu et al. 2025, arXiv:2503.10622",
         .function = RowFunction::tanh,
         .gain = true,
         .bias = true,
         .shape = true,
         .alpha = 0.5},
        {.name = "derf",
         .title = "Dynamic erf",
         .formula = "gain*erf(alpha*x + shift) + bias",
         .reference = "Derf 2025, arXiv:2512.10938",
         .function = RowFunction::erf,
         .gain = true,
         .bias = true,
         .shape = true,
         .alpha = 0.5,
         .shift = true},
    };
    return table;
}

const Normaliser& find_normaliser(std::string_view name) {
    std::vector<std::string> names;
    for (const Normaliser& row : normalisers()) {
        if (row.name == name) {
            return row;
        }
        names.emplace_back(row.name);
    }
    const std::string near = nearest(name, names);
    throw Error(ErrorKind::usage, "scheme.find_normaliser", fmt::format("the unknown norm {}", flyball::quoted(name)),
                fmt::format("one of {}", fmt::join(names, ", ")),
                near.empty() ? "" : fmt::format("did you mean {}?", near));
}

RowFunction row_function(Function function) {
    switch (function) {
        case Function::norm:
        case Function::unit:
            return RowFunction::sphere;
        case Function::rms:
            return RowFunction::rms;
        case Function::ln:
            return RowFunction::centred;
        case Function::tanh:
            return RowFunction::tanh;
        case Function::erf:
            return RowFunction::erf;
        case Function::sqrt:
        case Function::log:
        case Function::exp:
        case Function::min:
        case Function::max:
        case Function::f:
        case Function::attn:
        case Function::ffn:
        case Function::detach:
            break;
    }
    unreachable();
}

bool keeps_plane(RowFunction function) {
    switch (function) {
        case RowFunction::sphere:
        case RowFunction::rms:
            return true;
        case RowFunction::centred:
        case RowFunction::tanh:
        case RowFunction::erf:
            return false;
    }
    unreachable();
}

bool smooth_at_zero(RowFunction function) {
    switch (function) {
        case RowFunction::sphere:
        case RowFunction::rms:
        case RowFunction::centred:
            return false;
        case RowFunction::tanh:
        case RowFunction::erf:
            return true;
    }
    unreachable();
}

}  // namespace flyball::scheme
