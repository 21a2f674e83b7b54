#include "claims/stability_lengths.hpp"

#include <algorithm>
#include <cmath>

namespace flyball::claims {

using model::Model;

void Share::see(double seen, double bound) {
    largest = std::isfinite(seen / bound) ? std::max(largest, seen / bound) : HUGE_VAL;
}

std::vector<double> times(std::vector<double> x, double factor) {
    for (double& value : x) {
        value *= factor;
    }
    return x;
}

std::vector<double> direction(std::size_t dim, std::size_t pair) {
    std::vector<double> u(dim, 0.0);
    u[2 * pair] = std::sqrt(0.5);
    u[2 * pair + 1] = -std::sqrt(0.5);
    return u;
}

double radius_of(const Model<double>& model, const model::NormPlace& norm) {
    return lemma_1_radius(numbers_of(model, norm.gain), numbers_of(model, norm.bias));
}

std::vector<double> branch_radii(const Model<double>& model, std::size_t blocks) {
    std::vector<double> radii;
    for (std::size_t l = 0; l < blocks; ++l) {
        radii.push_back(radius_of(model, norms_of(model, l)[1]));
        radii.push_back(radius_of(model, norms_of(model, l)[3]));
    }
    return radii;
}

PreBounds pre_bounds(const Model<double>& model, std::size_t l) {
    const model::BlockLayout& block = model.layout().blocks[l];
    const Affine value = qkv_part(model, l, 2);
    std::vector<Table> heads;
    for (std::size_t h = 0; h < model.architecture().heads; ++h) {
        heads.push_back(head_rows(model, value, h));
    }
    const Table output = table_of(model, block.output);
    const std::vector<double> output_bias = numbers_of(model, block.output.bias);
    const double first = radius_of(model, norms_of(model, l)[0]);
    return {attention_bound(output, heads, value.bias, output_bias, first),
            attention_bound_joint(output, value.matrix, value.bias, output_bias, first),
            ffn_bound(table_of(model, block.ffn_in[0]), numbers_of(model, block.ffn_in[0].bias),
                      table_of(model, block.ffn_out), numbers_of(model, block.ffn_out.bias),
                      radius_of(model, norms_of(model, l)[1]))};
}

void walk_drawn(const Context& context, const char* equation,
                const std::function<void(const Model<double>&, const Flow&)>& see) {
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

}  // namespace flyball::claims
