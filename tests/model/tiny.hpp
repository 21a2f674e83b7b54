// A tiny model of any wiring whose every parameter is far from its start, so that nothing cancels by chance.
#pragma once

#include "core/random.hpp"
#include "model/initialise.hpp"
#include "model/pass.hpp"

namespace flyball::model::test {

inline Architecture tiny_architecture(std::string_view equation) {
    Architecture a;
    a.equation = equation;
    a.layers = 4;
    a.dim = 8;
    a.heads = 2;
    a.kv_heads = 2;
    a.head_dim = 4;
    a.ffn_dim = 12;
    a.vocab = 11;
    a.positions = 9;
    a.learned_positions = true;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    return a;
}

// The same with grouped keys, rotary positions, a gated FFN, a window, RMSNorm and a head of its own.
inline Architecture tiny_llama(std::string_view equation) {
    Architecture a = tiny_architecture(equation);
    a.kv_heads = 1;
    a.learned_positions = false;
    a.rope.dims = 4;
    a.gated = true;
    a.activation = Activation::silu;
    a.norm = "rmsnorm";
    a.windows = {0, 3, 0, 2};
    a.tied = false;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = false;
    return a;
}

template <class Real>
Model<Real> tiny_model(const Architecture& architecture, std::uint64_t seed, bool move_learned = true) {
    const scheme::Recipe recipe = {
        .initialisation = {.draw = {.deviation = "0.3"},
                           .gains = {{{scheme::Matrix::output, scheme::Matrix::ffn_out}, "1/sqrt(2*L)"}}}};
    Model<Real> model = initialised<Real>(architecture, recipe, seed);
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        const bool moved = spec.role == Role::bias || spec.role == Role::gain || spec.role == Role::attention_gain ||
                           spec.role == Role::ffn_gain || spec.role == Role::logit_gain ||
                           spec.role == Role::norm_bias || spec.role == Role::curve ||
                           (spec.role == Role::learned && move_learned);
        const Random noise(seed + 1, i);
        Real* const values = model.parameters()->at(static_cast<int>(i));
        for (std::size_t k = 0; moved && k < spec.elements(); ++k) {
            values[k] += static_cast<Real>(0.2 * noise.normal(k));
        }
    }
    return model;
}

inline const std::vector<std::int32_t> tiny_ids = {3, 1, 4, 1, 5, 9, 2};

}  // namespace flyball::model::test
