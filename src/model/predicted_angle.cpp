// Lengths of all vectors of a block from its equation, gains and a few measured lengths; then angles.
#include "model/predicted_angle.hpp"

#include <cmath>
#include <numbers>
#include <optional>

#include "core/unreachable.hpp"
#include "model/block_code.hpp"
#include "scheme/branches.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::model {

namespace {

using scheme::Instruction;

// The mean square of f(alpha * z + shift) over normal z of deviation `sigma`, by the trapezoidal rule, which converges
// geometrically here.
template <class Curve>
double mean_square(const Curve& curve, double alpha, double shift, double sigma) {
    constexpr double step = 1.0 / 16;
    constexpr int reach = 8 * 16;
    double sum = 0;
    for (int i = -reach; i <= reach; ++i) {
        const double z = step * i;
        const double value = curve(alpha * sigma * z + shift);
        sum += std::exp(-z * z / 2) * value * value;
    }
    return sum * step / std::sqrt(2 * std::numbers::pi);
}

// The mean square of an entry of u, the normed row before gain and bias.
double entry_square(scheme::RowFunction function, double alpha, double shift, double length, std::size_t dim) {
    const double sigma = length / std::sqrt(static_cast<double>(dim));
    switch (function) {
        case scheme::RowFunction::sphere:
            return 1 / static_cast<double>(dim);
        case scheme::RowFunction::rms:
        case scheme::RowFunction::centred:
            return 1;
        case scheme::RowFunction::tanh:
            return mean_square([](double x) { return std::tanh(x); }, alpha, shift, sigma);
        case scheme::RowFunction::erf:
            return mean_square([](double x) { return std::erf(x); }, alpha, shift, sigma);
    }
    unreachable();
}

// |gain * u + bias| of the header, with E u_k^2 in place of |u|^2/d.
double normed_length(const Model<float>& model, const BlockCode& block, const Instruction& apply, double length) {
    const std::size_t dim = model.architecture().dim;
    if (apply.norm < 0) {
        return std::sqrt(static_cast<double>(dim) *
                         entry_square(scheme::row_function(apply.function), 1, 0, length, dim));
    }
    const NormPlace& place = (*block.norms)[static_cast<std::size_t>(apply.norm)];
    const auto number = [&](int parameter, double standard) {
        return parameter == absent ? standard : static_cast<double>(*model.at(parameter));
    };
    const double entry = entry_square(scheme::find_normaliser(model.architecture().norm).function,
                                      number(place.alpha, 1), number(place.shift, 0), length, dim);
    const float* const gain = model.at(place.gain);
    const float* const bias = model.at(place.bias);
    double square = 0;
    for (std::size_t k = 0; k < dim; ++k) {
        const double g = gain == nullptr ? 1 : static_cast<double>(gain[k]);
        const double b = bias == nullptr ? 0 : static_cast<double>(bias[k]);
        square += g * g * entry + b * b;
    }
    return std::sqrt(square);
}

// Whether the length of what `apply` gives does not depend on what it is given.
bool fixes_length(const Model<float>& model, const Instruction& apply) {
    const scheme::RowFunction function = apply.norm < 0 ? scheme::row_function(apply.function)
                                                        : scheme::find_normaliser(model.architecture().norm).function;
    switch (function) {
        case scheme::RowFunction::sphere:
        case scheme::RowFunction::rms:
        case scheme::RowFunction::centred:
            return true;
        case scheme::RowFunction::tanh:
        case scheme::RowFunction::erf:
            return false;
    }
    unreachable();
}

// The length of a stream on entry, where the block before ends it with a norm.
std::optional<double> fixed_on_entry(const Model<float>& model, std::size_t layer, std::size_t tokens,
                                     std::size_t stream) {
    if (layer == 0) {
        return std::nullopt;
    }
    const BlockCode before = block_code(model, layer - 1, tokens);
    for (const Instruction& instruction : before.code.instructions) {
        if (instruction.kind == Instruction::Kind::apply && instruction.out == before.code.streams_out[stream] &&
            fixes_length(model, instruction)) {
            return normed_length(model, before, instruction, 0);
        }
    }
    return std::nullopt;
}

// The length of every register of a block, by walking its code once: measured on entry and after calls, fixed or
// averaged behind a norm, roots of sums of squares behind a sum.
class Lengths {
  public:
    Lengths(const Model<float>& model, const BlockCode& block, std::size_t layer, std::size_t tokens,
            const BlockLengths& measured)
        : block_(block), of_(static_cast<std::size_t>(block.code.registers), 0.0) {
        for (std::size_t i = 0; i < block.code.streams_in.size(); ++i) {
            at(block.code.streams_in[i]) = fixed_on_entry(model, layer, tokens, i).value_or(measured.streams[i]);
        }
        if (block.code.embedding >= 0) {
            at(block.code.embedding) = measured.embedding;
        }
        std::array<std::size_t, 2> calls{};
        for (const Instruction& instruction : block.code.instructions) {
            switch (instruction.kind) {
                case Instruction::Kind::combine:
                    at(instruction.out) = length_of(instruction.terms, model.architecture().dim);
                    break;
                case Instruction::Kind::apply:
                    at(instruction.out) = normed_length(model, block, instruction, at(instruction.in));
                    break;
                case Instruction::Kind::call: {
                    const std::size_t which = instruction.sub_layer == scheme::SubLayer::attention ? 0 : 1;
                    const std::vector<double>& given = measured.sub_layers[which];
                    const std::size_t call = calls[which]++;
                    at(instruction.out) = call < given.size() ? given[call] : 0;  // not run: multiplied by 0
                    break;
                }
            }
        }
    }

    double length_of(const std::vector<scheme::Term>& terms, std::size_t dim) const {
        double square = 0;
        for (const scheme::Term& term : terms) {
            const double source = term.source == scheme::ones_register ? std::sqrt(static_cast<double>(dim))
                                                                       : of_[static_cast<std::size_t>(term.source)];
            const double part = block_.coefficients[static_cast<std::size_t>(term.coefficient)] * source;
            square += part * part;
        }
        return std::sqrt(square);
    }

  private:
    double& at(int reg) { return of_[static_cast<std::size_t>(reg)]; }

    const BlockCode& block_;
    std::vector<double> of_;  // by register
};

}  // namespace

// Each contribution turns what it is added to by arctan(|branch|/|rest|), the rest being the other terms of its sum.
double predicted_angle(const Model<float>& model, std::size_t layer, std::size_t tokens, const BlockLengths& measured) {
    const std::size_t dim = model.architecture().dim;
    const BlockCode block = block_code(model, layer, tokens);
    const Lengths lengths(model, block, layer, tokens, measured);
    double angle = 0;
    for (const scheme::Contribution& contribution : scheme::contributions(block.code)) {
        if (contribution.stream != 0) {
            continue;
        }
        if (contribution.instruction < 0) {  // the stream is the branch: no part of it is left
            angle += std::numbers::pi / 2;
            continue;
        }
        const double branch = lengths.length_of(contribution.terms, dim);
        std::vector<scheme::Term> rest;
        for (const scheme::Term& term :
             block.code.instructions[static_cast<std::size_t>(contribution.instruction)].terms) {
            bool is_branch = false;
            for (const scheme::Term& own : contribution.terms) {
                is_branch = is_branch || (own.source == term.source && own.coefficient == term.coefficient);
            }
            if (!is_branch) {
                rest.push_back(term);
            }
        }
        angle += std::atan2(branch, lengths.length_of(rest, dim));
    }
    return angle;
}

}  // namespace flyball::model
