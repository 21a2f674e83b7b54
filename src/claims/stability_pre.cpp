// How long the stream can become under Pre-LN: without a bound for all weights, linearly in depth for given ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_lengths.hpp"

namespace flyball::claims {

namespace {

using model::Model;

constexpr const char* plain_pre_ln = "x + dt*f(norm(x))";
constexpr const char* plain_peri_ln = "x + dt*norm(f(norm(x)))";

void see_pre(const Context& context, const Model<double>& model, const Flow& flow, std::size_t first, Share& share) {
    const model::Architecture& a = model.architecture();
    const std::size_t rows = flow.streams[0].size() / a.dim;
    std::vector<double> branches;
    for (std::size_t l = 0; l < a.layers; ++l) {
        const PreBounds bounds = pre_bounds(model, l);
        branches.push_back(context.predict("attention", bounds.attention));
        branches.push_back(context.predict("FFN", bounds.ffn));
        for (std::size_t i = first; i < rows; ++i) {
            share.see(length_of(row_of(flow.streams[l + 1], i, a.dim)),
                      peri_ln_bound(length_of(row_of(flow.streams[0], i, a.dim)), a.dt, branches));
        }
    }
}

Table outer(const std::vector<double>& u, const std::vector<double>& v, double factor) {
    Table table{u.size(), v.size(), {}};
    for (const double left : u) {
        for (const double right : v) {
            table.values.push_back(factor * left * right);
        }
    }
    return table;
}

// Two heads that attend to different tokens, and branches that all point along u. Head h looks along v_h, where
// token h is, and reads it; tokens 0 and 1 are so long that their directions stay. The third token is along u.
struct PreCase {
    Model<double> model;
    std::vector<double> x0;
};

PreCase two_heads_case() {
    SmallSizes sizes;
    sizes.layers = 3;
    sizes.dt = 0.5;
    const std::size_t d = sizes.dim;
    const std::size_t half = d / 2;
    PreCase result{blank_model(plain_pre_ln, sizes), {}};
    Model<double>& model = result.model;
    const std::vector<double> u = direction(d);
    Table qkv{3 * d, d, std::vector<double>(3 * d * d, 0.0)};
    std::vector<double> bias(3 * d, 0.0);
    std::vector<double> joint(d, 0.0);  // (p, p)/sqrt 2, where values end
    for (std::size_t h = 0; h < 2; ++h) {
        const std::vector<double> v = direction(d, h + 1);
        const std::size_t row = h * half;
        bias[row] = 1;  // the query
        for (std::size_t j = 0; j < d; ++j) {
            qkv.at(d + row, j) = 1000 * v[j];
            qkv.at(2 * d + row, j) = 2 * v[j];
        }
        joint[row] = std::sqrt(0.5);
        bias[2 * d + row] = 0.7 * joint[row];
        const std::vector<double> token = times(v, 1e9);
        result.x0.insert(result.x0.end(), token.begin(), token.end());
    }
    result.x0.insert(result.x0.end(), u.begin(), u.end());
    for (const model::BlockLayout& block : model.layout().blocks) {
        for (const model::Linear& linear : block.qkv) {
            const auto begin = qkv.values.begin() + static_cast<std::ptrdiff_t>(linear.offset * d);
            set_table(model, linear, {linear.out, d, {begin, begin + static_cast<std::ptrdiff_t>(linear.out * d)}});
            const auto first = bias.begin() + static_cast<std::ptrdiff_t>(linear.offset);
            set_numbers(model, linear.bias, {first, first + static_cast<std::ptrdiff_t>(linear.out)});
        }
        set_table(model, block.output, outer(u, joint, 3));
        set_numbers(model, block.output.bias, times(u, 0.2));
        std::vector<double> unit(sizes.ffn, 0.0);
        unit[0] = 1;
        set_table(model, block.ffn_in[0], outer(unit, u, 5));
        set_numbers(model, block.ffn_in[0].bias, times(unit, 2));
        set_table(model, block.ffn_out, outer(u, unit, 0.6));
        set_numbers(model, block.ffn_out.bias, times(u, 0.3));
    }
    return result;
}

Measurement pre_fixed(const Context& context) {
    Share random;
    walk_drawn(context, plain_pre_ln,
               [&](const Model<double>& model, const Flow& flow) { see_pre(context, model, flow, 0, random); });
    const PreCase two = two_heads_case();
    Share attained;
    see_pre(context, two.model, flow_of(two.model, two.x0), 2, attained);
    Measurement result;
    result.predicted = "|x_l| at most |x_0| + Dt (M_1 + .. + M_l)";
    result.measured = fmt::format("at most {:.3f} of the bound in drawn models, {:.4f} where it is attained",
                                  random.largest, attained.largest);
    result.tolerance = "never above, attained within 1 %";
    result.verdict = verdict_of(random.within() && attained.attained());
    return result;
}

Measurement joint_heads(const Context& context) {
    const PreCase two = two_heads_case();
    const Flow flow = flow_of(two.model, two.x0);
    const std::size_t dim = two.model.architecture().dim;
    const double heads = static_cast<double>(two.model.architecture().heads);
    const PreBounds bounds = pre_bounds(two.model, 0);
    const double found = length_of(row_of(flow.attention[0].out, 2, dim));
    const double stated = context.predict("bound", bounds.joint, {heads, bounds.attention});
    Measurement result;
    result.predicted = stated;
    result.measured = found;
    result.tolerance = "0.01 of it";
    result.verdict = verdict_of(found <= 1.01 * stated);
    result.note =
        fmt::format("two heads that attend to different tokens; the corrected bound is {:.3f}", bounds.attention);
    return result;
}

// Length of the last stream when W_2 of all blocks, and b_2 if asked, are multiplied by `factor`.
double scaled_length(const char* equation, double factor, bool bias_too) {
    SmallSizes sizes;
    sizes.layers = 6;
    sizes.dim = 32;
    sizes.heads = 4;
    sizes.ffn = 128;
    sizes.tokens = 16;
    sizes.eps = 1e-12;
    Model<double> model = blank_model(equation, sizes);
    draw(model, 3, {0.06, 0.06, 0.1});
    for (const model::BlockLayout& block : model.layout().blocks) {
        scale_numbers(model, block.ffn_out.weight, factor);
        if (bias_too) {
            scale_numbers(model, block.ffn_out.bias, factor);
        }
    }
    return rms_of(flow_of(model, normal_rows(sizes.tokens, sizes.dim, 0.3, 3)).streams.back());
}

Measurement pre_unbounded(const Context& context) {
    const double stated = context.predict("exponent of Pre-LN", 1);
    const double stated_peri = context.predict("exponent of Peri-LN", 0);
    const auto exponent = [&](const char* equation) {
        std::vector<double> x;
        std::vector<double> y;
        for (const double factor : {1e2, 1e3, 1e4}) {
            x.push_back(std::log(factor));
            y.push_back(std::log(scaled_length(equation, factor, true)));
        }
        return fit_line(x, y).slope;
    };
    const double pre = exponent(plain_pre_ln);
    const double peri = exponent(plain_peri_ln);
    const double without = scaled_length(plain_peri_ln, 10, false) / scaled_length(plain_peri_ln, 1, false);
    Measurement result;
    result.predicted = fmt::format("|x_L| grows as c^{:.3g} in Pre-LN and as c^{:.3g} in Peri-LN", stated, stated_peri);
    result.measured = fmt::format("c^{:.4f} and c^{:.1e}", pre, peri);
    result.tolerance = "0.02";
    result.verdict = verdict_of(std::abs(pre - stated) < 0.02 && std::abs(peri - stated_peri) < 0.02);
    result.note = fmt::format(
        "W_2 and b_2 of all blocks times c = 100 .. 10,000; at c = 10 Pre-LN's last stream is {:.2f} times as long, "
        "Peri-LN's {:.4f} times, and {:.3f} times when W_2 alone is scaled",
        scaled_length(plain_pre_ln, 10, true) / scaled_length(plain_pre_ln, 1, true),
        scaled_length(plain_peri_ln, 10, true) / scaled_length(plain_peri_ln, 1, true), without);
    return result;
}

}  // namespace

std::vector<Claim> stability_pre_claims() {
    return {
        {"stability-pre-unbounded",
         "Under Pre-LN no bound on hidden states holds for all weights: they grow in proportion to W_2.",
         "Pre-LN: growth", Verdict::holds, "", pre_unbounded},
        {"stability-pre-fixed-weights",
         "Under Pre-LN with fixed weights hidden states grow at most linearly with depth.", "finding", Verdict::holds,
         "Attention adds at most |W_O| (sqrt(sum |W_V^h|^2) R + |b_V|) + |b_O| over heads h, the FFN |W_2| (|W_1| R + "
         "|b_1|) + |b_2|, both times Dt",
         pre_fixed},
        {"stability-pre-joint-heads", "Attention's output is at most |W_O| (|W_V| R + |b_V|) + |b_O| long.", "finding",
         Verdict::fails,
         "Only with one head: heads may attend to different tokens, and the root of the sum of squares of the heads' "
         "norms takes the place of |W_V|",
         joint_heads},
    };
}

}  // namespace flyball::claims
