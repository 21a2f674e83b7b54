#include "model/block_code.hpp"

#include <cmath>

#include "measure/extremes.hpp"
#include "scheme/coefficients.hpp"

namespace flyball::model {

// Coefficients of the equation as they stand in the model now: learned ones by channel are boiled down to the root mean
// square, which lengths of random vectors see, and to the largest, which bounds see.
BlockCode block_code(const Model<float>& model, std::size_t layer, std::size_t tokens) {
    const Architecture& a = model.architecture();
    const BlockLayout& layout = model.layout().blocks[layer];
    const scheme::Environment env = scheme::Environment::block(layer + 1, a.layers, a.dt, tokens, a.dim);
    BlockCode block;
    block.code = lower_block(model.program(), scheme::SubLayers::attention_and_ffn, model.program().decide(env));
    block.norms = &layout.norms;
    scheme::LearnedValues learned;
    for (const int parameter : layout.learned) {
        if (parameter == absent) {
            learned.push_back({0.0});
            continue;
        }
        const float* const values = model.at(parameter);
        learned.emplace_back(values,
                             values + model.layout().parameters[static_cast<std::size_t>(parameter)].elements());
    }
    std::vector<scheme::Coefficient> values;
    std::vector<scheme::CoefficientFacts> facts;
    evaluate_coefficients(block.code, env, scheme::Run::values, learned, a.dim, values, facts);
    for (const scheme::Coefficient& coefficient : values) {
        double squares = 0;
        double largest = 0;
        for (const double value : coefficient.value) {
            squares += value * value;
            largest = measure::larger(largest, std::fabs(value));
        }
        block.largest.push_back(largest);
        block.coefficients.push_back(std::sqrt(squares / static_cast<double>(coefficient.value.size())));
    }
    return block;
}

}  // namespace flyball::model
