// The gradient of a sub-layer's last matrix: how it follows the hidden activation, and what a norm behind it does.
#include <fmt/format.h>

#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_sub_layer.hpp"
#include "measure/extremes.hpp"

namespace flyball::claims {

namespace {

using model::Model;

std::string damping_factor(Placement placement) {
    return placement == Placement::pre ? "" : placement == Placement::post ? " gamma/s(u)" : " gamma/s(a)";
}

double gelu(double z) {
    return 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (z + 0.044715 * z * z * z)));
}

// |h| of a token, h = gelu(W_1 z + b_1).
double hidden_length(const Model<double>& model, std::span<const double> z) {
    const model::Linear& linear = model.layout().blocks[0].ffn_in[0];
    const Table first = table_of(model, linear);
    std::vector<double> h = numbers_of(model, linear.bias);
    for (std::size_t i = 0; i < first.rows; ++i) {
        for (std::size_t j = 0; j < first.columns; ++j) {
            h[i] += first.at(i, j) * z[j];
        }
        h[i] = gelu(h[i]);
    }
    return length_of(h);
}

double w_out_gradient(const SubLayerCase& one, const std::vector<double>& delta) {
    const model::Linear& linear = one.model.layout().blocks[0].ffn_out;
    const Backward back = backward_of(one.model, one.x0, delta);
    return length_of({back.gradients.at(linear.weight), linear.in * linear.out});
}

// |gradient of W_out| over its bound, the sum over tokens.
double w_out_share(const Context& context, const SubLayerCase& one, Placement placement,
                   const std::vector<double>& delta) {
    const std::size_t dim = one.model.architecture().dim;
    const Flow flow = flow_of(one.model, one.x0);
    const Divisors s = divisors_of(one.model, placement, one.x0, flow.ffn[0].out);
    BlockNumbers numbers;
    numbers.dt = one.model.architecture().dt;
    numbers.gain_out = largest_gain(one.model, placement == Placement::peri ? 1 : 0);
    double bound = 0;
    for (std::size_t i = 0; i < s.out.size(); ++i) {
        numbers.s_out = s.out[i];
        const double h = hidden_length(one.model, row_of(flow.ffn[0].in, i, dim));
        bound += w_out_bound(placement, numbers, length_of(row_of(delta, i, dim)), h);
    }
    return w_out_gradient(one, delta) / context.predict("bound", bound);
}

Measurement w_out(const Context& context, Placement placement) {
    double random = 0;
    const std::uint64_t cases = context.size<std::uint64_t>(20, 200);
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        context.at(static_cast<double>(seed) / static_cast<double>(cases));
        const SubLayerCase one = drawn_case(placement, 2 * seed + 1);  // those of FFNs
        const std::vector<double> delta = normal_rows(one.x0.size(), 1, 1, seed);
        random = measure::larger(random, w_out_share(context, one, placement, delta));
    }
    const SubLayerCase one = attaining_case(placement);
    std::vector<double> delta(one.x0.size(), 0.0);  // at a right angle to x and a
    delta[6] = 1;
    delta[7] = -1;
    return bounded(random, w_out_share(context, one, placement, delta),
                   "Dt |delta| |h|" + damping_factor(placement) + ", sum over tokens");
}

// (<W, dL/dW> + <b, dL/db>) and its first part, as shares of |W| |dL/dW|.
struct Inner {
    double both = 0;
    double matrix = 0;
};

Inner inner_products(const SubLayerCase& one, const std::vector<double>& delta) {
    const Backward back = backward_of(one.model, one.x0, delta);
    const model::Linear& linear = one.model.layout().blocks[0].ffn_out;
    const auto product = [&](int parameter) {
        const std::vector<double> numbers = numbers_of(one.model, parameter);
        double sum = 0;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            sum += numbers[k] * back.gradients.at(parameter)[k];
        }
        return sum;
    };
    const double scale = length_of(numbers_of(one.model, linear.weight)) * w_out_gradient(one, delta);
    return {(product(linear.weight) + product(linear.bias)) / scale, product(linear.weight) / scale};
}

Measurement invariance(const Context& context) {
    const double stated = context.predict("sum", 0);
    double off = 0;
    double matrix_alone = 0;
    double pre = 0;
    const std::uint64_t cases = context.size<std::uint64_t>(20, 200);
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        SmallSizes sizes;
        sizes.eps = 1e-14;
        const std::vector<double> x0 = normal_rows(sizes.tokens, sizes.dim, 1, seed);
        const std::vector<double> delta = normal_rows(x0.size(), 1, 1, seed + 1000);
        for (const Placement placement : {Placement::peri, Placement::output, Placement::pre}) {
            SubLayerCase one{blank_model(equation_of(placement, "ffn"), sizes), "ffn", x0};
            draw(one.model, seed, {0.5, 0.3, 0.2});
            const Inner found = inner_products(one, delta);
            if (placement == Placement::pre) {
                pre = measure::larger(pre, std::abs(found.both));
            } else {
                off = measure::larger(off, std::abs(found.both - stated));
                matrix_alone = measure::larger(matrix_alone, std::abs(found.matrix));
            }
        }
    }
    Measurement result;
    result.predicted = stated;
    result.measured = off;
    result.tolerance = 1e-9;
    result.verdict = verdict_of(off < 1e-9);
    result.note = fmt::format(
        "as a share of |W| |dL/dW|, largest of {} draws; without the bias it is up to {:.2f}, under Pre-LN up to "
        "{:.2f}",
        cases, matrix_alone, pre);
    return result;
}

// |gradient of W_out| of one block whose W_1 is multiplied by c, at a fixed delta.
double undamped_gradient(Placement placement, double c) {
    SmallSizes sizes;
    sizes.dim = 16;
    sizes.ffn = 64;
    SubLayerCase one{blank_model(equation_of(placement, "ffn"), sizes), "ffn",
                     normal_rows(sizes.tokens, sizes.dim, 1, 5)};
    draw(one.model, 5, {0.5, 0, 0.2});
    scale_numbers(one.model, one.model.layout().blocks[0].ffn_in[0].weight, c);
    return w_out_gradient(one, normal_rows(one.x0.size(), 1, 1, 6));
}

Measurement damping(const Context& context) {
    const auto exponent = [&](Placement placement) {
        std::vector<double> x;
        std::vector<double> y;
        for (const double c : {10.0, 100.0, 1000.0}) {
            x.push_back(std::log(c));
            y.push_back(std::log(undamped_gradient(placement, c)));
        }
        return fit_line(x, y).slope;
    };
    const double pre = context.predict("exponent of Pre-LN", 1);
    const double peri = context.predict("exponent of Peri-LN", 0);
    const double found_pre = exponent(Placement::pre);
    const double found_peri = exponent(Placement::peri);
    Measurement result;
    result.predicted = fmt::format("|h|^{:.3g} under Pre-LN, |h|^{:.3g} under Peri-LN", pre, peri);
    result.measured = fmt::format("|h|^{:.3f} and |h|^{:.3f}", found_pre, found_peri);
    result.tolerance = 0.05;
    result.verdict = verdict_of(std::abs(found_pre - pre) < 0.05 && std::abs(found_peri - peri) < 0.05);
    result.note =
        fmt::format("one block, fixed gradient of its result; Post-LN |h|^{:.3f}, {} |h|^{:.3f}",
                    exponent(Placement::post), title_of_placement(Placement::output), exponent(Placement::output));
    return result;
}

// The longest gradient of any block's W_out in a model whose hidden activations are multiplied by c.
double model_gradient(const char* equation, double c) {
    SmallSizes sizes;
    sizes.layers = 6;
    sizes.dim = 32;
    sizes.heads = 4;
    sizes.ffn = 128;
    sizes.tokens = 16;
    Model<double> model = blank_model(equation, sizes);
    draw(model, 7, {0.1, 0, 0.1});
    for (const model::BlockLayout& block : model.layout().blocks) {
        scale_numbers(model, block.ffn_in[0].weight, c);
    }
    const std::vector<double> x0 = normal_rows(sizes.tokens, sizes.dim, 1, 7);
    const Backward back = backward_of(model, x0, normal_rows(x0.size(), 1, 1, 8));
    double longest = 0;
    for (const model::BlockLayout& block : model.layout().blocks) {
        longest = measure::larger(
            longest, length_of({back.gradients.at(block.ffn_out.weight), block.ffn_out.in * block.ffn_out.out}));
    }
    return longest;
}

Measurement large_activations(const Context& context) {
    const double most = context.predict("largest change", 2);
    const auto change = [](const char* equation, double c) {
        return model_gradient(equation, c) / model_gradient(equation, 1);
    };
    constexpr const char* peri = "x + dt*norm(f(norm(x))) | norm(x)";
    constexpr const char* pre = "x + dt*f(norm(x)) | norm(x)";
    const double ten = change(peri, 10);
    const double hundred = change(peri, 100);
    Measurement result;
    result.predicted = fmt::format("Peri-LN: within a factor {}", most);
    result.measured = fmt::format("times {:.3f} at 10, times {:.3f} at 100", ten, hundred);
    result.tolerance = "at both";
    const double largest = measure::largest_in({ten, 1 / ten, hundred, 1 / hundred});
    result.verdict = verdict_of(largest < most);
    result.note = fmt::format(
        "longest gradient of a W_out in 6 blocks whose W_1 are multiplied by 10 and 100; Pre-LN: times {:.3f} and "
        "{:.3f}; "
        "without its final norm times {:.1f} and {:.1f}",
        change(pre, 10), change(pre, 100), change("x + dt*f(norm(x))", 10), change("x + dt*f(norm(x))", 100));
    return result;
}

}  // namespace

std::vector<Claim> stability_w_out_claims() {
    std::vector<Claim> claims = {
        {"stability-damping", "Pre-LN's gradient of W_out grows with the hidden activation |h|, Peri-LN's does not.",
         "Peri-LN: gradients", Verdict::holds, "", damping},
        {"stability-large-activations", "Peri-LN keeps its gradients when activations are 10 or 100 times as large.",
         "Peri-LN: gradients", Verdict::holds, "", large_activations},
        {"stability-scale-invariance", "With a norm on the output, <W_out, dL/dW_out> + <b_out, dL/db_out> = 0.",
         "finding", Verdict::holds, "At eps = 0; of W_out and b_out together, not of W_out alone", invariance},
    };
    for (const auto& [placement, name] : named_placements) {
        claims.push_back(of_placement(
            fmt::format("stability-w-out-{}", name),
            fmt::format("With {} the gradient of W_out is at most Dt |delta| |h|{}.", title_of_placement(placement),
                        placement == Placement::pre ? ", without any damping" : damping_factor(placement)),
            placement, w_out));
    }
    return claims;
}

}  // namespace flyball::claims
