// How a sub-layer changes gradients: its Jacobian, and the gradient of its last matrix, for four places of the norms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_models.hpp"
#include "core/unreachable.hpp"

namespace flyball::claims {

namespace {

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

// Of one sub-layer: "attn" or "ffn".
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
    return largest_of(numbers_of(model, model.layout().blocks[0].norms[norm].gain));
}

// What each token's x and a (Post-LN: u = x + Dt a) are divided by.
struct Divisors {
    std::vector<double> in, out;
};

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
    return *std::min_element(values.begin(), values.end());
}

// One sub-layer with the numbers of its bounds, at x0.
struct SubLayerCase {
    Model<double> model;
    std::string f;
    std::vector<double> x0;
};

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

// Drawn weights, tokens of different lengths.
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

// An FFN that is linear where it is used, F(z) = w <w, z> strength + c, with x, w and c at right angles: the Jacobian
// lengthens w most, and no norm takes anything from it.
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

std::string jacobian_formula(Placement placement) {
    switch (placement) {
        case Placement::pre:
            return "1 + Dt L_F gamma/s(x)";
        case Placement::peri:
            return "1 + Dt L_F gamma_in gamma_out/(s(a) s(x))";
        case Placement::post:
            return "(gamma/s(u)) (1 + Dt L_F)";
        case Placement::output:
            return "1 + Dt L_F gamma/s(a)";
    }
    unreachable();
}

double jacobian_share(const Context& context, const SubLayerCase& one, Placement placement) {
    const double bound =
        context.predict("bound", jacobian_bound(placement, block_numbers(one, placement, least_number)));
    return operator_norm(jacobian_of(one.model, one.x0)) / bound;
}

Measurement jacobian(const Context& context, Placement placement) {
    double random = 0;
    const std::uint64_t cases = context.size<std::uint64_t>(20, 200);
    for (std::uint64_t seed = 1; seed <= cases; ++seed) {
        context.at(static_cast<double>(seed) / static_cast<double>(cases));
        random = std::max(random, jacobian_share(context, drawn_case(placement, seed), placement));
    }
    return bounded(random, jacobian_share(context, attaining_case(placement), placement), jacobian_formula(placement));
}

// The largest |J| over the bound with a mean divisor, over placements and draws.
Measurement jacobian_by_mean(const Context& context) {
    double largest = 0;
    const std::uint64_t cases = context.size<std::uint64_t>(20, 200);
    for (const Placement placement : all_placements) {
        for (std::uint64_t seed = 1; seed <= cases; ++seed) {
            context.at(static_cast<double>(seed) / static_cast<double>(cases));
            const SubLayerCase one = drawn_case(placement, seed);
            BlockNumbers numbers = block_numbers(one, placement, mean_number);
            const BlockNumbers least = block_numbers(one, placement, least_number);
            numbers.s_in = context.predict("s", numbers.s_in, {least.s_in});
            numbers.s_out = context.predict("s", numbers.s_out, {least.s_out});
            largest =
                std::max(largest, operator_norm(jacobian_of(one.model, one.x0)) / jacobian_bound(placement, numbers));
        }
    }
    Measurement result;
    result.predicted = 1.0;
    result.measured = largest;
    result.tolerance = 1e-9;
    result.verdict = verdict_of(largest < 1 + 1e-9);
    result.note = "largest Jacobian over its bound, tokens of lengths 1 : 4 : 7";
    return result;
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
        random = std::max(random, w_out_share(context, one, placement, delta));
    }
    const SubLayerCase one = attaining_case(placement);
    std::vector<double> delta(one.x0.size(), 0.0);  // at a right angle to x and a
    delta[6] = 1;
    delta[7] = -1;
    const std::string damping = placement == Placement::pre    ? ""
                                : placement == Placement::post ? " gamma/s(u)"
                                                               : " gamma/s(a)";
    return bounded(random, w_out_share(context, one, placement, delta),
                   "Dt |delta| |h|" + damping + ", sum over tokens");
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
                pre = std::max(pre, std::abs(found.both));
            } else {
                off = std::max(off, std::abs(found.both - stated));
                matrix_alone = std::max(matrix_alone, std::abs(found.matrix));
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
        longest = std::max(longest,
                           length_of({back.gradients.at(block.ffn_out.weight), block.ffn_out.in * block.ffn_out.out}));
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
    const double largest = std::max({ten, 1 / ten, hundred, 1 / hundred});
    result.verdict = verdict_of(largest < most);
    result.note = fmt::format(
        "longest gradient of a W_out in 6 blocks whose W_1 are multiplied by 10 and 100; Pre-LN: times {:.3f} and "
        "{:.3f}; "
        "without its final norm times {:.1f} and {:.1f}",
        change(pre, 10), change(pre, 100), change("x + dt*f(norm(x))", 10), change("x + dt*f(norm(x))", 100));
    return result;
}

Claim of_placement(const std::string& id, const std::string& statement, Placement placement,
                   Measurement (*experiment)(const Context&, Placement)) {
    return {id,        statement,
            "finding", Verdict::holds,
            "",        [placement, experiment](const Context& context) { return experiment(context, placement); }};
}

}  // namespace

std::vector<Claim> stability_backward_claims() {
    std::vector<Claim> claims = {
        {"stability-damping", "Pre-LN's gradient of W_out grows with the hidden activation |h|, Peri-LN's does not.",
         "Peri-LN: gradients", Verdict::holds, "", damping},
        {"stability-large-activations", "Peri-LN keeps its gradients when activations are 10 or 100 times as large.",
         "Peri-LN: gradients", Verdict::holds, "", large_activations},
        {"stability-scale-invariance", "With a norm on the output, <W_out, dL/dW_out> + <b_out, dL/db_out> = 0.",
         "finding", Verdict::holds, "At eps = 0; of W_out and b_out together, not of W_out alone", invariance},
        {"stability-jacobian-mean", "The bounds on block Jacobians hold with the mean divisor s over tokens.",
         "finding", Verdict::fails, "They hold with the smallest s over tokens, of s(x) and of s(a) each",
         jacobian_by_mean},
    };
    const std::pair<Placement, std::string> named[] = {
        {Placement::pre, "pre"}, {Placement::peri, "peri"}, {Placement::post, "post"}, {Placement::output, "output"}};
    for (const auto& [placement, name] : named) {
        claims.push_back(of_placement("stability-jacobian-" + name,
                                      fmt::format("With {} a sub-layer's Jacobian is at most {}.",
                                                  title_of_placement(placement), jacobian_formula(placement)),
                                      placement, jacobian));
    }
    for (const auto& [placement, name] : named) {
        claims.push_back(of_placement(
            "stability-w-out-" + name,
            fmt::format("With {} the gradient of W_out is at most Dt |delta| |h|{}.", title_of_placement(placement),
                        placement == Placement::pre    ? ", without any damping"
                        : placement == Placement::post ? " gamma/s(u)"
                                                       : " gamma/s(a)"),
            placement, w_out));
    }
    return claims;
}

}  // namespace flyball::claims
