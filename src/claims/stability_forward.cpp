// Lemma 1, and how long the stream can become: Peri-LN and Post-LN whatever the weights, Pre-LN with given ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/fit.hpp"
#include "claims/stability.hpp"
#include "claims/stability_models.hpp"

namespace flyball::claims {

namespace {

using model::Model;

constexpr const char* pre_ln = "x + dt*f(norm(x))";
constexpr const char* peri_ln = "x + dt*norm(f(norm(x)))";
constexpr const char* post_ln = "norm(x + dt*f(x))";

// Largest ratio of what was seen to a bound; a bound holds when that is at most 1, but for rounding.
struct Share {
    double largest = 0;

    void see(double seen, double bound) {
        largest = std::isfinite(seen / bound) ? std::max(largest, seen / bound) : HUGE_VAL;
    }
    bool within() const { return largest < 1 + 1e-9; }
    bool attained() const { return within() && largest > 0.99; }
};

std::vector<double> times(std::vector<double> x, double factor) {
    for (double& value : x) {
        value *= factor;
    }
    return x;
}

// (1, -1, 0, ..)/sqrt 2: a direction that a LayerNorm does not change, and its second half.
std::vector<double> direction(std::size_t dim, std::size_t pair = 0) {
    std::vector<double> u(dim, 0.0);
    u[2 * pair] = std::sqrt(0.5);
    u[2 * pair + 1] = -std::sqrt(0.5);
    return u;
}

double radius_of(const Model<double>& model, const model::NormPlace& norm) {
    return lemma_1_radius(numbers_of(model, norm.gain), numbers_of(model, norm.bias));
}

// Gains and biases of all norms such that LN(c u) = R u with R = gain sqrt(d) + bias.
void align_norms(Model<double>& model, const std::vector<double>& u, double gain, double bias) {
    for (const model::BlockLayout& block : model.layout().blocks) {
        for (const model::NormPlace& norm : block.norms) {
            std::vector<double> gains(u.size(), 0.9 * gain);
            gains[0] = gains[1] = gain;
            set_numbers(model, norm.gain, gains);
            set_numbers(model, norm.bias, times(u, bias));
        }
    }
}

// Branches that all point one way: matrices are 0, and the biases behind them point along u.
Model<double> aligned_model(const char* equation, const SmallSizes& sizes) {
    Model<double> model = blank_model(equation, sizes);
    const std::vector<double> u = direction(sizes.dim);
    align_norms(model, u, 1.3, 0.4);
    for (const model::BlockLayout& block : model.layout().blocks) {
        set_numbers(model, block.output.bias, u);
        set_numbers(model, block.ffn_out.bias, u);
    }
    return model;
}

template <class See>
void walk_drawn(const Context& context, const char* equation, const See& see) {
    const std::uint64_t models = context.size<std::uint64_t>(30, 200);
    for (std::uint64_t seed = 1; seed <= models; ++seed) {
        context.at(static_cast<double>(seed) / static_cast<double>(models));
        SmallSizes sizes;
        sizes.layers = 6;
        sizes.tokens = 5;
        sizes.dt = seed % 2 == 0 ? 0.1 : 1;
        Model<double> model = blank_model(equation, sizes);
        draw(model, seed, {seed % 3 == 0 ? 30.0 : 0.3, 0.3, 0.3});
        const Flow flow = flow_of(model, normal_rows(sizes.tokens, sizes.dim, seed % 5 == 0 ? 0.03 : 1, seed));
        see(model, flow);
    }
}

Measurement lemma_1(const Context& context) {
    SmallSizes sizes;
    sizes.eps = 1e-12;
    const double stated = context.predict("d", static_cast<double>(sizes.dim));
    double form_off = 0;
    Share random;
    const auto see = [&](const Model<double>& model, const std::vector<double>& x, Share& share) {
        const model::NormPlace& norm = model.layout().blocks[0].norms[0];
        const std::vector<double> gamma = numbers_of(model, norm.gain);
        const std::vector<double> b = numbers_of(model, norm.bias);
        const Flow flow = flow_of(model, x);
        for (std::size_t i = 0; i < sizes.tokens; ++i) {
            const auto z = row_of(flow.ffn[0].in, i, sizes.dim);
            form_off = std::max(form_off, std::abs(lemma_1_form(z, gamma, b) / stated - 1));
            share.see(length_of(z), context.predict("R", lemma_1_radius(gamma, b)));
        }
    };
    const std::uint64_t models = context.size<std::uint64_t>(50, 500);
    for (std::uint64_t seed = 1; seed <= models; ++seed) {
        context.at(static_cast<double>(seed) / static_cast<double>(models));
        Model<double> model = blank_model("x + dt*ffn(norm(x))", sizes);
        draw(model, seed, {});
        see(model, normal_rows(sizes.tokens, sizes.dim, seed % 2 == 0 ? 1 : 100, seed), random);
    }
    Share attained;
    Model<double> model = blank_model("x + dt*ffn(norm(x))", sizes);
    align_norms(model, direction(sizes.dim), 1.3, 0.4);
    std::vector<double> rows;
    for (std::size_t i = 0; i < sizes.tokens; ++i) {
        const std::vector<double> u = times(direction(sizes.dim), 1 + static_cast<double>(i));
        rows.insert(rows.end(), u.begin(), u.end());
    }
    see(model, rows, attained);
    Measurement result;
    result.predicted = "(z-b)' Gamma^-2 (z-b) = d, and |z| at most |gamma|_inf sqrt d + |b|";
    result.measured = fmt::format("off by {:.1e}; at most {:.3f} of the bound, {:.4f} where it is attained", form_off,
                                  random.largest, attained.largest);
    result.tolerance = "1e-6; never above, attained within 1 %";
    result.verdict = verdict_of(form_off < 1e-6 && random.within() && attained.attained());
    return result;
}

// The radii of the norms on the branches of the first `blocks` blocks: two a block.
std::vector<double> branch_radii(const Model<double>& model, std::size_t blocks) {
    std::vector<double> radii;
    for (std::size_t l = 0; l < blocks; ++l) {
        radii.push_back(radius_of(model, model.layout().blocks[l].norms[1]));
        radii.push_back(radius_of(model, model.layout().blocks[l].norms[3]));
    }
    return radii;
}

void see_peri(const Context& context, const Model<double>& model, const Flow& flow, Share& share) {
    const model::Architecture& a = model.architecture();
    for (std::size_t l = 1; l < flow.streams.size(); ++l) {
        const std::vector<double> radii = branch_radii(model, l);
        for (std::size_t i = 0; i * a.dim < flow.streams[0].size(); ++i) {
            const double bound = peri_ln_bound(length_of(row_of(flow.streams[0], i, a.dim)), a.dt, radii);
            share.see(length_of(row_of(flow.streams[l], i, a.dim)),
                      context.predict("bound", bound, {static_cast<double>(l)}));
        }
    }
}

Measurement peri_linear(const Context& context) {
    Share random;
    walk_drawn(context, peri_ln,
               [&](const Model<double>& model, const Flow& flow) { see_peri(context, model, flow, random); });
    SmallSizes sizes;
    sizes.layers = 6;
    sizes.dt = 0.5;
    Share attained;
    const Model<double> model = aligned_model(peri_ln, sizes);
    see_peri(context, model, flow_of(model, direction(sizes.dim)), attained);
    Measurement result;
    result.predicted = "|x_l| at most |x_0| + Dt (R_1 + .. + R_l)";
    result.measured =
        fmt::format("at most {:.3f} of the bound in drawn models, {:.4f} where all branches point one way",
                    random.largest, attained.largest);
    result.tolerance = "never above, attained within 1 %";
    result.verdict = verdict_of(random.within() && attained.attained());
    result.note = "l counts sub-layers; weights of deviation 0.3 and 30 alike";
    return result;
}

// Exponent of l in the mean of |x_l|^2 from x_0 = 0 on, over the second half of the blocks.
double moment_exponent(const Model<double>& model, const std::vector<double>& x0) {
    const Flow flow = flow_of(model, x0);
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t l = flow.streams.size() / 2; l < flow.streams.size(); ++l) {
        x.push_back(std::log(static_cast<double>(l)));
        y.push_back(2 * std::log(length_of(flow.streams[l])));
    }
    return fit_line(x, y).slope;
}

Measurement peri_quadratic(const Context& context) {
    SmallSizes sizes;
    sizes.layers = context.size<std::size_t>(24, 96);
    sizes.dim = 64;
    sizes.ffn = 128;
    sizes.tokens = 16;
    const double stated = context.predict("exponent", 2);
    const double usual = context.predict("exponent at the start", 1);
    Model<double> drawn = blank_model(peri_ln, sizes);
    draw(drawn, 1, {0.3, 0, 0});
    const double random = moment_exponent(drawn, normal_rows(sizes.tokens, sizes.dim, 1e-3, 1));
    context.at(0.9);
    const double found = moment_exponent(aligned_model(peri_ln, sizes), times(direction(sizes.dim), 1e-6));
    Measurement result;
    result.predicted = stated;
    result.measured = found;
    result.tolerance = 0.02;
    result.verdict = verdict_of(std::abs(found - stated) < 0.02 && std::abs(random - usual) < 0.15);
    result.note = fmt::format(
        "the exponent where all branches point one way, {} blocks; with drawn weights, as at the start of training, it "
        "is {:.2f}: the second moment then grows linearly",
        sizes.layers, random);
    return result;
}

Measurement post_bounded(const Context& context) {
    Share random;
    const auto see = [&](const Model<double>& model, const Flow& flow, Share& share) {
        const std::size_t dim = model.architecture().dim;
        for (std::size_t l = 1; l < flow.streams.size(); ++l) {
            const double bound = context.predict("R", radius_of(model, model.layout().blocks[l - 1].norms[1]));
            for (std::size_t i = 0; i * dim < flow.streams[l].size(); ++i) {
                share.see(length_of(row_of(flow.streams[l], i, dim)), bound);
            }
        }
    };
    walk_drawn(context, post_ln, [&](const Model<double>& model, const Flow& flow) { see(model, flow, random); });
    SmallSizes sizes;
    sizes.layers = 6;
    Share attained;
    const Model<double> model = aligned_model(post_ln, sizes);
    see(model, flow_of(model, direction(sizes.dim)), attained);
    Measurement result;
    result.predicted = "|x_l| at most R";
    result.measured = fmt::format("at most {:.3f} of the bound in drawn models, {:.4f} where it is attained",
                                  random.largest, attained.largest);
    result.tolerance = "never above, attained within 1 %";
    result.verdict = verdict_of(random.within() && attained.attained());
    return result;
}

// What the branches of a Pre-LN block can be at most: attention by the root over heads and by the joint matrix, FFN.
struct PreBounds {
    double attention = 0;
    double joint = 0;
    double ffn = 0;
};

PreBounds pre_bounds(const Model<double>& model, std::size_t l) {
    const model::BlockLayout& block = model.layout().blocks[l];
    const Affine value = qkv_part(model, l, 2);
    std::vector<Table> heads;
    for (std::size_t h = 0; h < model.architecture().heads; ++h) {
        heads.push_back(head_rows(model, value, h));
    }
    const Table output = table_of(model, block.output);
    const std::vector<double> output_bias = numbers_of(model, block.output.bias);
    const double first = radius_of(model, block.norms[0]);
    return {attention_bound(output, heads, value.bias, output_bias, first),
            attention_bound_joint(output, value.matrix, value.bias, output_bias, first),
            ffn_bound(table_of(model, block.ffn_in[0]), numbers_of(model, block.ffn_in[0].bias),
                      table_of(model, block.ffn_out), numbers_of(model, block.ffn_out.bias),
                      radius_of(model, block.norms[1]))};
}

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
    PreCase result{blank_model(pre_ln, sizes), {}};
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
    walk_drawn(context, pre_ln,
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
    const double pre = exponent(pre_ln);
    const double peri = exponent(peri_ln);
    const double without = scaled_length(peri_ln, 10, false) / scaled_length(peri_ln, 1, false);
    Measurement result;
    result.predicted = fmt::format("|x_L| grows as c^{:.3g} in Pre-LN and as c^{:.3g} in Peri-LN", stated, stated_peri);
    result.measured = fmt::format("c^{:.4f} and c^{:.1e}", pre, peri);
    result.tolerance = "0.02";
    result.verdict = verdict_of(std::abs(pre - stated) < 0.02 && std::abs(peri - stated_peri) < 0.02);
    result.note = fmt::format(
        "W_2 and b_2 of all blocks times c = 100 .. 10,000; at c = 10 Pre-LN's last stream is {:.2f} times as long, "
        "Peri-LN's {:.4f} times, and {:.3f} times when W_2 alone is scaled",
        scaled_length(pre_ln, 10, true) / scaled_length(pre_ln, 1, true),
        scaled_length(peri_ln, 10, true) / scaled_length(peri_ln, 1, true), without);
    return result;
}

}  // namespace

std::vector<Claim> stability_forward_claims() {
    return {
        {"stability-lemma-1",
         "Outputs of a LayerNorm lie on an ellipsoid: they are at most |gamma|_inf sqrt d + |b| long.", "Lemma 1",
         Verdict::holds, "", lemma_1},
        {"stability-peri-linear",
         "Under Peri-LN a hidden state grows at most linearly with depth, whatever the weights.", "Peri-LN: growth",
         Verdict::holds,
         "With the constant: each sub-layer adds at most Dt R, R from Lemma 1 for the norm on its output", peri_linear},
        {"stability-peri-quadratic", "Under Peri-LN the second moment of hidden states grows at most quadratically.",
         "Peri-LN: growth", Verdict::holds, "", peri_quadratic},
        {"stability-post-bounded", "Under Post-LN hidden states are bounded, whatever the weights.", "Post-LN",
         Verdict::holds, "", post_bounded},
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
