#include "claims/stability_sub_layer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "claims/fit.hpp"
#include "core/unreachable.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

using model::Model;

const char* title_of_placement(Placement placement) {
    switch (placement) {
        case Placement::pre:
            return "Pre-LN";
        case Placement::peri:
            return "Peri-LN";
        case Placement::post:
            return "Post-LN";
        case Placement::output:
            return "a norm on the output alone";
    }
    unreachable();
}

std::string equation_of(Placement placement, const std::string& f) {
    switch (placement) {
        case Placement::pre:
            return "x + dt*" + f + "(norm(x))";
        case Placement::peri:
            return "x + dt*norm(" + f + "(norm(x)))";
        case Placement::post:
            return "norm(x + dt*" + f + "(x))";
        case Placement::output:
            return "x + dt*norm(" + f + "(x))";
    }
    unreachable();
}

double largest_gain(const Model<double>& model, std::size_t norm) {
    return largest_of(numbers_of(model, norms_of(model, 0)[norm].gain));
}

Divisors divisors_of(const Model<double>& model, Placement placement, const std::vector<double>& x0,
                     const std::vector<double>& a) {
    const model::Architecture& sizes = model.architecture();
    std::vector<double> behind = a;
    for (std::size_t k = 0; placement == Placement::post && k < behind.size(); ++k) {
        behind[k] = x0[k] + sizes.dt * a[k];
    }
    Divisors s;
    for (std::size_t i = 0; i * sizes.dim < x0.size(); ++i) {
        s.in.push_back(ln_divisor(row_of(x0, i, sizes.dim), sizes.eps));
        s.out.push_back(ln_divisor(row_of(behind, i, sizes.dim), sizes.eps));
    }
    return s;
}

double mean_number(const std::vector<double>& values) {
    return mean_of(values).value;
}

double least_number(const std::vector<double>& values) {
    return measure::smallest_in(values);
}

BlockNumbers block_numbers(const SubLayerCase& one, Placement placement,
                           double (*over_tokens)(const std::vector<double>&)) {
    const Flow flow = flow_of(one.model, one.x0);
    const Flow::Branch& branch = one.f == "attn" ? flow.attention[0] : flow.ffn[0];
    const model::Architecture& a = one.model.architecture();
    SmallSizes sizes;
    sizes.dim = a.dim;
    sizes.heads = a.heads;
    sizes.ffn = a.ffn_dim;
    sizes.tokens = a.positions;
    Model<double> alone = blank_model(one.f + "(x)", sizes);
    copy_parameters(one.model, alone);
    const Divisors s = divisors_of(one.model, placement, one.x0, branch.out);
    BlockNumbers numbers;
    numbers.dt = a.dt;
    numbers.lipschitz = operator_norm(jacobian_of(alone, branch.in));
    numbers.gain_in = largest_gain(one.model, 0);
    numbers.gain_out = largest_gain(one.model, placement == Placement::peri ? 1 : 0);
    numbers.s_in = over_tokens(s.in);
    numbers.s_out = over_tokens(s.out);
    return numbers;
}

SubLayerCase drawn_case(Placement placement, std::uint64_t seed) {
    SmallSizes sizes;
    sizes.dt = seed % 3 == 0 ? 0.1 : 1;
    const std::string f = seed % 2 == 0 ? "attn" : "ffn";
    SubLayerCase result{blank_model(equation_of(placement, f), sizes), f,
                        normal_rows(sizes.tokens, sizes.dim, 1, seed)};
    draw(result.model, seed, {0.5, 0.3, 0.2});
    for (std::size_t k = 0; k < result.x0.size(); ++k) {
        result.x0[k] *= 0.3 * static_cast<double>(1 + 3 * (k / sizes.dim));
    }
    return result;
}

SubLayerCase attaining_case(Placement placement) {
    SmallSizes sizes;
    sizes.tokens = 1;
    sizes.dt = 0.5;
    constexpr double gain = 1.3;
    constexpr double far = 20;  // into GELU's linear part
    SubLayerCase result{blank_model(equation_of(placement, "ffn"), sizes), "ffn", {}};
    const auto along = [&](std::size_t pair, double factor) {
        std::vector<double> v(sizes.dim, 0.0);
        v[2 * pair] = factor * std::sqrt(0.5);
        v[2 * pair + 1] = -factor * std::sqrt(0.5);
        return v;
    };
    result.x0 = along(0, 2);
    const model::BlockLayout& block = result.model.layout().blocks[0];
    Table first{sizes.ffn, sizes.dim, std::vector<double>(sizes.ffn * sizes.dim, 0.0)};
    Table second{sizes.dim, sizes.ffn, std::vector<double>(sizes.ffn * sizes.dim, 0.0)};
    std::vector<double> bias = along(2, 1.5);
    for (std::size_t k = 0; k < sizes.dim; ++k) {
        first.at(0, k) = along(1, 2)[k];
        second.at(k, 0) = along(1, 3)[k];
        bias[k] -= far * second.at(k, 0);
    }
    set_table(result.model, block.ffn_in[0], first);
    set_table(result.model, block.ffn_out, second);
    std::vector<double> shift(sizes.ffn, 0.0);
    shift[0] = far;
    set_numbers(result.model, block.ffn_in[0].bias, shift);
    set_numbers(result.model, block.ffn_out.bias, bias);
    for (const model::NormPlace& norm : block.norms) {
        set_numbers(result.model, norm.gain, std::vector<double>(sizes.dim, gain));
    }
    return result;
}

Measurement bounded(double random, double attained, const std::string& predicted) {
    Measurement result;
    result.predicted = predicted;
    result.measured =
        fmt::format("at most {:.3f} of the bound with drawn weights, {:.4f} where it is attained", random, attained);
    result.tolerance = "never above, attained within 1 %";
    result.verdict = verdict_of(random < 1 + 1e-9 && attained < 1 + 1e-9 && attained > 0.99);
    return result;
}

Claim of_placement(const std::string& id, const std::string& statement, Placement placement,
                   Measurement (*experiment)(const Context&, Placement)) {
    return {id,        statement,
            "finding", Verdict::holds,
            "",        [placement, experiment](const Context& context) { return experiment(context, placement); }};
}

}  // namespace flyball::claims
