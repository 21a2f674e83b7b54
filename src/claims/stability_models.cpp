#include "claims/stability_models.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/random.hpp"
#include "model/family.hpp"
#include "model/pass.hpp"

namespace flyball::claims {

using model::Model;

model::Model<double> blank_model(const std::string& equation, const SmallSizes& sizes) {
    model::Architecture a;
    a.equation = equation;
    a.layers = sizes.layers;
    a.dim = sizes.dim;
    a.heads = a.kv_heads = sizes.heads;
    a.head_dim = sizes.dim / sizes.heads;
    a.ffn_dim = sizes.ffn;
    a.positions = sizes.tokens;
    a.dt = sizes.dt;
    a.eps = sizes.eps;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    return Model<double>(a, model::native_names());
}

namespace {

// FNV-1a: the same number for the same name everywhere.
std::uint64_t number_of_name(const std::string& name) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    return hash;
}

}  // namespace

void draw(Model<double>& model, std::uint64_t seed, const Draws& draws) {
    const auto& specs = model.layout().parameters;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        // By name, so that what schemes have in common starts in common.
        const Random random(seed, number_of_name(specs[i].name));
        const bool is_gain = specs[i].role == model::Role::gain;
        const bool is_bias = specs[i].role == model::Role::bias || specs[i].role == model::Role::norm_bias;
        double* const values = model.parameters()->at(static_cast<int>(i));
        for (std::size_t k = 0; k < specs[i].elements(); ++k) {
            values[k] = is_gain ? 1 + draws.spread * random.normal(k)
                                : (is_bias ? draws.biases : draws.weights) * random.normal(k);
        }
    }
}

void copy_parameters(const Model<double>& from, Model<double>& to) {
    const auto& sources = from.layout().parameters;
    const auto& targets = to.layout().parameters;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        for (std::size_t j = 0; j < sources.size(); ++j) {
            if (targets[i].name == sources[j].name && targets[i].shape == sources[j].shape) {
                std::copy_n(from.at(static_cast<int>(j)), sources[j].elements(),
                            to.parameters()->at(static_cast<int>(i)));
            }
        }
    }
}

Table table_of(const Model<double>& model, const model::Linear& linear) {
    Table table{linear.out, linear.in, std::vector<double>(linear.out * linear.in)};
    const double* const w = model.at(linear.weight);
    assert(w != nullptr);
    for (std::size_t i = 0; i < linear.out; ++i) {
        for (std::size_t j = 0; j < linear.in; ++j) {
            table.at(i, j) = linear.in_out ? w[j * linear.out + i] : w[i * linear.in + j];
        }
    }
    return table;
}

void set_table(Model<double>& model, const model::Linear& linear, const Table& table) {
    double* const w = model.parameters()->at(linear.weight);
    for (std::size_t i = 0; i < linear.out; ++i) {
        for (std::size_t j = 0; j < linear.in; ++j) {
            w[linear.in_out ? j * linear.out + i : i * linear.in + j] = table.at(i, j);
        }
    }
}

std::vector<double> numbers_of(const Model<double>& model, int parameter) {
    if (parameter == model::absent) {
        return {};
    }
    const double* const values = model.at(parameter);
    return {values, values + model.layout().parameters[static_cast<std::size_t>(parameter)].elements()};
}

void set_numbers(Model<double>& model, int parameter, const std::vector<double>& numbers) {
    std::copy(numbers.begin(), numbers.end(), model.parameters()->at(parameter));
}

void scale_numbers(Model<double>& model, int parameter, double factor) {
    double* const values = model.parameters()->at(parameter);
    for (std::size_t k = 0; k < model.layout().parameters[static_cast<std::size_t>(parameter)].elements(); ++k) {
        values[k] *= factor;
    }
}

std::vector<model::NormPlace> norms_of(const Model<double>& model, std::size_t block) {
    std::vector<model::NormPlace> found;
    for (const model::NormPlace& norm : model.layout().blocks[block].norms) {
        if (norm.gain != model::absent) {
            found.push_back(norm);
        }
    }
    return found;
}

Affine qkv_part(const Model<double>& model, std::size_t block, std::size_t part) {
    const model::Architecture& a = model.architecture();
    const std::size_t width = part == 0 ? a.query_width() : a.key_width();
    const std::size_t first = part == 0 ? 0 : a.query_width() + (part - 1) * a.key_width();
    Affine result{{width, a.dim, std::vector<double>(width * a.dim)}, std::vector<double>(width, 0.0)};
    for (const model::Linear& linear : model.layout().blocks[block].qkv) {
        const Table table = table_of(model, linear);
        const std::vector<double> bias = numbers_of(model, linear.bias);
        for (std::size_t i = 0; i < linear.out; ++i) {
            const std::size_t row = linear.offset + i;
            if (row < first || row >= first + width) {
                continue;
            }
            std::copy_n(&table.values[i * a.dim], a.dim, &result.matrix.values[(row - first) * a.dim]);
            result.bias[row - first] = bias.empty() ? 0 : bias[i];
        }
    }
    return result;
}

Table head_rows(const Model<double>& model, const Affine& part, std::size_t head) {
    const std::size_t rows = model.architecture().head_dim;
    const auto begin = part.matrix.values.begin() + static_cast<std::ptrdiff_t>(head * rows * part.matrix.columns);
    return {rows, part.matrix.columns, {begin, begin + static_cast<std::ptrdiff_t>(rows * part.matrix.columns)}};
}

namespace {

using DoubleView = model::TapView<double>;

std::vector<double> copied(const DoubleView& view) {
    std::vector<double> rows;
    for (std::size_t i = 0; i < view.rows; ++i) {
        rows.insert(rows.end(), view.row(i), view.row(i) + view.columns);
    }
    return rows;
}

}  // namespace

Flow flow_of(const Model<double>& model, const std::vector<double>& x0) {
    const model::Architecture& a = model.architecture();
    Flow flow;
    flow.streams.resize(a.layers + 1);
    flow.streams[0] = x0;
    flow.attention.resize(a.layers);
    flow.ffn.resize(a.layers);
    model::Taps<double> taps;
    taps.add("blocks.*.resid", [&](const DoubleView& view) { flow.streams[view.layer + 1] = copied(view); });
    for (const bool attention : {true, false}) {
        std::vector<Flow::Branch>& branches = attention ? flow.attention : flow.ffn;
        const std::string name = attention ? "blocks.*.attn." : "blocks.*.ffn.";
        taps.add(name + "in", [&](const DoubleView& view) { branches[view.layer].in = copied(view); });
        taps.add(name + "out", [&](const DoubleView& view) { branches[view.layer].out = copied(view); });
        taps.add(name + "added", [&](const DoubleView& view) { branches[view.layer].added = copied(view); });
    }
    model::Pass<double> pass(model, model::Batch(x0.size() / a.dim));
    pass.forward_rows(x0, taps);
    flow.readout = pass.readout();
    return flow;
}

Backward backward_of(const Model<double>& model, const std::vector<double>& x0, const std::vector<double>& grad) {
    const model::Architecture& a = model.architecture();
    Backward back{std::vector<std::vector<double>>(a.layers + 1), model::Parameters<double>(model.layout())};
    model::Taps<double> taps;
    taps.add("blocks.*.grad", [&](const DoubleView& view) { back.streams[view.layer + 1] = copied(view); });
    taps.add("embed.grad", [&](const DoubleView& view) { back.streams[0] = copied(view); });
    model::Pass<double> pass(model, model::Batch(x0.size() / a.dim), model::Keep::everything);
    pass.forward_rows(x0, taps);
    pass.backward(grad.data(), back.gradients, taps);
    back.gradients.all();
    return back;
}

Table jacobian_of(const Model<double>& model, const std::vector<double>& x0) {
    Table jacobian{x0.size(), x0.size(), {}};
    model::Parameters<double> ignored(model.layout());
    model::Taps<double> taps;
    taps.add("embed.grad", [&](const DoubleView& view) {
        const std::vector<double> rows = copied(view);
        jacobian.values.insert(jacobian.values.end(), rows.begin(), rows.end());
    });
    model::Pass<double> pass(model, model::Batch(x0.size() / model.architecture().dim), model::Keep::everything);
    pass.forward_rows(x0);
    for (std::size_t i = 0; i < x0.size(); ++i) {
        std::vector<double> unit(x0.size(), 0.0);
        unit[i] = 1;
        pass.backward(unit.data(), ignored, taps);
    }
    return jacobian;
}

std::vector<double> normal_rows(std::size_t rows, std::size_t dim, double deviation, std::uint64_t seed) {
    std::vector<double> values(rows * dim);
    Random(seed, 78).fill_normal(values);
    for (double& value : values) {
        value *= deviation;
    }
    return values;
}

std::span<const double> row_of(const std::vector<double>& rows, std::size_t i, std::size_t dim) {
    return std::span(rows).subspan(i * dim, dim);
}

}  // namespace flyball::claims
